"""The answers for scenes: by windows as at once, as maps and polygons that others open, and not again after a kill."""

import base64
import io
import json
import shutil
import sqlite3
from dataclasses import replace

import geopandas
import numpy
import pytest
import rasterio
import torch
from PIL import Image
from rasterio.transform import Affine
from scene_files import CODING, POLAR, TURNED, asked, damage, ground, untrained, write

from trainer.core import registry
from trainer.core.plan import Rows, Saved
from trainer.data.pictures.bands import Bands
from trainer.kinds.pixels import asking, inference, overlay, shown
from trainer.kinds.pixels.codings import EMPTY, Numbers
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.question import OfScenes, Question
from trainer.kinds.pixels.scenes import answering, damaged, handing, maps, overview, parts, polygons, units
from trainer.kinds.pixels.scenes.units import Units
from trainer.kinds.pixels.target import PixelClasses
from trainer.run_folder import lease as leases
from trainer.targets.promise import Promise

FORM = Bands(2, "uint16", (1000.0, 1000.0), (5000.0, 5000.0))
LABELS = ("soil", "ice", "water")
CLASSES = PixelClasses(LABELS)
DEVICE = torch.device("cpu")


@pytest.fixture
def place(tmp_path):
    """A run folder, and a start in it."""
    run = tmp_path / "run"
    run.mkdir()
    return run, leases.take(run / "work").folder


def answered(scene, place, model, coding=CODING, step=1, mask=None, target=CLASSES):
    """Answer all units of a scene: what was asked, and the question."""
    one = asked(scene, mask)
    made = tuple(units.of_scene(0, one.scene.width, one.scene.height, step))
    together = Units(None, (one,), made, numpy.zeros(len(made), int), FORM, step, 64)
    question = OfScenes(*place, coding, ("d" * 64,))
    figures = [answering.answer(model, together, row, question, target, DEVICE) for row in range(len(made))]
    return together, question, numpy.sum(figures, axis=0)


def whole(together, question, place, target=CLASSES):
    one = together.scenes[0]
    return handing.make(one, list(together.units), question.folder, question.digests[0], question.coding, target, place[1] / "0", True)


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(units, "CORE", 128)
    monkeypatch.setattr(units, "PIXELS", 128 * 256)


@pytest.mark.parametrize("step", [1, 2])
def test_windows_answer_as_the_whole_scene_at_once(tmp_path, place, small_windows, monkeypatch, step):
    scene = write(tmp_path / "a.tif", ground(400, 700))
    model = untrained(step=step)
    together, question, _ = answered(scene, place, model, step=step)
    found = numpy.zeros((400, 700), numpy.uint8)
    for unit, values in maps.arrays(question.folder, question.digests[0], together.units, parts.VALUES):
        found[unit.rows, unit.columns] = values
    with rasterio.open(scene) as dataset:
        pixels, _ = units.read(dataset, together.scenes[0].scene, (slice(0, 400), slice(0, 700)), FORM)
    once = inference.of_window(model, pixels, DEVICE).argmax(-1).numpy()
    assert len(numpy.unique(once)) == 3
    assert (found == once)[64:-64, 64:-64].mean() >= 0.999


def test_a_map_has_the_place_of_its_scene_and_opens_elsewhere(tmp_path, place, small_windows):
    values = ground(300, 420)
    values[:, :50, :60] = 0
    scene = write(tmp_path / "a.tif", values, nodata=0)
    together, question, _ = answered(scene, place, untrained())
    told = whole(together, question, place)
    with rasterio.open(scene) as source, rasterio.open(place[1] / "0.tif") as made:
        assert (made.crs, made.transform, made.shape) == (source.crs, source.transform, source.shape)
        assert made.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        assert (made.nodata, made.colormap(1)[5][:3]) == (255, (0, 114, 178))
        band = made.read(1)
    assert set(numpy.unique(band)) == {0, 1, 5, 255}
    assert (band[:50, :60] == 255).all() and (band[50:, 60:] < 255).all()
    assert "polygons" in told.polygons and "EPSG:3413" in told.polygons
    assert sorted(f.name for f in place[1].iterdir() if f.name[0] == "0") == ["0.geojson", "0.gpkg", "0.tif"]


