"""Annotations with outlines as the class of each pixel: read from every format, drawn, split, trained on and scored."""

import json

import annotated_files as made
import numpy
import pytest
from loading import load, read_rows
from PIL import Image, ImageOps
from result_checks import check_training, result_of
from small_datasets import png

from trainer.config import spec as specs
from trainer.core.columns import Columns
from trainer.core.input import Input
from trainer.errors import UserError
from trainer.kinds.annotated import runs
from trainer.kinds.annotated.shapes import Picture, Shape
from trainer.kinds.pixels import codings, drawn, outlined
from trainer.kinds.pixels.drawn import BACKGROUND, Drawing
from trainer.kinds.pixels.target import PixelClasses
from trainer.run import run
from trainer.run_folder.events import Events

TASK = "image-segmentation"
OUTLINES = ("coco-polygons", "coco-runs", "coco-text", "via-1", "via-2", "via-3", "yolo-segments", "labelme", "label-studio", "cvat")
BOXES = ("coco-boxes", "via-csv", "yolo", "voc", "table")
LABELS = (BACKGROUND, *made.CLASSES)


def loaded(make_run, files: dict, **values):
    """The data of a training whose user wants a class for each pixel, and what was said of it."""
    spec = specs.load(make_run(files))
    events = Events(spec.folder / "events.jsonl", 1)
    data = load(spec, events, task=TASK, **values)
    written = (spec.folder / "events.jsonl").read_text().splitlines()
    return data, {e.get("what", e.get("code")): e.get("why", e.get("text", "")) for e in map(json.loads, written)}


def examples(data) -> dict:
    return {e.file: e for rows in data.splits.values() for e in rows}


def right(scene: made.Scene) -> numpy.ndarray:
    """The class of each pixel of a scene, by the boxes that hold its discs and squares."""
    found = numpy.zeros((made.HEIGHT, made.WIDTH), numpy.uint8)
    y, x = numpy.mgrid[: made.HEIGHT, : made.WIDTH] + 0.5
    for thing in scene.things:
        left, top, right_, bottom = thing.box
        inside = (x > left) & (x < right_) & (y > top) & (y < bottom)
        if thing.label == "disc":
            inside &= (x - (left + right_) / 2) ** 2 + (y - (top + bottom) / 2) ** 2 < ((right_ - left) / 2) ** 2
        found[inside] = LABELS.index(thing.label)
    return found


@pytest.mark.parametrize("form", OUTLINES)
def test_outlines_of_every_format_are_the_same_classes(form, make_run):
    scenes = made.scenes(18)
    data, _ = loaded(make_run, {**made.pictures(scenes), **made.FORMS[form](scenes)})
    assert (data.task, data.kind.name, data.labels) == (TASK, "pixels", LABELS)
    by_name = examples(data)
    assert set(by_name) == {s.name for s in scenes}
    apart = total = 0
    for scene in scenes:
        content = by_name[scene.name].content
        read, expected = content.coding.read(content.mask), right(scene)
        apart += int((read != expected).sum())
        total += int((expected > 0).sum())
        assert by_name[scene.name].target == "; ".join(LABELS[i] for i in numpy.unique(read))
    assert apart < 0.06 * total


@pytest.mark.parametrize("form", BOXES)
def test_boxes_alone_are_refused_with_the_reason(form, make_run):
    scenes = made.scenes(12)
    with pytest.raises(UserError) as e:
        loaded(make_run, {**made.pictures(scenes), **made.FORMS[form](scenes)})
    assert e.value.code == "no_outlines"
    assert "a box does not say which of its pixels" in e.value.what and "object-detection" in e.value.do


def test_annotations_without_a_setting_are_objects_and_tell_of_the_other_task(make_run):
    scenes = made.scenes(18)
    spec = specs.load(make_run({**made.pictures(scenes), **made.FORMS["coco-polygons"](scenes)}))
    events = Events(spec.folder / "events.jsonl", 1)
    assert load(spec, events).kind.name == "objects"
    assert "set task to image-segmentation" in events.path.read_text()
    spec = specs.load(make_run({**made.pictures(scenes), **made.FORMS["coco-boxes"](scenes)}, run="boxes"))
    events = Events(spec.folder / "events.jsonl", 1)
    load(spec, events)
    assert "image-segmentation" not in events.path.read_text()


def test_pictures_listed_without_objects_are_background_and_others_are_left_out(make_run):
    scenes, others = made.scenes(18), made.scenes(2, 5, "images/other_")
    data, said = loaded(make_run, {**made.pictures([*scenes, *others]), **made.FORMS["coco-polygons"](scenes)})
    by_name = examples(data)
    empty = [s.name for s in scenes if not s.things]
    assert empty and all(by_name[name].target == BACKGROUND for name in empty)
    assert not {s.name for s in others} & set(by_name)
    assert "other_s5_000.png" in said["not_annotated"] and ("the picture has no annotations", 2) in data.dropped


