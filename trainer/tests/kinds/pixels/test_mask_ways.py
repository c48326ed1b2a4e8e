"""Masks that say their classes in other ways than one value for one class: numbers of objects, no data, and files that name classes."""

from pathlib import Path

import numpy
import pytest
import rasterio
from hypothesis import HealthCheck, given, settings, strategies as st
from PIL import Image
from scene_files import write
from skimage.measure import label

from trainer.core.input import Input
from trainer.data.annotations import numbered as looked
from trainer.data.sources import Sources
from trainer.kinds.annotated import numbered, runs
from trainer.kinds.annotated.shapes import LeftOut
from trainer.kinds.objects import reading as objects
from trainer.kinds.pixels import codings, drawn, reading
from trainer.kinds.pixels.masks import alike, naming
from trainer.tests.zoo import codings as made, mask_files as files, reading as zoo, row as zoo_row


def said(make, folder, **chosen):
    return zoo.read(zoo_row.Row("made", "", "", "", "", make, zoo_row.Reads(), settings=chosen), folder)


def inputs(folder):
    files = sorted(f for f in folder.rglob("*") if f.is_file())
    return [Input(f.relative_to(folder).as_posix(), f, f.stat().st_size, "", f.name, "") for f in files]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_objects_of_a_mask_are_its_numbers(tmp_path, values):
    pixels = numpy.asarray(values, numpy.uint16)
    Image.fromarray(pixels).save(tmp_path / "mask.png")
    listed = numbered.read("a.png", Input("mask.png", tmp_path / "mask.png", 1, "", "", ""), LeftOut())
    assert [runs.mask(d.runs).tolist() for d in listed.drawn] == [(pixels == v).tolist() for v in numpy.unique(pixels[pixels > 0])]


def test_a_border_between_objects_is_no_object(tmp_path):
    Image.fromarray(numpy.asarray([[1, 255, 2, 0]], numpy.uint8)).save(tmp_path / "mask.png")
    assert looked.values(tmp_path / "mask.png").tolist() == [[1, 0, 2, 0]]


@pytest.mark.parametrize("pixels", [numpy.zeros((4, 4, 3), numpy.uint8), numpy.zeros((4, 4), numpy.float32)])
def test_colours_and_fractions_are_no_numbers_of_objects(tmp_path, pixels):
    Image.fromarray(pixels).save(tmp_path / "mask.tif")
    left = LeftOut()
    assert numbered.read("a.png", Input("mask.tif", tmp_path / "mask.tif", 1, "", "", ""), left) is None
    assert left.names == {"the mask cannot be read": ["mask.tif"]}


def test_masks_of_objects_beside_new_pictures_are_compared_and_not_answered(tmp_path):
    made.ROWS[0].make(tmp_path)
    sources = Sources(images=inputs(tmp_path))
    found, _, _ = objects.to_predict(sources)
    assert len(found) == made.COUNT and all(e.target for e in found)
    rows, _, _ = reading.to_predict(sources, measured=False)
    assert len(rows) == made.COUNT and all(e.target == f"{drawn.DRAWN}object" for e in rows)


def test_masks_of_classes_beside_new_pictures_are_compared_with_classes_and_not_with_objects(tmp_path):
    files.ROWS[0].make(tmp_path)
    sources = Sources(images=inputs(tmp_path))
    rows, _, _ = reading.to_predict(sources, measured=False)
    assert len(rows) == made.COUNT and {e.target for e in rows} == {f"{drawn.DRAWN}river; road"}
    assert all(set(numpy.unique(e.content.mask.classes((drawn.BACKGROUND, "road"), 254))) == {0, 1, 254} for e in rows)
    found, _, _ = objects.to_predict(sources)
    assert len(found) == made.COUNT and not any(e.target for e in found)


def test_pictures_with_their_mask_in_alpha_are_learnt_without_it(tmp_path):
    row_of_alpha = next(r for r in files.ROWS if r.name == "masks-in-alpha")
    data = said(row_of_alpha.make, tmp_path, task="image-segmentation").data
    for example in (e for rows in data.splits.values() for e in rows):
        name = int(example.file.rpartition("/")[2].partition(".")[0])
        assert (numpy.asarray(Image.open(example.content.picture)) == made.noise(name)).all()
        assert (example.content.coding.read(example.content.mask) == (files.squares(name, 1)[0] > 0)).all()


def test_the_objects_of_a_scene_are_no_classes(tmp_path):
    truth = label(numpy.kron(numpy.random.default_rng(0).random((16, 16)) < 0.15, numpy.ones((64, 64), bool)))

    def scene(folder, names=""):
        write(folder / "a.tif", (1000 + 2000 * (truth > 0) + numpy.random.default_rng(1).normal(0, 90, truth.shape)).astype(numpy.uint16))
        write(folder / "b.tif", truth.astype(numpy.uint8))
        if names:
            (folder / "classes.txt").write_text(names)

    assert said(scene, tmp_path / "numbers").error.code == "mask_numbers"
    named = said(lambda f: scene(f, "\n".join(f"class {i}" for i in range(truth.max() + 1))), tmp_path / "named")
    assert named.error is None and "class 0" in named.data.labels