def test_probabilities_are_a_map_with_a_band_for_each_class(tmp_path, place, small_windows):
    values = ground(300, 420)
    values[:, :50, :60] = 0
    one = asked(write(tmp_path / "a.tif", values, nodata=0))
    made = tuple(units.of_scene(0, 420, 300, 1, len(LABELS)))
    assert len(made) == 12 and {u.columns.stop - u.columns.start for u in made} == {128, 36}  # smaller units, so that memory is the same
    together = Units(None, (one,), made, numpy.zeros(12, int), FORM, 1, 64)
    question = OfScenes(*place, CODING, ("d" * 64,), True)
    target = PixelClasses(LABELS, temperature=0.5, of_pixels=Promise(0.9, 20, (0.05, 0.3, 1.0)))
    for row in range(12):
        answering.answer(untrained(), together, row, question, target, DEVICE)
    more = handing.further(target, True)
    handing.make(one, list(made), question.folder, question.digests[0], CODING, target, place[1] / "0", True, more)
    with rasterio.open(one.scene.file) as source, rasterio.open(place[1] / "0.probabilities.tif") as odds, rasterio.open(place[1] / "0.tif") as said:
        assert (odds.crs, odds.transform, odds.shape, odds.nodata) == (source.crs, source.transform, source.shape, 255)
        assert odds.descriptions == LABELS and odds.dtypes == ("uint8",) * 3
        assert odds.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        bands, classes = odds.read(), said.read(1)
    assert (bands[:, :50, :60] == 255).all()
    known = classes != 255
    assert abs(bands[:, known].sum(axis=0, dtype=int) - 100).max() <= 2
    likeliest = numpy.asarray(CODING.values)[bands.argmax(axis=0)] == classes
    assert likeliest[known & (numpy.sort(bands, axis=0)[-1] > numpy.sort(bands, axis=0)[-2])].all()
    endings = [".geojson", ".gpkg", ".possible.tif", ".probabilities.tif", ".tif"]
    assert sorted(f.name for f in place[1].iterdir() if f.name[0] == "0") == [f"0{end}" for end in endings]
    with rasterio.open(one.scene.file) as source, rasterio.open(place[1] / "0.possible.tif") as possible:
        assert (possible.crs, possible.transform, possible.shape, possible.nodata) == (source.crs, source.transform, source.shape, 255)
        sets, names = possible.read(), possible.descriptions
    assert names == LABELS and (sets[:, :50, :60] == 255).all() and set(numpy.unique(sets[:, known])) == {0, 1}
    for number, (limit, value) in enumerate(zip((5, 30, 100), CODING.values)):
        far = known & (abs(bands[number].astype(int) - limit) > 1)  # percents are rounded
        assert (sets[number] == ((bands[number] > limit) | (classes == value)))[far].all()
    with rasterio.open(one.scene.file) as source:
        pixels, _ = units.read(source, one.scene, (slice(0, 300), slice(0, 420)), FORM)
    likely = (inference.of_window(untrained(), pixels, DEVICE) / 0.5).softmax(-1).permute(2, 0, 1).numpy() * 100
    inner = numpy.zeros_like(known)
    inner[64:-64, 64:-64] = True
    assert abs(likely - bands)[:, known & inner].max() < 1, "the probabilities are those at the temperature"


