"""What is learnt from scenes: blocks of place with a gap, masks by windows, and polygons over a part of the ground."""

import base64
import io
import json
import math

import geopandas
import numpy
import pytest
import rasterio
import shapely
import tifffile
from conftest import events_of
from loading import settings_of
from PIL import Image
from rasterio.transform import Affine
from result_checks import blocks_of, check_training, codes
from scene_files import POLAR, TURNED, damage, write
from shapely.geometry import box, mapping

from trainer.core.input import Input
from trainer.data.checks import Checks
from trainer.data.scenes import opening
from trainer.data.vectors.layer import Layer
from trainer.errors import UserError
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.codings import NODATA
from trainer.kinds.pixels.scenes import cutting, finding, learning, mapped, masks, places
from trainer.run import run
from trainer.run_folder.events import Events
from trainer.tests.zoo import reading, row

SIDE = 1040


def checks_in(folder):
    return Checks(Events(folder / "events.jsonl", 1))


def ground(side=SIDE, square=50):
    """Two bands in which squares of ice are bright, and where they are."""
    chance = numpy.random.default_rng(5)
    number = math.ceil(side / square)
    truth = numpy.kron(chance.random((number, number)) < 0.3, numpy.ones((square, square), bool))[:side, :side]
    return (1000 + 3000.0 * truth + chance.normal(0, 200, (2, side, side))).clip(1, 60000).astype(numpy.uint16), truth


def boxes(truth, square=50, transform=TURNED):
    """The squares of ice as polygons in the plane of the scene."""
    found = []
    for top in range(0, len(truth), square):
        for left in range(0, len(truth), square):
            if truth[top, left]:
                corners = [(left, top), (left + square, top), (left + square, top + square), (left, top + square)]
                found.append(shapely.Polygon([transform @ c for c in corners]))
    return found


def trained(make_run, schemas, files, **parameters):
    spec = make_run(files, run="ft-scene", model="pixels-unet", epochs=2, batch_size=8, **parameters)
    assert run(str(spec), "local") == 0
    return check_training(spec.parent, schemas)


def test_one_scene_with_its_mask_is_learnt_in_blocks_of_place(tmp_path, make_run, schemas):
    pixels, truth = ground()
    pixels[:, :100] = 0
    scene = write(tmp_path / "a.tif", pixels, nodata=0).read_bytes()
    mask = write(tmp_path / "m.tif", truth.astype(numpy.uint8) * 7).read_bytes()
    result = trained(make_run, schemas, {"east.tif": scene, "labels of it.tif": mask})
    assert result["task"] == "image-segmentation" and list(result["data"]["labels"]) == ["0", "7"]
    assert result["metrics"]["test"]["mean_iou"]["value"] > 0.8
    assert "scenes" in codes(result)
    said = next(w["text"] for w in result["warnings"] if w["code"] == "scenes")
    assert "blocks of the same scene" in said and "a gap of 32 pixels" in said
    assert result["data"]["files"] == ["east.tif"]
    assert sum(result["data"]["rows"].values()) >= 60
    drawn = next(b for b in blocks_of(result, "Pictures and masks") if b.get("title") == "Where training and test lie")
    with Image.open(io.BytesIO(base64.b64decode(drawn["pictures"][0]["png"]))) as image:
        colours = {colour for _, colour in image.convert("RGB").getcolors()}
    assert {(0, 114, 178), (230, 159, 0), (0, 158, 115), (225, 225, 225)} == colours


@pytest.mark.parametrize("form", ["geojson", "gpkg", "shp"])
def test_polygons_over_a_part_of_a_scene_are_its_mask_there(tmp_path, form):
    pixels, truth = ground()
    truth[:, 600:] = False  # nobody labelled the east
    scene = write(tmp_path / "a.tif", pixels).read_bytes()
    frame = geopandas.GeoDataFrame({"cover": ["ice"] * sum(truth[::50, ::50].ravel())}, geometry=boxes(truth), crs=POLAR)
    frame.loc[::9, "cover"] = "water"
    folder = tmp_path / "vectors"
    folder.mkdir()
    (frame.to_crs("EPSG:4326") if form == "geojson" else frame).to_file(folder / f"fields.{form}")
    files = {"scene.tif": scene} | {f.name: f.read_bytes() for f in folder.iterdir()}
    if form != "gpkg":  # one that tells the labelled ground
        hull = shapely.Polygon([TURNED @ c for c in ((0, 0), (600, 0), (600, SIDE), (0, SIDE))])
        files["aoi.geojson"] = json.dumps(
            {"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": POLAR}},
             "features": [{"type": "Feature", "properties": {}, "geometry": mapping(hull)}]}
        )  # fmt: skip
    if form == "shp":
        files.pop("aoi.geojson")
    outcome = claimed(tmp_path, files)
    assert outcome.data.labels == ("background", "ice", "water")
    assert "attribute cover" in outcome.said["polygons"]
    share = int(outcome.said["labelled_area"].partition("%")[0]) / 100
    assert share == pytest.approx(600 / SIDE, abs=0.01) if form == "geojson" else 0.75 < share < 0.9


