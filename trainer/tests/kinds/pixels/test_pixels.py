"""A class or a number for each pixel: how masks are read, windows are drawn and answered, and answers are counted and delivered."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy
import pytest
import tifffile
import torch
from conftest import events_of
from loading import load, settings_of
from PIL import Image
from small_datasets import masked, png

from trainer.config import spec as specs
from trainer.core.example import Example
from trainer.core.input import Input
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.data.sources import Sources
from trainer.errors import UserError
from trainer.export import sheet
from trainer.kinds.pixels import asking, codings, delivery, encoder as encoding, inference, measures, overlay, reading, shown, splitting
from trainer.kinds.pixels.content import Pixels
from trainer.kinds.pixels.encoder import Encoder
from trainer.kinds.pixels.network import UNet
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.target import Counted, PixelClasses, ious
from trainer.kinds.pixels.windows import Windows
from trainer.run_folder.events import Events

LABELS = ("soil", "ice", "water")


def classes_of(tmp_path, pixels, coding, kind="PNG", palette=()):
    image = Image.fromarray(pixels)
    if palette:
        image.putpalette(palette)
    image.save(tmp_path / "mask", kind)
    return coding.read(tmp_path / "mask").tolist()


@pytest.mark.parametrize(
    ("pixels", "coding", "expected"),
    [
        ([[0, 255]], codings.Classes((0, 255)), [[0, 1]]),
        ([[0, 7, 255]], codings.Classes((0, 7), 255), [[0, 1, codings.UNLABELLED]]),
        ([[3, 0, 9]], codings.Classes((0, 3)), [[1, 0, codings.UNLABELLED]]),
        ([[5, 250]], codings.Classes((0, 255), halved=True), [[0, 1]]),
    ],
)
def test_values_are_classes_by_their_place(tmp_path, pixels, coding, expected):
    assert classes_of(tmp_path, numpy.asarray(pixels, numpy.uint8), coding) == expected


def test_a_palette_gives_its_places_and_not_its_colours(tmp_path):
    assert classes_of(tmp_path, numpy.asarray([[0, 1, 2]], numpy.uint8), codings.Classes((0, 1, 2)), palette=(9, 9, 9) * 3) == [[0, 1, 2]]


def test_blended_colours_are_their_nearest_class_or_unknown(tmp_path):
    coding = codings.Classes((0x000000, 0xFF0000), colours=True)
    pixels = numpy.asarray([[[0, 0, 0], [250, 3, 0], [128, 0, 0]]], numpy.uint8)
    assert classes_of(tmp_path, pixels, coding) == [[0, 1, codings.UNLABELLED]]


def test_a_coding_survives_as_json():
    for coding in (codings.Classes((0, 255), None, True), codings.Classes((1, 2), 255, colours=True), codings.Numbers(3.5, 0.25)):
        assert codings.restored(json.loads(json.dumps(coding.described()))) == coding


def test_deep_masks_are_read_whole(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", numpy.asarray([[0, 1000], [300, 0]], numpy.uint16))
    assert codings.Classes((0, 300, 1000)).read(tmp_path / "a.tif").tolist() == [[0, 2], [1, 0]]
    tifffile.imwrite(tmp_path / "b.tif", numpy.asarray([[0, 1], [2, numpy.nan]], numpy.float32))
    assert codings.counted(tmp_path / "b.tif", colours=False) == Counter({0: 1, 1: 1, 2: 1, 255: 1})


@pytest.mark.parametrize(
    ("name", "scene"),
    [
        ("a/FID_481_Polygon_2.jpg", "a/FID_481_Polygon"),
        ("scene7_tile_3_4.png", "scene7"),
        ("12.png", ""),
        ("plot.png", ""),
        ("s2-0512-1024.tif", "s2"),
    ],
)
def test_the_scene_of_a_tile_is_what_is_before_its_number(name, scene):
    assert splitting.scene(name) == scene


def test_tiles_of_one_scene_stay_in_one_split(tmp_path):
    events = Events(tmp_path / "events.jsonl", 1)
    examples = [Example(f"scene{s}_{i}.png", 0, tmp_path / f"{s} {i}", "filled", group=f"scene{s}") for s in range(20) for i in range(4)]
    found = splitting.split(splitting.by_names(examples), [], Keys(lambda e: e.content.name), settings_of("train", {}), Checks(events))
    assert all(found.values())
    scenes = [{e.group for e in rows} for rows in found.values()]
    assert sum(map(len, scenes)) == len(set().union(*scenes)) == 20


def windows(tmp_path, sizes, classes=3, side=64, **more):
    """Pictures of noise whose mask is 1 in the first row of a picture, and else 0."""
    chance = numpy.random.default_rng(0)
    shapes = [(h, w) for h, w in sizes]
    with open(tmp_path / "pixels.bin", "wb") as pixels, open(tmp_path / "truth.bin", "wb") as truth:
        for height, width in shapes:
            pixels.write(chance.integers(0, 256, (height, width, 2), numpy.uint8).tobytes())
            right = numpy.zeros((height, width), numpy.uint8 if classes else numpy.float32)
            right[0] = 1
            truth.write(right.tobytes())
    values = {"augmentation": "none", "bare": numpy.zeros(len(shapes), bool), "spread": (0.0, 1.0), "step": 1, "owner": numpy.arange(len(shapes))}
    return Windows(
        str(tmp_path / "pixels.bin"), str(tmp_path / "truth.bin"), numpy.asarray(shapes), bands=2, side=side, classes=classes, **values | more
    )


def test_windows_of_small_pictures_are_filled_up_by_unknown_pixels(tmp_path):
    data = windows(tmp_path, [(70, 90), (40, 64)])
    batch = data.batch(numpy.asarray([0, 1]), numpy.random.default_rng(1))
    assert batch["pixel_values"].shape == (2, 2, 64, 64)
    assert (batch["learnt"][1][40:] == codings.UNLABELLED).all()
    assert (batch["learnt"][1][0] == 1).all()
    assert "learnt" not in data.batch(numpy.asarray([0]))


def test_a_turned_picture_is_filled_up_below_and_on_the_right(tmp_path):
    data, shapes = windows(tmp_path, [(40, 64)], augmentation="light"), set()
    for seed in range(12):
        known = data.batch(numpy.asarray([0]), numpy.random.default_rng(seed))["learnt"][0] != codings.UNLABELLED
        shapes.add(shape := (known[:, 0].sum(), known[0].sum()))
        assert known[: shape[0], : shape[1]].all() and known.sum() == 40 * 64
    assert shapes == {(40, 64), (64, 40)}


@pytest.mark.parametrize(
    ("whole", "chosen", "expected"),
    [(768, 0, (112, "whole pictures, which are up to 100 pixels")), (96, 0, (64, "windows of 64 x 64")), (768, 70, (64, "as requested"))],
)
def test_windows_are_whole_pictures_unless_these_are_large(whole, chosen, expected, make_run, monkeypatch):
    monkeypatch.setattr(encoding, "WHOLE", whole)
    spec = specs.load(make_run(masked(12, side=100)))
    events = Events(spec.folder / "events.jsonl", 1)
    data = load(spec, events)
    made, settings = encoding.encoder(spec, settings_of("train", {"image_size": chosen}), data, SimpleNamespace(folder=None), events)
    assert (made.shape["side"], settings.batch_size) == (expected[0], 8)
    assert expected[1] in next(e["why"] for e in events_of(spec.folder) if e.get("what") == "window")


def test_windows_are_a_function_of_the_generator(tmp_path):
    data = windows(tmp_path, [(200, 300)], augmentation="strong")
    one, same, other = (data.batch(numpy.asarray([0]), numpy.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all((one[name] == same[name]).all() for name in one)
    assert (one["pixel_values"] != other["pixel_values"]).any()


def test_pictures_without_rare_classes_are_at_most_half(tmp_path):
    bare = numpy.asarray([False] + [True] * 9)
    data = windows(tmp_path, [(64, 64)] * 10, bare=bare)
    chance = numpy.random.default_rng(0)
    drawn = numpy.asarray([bare[data._balanced(int(chance.integers(10)), chance)] for _ in range(2000)])
    assert 0.42 < drawn.mean() < 0.58


def test_truth_moves_with_the_pixels(tmp_path):
    data = windows(tmp_path, [(64, 64)], augmentation="light")
    for seed in range(8):
        targets = data.batch(numpy.asarray([0]), numpy.random.default_rng(seed))["learnt"][0]
        edges = [targets[0], targets[-1], targets[:, 0], targets[:, -1]]
        assert sum((edge == 1).all() for edge in edges) == 1


def untrained(step, outputs=3):
    torch.manual_seed(0)
    model = UNet(2, outputs, step)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_var.fill_(0.3)
    return model.eval()


@pytest.mark.parametrize("step", [1, 4])
def test_a_large_picture_is_answered_in_windows_as_at_once(step, monkeypatch):
    pixels = numpy.random.default_rng(0).integers(0, 256, (192, 700 if step == 1 else 1800, 2), numpy.uint8)
    model = untrained(step)
    parts = numpy.zeros(pixels.shape[:2], int)
    for rows, columns, logits in inference.answered(model, pixels, torch.device("cpu")):
        parts[rows, columns] = logits.argmax(-1).numpy()
    assert parts.any()
    monkeypatch.setattr(inference, "CORE", 4096)
    ((_, _, logits),) = inference.answered(model, pixels, torch.device("cpu"))
    whole = logits.argmax(-1).numpy()
    assert (parts == whole)[64:-64, 64:-64].mean() >= 0.999


def test_figures_of_workers_are_those_of_one(tmp_path, monkeypatch):
    data, model = windows(tmp_path, [(70, 90), (40, 64), (64, 64)]), untrained(1)
    alone = inference.figures(model, data, torch.device("cpu"))
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda values: None)
    parts = [inference.figures(model, data, torch.device("cpu"), rank, 2) for rank in range(2)]
    assert (sum(parts) == alone).all()
    assert alone[:, :9].sum() == data.sizes.prod(axis=1).sum()


def test_metrics_follow_from_the_confusion():
    truth = numpy.asarray([[0, 0, 1, 1], [0, 0, 1, codings.UNLABELLED]], numpy.uint8)
    answer = numpy.asarray([[0, 1, 1, 1], [0, 0, 0, 2]], numpy.uint8)
    target = PixelClasses(LABELS)
    figures = measures.of_classes(truth, answer, 3.5, 3)
    assert target.confusion(figures).tolist() == [[3, 1, 0], [1, 2, 0], [0, 0, 0]]
    assert target.areas(figures).tolist() == [4, 3, 1]
    assert ious(target.confusion(figures))[:2] == pytest.approx([3 / 5, 2 / 4])
    scores = target.summary(Counted(figures[None]))
    assert (scores["mean_iou"], scores["pixel_accuracy"], scores["loss"]) == pytest.approx((0.55, 5 / 7, 0.5))


def test_borders_within_two_pixels_are_hit():
    truth, answer = numpy.zeros((20, 20), numpy.uint8), numpy.zeros((20, 20), numpy.uint8)
    truth[:, 8:], answer[:, 10:] = 1, 1
    assert measures.borders(truth, answer) == (20, 20, 20, 20)
    answer[:, 10:12] = 0
    assert measures.borders(truth, answer)[0] == 0


def test_borders_are_counted_alike_in_strips(monkeypatch):
    chance = numpy.random.default_rng(0)
    truth, answer = (chance.integers(0, 3, (50, 30), numpy.uint8) for _ in range(2))
    whole = measures.borders(truth, answer)
    monkeypatch.setattr(measures, "_STRIP", 7)
    assert measures.borders(truth, answer) == whole


def test_numbers_are_measured_in_their_unit():
    truth, answer = numpy.asarray([[1.0, 3.0, numpy.nan]], numpy.float32), numpy.asarray([[2.0, 3.0, 9.0]], numpy.float32)
    scores = PixelNumbers(2.0, 1.0).summary(Counted(measures.of_numbers(truth, answer)[None]))
    assert (scores["rmse"], scores["mae"], scores["r2"]) == pytest.approx((0.5**0.5, 0.5, 0.5))


def test_intervals_are_over_pictures():
    figures = numpy.concatenate(
        [measures.of_classes(numpy.zeros((8, 8), numpy.uint8), numpy.full((8, 8), i % 2, numpy.uint8), 1, 3)[None] for i in range(10)]
    )
    score = PixelClasses(LABELS).report(Counted(figures), 0)["pixel_accuracy"]
    assert score["n"] == 10
    assert score["low"] < 0.35 < 0.65 < score["high"]


def test_unknown_pixels_are_not_learnt():
    target = PixelClasses(LABELS)
    logits = torch.zeros(1, 2, 2, 3, requires_grad=True)
    targets = torch.tensor([[[0, codings.UNLABELLED], [codings.EMPTY, 1]]], dtype=torch.uint8)
    target.loss(logits, targets, None, 0.0).backward()
    assert (logits.grad[0, 0, 1] == 0).all() and (logits.grad[0, 1, 0] == 0).all()
    assert (logits.grad[0, 0, 0] != 0).any()


def test_delivered_masks_have_the_values_that_were_learnt(tmp_path):
    coding = codings.Classes((0, 255))
    delivery.write(tmp_path, 0, numpy.asarray([[0, 1, codings.EMPTY]], numpy.uint8), coding)
    with Image.open(tmp_path / "0.png") as image:
        assert numpy.asarray(image).tolist() == [[0, 255, 254]]
    delivery.hand_over(tmp_path, ["a/x.jpg"], tmp_path / "out")
    assert (tmp_path / "out" / "answers" / "a" / "x.png").is_file()


def test_pictures_of_like_names_keep_their_masks_in_files_that_the_service_takes(tmp_path):
    names = ["x.jpg", "x.png", "X.png", "a:b.png", "dir/ÄÖ .png"]
    for number in range(len(names)):
        delivery.write(tmp_path / "masks", number, numpy.zeros((2, 2), numpy.uint8), codings.Classes((0, 1)))
    delivery.hand_over(tmp_path / "masks", names, tmp_path / "out")
    made = sorted(f.relative_to(tmp_path / "out" / "answers").as_posix() for f in (tmp_path / "out").rglob("*.png"))
    assert made == sorted(["x.png", "x.png.png", "X.png 2.png", "a_b.png", "dir/ÄÖ .png"])


def test_a_prediction_of_more_pictures_than_the_service_takes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ANSWERS", 2)
    (tmp_path / "a.png").write_bytes(png(numpy.zeros((8, 8, 3), numpy.uint8)))
    pictures = [Input(f"p{i}.png", tmp_path / "a.png", 1, "") for i in range(3)]
    with pytest.raises(UserError) as e:
        reading.to_predict(Sources(images=pictures), measured=False)
    assert e.value.code == "too_many_files" and "3 pictures" in e.value.what


def test_pixels_without_data_are_unknown_and_stay_so(tmp_path):
    pixels = numpy.full((64, 64, 4), 200, numpy.uint8)
    pixels[:9, :, 3] = 0
    (tmp_path / "a.png").write_bytes(png(pixels))
    (tmp_path / "m.png").write_bytes(png(numpy.ones((64, 64), numpy.uint8)))
    made = Encoder({"coding": codings.Classes((0, 1)).described(), "side": 64, "step": 1}, tmp_path / "work")
    rows = made.encode([Example("a.png", 0, Pixels(tmp_path / "a.png", tmp_path / "m.png"), "m.png")], numpy.ones(1), "test")
    assert (rows.features.truth(0)[:9] == codings.EMPTY).all()
    model = UNet(3, 2, 1)
    found, _ = inference.answer(model, rows.features, 0, torch.device("cpu"))
    assert (found[:9] == codings.EMPTY).all() and (found[9:] < 2).all()


def test_the_report_shows_the_worst_windows_first(tmp_path):
    data = windows(tmp_path, [(256, 256)] * 30)
    chooser = shown.Chooser(data, PixelClasses(LABELS))
    for number in range(30):
        answer = numpy.array(data.truth(number))
        answer[: 8 * number] = 2
        chooser.look(number, answer)
    found = chooser.chosen(lambda number: numpy.array(data.truth(number)))
    worst = [w.picture for w in found if w.sort == shown.WORST]
    assert worst == list(range(29, 17, -1))
    assert not set(worst) & {w.picture for w in found if w.sort == shown.TYPICAL}
    assert overlay.words(PixelClasses(LABELS)).lower().startswith("orange is soil, blue is ice and green is water; ")


@pytest.mark.parametrize(("labels", "painted"), [(("background", "ice"), False), (("0", "1"), False), (("soil", "ice"), True)])
def test_all_classes_but_the_ground_are_painted_in_the_colours_of_the_legend(labels, painted):
    pixels, target = numpy.zeros((4, 4, 3), numpy.uint8), PixelClasses(labels)
    pixels[:, :2] = 250, 10, 10  # false colours
    classes = numpy.asarray([[0, 1, 0, 1]] * 3 + [[codings.UNLABELLED] * 4])
    drawn = shown.overlaid(pixels, classes, target).astype(int)
    assert (numpy.ptp(drawn[0, [0, 2]], axis=1) > 0).all() == painted, "what is not painted is grey"
    assert drawn[3].max() < 100 <= drawn[:3].max(axis=2).min(), "what is unknown is darker than all else"
    legend = overlay.legend(target)
    assert ("grey" in legend[0][1]) == (not painted) == ("is grey" in overlay.words(target))
    assert numpy.ptp(drawn[0, 1] - drawn[0, 3]) <= 1, "the picture below makes colours lighter and no others"


BLACK, RED, BLUE, YELLOW = (0, 0, 0), (230, 25, 75), (0, 90, 200), (255, 225, 25)


@pytest.mark.parametrize(
    ("labels", "colours", "own"),
    [
        (("background", "ice", "water"), (BLACK, YELLOW, BLUE), True),
        (("#000000", "#e6194b", "#005ac8"), (BLACK, RED, BLUE), True),
        (("background", "ice", "water"), (BLACK, (200, 60, 60), (120, 110, 60)), False),  # alike without green cones
        (("background", "ice", "water"), (BLACK, (255, 255, 255), BLUE), False),  # white is like a light ground
        (("soil", "ice", "water"), (BLACK, YELLOW, BLUE), False),  # black is like unknown pixels
    ],
)
def test_pictures_have_the_colours_of_the_masks_where_people_can_tell_them_apart(labels, colours, own):
    target = PixelClasses(labels, colours=colours)
    coding = codings.Classes(tuple((r << 16) + (g << 8) + b for r, g, b in colours), colours=True, labels=labels)
    assert coding.in_colours == colours and PixelClasses.restored(json.loads(json.dumps(target.described()))) == target
    paints = [colour for colour, _ in overlay.legend(target)[1:3]]
    masks = [tuple(delivery.palette(coding)[v].tolist()) for v in (1, 2)]
    assert (paints == masks) == own
    assert ("colours are those of the masks" in overlay.words(target)) == own == ("keep the colours" not in overlay.words(target))


def test_bands_are_seen_as_their_names_say():
    pixels = numpy.arange(4, dtype=numpy.uint8)[None, None]
    assert shown.seen(pixels, ("Blue", "green", "band 3 (red)", "nir"))[0, 0].tolist() == [2, 1, 0]
    assert shown.seen(pixels, ("a", "b", "c", "d"))[0, 0].tolist() == shown.seen(pixels)[0, 0].tolist() == [0, 1, 2]


def test_words_that_are_too_long_for_a_sheet_keep_both_ends(tmp_path):
    panels = [sheet.Panel(Image.new("RGB", (64, 64), (9, 9, 9)), f"Truth: {'long name ' * 12}tile_007.png")] * 2
    told = sheet.write(tmp_path, panels, 2, [((230, 159, 0), "x" * 300), ((0, 0, 0), "soil")], "text")
    assert list(told) == [f"out/{sheet.FILE}"]
    with Image.open(tmp_path / sheet.FILE) as image:
        assert image.width < sheet.WIDTH and (230, 159, 0) in {colour for _, colour in image.convert("RGB").getcolors(1 << 20)}


def test_the_sheet_of_one_picture_is_as_wide_as_that(tmp_path):
    sheet.write(tmp_path, [sheet.Panel(Image.new("RGB", (900, 800)), "tall")], 1, [((0, 0, 0), "soil")], "text")
    with Image.open(tmp_path / sheet.FILE) as image:
        assert 720 < image.width < 760


def test_a_question_without_folder_writes_nothing(tmp_path):
    data = windows(tmp_path, [(64, 64)])
    saved = SimpleNamespace(rows=SimpleNamespace(features=data), details=None, target=PixelClasses(LABELS))
    assert asking.answered(untrained(1), saved, torch.device("cpu"), None).shape == (1, measures.width(3))
