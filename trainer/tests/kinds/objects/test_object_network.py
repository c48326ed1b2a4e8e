"""The network that detects objects: what it is to answer, what is made of its answers, and pictures that are larger than its input."""

import json
from dataclasses import replace

import numpy
import pytest
import torch

from trainer.kinds.objects import decoding, losses, network, outlines, pictures, rendering, truth as truths
from trainer.kinds.objects.pictures import Canvas, Pictures
from trainer.kinds.objects.scores import Boxes
from trainer.kinds.objects.target import Objects
from trainer.kinds.objects.truth import COUNTED, Truth

LABELS = 2
BOXES = numpy.asarray([(8, 8, 40, 40), (60, 20, 76, 44), (100, 70, 120, 90)], float)
CLASSES = numpy.asarray([0, 1, 0])
ALL = numpy.ones(3, bool)


def _maps(counted=ALL, height=96, width=128) -> numpy.ndarray:
    return rendering.maps(CLASSES, BOXES, counted, LABELS, height, width)


def test_what_is_right_decodes_to_the_objects_themselves():
    maps = _maps()
    place = numpy.broadcast_to(numpy.asarray([2.0, 64, 48])[:, None, None], (3, *maps.shape[1:]))
    found = decoding.unpacked(decoding.packed(numpy.concatenate([maps[: LABELS + 4], place])[None], LABELS, 10)[0])
    sure = found.sure(0.99)
    order = numpy.argsort(sure.boxes[:, 0])
    assert sure.classes[order].tolist() == CLASSES.tolist()
    assert sure.boxes[order] == pytest.approx(BOXES / 2, abs=0.01), "in pixels of the picture, of which two are one of the input"


def test_an_object_is_answered_once_and_counts_with_its_surest_label():
    near, far = numpy.asarray([10.0, 10, 50, 50]), numpy.asarray([70.0, 70, 90, 90])
    boxes = Boxes(numpy.asarray([0, 0, 1, 1]), numpy.asarray([0.9, 0.8, 0.7, 0.4]), numpy.stack([near, near + 2, near + 1, far]))
    once = decoding._once(boxes, 10)
    assert [(int(c), round(float(s), 3)) for c, s in zip(once.classes, once.scores)] == [(0, 0.9), (1, 0.4), (1, 0.35)]
    assert once.boxes.tolist() == [near.tolist(), far.tolist(), (near + 1).tolist()]
    assert len(decoding._once(boxes, 2)) == 2 and len(decoding._once(boxes.sure(0.95), 2)) == 0


def test_single_answers_have_boxes_and_outlines():
    ring = numpy.stack([numpy.arange(outlines.RAYS), numpy.arange(outlines.RAYS)], axis=1)
    row = numpy.zeros((2, decoding.numbers(True)), numpy.float32)
    row[0, :6], row[0, 6:] = (1, 0.9, 1, 2, 30, 40), ring.ravel()
    target = Objects(("a", "b"), 2, 0.5, True)
    found = {t["name"]: t["data"] for t in target.tensors(row.reshape(1, -1))}
    assert list(found) == [name for name, _, _ in target.tensor_forms()]
    assert found["objects"] == ["1 b"] and found["boxes"] == ["b 0.90 at 1, 2, 30, 40"]
    assert json.loads(found["outlines"][0]) == [{"label": "b", "outline": ring.tolist()}]


def test_the_loss_of_the_right_answer_is_the_smallest():
    truth = torch.from_numpy(_maps())[None]
    right = torch.cat([torch.logit(truth[:, :LABELS].clamp(1e-4, 1 - 1e-4)) * 1.0, truth[:, LABELS : LABELS + 4].clamp(min=0.5)], dim=1)
    wrong = right.clone()
    wrong[:, LABELS:] *= 1.5
    shifted = torch.roll(right, 3, dims=3)
    values = [losses.of_maps(torch.cat([answer, truth], dim=1), LABELS, None).item() for answer in (right, wrong, shifted)]
    assert values[0] == min(values) and values[1] > values[0] + 0.1 and values[2] > values[0] + 0.5


def test_objects_that_do_not_count_are_ignored_and_not_learnt():
    counted = numpy.asarray([True, False, True])
    maps = _maps(counted)
    assert maps[1].max() == 0 and maps[-1].sum() > 0
    answer = torch.full((1, LABELS + 4, 24, 32), -6.0)
    answer[:, LABELS:] = 5
    inside = answer.clone()
    inside[0, 1, 6:10, 16:18] = 6.0  # the network finds it
    truth = torch.from_numpy(maps)[None]
    a, b = (losses.of_maps(torch.cat([x, truth], dim=1), LABELS, None).item() for x in (answer, inside))
    assert a == pytest.approx(b)


def _features(canvas: Canvas, sizes, varies=True) -> Pictures:
    sizes = numpy.asarray(sizes)
    starts = numpy.concatenate([[0], numpy.cumsum(sizes.prod(axis=1) * 3)])
    held = numpy.random.default_rng(0).integers(0, 255, int(starts[-1]), numpy.uint8)
    truth = truths.array([Truth(int(w), int(h), CLASSES, BOXES, numpy.full(3, COUNTED)) for h, w in sizes])
    return Pictures("", 3, sizes, sizes, starts, truth, LABELS, canvas, varies, held=held)