def test_the_interval_of_each_number_is_a_map_with_two_bands(tmp_path, place, small_windows):
    values = ground(300, 420)
    values[:, :50, :60] = 0
    scene = write(tmp_path / "a.tif", values, nodata=0)
    target = PixelNumbers(3.0, 2.0, of_pixels=Promise(0.9, 20, (0.5, 1.0, 1.5, 2.0, 4.0)))
    together, question, _ = answered(scene, place, untrained(outputs=1), Numbers(3.0, 2.0), target=target)
    more = handing.further(target, True)
    assert more == (handing.INTERVALS,) and not handing.further(target, False) and not handing.further(PixelNumbers(3.0, 2.0), True)
    made = []
    for name in ("0", "1"):  # the same bytes from the same parts
        handing.make(
            together.scenes[0], list(together.units), question.folder, question.digests[0], question.coding, target, place[1] / name, True, more
        )
        made.append((place[1] / f"{name}.interval.tif").read_bytes())
    assert made[0] == made[1]
    with rasterio.open(scene) as source, rasterio.open(place[1] / "0.interval.tif") as ends, rasterio.open(place[1] / "0.tif") as said:
        assert (ends.crs, ends.transform, ends.shape, ends.descriptions) == (source.crs, source.transform, source.shape, ("low", "high"))
        (low, high), answer = ends.read(), said.read(1)
    assert numpy.isnan(low[:50, :60]).all() and numpy.isnan(high[:50, :60]).all()
    known = numpy.isfinite(answer)
    half = numpy.asarray(target.of_pixels.limits)[numpy.digitize((answer[known] - 3.0) / 2.0, (-1.5, -0.5, 0.5, 1.5))]
    assert numpy.allclose(answer[known] - low[known], half, atol=1e-5) and numpy.allclose(high[known] - answer[known], half, atol=1e-5)


@pytest.mark.parametrize(
    ("transform", "first"), [pytest.param(TURNED, "background", id="ground"), pytest.param(Affine(0.5, 0, 1000, 0, -0.5, 2000), "soil", id="soil")]
)
def test_polygons_have_the_areas_of_the_map_and_keep_holes(tmp_path, place, small_windows, monkeypatch, transform, first):
    monkeypatch.setattr(polygons, "STRIP", 64 * 200)
    pixels = ground(300, 420)
    pixels[:, 40:90, 100:260] = 0
    scene = write(tmp_path / "a.tif", pixels, transform=transform, nodata=0)
    target = PixelClasses((first, *LABELS[1:]))
    together, question, _ = answered(scene, place, untrained(), target=target)
    told = whole(together, question, place, target)
    frame = geopandas.read_file(place[1] / "0.gpkg")
    with rasterio.open(place[1] / "0.tif") as made:
        band = made.read(1)
    values = {label: value for label, value in zip(target.labels, (0, 1, 5)) if label != "background"}  # the ground between others has no polygons
    assert set(frame["class"]) == set(values)
    assert (band[40:90, 100:260] == 255).all() and (band != 255).sum() == 300 * 420 - 50 * 160
    assert ("of all classes but background, with" if len(values) == 2 else "of all classes, with") in told.polygons
    assert frame.crs == POLAR and frame.is_valid.all()
    each = abs(transform.determinant)
    for label, value in values.items():
        mine = frame[frame["class"] == label]
        assert mine.area.sum() == pytest.approx((band == value).sum() * each, rel=1e-3)
        assert mine["area_m2"].sum() == pytest.approx((band == value).sum() * each, rel=1e-9)
    assert frame["score"].between(1 / 3 - 0.01, 1).all()
    assert any(len(g.interiors) for several in frame.geometry for g in several.geoms)
    drawn = rasterio.features.rasterize(((g, v) for g, v in zip(frame.geometry, frame["class"].map(values))), band.shape, transform=transform)
    assert (drawn == band)[band != 255].mean() > 0.9999 and not drawn[band == 255].any(), "no polygon covers pixels without data"
    assert first != "soil" or frame["pixels"].sum() == (band != 255).sum()
    degrees = geopandas.read_file(place[1] / "0.geojson")
    assert len(degrees) == len(frame) and degrees.crs == "EPSG:4326"
    assert degrees.to_crs(POLAR).area.sum() == pytest.approx(frame.area.sum(), rel=1e-3)