def claimed(tmp_path, files, **parameters) -> reading.Outcome:
    """What becomes of a dataset up to the training."""

    def make(folder):
        for name, content in files.items():
            row.write(folder, name, content)

    return reading.read(row.Row("scene", "", "", "", "", make, row.Reads(), settings=parameters), tmp_path / "claimed")


def test_what_has_no_counterpart_is_left_out_by_name(tmp_path):
    pixels, truth = ground()
    tiff = {n: write(tmp_path / "a.tif", v).read_bytes() for n, v in (("a.tif", pixels), ("m.tif", truth.astype(numpy.uint8)))}
    other = write(tmp_path / "b.tif", pixels[:, :1030]).read_bytes()
    said = claimed(tmp_path, {**tiff, "b.tif": other, "classes.txt": "soil\nice\n"}).said
    assert "b.tif" in said["scenes_alone"]


def test_one_small_scene_with_its_mask_is_read_in_blocks_too(tmp_path):
    pixels, truth = ground(640)
    files = {
        "images/s.tif": write(tmp_path / "a.tif", pixels).read_bytes(),
        "masks/s.tif": write(tmp_path / "m.tif", truth.astype(numpy.uint8)).read_bytes(),
    }
    read = claimed(tmp_path, {**files, "classes.txt": "soil\nice\n"})
    assert read.error is None and read.data.labels == ("soil", "ice") and "scenes" in read.said
    tiny = {
        name: write(tmp_path / "t.tif", values).read_bytes()
        for name, values in (("s.tif", pixels[:, :90, :90]), ("m.tif", truth[:90, :90].astype("u1")))
    }
    assert claimed(tmp_path / "tiny", tiny).error.code == "too_few_pictures"


def test_a_mask_of_another_size_is_refused_with_both(tmp_path):
    pixels, truth = ground()
    files = {
        "a.tif": write(tmp_path / "a.tif", pixels).read_bytes(),
        "m.tif": write(tmp_path / "m.tif", truth[:1030].astype(numpy.uint8)).read_bytes(),
    }
    error = claimed(tmp_path, files, task="image-segmentation").error
    assert error.code == "mask_sizes" and "1040 x 1030" in error.what


def test_a_mask_in_colours_says_the_same_as_one_of_numbers(tmp_path):
    pixels, truth = ground()
    truth = truth.astype(numpy.uint8) + (numpy.arange(SIDE) < 200)
    colours = numpy.asarray([(0, 0, 255), (255, 0, 0), (9, 9, 9)], numpy.uint8)
    masks = {"m": truth, "rgb": colours[truth].transpose(2, 0, 1)}
    files = {name: write(tmp_path / f"{name}.tif", values).read_bytes() for name, values in {**masks, "a": pixels}.items()}
    names = {"class_dict.csv": "name,r,g,b\nice,255,0,0\nsea,0,0,255\nrock,9,9,9\n", "classes.txt": "sea\nice\nrock\n"}
    grey = claimed(tmp_path / "of numbers", {"a.tif": files["a"], "m.tif": files["m"], "classes.txt": names["classes.txt"]}).data
    data = claimed(tmp_path / "in colours", {"a.tif": files["a"], "m.tif": files["rgb"], "class_dict.csv": names["class_dict.csv"]}).data
    assert (grey.labels, data.labels) == (("sea", "ice", "rock"), ("sea", "rock", "ice"))
    read = [{e.file: e.content.coding.read(e.content.mask) for rows in d.splits.values() for e in rows} for d in (grey, data)]
    assert read[0].keys() == read[1].keys() and all((numpy.asarray([0, 2, 1])[read[0][n]] == read[1][n]).all() for n in read[0])


