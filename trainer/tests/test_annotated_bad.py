"""Annotations that are wrong are left out by name and count, repaired, or refused before anything is trained."""

import json

import annotated_files as made
import pytest
from test_annotated_formats import read as read

from trainer.errors import UserError
from trainer.kinds.annotated import geometry


@pytest.fixture
def scenes():
    return made.scenes(12)


def coco(scenes, change) -> dict:
    value = made.coco(scenes)
    change(value)
    return {**made.pictures(scenes), "instances.json": json.dumps(value)}


def _shape(points):
    def change(value):
        value["annotations"][0]["segmentation"] = [points]

    return change


def _entry(**fields):
    def change(value):
        value["annotations"][0] |= fields

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_shape([1, 1, 9, 9]), "fewer than three points"),
        (_shape([1, 1, 5, 5, 9, 9]), "no area"),
        (_shape([100, 100, 120, 100, 120, 120]), geometry.OUTSIDE),
        (_shape([1, 1, 9]), "no shape that can be read"),
        (_shape([1, 1, "x", 4, 5, 6]), "no shape that can be read"),
        (_entry(category_id=77), "unknown category_id"),
        (_entry(image_id=77), "picture that is not listed"),
        (_entry(segmentation={"size": [48, 64], "counts": [1, 2]}), "no shape that can be read"),
        (_entry(segmentation={"size": [48, 64], "counts": "~~~"}), "no shape that can be read"),
        (_entry(segmentation={"size": [2, 2], "counts": [1, 2, 1]}), "another size"),
        (_entry(segmentation={"size": [48, 64], "counts": [48 * 64]}), "empty"),
        (_entry(segmentation=[], bbox=[5, 5, 0, 4]), "no area"),
    ],
)  # fmt: skip
def test_a_wrong_annotation_is_left_out_by_its_picture(change, reason, scenes, make_run):
    annotated = read(make_run, coco(scenes, change))
    (said,) = annotated.left_out.counts
    assert reason in said and annotated.left_out.counts[said] == 1 and annotated.left_out.names[said]
    assert sum(len(p.shapes) for p in annotated.pictures) == sum(len(s.things) for s in scenes) - 1


@pytest.mark.parametrize(
    ("change", "reason", "area"),
    [
        (_shape([0, 0, 10, 10, 10, 0, 0, 10]), geometry.CROSSING, 50),
        (_shape([54, 38, 74, 38, 74, 48, 54, 48]), geometry.CLIPPED, 100),
    ],
)
def test_an_outline_is_repaired_and_counted(change, reason, area, scenes, make_run):
    annotated = read(make_run, coco(scenes, change))
    assert annotated.changed.counts == {reason: 1}
    shape = annotated.pictures[0].shapes[0]
    assert geometry.shapely.area([geometry.shapely.Polygon(r) for r in shape.rings]).sum() == pytest.approx(area)


def _same_id(value):
    value["images"][1]["id"] = 0


def _far(value):
    for entry in value["annotations"]:
        entry["segmentation"] = [[c * 40 for c in entry["segmentation"][0]]]


def _renamed(value):
    for image in value["images"][:3]:
        image["file_name"] = f"other/{image['id']}.png"


def _nothing(value):
    value["annotations"] = [{**e, "segmentation": [[1, 1, 2, 2]]} for e in value["annotations"]]


@pytest.mark.parametrize(
    ("change", "code"),
    [(_same_id, "annotations_ids"), (_far, "annotations_outside"), (_renamed, "pictures_missing"), (_nothing, "no_annotations")],
)
def test_annotations_that_cannot_be_right_are_refused(change, code, scenes, make_run):
    with pytest.raises(UserError) as raised:
        read(make_run, coco(scenes, change))
    assert raised.value.code == code


def test_annotations_that_share_an_id_are_all_used(scenes, make_run):
    def same(value):
        for entry in value["annotations"]:
            entry["id"] = 5

    annotated = read(make_run, coco(scenes, same))
    total = sum(len(s.things) for s in scenes)
    assert list(annotated.changed.counts.values()) == [total - 1]
    assert sum(len(p.shapes) for p in annotated.pictures) == total


def test_a_picture_that_is_listed_twice_has_its_objects_once(scenes, make_run):
    value = made.coco(scenes)
    files = {**made.pictures(scenes), "train.json": json.dumps(value), "test.json": json.dumps({**value, "images": value["images"][:4]})}
    annotated = read(make_run, files)
    assert sum(len(p.shapes) for p in annotated.pictures) == sum(len(s.things) for s in scenes)
    assert [p.split for p in annotated.pictures] == ["test"] * 4 + ["train"] * 8, "no picture is in two splits"
    assert 4 in annotated.changed.counts.values()


def test_annotations_of_a_larger_copy_are_scaled(scenes, make_run):
    def larger(value):
        for image in value["images"]:
            image |= {"width": 2 * made.WIDTH, "height": 2 * made.HEIGHT}
        for entry in value["annotations"]:
            entry["segmentation"] = [[2 * c for c in entry["segmentation"][0]]]

    annotated = read(make_run, coco(scenes, larger))
    assert annotated.pictures[0].shapes[0].box == pytest.approx(scenes[0].things[0].box)
    assert len(scenes) in annotated.changed.counts.values()


def test_annotations_of_a_picture_of_another_form_are_left_out(scenes, make_run):
    def other(value):
        value["images"][0] |= {"width": 64, "height": 64}

    annotated = read(make_run, coco(scenes, other))
    assert scenes[0].name not in {p.source.name for p in annotated.pictures}
    assert scenes[0].name in {i.name for i in annotated.not_annotated}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("0 0.5 0.5 0.1 0.1 0.9", "annotations_unclear"),
        ("7 0.5 0.5 0.1 0.1", "unknown_class"),
        ("0 0.5 0.5 0.1 0.1 0.4 0.4 2", "annotations"),
        ("0 0.5 0.5 0.1 0.1 0.4 0.4 1", "annotations"),
    ],
)
def test_yolo_lines_with_other_numbers_are_refused(line, code, scenes, make_run):
    files = {**made.pictures(scenes), **made.yolo(scenes)}
    files[scenes[0].name.replace("images/", "labels/").replace(".png", ".txt")] = line
    with pytest.raises(UserError) as raised:
        read(make_run, files)
    assert raised.value.code == code


def test_several_attributes_that_may_be_the_class_are_asked_back(scenes, make_run):
    value = made.via(scenes)
    for number, picture in enumerate(value.values()):
        for region in picture["regions"]:
            region["region_attributes"]["quality"] = ("good", "bad")[number % 2]
    files = {**made.pictures(scenes), "via.json": json.dumps(value)}
    with pytest.raises(UserError) as raised:
        read(make_run, files)
    assert raised.value.code == "ambiguous_class"
    (tmp := read(make_run, files, "quality"))
    assert tmp.classes == ("bad", "good")


@pytest.mark.parametrize(("cell", "box"), [("[2, 3, 8, 4]", None), ("[8, 9, 6, 5]", (8, 9, 14, 14))])
def test_lists_of_four_numbers_are_read_where_they_can_mean_one_thing(cell, box, scenes, make_run):
    lines = ["image_id,bbox", *(f'{s.name},"{cell}"' for s in scenes for _ in range(2))]
    files = {**made.pictures(scenes), "train.csv": "\n".join(lines)}
    if box is None:
        with pytest.raises(UserError) as raised:
            read(make_run, files)
        assert raised.value.code == "ambiguous_boxes"
    else:
        assert read(make_run, files).pictures[0].shapes[0].box == box