def test_areas_in_degrees_are_those_on_the_ellipsoid(tmp_path, place, small_windows):
    scene = write(tmp_path / "a.tif", ground(200, 200), crs="EPSG:4326", transform=Affine(1e-4, 0, -150, 0, -1e-4, 70))
    together, question, _ = answered(scene, place, untrained())
    assert "ellipsoid" in whole(together, question, place).polygons
    frame = geopandas.read_file(place[1] / "0.gpkg")
    geod = frame.crs.get_geod()
    assert frame["area_m2"].sum() == pytest.approx(sum(abs(geod.geometry_area_perimeter(g)[0]) for g in frame.geometry), rel=1e-5)


def test_without_a_reference_system_polygons_are_in_pixels(tmp_path, place, small_windows):
    scene = write(tmp_path / "a.tif", ground(200, 200), crs=None, transform=Affine.identity())
    together, question, _ = answered(scene, place, untrained())
    told = whole(together, question, place)
    assert "no reference system" in told.map and "in pixels" in told.polygons
    assert not (place[1] / "0.geojson").exists()
    frame = geopandas.read_file(place[1] / "0.gpkg")
    assert frame["area_m2"].isna().all() and frame.area.sum() == frame["pixels"].sum()


def test_the_small_picture_of_a_scene_is_of_its_middle(tmp_path):
    values = ground(300, 3000)
    values[:, :, 900:2100] = 0
    text = units.thumbnail(asked(write(tmp_path / "a.tif", values)))
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        assert max(image.size) == 64 and len(image.convert("RGB").getcolors()) == 1


def test_numbers_are_a_map_of_numbers(tmp_path, place, small_windows):
    values = ground(200, 200)
    values[:, :50] = 0
    scene = write(tmp_path / "a.tif", values, nodata=0)
    together, question, _ = answered(scene, place, untrained(outputs=1), coding=Numbers(0.0, 1.0))
    assert whole(together, question, place, PixelNumbers(0.0, 1.0)).polygons == ""
    with rasterio.open(place[1] / "0.tif") as made:
        assert made.dtypes == ("float32",) and numpy.isnan(made.nodata)
        assert numpy.isnan(made.read(1)[:50]).all() and numpy.isfinite(made.read(1)[50:]).all()


def test_what_is_answered_is_not_answered_again_and_damage_is(tmp_path, place, small_windows, monkeypatch):
    scene = write(tmp_path / "a.tif", ground(300, 300))
    together, question, figures = answered(scene, place, untrained())
    calls = []
    real = inference.of_window
    monkeypatch.setattr(inference, "of_window", lambda *a: calls.append(1) or real(*a))
    later = place[0], leases.take(place[0] / "work", attempt=2).folder
    assert (answered(scene, later, untrained())[2] == figures).all() and not calls
    file = parts.place(question.folder, question.digests[0], 1)
    file.write_bytes(file.read_bytes()[:-30])
    assert (answered(scene, later, untrained())[2] == figures).all()
    assert len(calls) == len(units.windows(together.units[1], 300, 300, 1))