def test_splits_are_those_of_folders_and_files(make_run):
    files = {}
    for seed, (split, number) in enumerate((("train", 9), ("val", 6), ("test", 6))):
        listed = [made.Scene(f"{split}/tile_{i}.png", s.data, s.things) for i, s in enumerate(made.scenes(number, seed + 3))]
        files |= made.pictures(listed) | {f"{split}/via_region_data.json": json.dumps(made.via(listed, 1))}
    data, _ = loaded(make_run, files)
    assert {n: len(rows) for n, rows in data.splits.items()} == {"train": 9, "validation": 6, "test": 6}
    data, said = loaded(
        make_run,
        {n: c for n, c in files.items() if not n.startswith("train/")},
    )
    assert len(data.splits["test"]) == 6 and "validation" in said["training_pictures"]


def test_a_class_of_the_test_alone_is_said_and_not_measured(make_run):
    train, test = made.scenes(12, 1, "train/"), made.scenes(6, 2, "test/")
    value = made.coco([*train, *test])
    value["categories"].append({"id": 7, "name": "pond"})
    last = value["annotations"][-1]
    last["category_id"] = 7
    data, said = loaded(make_run, {**made.pictures([*train, *test]), "instances.json": json.dumps(value)})
    assert data.labels == LABELS and "pond" in said["unknown_labels"]
    content = examples(data)[value["images"][last["image_id"]]["file_name"]].content
    assert (content.coding.read(content.mask) == codings.UNLABELLED).any()


def test_objects_with_a_box_alone_are_unknown_pixels(make_run):
    scenes = made.scenes(18)
    value = made.coco(scenes)
    del value["annotations"][0]["segmentation"]
    data, said = loaded(make_run, {**made.pictures(scenes), "instances.json": json.dumps(value)})
    content = examples(data)[scenes[0].name].content
    left, top, width, height = map(int, value["annotations"][0]["bbox"])
    assert (content.coding.read(content.mask)[top : top + height, left : left + width] == codings.UNLABELLED).all()
    assert said["boxes_only"].startswith("1 object")


def test_outlines_in_the_test_alone_are_nothing_to_learn(make_run):
    train = [made.Scene(s.name, s.data, ()) for s in made.scenes(12, 1, "train/")]
    test = made.scenes(6, 2, "test/")
    with pytest.raises(UserError) as e:
        loaded(make_run, {**made.pictures([*train, *test]), **made.FORMS["coco-polygons"]([*train, *test])})
    assert e.value.code == "one_class" and "No training picture has an outline" in e.value.what


def test_outlines_of_nothing_are_refused(make_run):
    scenes = made.scenes(18)
    value = made.coco(scenes)
    for entry in value["annotations"]:
        entry["segmentation"] = [[1, 1, 9, 9]]
    with pytest.raises(UserError) as e:
        loaded(make_run, {**made.pictures(scenes), "instances.json": json.dumps(value)})
    assert e.value.code == "no_annotations" and "fewer than three points" in e.value.why


def test_pictures_that_are_almost_all_empty_are_warned_of(make_run):
    scenes = [made.Scene(s.name, s.data, s.things if i == 3 else ()) for i, s in enumerate(made.scenes(40))]
    _, said = loaded(make_run, {**made.pictures(scenes), **made.FORMS["coco-polygons"](scenes)}, duplicates="keep")
    assert "39 of 40" in said["empty_masks"]


SQUARE = numpy.asarray([(1, 1), (7, 1), (7, 7), (1, 7)], float)


def shape(label="a", ring=SQUARE, **more) -> Shape:
    return Shape(label, (*ring.min(axis=0), *ring.max(axis=0)), (ring,), **more)


def test_the_later_shape_is_on_top_and_holes_are_kept():
    inner = shape("b", SQUARE / 2 + 2)
    read = Drawing((shape(holes=(SQUARE / 3 + 3,)), shape("b", SQUARE + 4)), 12, 12).classes((BACKGROUND, "a", "b"), 254)
    assert (read[1, 1], read[4, 4], read[6, 6], read[11, 11], read[0, 0]) == (1, 0, 2, 0, 0)
    over = Drawing((shape(), inner), 12, 12).classes((BACKGROUND, "a", "b"), 254)
    under = Drawing((inner, shape()), 12, 12).classes((BACKGROUND, "a", "b"), 254)
    assert over[4, 4] == 2 and under[4, 4] == 1
    assert (over > 0).sum() == (under > 0).sum() == 36