@pytest.mark.parametrize("canvas", [Canvas(96, 128), Canvas(64, 64, True)])
def test_a_varied_picture_keeps_its_objects(canvas):
    """Each object is a bright rectangle, so that what is drawn can be compared with where the boxes are said to be."""
    features = _features(canvas, [(96, 128)])
    picture = features.picture(0)
    picture[:] = 100
    for left, top, right, bottom in BOXES.astype(int):
        picture[top:bottom, left:right] = 250
    random = numpy.random.default_rng(1)
    for _ in range(30):
        window = numpy.full((canvas.height, canvas.width, 3), 100, numpy.uint8)
        drawn = features._drawn(window, picture, BOXES, random).boxes(BOXES)
        bright = window.mean(axis=2) > 170
        for left, top, right, bottom in drawn:
            y, x = int((top + bottom) / 2), int((left + right) / 2)
            if 2 <= y < canvas.height - 2 and 2 <= x < canvas.width - 2:
                assert bright[y, x], "the middle of a box is inside of its object"
        covered = numpy.zeros(bright.shape, bool)
        for left, top, right, bottom in numpy.clip(drawn, 0, 1000).astype(int):
            covered[max(0, top - 2) : bottom + 3, max(0, left - 2) : right + 3] = True
        assert not (bright & ~covered).any(), "no object is outside of its box"


@pytest.mark.parametrize("augmentation", ["none", "light", "strong"])
def test_what_is_right_follows_a_varied_picture(augmentation):
    """Objects are bright: so is the picture at their centres, on the way to their outlines, and not behind those."""
    rings = tuple(numpy.asarray([(b[0], b[1]), (b[2], b[1]), (b[2], b[3]), (b[0], b[3])]) for b in BOXES)
    truth = truths.array([Truth(128, 128, CLASSES, BOXES, numpy.full(3, COUNTED), (), rings)])
    features = replace(_features(Canvas(128, 128), [(128, 128)]), truths=truth, outlined=True, augmentation=augmentation)
    picture = features.picture(0)
    picture[:] = 60
    for left, top, right, bottom in BOXES.astype(int):
        picture[top:bottom, left:right] = 250
    seen = set()
    for seed in range(20):
        made = features.batch(numpy.zeros(1, int), numpy.random.default_rng(seed))
        again = features.batch(numpy.zeros(1, int), numpy.random.default_rng(seed))
        assert all((made[name] == again[name]).all() for name in made), "the seed decides"
        light, maps = made["pixels"][0].mean(axis=0), made["truth"][0]
        label, y, x = numpy.nonzero(maps[:LABELS] >= 1)
        seen.add((label.tobytes(), y.tobytes(), x.tobytes()))
        middles = numpy.stack([(x + 0.5) * 4, (y + 0.5) * 4], axis=1)
        for middle, distances in zip(middles, maps[LABELS + 4 : -2, y, x].T):
            for share, bright in ((0.7, True), (1.0, False)):
                points = middle + (distances * share + 3 * (not bright))[:, None] * outlines.DIRECTIONS
                points = points[(distances > 0) & ((points >= 0) & (points < 127)).all(axis=1)].astype(int)
                values = light[points[:, 1], points[:, 0]]
                assert (values > 0.5).all() if bright else (values < 0.5).all()
    assert len(seen) == 1 if augmentation == "none" else len(seen) > 5


def test_windows_answer_as_the_whole_picture_does_away_from_their_borders():
    torch.manual_seed(0)
    canvas = Canvas(128, 128, True)
    model = network.Detector(3, LABELS, 8.0, canvas).eval()
    features = _features(canvas, [(300, 420), (100, 90)], varies=False)
    alone = [features.batch(numpy.asarray([i])) for i in range(2)]
    together = features.batch(numpy.arange(2))
    with torch.inference_mode():
        apart = [model(torch.from_numpy(b["pixels"]), places=torch.from_numpy(b["places"])).logits for b in alone]
        both = model(torch.from_numpy(together["pixels"]), places=torch.from_numpy(together["places"])).logits
    for i, (height, width) in enumerate(((300, 420), (100, 90))):
        rows, columns = min(height // 4, apart[i].shape[2]), min(width // 4, apart[i].shape[3])
        inner = apart[i][0, :, :rows, :columns]
        if i == 0:
            assert torch.allclose(inner, both[0, :, :rows, :columns], atol=1e-4), "whatever other pictures are in the batch"
        assert (inner[:LABELS] > -12).all(), "each place is answered"


def test_a_canvas_covers_every_picture():
    canvas = Canvas(128, 128, True)
    for side in (1, 100, 128, 129, 200, 500, 1000):
        height, _ = canvas.padded(side, side)
        steps = network._steps(height, canvas.height, canvas.halo)
        assert (height - canvas.height) % steps.step == 0
        assert side <= canvas.height or steps[-1] + canvas.height - canvas.halo >= side


@pytest.mark.parametrize(
    "wrong", [{"most": 0}, {"most": 10**6}, {"threshold": 2}, {"threshold": "x"}, {"objects": None}],
)  # fmt: skip
def test_a_damaged_description_is_refused(wrong):
    described = Objects(("a", "b"), 20, 0.4).described()
    with pytest.raises((KeyError, TypeError, ValueError)):
        Objects.restored({**described, **wrong})


def test_halves_of_objects_at_the_side_of_a_window_are_ignored():
    boxes, kept, counted = pictures._within(BOXES, ALL, 96, 66)
    assert kept.tolist() == [True, True, False] and counted.tolist() == [True, True]
    assert boxes[1].tolist() == [60, 20, 66, 44]
    assert pictures._within(BOXES, ALL, 96, 63)[2].tolist() == [True, False]