def test_a_mask_in_colours_is_compared_only_with_a_model_of_colours(tmp_path):
    _, truth = ground()
    colours = numpy.asarray([(0, 0, 255), (255, 0, 0)], numpy.uint8)[truth.astype(int)].transpose(2, 0, 1)
    place = slice(0, 64), slice(0, 64)
    mask = write(tmp_path / "rgb.tif", colours)
    coding = codings.Classes((0x0000FF, 0xFF0000), colours=True)
    assert (masks.window(mask, place, coding) == truth[place]).all()
    for file, other in ((mask, codings.Classes((0, 1))), (write(tmp_path / "grey.tif", truth.astype(numpy.uint8)), coding)):
        with pytest.raises(ValueError, match="colours"):
            masks.window(file, place, other)


def test_a_clear_pixel_of_a_mask_in_colours_has_no_class(tmp_path):
    pixels, truth = ground()
    colours = numpy.zeros((4, SIDE, SIDE), numpy.uint8)
    colours[0], colours[2], colours[3] = 255 * truth, 255 * ~truth, 255
    colours[3, :, :300] = 0
    scene, mask = write(tmp_path / "a.tif", pixels), tmp_path / "rgb.tif"
    form = {"count": 4, "height": SIDE, "width": SIDE, "dtype": "uint8", "photometric": "RGB", "alpha": "yes"}
    with rasterio.open(mask, "w", driver="GTiff", **form) as file:
        file.write(colours)
    right, block = cutting.Masked(mask, opening.scene(mask), False), places.Block(0, 0, 256, 128, 128)
    _, known, _ = cutting.counted(opening.scene(scene), right, block.place)
    assert known == 128 * (256 + 128 - 300)
    _, cut = cutting.cut(Input("a.tif", scene, 0, ""), opening.scene(scene), right, block, tmp_path)
    coding = codings.Classes((0x0000FF, 0xFF0000), codings.NO_COLOUR, colours=True)
    assert (coding.read(cut.file) == numpy.where(numpy.arange(256, 384) < 300, codings.UNLABELLED, truth[:128, 256:384])).all()


def test_a_value_without_a_name_is_refused(tmp_path):
    pixels, truth = ground()
    mask = truth.astype(numpy.uint8) * 2
    files = {"a.tif": write(tmp_path / "a.tif", pixels).read_bytes(), "m.tif": write(tmp_path / "m.tif", mask).read_bytes()}
    error = claimed(tmp_path, {**files, "classes.txt": "soil\nice\n"}).error
    assert error.code == "unknown_class" and "value 2" in error.what


def test_a_scene_that_is_cut_off_is_named(tmp_path):
    pixels, truth = ground()
    scene = write(tmp_path / "a.tif", pixels).read_bytes()[:-5000]
    frame = geopandas.GeoDataFrame({"cover": ["ice"] * int(truth[::50, ::50].sum())}, geometry=boxes(truth), crs=POLAR)
    frame.to_file(tmp_path / "f.gpkg")
    error = claimed(tmp_path, {"scene.tif": scene, "f.gpkg": (tmp_path / "f.gpkg").read_bytes()}).error
    assert error.code == "no_scenes" and "scene.tif cannot be read: it is cut off" in error.why


@pytest.mark.parametrize("how", ["zeros", "short"])
def test_damaged_tiles_of_a_scene_and_of_its_mask_are_not_learnt_and_are_named(tmp_path, how):
    """Tile 10 of nine in a row lies at 128, 128; tile 80 at the end of both."""
    pixels, truth = ground()
    files = {name: write(tmp_path / name, values) for name, values in (("a.tif", pixels), ("m.tif", truth.astype(numpy.uint8) * 7))}
    damage(files["a.tif"], 10, how)
    damage(files["m.tif"], 80, how)
    broken = claimed(tmp_path, {n: f.read_bytes() for n, f in files.items()})
    said = broken.said["damaged_scene"]
    assert "1 tile of the scene a.tif cannot be read and is neither learnt nor measured: at 128, 128 (128 x 128 pixels)." in said
    assert "1 tile of the mask of a.tif cannot be read and is neither learnt nor measured: at 1024, 1024 (16 x 16 pixels)." in said
    lost = numpy.zeros((SIDE, SIDE), bool)
    lost[128:256, 128:256] = lost[1024:, 1024:] = True
    blocks = [e for rows in broken.data.splits.values() for e in rows]
    assert len(blocks) > 50
    for block in blocks:
        left, top = map(int, block.file.rpartition(" at ")[2].split(", "))
        known = block.content.coding.read(block.content.mask)
        assert ((known >= codings.MOST) == lost[top : top + known.shape[0], left : left + known.shape[1]]).all(), block.file