def test_run_lengths_keep_their_pixels_beside_a_border():
    mask = numpy.zeros((6, 9), bool)
    mask[2:, 5:] = True
    mask[3, 6] = False
    drawing = Drawing((Shape("a", (5, 2, 9, 6), runs=runs.of_mask(mask)),), 9, 6)
    assert ((drawing.classes((BACKGROUND, "a"), 254) == 1) == mask).all()


def test_drawings_are_as_the_stored_picture_and_not_as_the_turned_one(tmp_path):
    seen = numpy.zeros((6, 9), numpy.uint8)
    seen[1:3, 2:8] = 1
    ring = numpy.asarray([(2, 1), (8, 1), (8, 3), (2, 3)], float)
    for value in range(1, 9):
        file = tmp_path / f"{value}.png"
        drawing = Drawing((shape(ring=ring),), 9, 6, value)
        stored = Image.fromarray(drawing.classes((BACKGROUND, "a"), 254))
        exif = Image.Exif()
        exif[0x0112] = value
        stored.save(file, exif=exif)
        with Image.open(file) as image:
            assert image.size == drawing.size
            assert (numpy.asarray(ImageOps.exif_transpose(image)) == seen).all()


def test_a_class_called_background_is_as_no_shape(tmp_path):
    (tmp_path / "a.png").write_bytes(png(numpy.zeros((12, 12, 3), numpy.uint8)))
    picture = Picture(Input("a.png", tmp_path / "a.png", 1, ""), 12, 12, "", [shape("a; b"), shape("Background", SQUARE / 3 + 3)])
    drawing = drawn.of(picture, apart=False)
    read = drawing.classes((BACKGROUND, "a, b"), 254)
    assert (read == 1).sum() == 36 - (read[1:7, 1:7] == 0).sum() and read[4, 4] == 0
    assert outlined.in_words(drawing) == "outlines: a, b; background"


def test_pictures_to_predict_have_the_drawings_beside_them(make_run):
    scenes = made.scenes(9)
    files = {**made.pictures(scenes), **made.FORMS["via-2"](scenes[:8])}
    spec = specs.load(make_run(files))
    rows, _, _ = read_rows(spec, Events(spec.folder / "events.jsonl", 1), "pixels", Columns((), {"mask": "category"}))
    assert [isinstance(e.content.mask, Drawing) for e in rows] == [True] * 8 + [False]
    assert [bool(e.target) for e in rows] == [True] * 8 + [False]
    files = {**made.pictures(scenes), **made.FORMS["coco-boxes"](scenes)}
    spec = specs.load(make_run(files, run="boxes"))
    events = Events(spec.folder / "events.jsonl", 1)
    rows, _, _ = read_rows(spec, events, "pixels", Columns((), {"mask": "category"}))
    assert not any(e.target for e in rows) and "boxes" in events.path.read_text()


def test_outlines_of_foreign_classes_are_not_compared_with_answers():
    target = PixelClasses(LABELS)
    told = {"outlines: disc; pond": 1, "outlines: pond": 0, "outlines: background": 1, "masks/a.png": 1, "disc; square": 1, "": 0}
    assert target.encode(list(told)).tolist() == list(told.values())


def test_outlines_are_learnt_and_new_ones_scored(make_run, schemas):
    scenes = made.scenes(60, width=64, height=48)
    files = {**made.pictures(scenes), **made.FORMS["coco-polygons"](scenes)}
    spec = make_run(files, run="ft-outlines", model="pixels-unet", task=TASK, epochs=15, batch_size=8)
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert result["metrics"]["test"]["mean_iou"]["value"] > 0.6
    blocks = {b["title"]: b for s in result["sections"] for b in s["blocks"] if "title" in b}
    assert [row[0]["text"] for row in blocks["Classes in the test data"]["rows"]] == list(LABELS)
    assert "1 is disc" in json.dumps(result["sections"])
    model = {"path": "../ft-outlines/out/model", "run": "ft-outlines", "name": "m", "version": 1}
    new = made.scenes(4, 9)
    asked = make_run({**made.pictures(new), **made.FORMS["labelme"](new)}, run="pr-outlines", kind="predict", more={"model": model})
    assert run(str(asked), "local") == 0
    assert result_of(asked.parent)["prediction"]["scores"]["mean_iou"]["value"] > 0.6
    with Image.open(asked.parent / "out" / "answers" / "images" / "s9_000.png") as image:
        assert (numpy.asarray(image) == right(new[0])).mean() > 0.9
