"""Outlines of objects: as distances from a place, learnt, decoded and scored as masks."""

import json

import annotated_files as made
import numpy
import pytest
from pycocotools.coco import COCO
from result_checks import check_training
from test_object_runs import check_snippet
from test_object_scores import CLASSES as LABELS, MOST, reference

from trainer.kinds.objects import decoding, outlines, rendering, scores, truth as truths
from trainer.kinds.objects.scores import Boxes, Matched
from trainer.kinds.objects.target import Objects
from trainer.run import run

SQUARE = numpy.asarray([(0, 0), (20, 0), (20, 10), (0, 10)], float)
BENT = numpy.asarray([(0, 0), (20, 0), (20, 5), (5, 5), (5, 20), (0, 20)], float)


@pytest.mark.parametrize(
    ("ring", "place", "right", "down", "inside"),
    [
        (SQUARE, (5, 4), 15, 6, True),
        (SQUARE, (30, 4), 0, 0, False),
        (BENT, (2, 2), 18, 18, True),
        (BENT, (10, 10), 0, 0, False),
    ],
)
def test_the_distance_is_that_to_the_nearest_border(ring, place, right, down, inside):
    distances, is_inside = outlines.rays(ring, numpy.asarray([place], float))
    assert is_inside.tolist() == [inside]
    if inside:
        assert (distances[0, 0], distances[0, outlines.RAYS // 4]) == pytest.approx((right, down))


def _discs() -> truths.Truth:
    angles = numpy.linspace(0, 2 * numpy.pi, 40, endpoint=False)
    rings = [middle + r * numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1) for middle, r in (((30, 30), 14), ((80, 60), 20))]
    document = {"size": [128, 96], "objects": [["a", *r.min(axis=0), *r.max(axis=0), 0, [r.ravel().tolist()]] for r in rings]}
    return truths.read(json.dumps(document), ["a"])


def test_what_is_right_decodes_to_the_outlines_themselves():
    there = _discs()
    maps = rendering.maps(there.classes, there.boxes, there.counted, 1, 96, 128, there.rings)
    place = numpy.broadcast_to(numpy.asarray([1.0, 128, 96])[:, None, None], (3, *maps.shape[1:]))
    row = decoding.packed(numpy.concatenate([maps[:-2], place])[None], 1, 5, True)[0]
    said = decoding.unpacked(row, True).sure(0.99)
    assert len(said) == 2
    assert (scores.matrix(there, said).max(axis=1) > 0.93).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_precision_of_masks_is_that_of_the_reference(seed):
    random = numpy.random.default_rng(seed)
    there, said = [], []
    for _ in range(15):
        n = int(random.integers(0, 6))
        low = random.uniform(0, 60, (n, 2))
        boxes = numpy.concatenate([low, low + random.uniform(12, 40, (n, 2))], axis=1)
        objects = [[str(int(random.integers(LABELS))), *b, 0, [outlines.ellipse(b).ravel().tolist()]] for b in boxes]
        truth = truths.read(json.dumps({"size": [110, 110], "objects": objects}), [str(c) for c in range(LABELS)])
        near = boxes + random.normal(0, 3, boxes.shape)
        said.append(Boxes(truth.classes, random.random(n), near, tuple(outlines.ellipse(b) for b in near)))
        there.append(truth)
    assert Matched(there, said, LABELS, MOST, True).tables().precision == pytest.approx(reference(there, said, True), abs=1e-6)


def test_a_mask_as_run_lengths_has_the_outline_of_its_largest_part():
    mask = numpy.zeros((30, 40), bool)
    mask[5:15, 10:30] = True
    mask[20:22, 2:4] = True
    from trainer.kinds.annotated import runs

    ring = outlines.of_segmentation({"size": [30, 40], "counts": runs.of_mask(mask).counts.tolist()})
    assert outlines.area(ring) == pytest.approx(200, rel=0.03)
    assert (*ring.min(axis=0), *ring.max(axis=0)) == pytest.approx((10, 5, 30, 15), abs=0.1)


@pytest.mark.parametrize("form", ["polygons", "text"])
def test_a_training_finds_outlines(form, make_run, schemas, monkeypatch):
    scenes = made.scenes(100, 9, most=6, width=96, height=64)
    document = made.coco(scenes, form, 96, 64)
    spec = make_run({**made.pictures(scenes), "instances.json": json.dumps(document)}, model="small-detector", epochs=6, batch_size=8)
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert result["task"] == "instance-segmentation"
    assert result["metrics"]["test"]["ap50"]["value"] > 0.85
    assert result["metrics"]["test"]["ap50"]["low"] > max(b["test"]["ap50"]["value"] for b in result["metrics"]["baselines"])
    opened = COCO(str(spec.parent / "out" / "objects.json"))
    entries = opened.loadAnns(opened.getAnnIds())
    sure = [a for a in entries if a["score"] > 0.5]
    assert sure and all(opened.annToMask(a).sum() == pytest.approx(a["area"], rel=0.4) for a in sure)
    check_snippet(spec.parent, monkeypatch)


def test_a_description_keeps_whether_there_are_outlines():
    target = Objects(("a",), 20, 0.4, True)
    assert Objects.restored(target.described()) == target
    assert target.outputs == 20 * decoding.numbers(True)