def test_what_cannot_be_read_of_a_block_is_unknown_and_moves_no_range(tmp_path):
    pixels, truth = ground()
    scene, mask = write(tmp_path / "a.tif", pixels), write(tmp_path / "m.tif", truth.astype(numpy.float32) / 3)
    damage(scene, 10, "zeros")
    damage(mask, 0, "zeros")
    one, right = opening.scene(scene), cutting.Masked(mask, opening.scene(mask), True)
    block = places.Block(0, 0, 0, 256, 256)
    _, known, tiles = cutting.counted(one, right, block.place)
    assert (tiles, right.damaged, known) == ([(128, 128, 128, 128)], {(0, 0, 128, 128)}, 2 * 128 * 128)
    picture, truth_file = (i.file for i in cutting.cut(Input("a.tif", scene, 0, ""), one, right, block, tmp_path))
    cut, told = tifffile.imread(picture), tifffile.imread(truth_file)
    assert (cut[:128] == numpy.moveaxis(pixels, 0, -1)[:128, :256]).all()
    assert (cut[128:, 128:] == numpy.median(cut[numpy.isfinite(told) | (numpy.arange(256) < 128)], axis=0).astype(numpy.uint16)).all()
    assert numpy.isfinite(told).sum() == known and not numpy.isfinite(told[:128, :128]).any()


def test_a_scene_of_which_too_little_can_be_read_is_refused(tmp_path):
    pixels, truth = ground()
    scene, mask = write(tmp_path / "a.tif", pixels), write(tmp_path / "m.tif", truth.astype(numpy.uint8) * 7)
    for tile in range(77):
        damage(scene, tile, "zeros")
    error = claimed(tmp_path, {f.name: f.read_bytes() for f in (scene, mask)}).error
    assert error.code == "too_few_pictures" and error.do == "Replace the damaged files."
    assert "77 tiles of the scene a.tif cannot be read" in error.why


def test_scenes_of_another_sort_are_left_out_and_equal_sorts_asked(tmp_path):
    pixels, _ = ground(600)
    deep, flat = (opening.scene(write(tmp_path / n, v)) for n, v in (("a.tif", pixels), ("b.tif", pixels[:1].astype(numpy.float32))))
    learnt = [learning.Learnt(Input(f"{i}.tif", s.file, 1, ""), s, None) for i, s in enumerate((deep, deep, deep, flat))]
    assert len(learning._of_one_sort(learnt, checks_in(tmp_path))) == 3
    assert "3.tif" in events_of(tmp_path)[-1]["text"]
    with pytest.raises(UserError, match="different ways"):
        learning._of_one_sort(learnt[2:], checks_in(tmp_path))


def test_a_full_disk_is_seen_before_blocks_are_written(tmp_path, monkeypatch):
    scene = opening.scene(write(tmp_path / "a.tif", numpy.ones((200, 200), numpy.uint16)))
    monkeypatch.setattr(learning.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1 << 29}))
    with pytest.raises(UserError, match="free"):
        learning._check_disk(tmp_path, {"train": [places.Block(0, 0, 0, 200, 200)]}, [learning.Learnt(Input("a", scene.file, 1, ""), scene, None)])


def outlined(tmp_path, shapes, crs=POLAR, transform=TURNED, area=(), names=None):
    scene = opening.scene(write(tmp_path / "s.tif", numpy.ones((400, 300), numpy.uint8), transform=transform))
    layers = [Layer("fields.gpkg", crs, list(shapes), [{"class": n} for n in names or ["ice"] * len(shapes)])]
    layers += [Layer("aoi.gpkg", crs, list(area), [{}] * len(area))] if area else []
    return mapped.over([(Input("s.tif", tmp_path / "s.tif", 1, ""), scene)], layers, "", checks_in(tmp_path))