def test_a_background_that_is_declared_as_no_data_is_told_of(tmp_path):
    def scenes(folder):
        for i in range(8):
            for name, pixels, nodata in (("images", made.noise(i), None), ("masks", made._layers(i)[None], 0)):
                (folder / name).mkdir(exist_ok=True)
                pixels = pixels if nodata is not None else pixels.transpose(2, 0, 1)
                form = {"count": len(pixels), "height": 24, "width": 24, "dtype": "uint8", "nodata": nodata}
                with rasterio.open(folder / name / f"{i}.tif", "w", driver="GTiff", **form) as file:
                    file.write(pixels)

    outcome = said(scenes, tmp_path)
    share = sum((made._layers(i) == 0).mean() for i in range(8)) / 8
    assert outcome.data.labels == ("1", "2") and f"{share:.1%} of the pixels are no data" in outcome.said["mask_classes"]
    assert ("mostly_unlabelled" in outcome.said) == (share > alike._MOSTLY)


def test_masks_of_turned_pictures_are_refused_with_the_reason(tmp_path):
    def photos(folder):
        for i in range(6):
            exif = Image.Exif()
            exif[0x0112] = 6
            for name in ("images", "masks"):
                (folder / name).mkdir(exist_ok=True)
            Image.fromarray(numpy.random.default_rng(i).integers(0, 255, (48, 32, 3), numpy.uint8)).save(folder / f"images/{i}.jpg", exif=exif)
            Image.fromarray(numpy.eye(32, 48, dtype=numpy.uint8) * (1 + i % 2)).save(folder / f"masks/{i}.png")

    error = said(photos, tmp_path, task="image-segmentation").error
    assert error.code == "mask_sizes" and "EXIF" in str(error)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("labels.txt", "soil\nice\n", naming.Named({0: "soil", 1: "ice"}, file="labels.txt")),
        ("class_dict.csv", '"name","r","g","b"\nthe ice,255,0,0\nwater,0,0,9\n', naming.Named(colours={0xFF0000: "the ice", 9: "water"})),
        ("labelmap.txt", "# label:color_rgb:parts:actions\nice:255,0,0::\nwater:0,0,9::\n", naming.Named(colours={0xFF0000: "ice", 9: "water"})),
        ("label_colors.txt", "255 0 0\tthe ice\n0 0 9\twater\n", naming.Named(colours={0xFF0000: "the ice", 9: "water"})),
        ("class_dict.csv", "name,r,g,b\nice,300,0,0\nwater,0,0,9\n", naming.Named()),
        ("classes.txt", "0: soil\n2: ice\n", naming.Named({0: "soil", 2: "ice"})),
        ("classes.csv", "id,name\n1,ice\n0,soil\n", naming.Named({0: "soil", 1: "ice"})),
        ("labels.csv", "1,ice\n2,soil\n", naming.Named()),
        ("classes.txt", "1 soil\n1 ice\n", naming.Named({0: "1 soil", 1: "1 ice"})),
        ("notes.txt", "soil\nice\n", naming.Named()),
        ("labels.csv", "file,label\na.png,ice\n", naming.Named()),
    ],
)
def test_files_name_classes_by_value_or_by_colour(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    found = naming.find(Sources(texts=inputs(tmp_path)))
    assert (found.values, found.colours) == (expected.values, expected.colours)
    assert found.file == (name if expected != naming.Named() else "")


STYLE = """<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
<qgis><pipe><rasterrenderer type="paletted" band="1"><colorPalette>{}</colorPalette></rasterrenderer></pipe></qgis>"""
ENTRY = '<paletteEntry value="{}" color="{}" label="{}" alpha="255"/>'


@pytest.mark.parametrize(
    ("entries", "values", "colours"),
    [
        ([("0", "#000009", "soil"), ("1", "#ff0000", "ice")], {0: "soil", 1: "ice"}, {9: "soil", 0xFF0000: "ice"}),
        ([("1", "red", "ice"), ("2.0", "", "soil"), ("3", "#00ff00", ""), ("x", "#00ff00", "y")], {1: "ice", 2: "soil"}, {}),
        ([("1", "#ff0000", "ice")], {}, {}),
    ],
)
def test_a_style_of_qgis_names_values_and_colours(tmp_path, entries, values, colours):
    (tmp_path / "mask.qml").write_text(STYLE.format("".join(ENTRY.format(*e) for e in entries)))
    found = naming.find(Sources(others=inputs(tmp_path)))
    assert (found.values, found.colours, found.partial) == (values, colours, bool(values))


def test_a_style_need_not_name_all_values(tmp_path):
    def styled(folder, entries):
        made._pairs(folder, lambda i: made.png(made._layers(i)))
        (folder / "mask.qml").write_text(STYLE.format("".join(ENTRY.format(*e) for e in entries)))

    some = said(lambda f: styled(f, [("1", "#ff0000", "ice"), ("2", "#0000ff", "sea")]), tmp_path / "some")
    assert some.data.labels == ("0", "ice", "sea")
    other = said(lambda f: styled(f, [("7", "#ff0000", "ice"), ("8", "#0000ff", "sea")]), tmp_path / "other")
    assert other.data.labels == ("0", "1", "2") and "names_unused" in other.said


def test_colours_name_the_places_of_a_palette(tmp_path):
    def palettes(folder):
        made._palettes(folder, False)
        (folder / "class_dict.csv").write_text(made.NAMED)

    assert said(palettes, tmp_path).data.labels == ("soil", "ice", "water")


def test_a_colour_near_a_named_one_has_its_name():
    named = naming.Named(colours={0xFF0000: "ice", 9: "water"})
    assert [named.colour(c) for c in (0xFA0000, 0x000000, 9, 0x808080)] == ["ice", "", "water", ""]
    assert not naming.Named().colour(9)


def areas(seed, values):
    """A mask of areas with one of ``values`` each, of 24 x 24 pixels."""
    chosen = numpy.random.default_rng(seed).integers(len(values), size=(3, 3))
    return numpy.kron(numpy.asarray(values, numpy.uint8)[chosen], numpy.ones((8, 8), numpy.uint8))


def scaled(mask):
    """A mask that was made larger with smoothing, and is cut to its size."""
    return numpy.asarray(Image.fromarray(mask).resize((52, 52), Image.Resampling.BILINEAR).crop((0, 0, 24, 24)))


def in_folders(*folders):
    """A maker of pictures with masks below ``folders``, each with the values of its masks and what becomes of them."""

    def make(folder):
        for name, values, change in folders:
            for i in range(made.COUNT):
                zoo_row.write(folder, f"images/{name}{i}.png", made.png(made.noise(i + 100 * len(name))))
                zoo_row.write(folder, f"masks/{name}{i}.png", made.png(change(areas(i, values))))

    return make


def paint(mask):
    return numpy.asarray([(0, 0, 0), (255, 0, 0), (0, 0, 255)], numpy.uint8)[mask]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        pytest.param(in_folders(("train/", (0, 1, 2), numpy.copy), ("val/", (1, 2, 3), numpy.copy)), "mask_codings", id="numbers from 0 and from 1"),
        pytest.param(in_folders(("", (0, 20, 40), scaled)), "masks_blended", id="values that were smoothed"),
        pytest.param(in_folders(("", (0, 1, 2), lambda mask: scaled(paint(mask)))), "masks_blended", id="colours that were smoothed"),
    ],
)
def test_masks_that_would_train_wrong_classes_are_refused(tmp_path, make, code):
    outcome = said(make, tmp_path)
    assert outcome.error is not None and outcome.error.code == code, str(outcome)