@pytest.mark.parametrize(
    ("how", "form"), [("short", {}), ("zeros", {}), ("noise", {}), ("short", {"compress": "lzw"}), ("zeros", {"compress": "jpeg"})]
)
def test_a_damaged_tile_has_no_data_and_the_rest_is_answered(tmp_path, place, small_windows, how, form):
    """Tile 5 of four in a row lies at 128, 128. What is far from it is answered as if it were whole."""
    values = ground(400, 500, bands=3)
    jpeg = form.get("compress") == "jpeg"
    scene = write(tmp_path / "a.tif", (values // 256).astype(numpy.uint8) if jpeg else values, **form | ({"photometric": "rgb"} if jpeg else {}))
    coloured = None if jpeg else Bands(3, "uint16", (1000.0,) * 3, (5000.0,) * 3)
    one = asked(scene)
    made = tuple(units.of_scene(0, 500, 400, 1))
    together = Units(None, (one,), made, numpy.zeros(len(made), int), coloured, 1, 64)
    answers = {}
    for name in "sound", "broken":
        if name == "broken":
            damage(scene, 5, how)
        question = OfScenes(*place, CODING, (name[0] * 64,))
        figures = numpy.sum([answering.answer(untrained(3), together, row, question, CLASSES, DEVICE) for row in range(len(made))], axis=0)
        handing.make(one, list(made), question.folder, question.digests[0], CODING, CLASSES, place[1] / name, True)
        with rasterio.open(place[1] / f"{name}.tif") as answer:
            answers[name] = answer.read(1)
    tile = slice(128, 256), slice(128, 256)
    assert (answers["broken"][tile] == 255).all() and (answers["broken"] == 255).sum() == 128 * 128
    far = numpy.ones((400, 500), bool)
    far[64:320, 64:320] = False
    assert (answers["broken"] == answers["sound"])[far].mean() > 0.999
    assert figures[-3:].sum() == 400 * 500 - 128 * 128
    listed = damaged.of_scene(question.folder, question.digests[0], list(made))
    assert damaged.words(listed) == ["1 tile cannot be read and has no data in the answer: at 128, 128 (128 x 128 pixels)."]
    frame = geopandas.read_file(place[1] / "broken.gpkg")
    hole = rasterio.features.rasterize(((g, 1) for g in frame.geometry), (400, 500), transform=TURNED)
    assert not hole[tile].any()


def test_a_read_that_fails_once_is_no_damage(tmp_path, place, small_windows, monkeypatch):
    scene = write(tmp_path / "a.tif", ground(200, 200))
    _, _, figures = answered(scene, place, untrained())
    real, failed = units.read, []

    def read(*asked_for):
        if not failed:
            failed.append(1)
            raise OSError("a fault of the network")
        return real(*asked_for)

    monkeypatch.setattr(units, "read", read)
    again = place[0], leases.take(place[0] / "work", attempt=2).folder
    shutil.rmtree(place[0] / parts.FOLDER)
    together, question, after = answered(scene, again, untrained())
    assert failed and (after == figures).all()
    assert not len(damaged.of_scene(question.folder, question.digests[0], list(together.units)))


def test_a_damaged_mask_is_not_measured_where_it_is(tmp_path, place, small_windows):
    scene = write(tmp_path / "a.tif", ground(200, 300))
    mask = write(tmp_path / "m.tif", ground(200, 300)[0] % 2)
    damage(mask, 0, "short")
    together, question, figures = answered(scene, place, untrained(), mask=mask)
    assert 0 < figures[:9].sum() < 200 * 300 and figures[-3:].sum() == 200 * 300
    (said,) = damaged.words(damaged.of_scene(question.folder, question.digests[0], list(together.units)))
    assert said.startswith("The mask cannot be read in 1 window, which is not measured: at 0, 0")


def test_workers_share_the_units(tmp_path, place, small_windows):
    scene = write(tmp_path / "a.tif", ground(300, 300))
    together, question, figures = answered(scene, place, untrained())
    target = PixelClasses(LABELS)
    whole_question = Question(place[1] / "masks", CODING, replace(question, digests=("f" * 64,)))
    saved = Saved(tmp_path, registry.of("pixels"), target, Rows(together, numpy.zeros(len(together.units))), details=whole_question)
    shares = [replace(saved, rows=rows) for rows in saved.rows.parts(2)]
    outputs = numpy.concatenate([asking.answered(untrained(), share, DEVICE, None) for share in shares])
    assert len(shares) == 2 and (outputs.sum(axis=0) == figures).all()


def test_a_mask_beside_a_scene_gives_scores(tmp_path, place, small_windows):
    values = ground(200, 300)
    values[:, :20] = 0
    scene = write(tmp_path / "a.tif", values, nodata=0)
    together, question, _ = answered(scene, place, untrained())
    whole(together, question, place)
    with rasterio.open(place[1] / "0.tif") as made:
        band = made.read(1)
    mask = write(tmp_path / "m.tif", numpy.where(band == 255, 0, band).astype(numpy.uint8))
    scored = OfScenes(*place, CODING, ("e" * 64,))
    again = Units(None, (asked(scene, mask),), together.units, together.owner, FORM, 1, 64)
    figures = numpy.sum([answering.answer(untrained(), again, row, scored, CLASSES, DEVICE) for row in range(len(together.units))], axis=0)
    assert numpy.diagonal(figures[:9].reshape(3, 3)).sum() == (band < EMPTY).sum() == figures[:9].sum()


def test_a_geopackage_has_what_the_standard_asks_for(tmp_path, place, small_windows):
    scene = write(tmp_path / "a.tif", ground(130, 130))
    together, question, _ = answered(scene, place, untrained())
    whole(together, question, place)
    base = sqlite3.connect(place[1] / "0.gpkg")
    assert base.execute("PRAGMA application_id").fetchone() == (0x47504B47,)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert {row[0] for row in base.execute("SELECT srs_id FROM gpkg_spatial_ref_sys")} == {-1, 0, 4326, 3413}
    document = json.loads((place[1] / "0.geojson").read_text())
    assert set(document["features"][0]["properties"]) == {"class", "score", "area_m2", "pixels"}


@pytest.mark.parametrize("error", [OSError("TIFFAppendToStrip: write error"), sqlite3.OperationalError("database or disk is full")])
def test_a_disk_that_fills_while_a_map_is_written_is_called_full(tmp_path, monkeypatch, error):
    monkeypatch.setattr(handing.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1000}))
    with pytest.raises(OSError, match="No space left"), handing.telling_full(tmp_path):
        raise error
    monkeypatch.undo()
    with pytest.raises(type(error), match=r"write error|disk is full"), handing.telling_full(tmp_path):
        raise error