@pytest.mark.parametrize("transform", [TURNED, Affine(2, 0, 100, 0, -2, 900)])
def test_windows_of_polygons_fit_together_and_know_the_labelled_ground(tmp_path, transform):
    hole = shapely.Polygon([(30, 30), (150, 40), (140, 200)], [[(80, 60), (120, 70), (110, 100)]])
    area = box(0, 0, 250, 350)
    placed = [shapely.transform(g, lambda p: numpy.asarray([transform @ tuple(c) for c in p])) for g in (hole, box(200, 300, 260, 380), area)]
    ((_, found),) = outlined(tmp_path, placed[:2], area=placed[2:], transform=transform).scenes
    whole = found.window((slice(0, 400), slice(0, 300)))
    drawn = rasterio.features.rasterize([(hole, 1), (box(200, 300, 260, 380), 1)], (400, 300))
    inside = rasterio.features.rasterize([(area, 1)], (400, 300)) > 0
    assert (whole == numpy.where(inside | (drawn > 0), drawn, NODATA)).mean() > 0.9999
    parts = [found.window((slice(t, min(400, t + 90)), slice(0, 300))) for t in range(0, 400, 90)]
    assert (numpy.concatenate(parts) == whole).mean() > 0.9999


def test_polygons_elsewhere_and_without_a_system_are_refused(tmp_path):
    with pytest.raises(UserError) as apart:
        outlined(tmp_path, [box(9e5, 9e5, 9.1e5, 9.1e5)])
    assert apart.value.code == "no_overlap" and "over" in apart.value.fields()["why"]
    with pytest.raises(UserError) as unknown:
        outlined(tmp_path, [box(9e5, 9e5, 9.1e5, 9.1e5)], crs="")
    assert unknown.value.code == "no_reference_system"
    assert outlined(tmp_path, [box(1050, 1950, 1080, 1990)], crs="").labels == ("background", "ice")
    assert "taken for those of the scenes" in (tmp_path / "events.jsonl").read_text()


def test_held_out_blocks_are_apart_from_training_ones_by_a_gap(tmp_path):
    blocks = places.blocks(0, 4000, 4000, 512)
    assert sum(b.height * b.width for b in blocks) == 4000 * 4000
    blocks = [places.Block(0, b.top, b.left, b.height, b.width, i % 3 == 0) for i, b in enumerate(blocks)]
    parts = places.split(blocks, [("a.tif", "s")], [(4000, 4000)], 512, settings_of("train", {}), checks_in(tmp_path))
    taken = numpy.zeros((4000, 4000), bool)
    for b in parts["train"]:
        taken[b.place] = True
    free = places.gap(512)
    for b in (*parts["validation"], *parts["test"]):
        rows, columns = b.place
        assert not taken[max(0, rows.start - free) : rows.stop + free, max(0, columns.start - free) : columns.stop + free].any()
        assert b.height >= 256 and b.width >= 256
    assert len(parts["test"]) >= 6


def test_scenes_of_many_stay_whole_and_folders_decide_first(tmp_path):
    blocks = [b for s in range(12) for b in places.blocks(s, 512, 512, 256)]
    scenes = [(f"s{i}.tif", str(i)) for i in range(12)]
    parts = places.split(blocks, scenes, [(512, 512)] * 12, 256, settings_of("train", {}), checks_in(tmp_path))
    owners = [{b.scene for b in rows} for rows in parts.values()]
    assert all(owners) and sum(map(len, owners)) == 12
    named = [(f"{'test' if i < 2 else 'train'}/s{i}.tif", str(i)) for i in range(12)]
    parts = places.split(blocks, named, [(512, 512)] * 12, 256, settings_of("train", {}), checks_in(tmp_path))
    assert {b.scene for b in parts["test"]} == {0, 1}


def test_scenes_and_masks_find_each_other_by_their_pixels(tmp_path):
    pixels, truth = ground(600)
    mask = truth.astype(numpy.uint8)

    def source(name, values, **more):
        return Input(name, write(tmp_path / name, values, **more), 1, "")

    scene = source("a.tif", pixels)
    assert [(a.source.name, b.source.name) for a, b in finding.pairs([source("zz.tif", mask), scene], False)] == [("a.tif", "zz.tif")]
    assert finding.pairs([scene, source("b.tif", pixels)], False) == []  # two scenes of one size
    assert finding.pairs([scene, source("c.tif", mask, transform=Affine(0.5, 0.2, 9000, 0.2, -0.5, 0))], False) == []  # elsewhere
    height = source("h.tif", (truth + 0.5).astype(numpy.float32))
    assert finding.pairs([scene, height], False) == []
    assert len(finding.pairs([scene, height], True)) == 1