@pytest.mark.parametrize(
    ("make", "names", "labels", "told"),
    [
        pytest.param(in_folders(("", (0, 1, 255), numpy.copy)), "0: soil\n1: ice\n255: cloud\n", ("soil", "ice", "cloud"), "", id="255 has a name"),
        pytest.param(in_folders(("", (1, 2), numpy.copy)), "ice\nsea\nsoil\n", ("sea", "soil"), "names_from_0", id="the first name is of no pixel"),
        pytest.param(in_folders(("train/", (0, 1, 2), numpy.copy), ("val/", (0, 1, 2), numpy.copy)), "", ("0", "1", "2"), "", id="the same numbers"),
    ],
)
def test_names_and_folders_say_what_values_are(tmp_path, make, names, labels, told):
    def named(folder):
        make(folder)
        if names:
            (folder / "classes.txt").write_text(names)

    outcome = said(named, tmp_path)
    assert outcome.error is None and outcome.data.labels == labels, str(outcome)
    assert ("names_from_0" in outcome.said) == bool(told)


def test_a_few_mixtures_are_not_learnt_and_thin_things_are_classes(tmp_path):
    def few(folder):
        in_folders(("", (0, 20, 40), numpy.copy))(folder)
        zoo_row.write(folder, "masks/0.png", made.png(scaled(areas(0, (0, 20, 40)))))

    outcome = said(few, tmp_path / "few")
    assert outcome.data.labels == ("0", "20", "40") and "not learnt" in outcome.said["masks_blended"]

    def lines(mask):
        mask = mask.copy()
        mask[3], mask[11] = 5, 6
        return mask

    assert said(in_folders(("", (0, 20), lines)), tmp_path / "lines").data.labels == ("0", "5", "6", "20")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text('0123456789 ,;:\tab\n"', max_size=80).map(str.encode))
def test_any_bytes_name_classes_or_none(tmp_path, data):
    Path(tmp_path / "classes.txt").write_bytes(data)
    found = naming.find(Sources(texts=inputs(tmp_path)))
    assert not (found.values and found.colours) and len(found.values or found.colours) <= codings.MOST