def test_a_full_disk_is_seen_before_anything_is_answered(tmp_path, monkeypatch):
    scene = asked(write(tmp_path / "a.tif", ground(130, 130)))
    monkeypatch.setattr(handing.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1 << 29}))
    with pytest.raises(handing.UserError, match="free"):
        handing.check_disk(tmp_path, [scene], True)


@pytest.mark.parametrize("side", [40, 1024])
def test_the_small_picture_of_a_scene_is_every_so_many_pixels_of_its_map(tmp_path, place, small_windows, monkeypatch, side):
    monkeypatch.setattr(overlay, "SIDE", side)
    monkeypatch.setattr(units, "PIXELS", 1 << 15)  # several units across
    scene = write(tmp_path / "scene.tif", ground(300, 410))
    together, question, _ = answered(scene, place, untrained())
    assert len({(u.rows.start, u.columns.start) for u in together.units}) > 4
    target = PixelClasses(LABELS)
    overview.draw(together.scenes[0], question.folder, question.digests[0], list(together.units), target, tmp_path / "drawn", 0)
    said, step = numpy.zeros((300, 410), numpy.uint8), -(-410 // side)
    for unit, values in maps.arrays(question.folder, question.digests[0], together.units, parts.VALUES):
        said[unit.rows, unit.columns] = values
    with rasterio.open(scene) as dataset:
        pixels, _ = units.read(dataset, together.scenes[0].scene, (slice(0, 300), slice(0, 410)), FORM)
    with Image.open(tmp_path / "drawn" / "0.png") as image:
        assert (numpy.asarray(image) == shown.overlaid(shown.seen(pixels)[::step, ::step], said[::step, ::step], target)).all()
    parts.place(question.folder, question.digests[0], together.units[-1].number).unlink()
    overview.draw(together.scenes[0], question.folder, question.digests[0], list(together.units), target, tmp_path / "other", 0)
    assert not (tmp_path / "other").exists()
