"""The scores of objects: equal to the reference implementation, and the parts of them that are known by hand."""

import contextlib
import io
from dataclasses import replace

import numpy
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from trainer.core.example import Example
from trainer.kinds.objects import answers as objects_answers, counting, outlines, scores, truth as truths
from trainer.kinds.objects.answers import Answers
from trainer.kinds.objects.scores import Boxes, Matched
from trainer.kinds.objects.target import AP, AP50, AR, COUNTS, Objects
from trainer.kinds.objects.truth import COUNTED, CROWD, DIFFICULT, Truth

CLASSES, MOST = 3, 20


def made(seed: int, pictures: int = 25) -> tuple[list[Truth], list[Boxes]]:
    """Objects of three classes, some of them crowds or difficult, and predictions that are near some of them or anywhere."""
    random = numpy.random.default_rng(seed)
    there, said = [], []
    for _ in range(pictures):
        n = int(random.integers(0, 9))
        low = random.uniform(0, 150, (n, 2))
        boxes = numpy.concatenate([low, low + random.uniform(5, 60, (n, 2))], axis=1)
        flags = random.choice([COUNTED, CROWD, DIFFICULT], n, p=[0.8, 0.1, 0.1])
        truth = Truth(220, 220, random.integers(0, CLASSES, n), boxes, flags)
        near = boxes + random.normal(0, 4, boxes.shape)
        low = random.uniform(0, 150, (4, 2))
        found = numpy.concatenate([near, numpy.concatenate([low, low + random.uniform(5, 60, (4, 2))], axis=1)])
        found[:, 2:] = numpy.maximum(found[:, 2:], found[:, :2] + 1)
        labels = numpy.where(random.random(n) < 0.8, truth.classes, random.integers(0, CLASSES, n))
        labels = numpy.concatenate([labels, random.integers(0, CLASSES, 4)])
        sure = numpy.sort(random.random(len(found)).round(2))[::-1]
        order = random.permutation(len(found))
        there.append(truth)
        said.append(Boxes(labels[order], sure, found[order].round(2)))
    return there, said


def reference(there, said, outlined=False) -> numpy.ndarray:
    """The precision by overlap, recall and class of pycocotools."""
    return judged(there, said, [[0, 1e10]], outlined)[:, :, :, 0]


def judged(there, said, areas, outlined=False) -> numpy.ndarray:
    """The same also by the range of areas."""
    document, answers = scores.documents(there, said, CLASSES, outlined)
    with contextlib.redirect_stdout(io.StringIO()):
        right = COCO()
        right.dataset = document
        right.createIndex()
        judge = COCOeval(right, right.loadRes(answers), "segm" if outlined else "bbox")
        judge.params.areaRng, judge.params.areaRngLbl, judge.params.maxDets = areas, [str(a) for a in areas], [MOST]
        judge.evaluate()
        judge.accumulate()
    return judge.eval["precision"][:, :, :, :, 0]


@pytest.mark.parametrize("seed", range(6))
def test_precision_is_that_of_the_reference(seed):
    there, said = made(seed)
    assert Matched(there, said, CLASSES, MOST).tables().precision == pytest.approx(reference(there, said), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_resampled_pictures_count_as_often_as_they_are_drawn(seed):
    there, said = made(seed)
    drawn = numpy.random.default_rng(seed).integers(0, len(there), len(there))
    tables = Matched(there, said, CLASSES, MOST).tables(drawn)
    assert tables.precision == pytest.approx(reference([there[i] for i in drawn], [said[i] for i in drawn]), abs=1e-6)


@pytest.mark.parametrize("outlined", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_scores_by_size_are_those_of_the_reference(seed, outlined):
    there, said = made(seed)
    there = [replace(t, width=550, height=550, boxes=2.5 * t.boxes) for t in there]
    said = [replace(b, boxes=(2.5 * b.boxes).round(2)) for b in said]
    target = Objects(("a", "b", "c"), MOST, outlined=outlined)
    if outlined:
        there = [replace(t, outlines=tuple([outlines.ellipse(b).ravel().tolist()] for b in t.boxes)) for t in there]
        said = [replace(b, outlines=tuple(outlines.ellipse(box) for box in b.boxes)) for b in said]
    right = judged(there, said, [[0, 32**2], [32**2, 96**2], [96**2, 1e10]], outlined)
    assert (right.max(axis=(0, 1)) >= 0).any(axis=0).all(), "there are objects of each size"
    for size, tables in enumerate(target.by_size(Answers(there, said, CLASSES, MOST, 0.5, outlined)).values()):
        assert tables.precision == pytest.approx(right[..., size], abs=1e-6)


def test_resampled_pictures_have_scores_by_size():
    there, said = made(4)
    drawn = numpy.random.default_rng(4).integers(0, len(there), len(there))
    ranges = [(0.0, 900.0), (900.0, 1e10)]
    right = judged([there[i] for i in drawn], [said[i] for i in drawn], [list(r) for r in ranges])
    for size, tables in enumerate(Matched(there, said, CLASSES, MOST, areas=ranges).by_area(drawn)):
        assert tables.precision == pytest.approx(right[..., size], abs=1e-6)


def test_nothing_found_is_zero_and_nothing_to_find_is_left_out():
    there, _ = made(0)
    nothing = Boxes(numpy.zeros(0, numpy.int64), numpy.zeros(0), numpy.zeros((0, 4)))
    tables = Matched(there, [nothing] * len(there), CLASSES + 1, MOST).tables()
    assert (tables.ap50, tables.ap) == (0, 0)
    assert numpy.isnan(tables.of_class(CLASSES)[0])


def _truth(*boxes, flag=COUNTED) -> Truth:
    return Truth(100, 100, numpy.zeros(len(boxes), int), numpy.asarray(boxes, float).reshape(-1, 4), numpy.full(len(boxes), flag))


def _boxes(*boxes, sure=0.9) -> Boxes:
    return Boxes(numpy.zeros(len(boxes), int), numpy.full(len(boxes), sure), numpy.asarray(boxes, float).reshape(-1, 4))


BOX, FAR = (10, 10, 30, 30), (60, 60, 80, 80)


@pytest.mark.parametrize(
    ("there", "said", "fits", "counts", "seen"),
    [
        (_truth(BOX), _boxes(BOX), [True], [True], [True]),
        (_truth(BOX), _boxes(BOX, BOX), [True, False], [True, True], [True]),
        (_truth(BOX), _boxes(FAR), [False], [True], [False]),
        (_truth(BOX, flag=CROWD), _boxes(BOX), [False], [False], [False]),
        (_truth(BOX, flag=DIFFICULT), _boxes(FAR), [False], [True], [False]),
        (_truth(BOX), _boxes(BOX, sure=0.1), [], [], [False]),
        (_truth(), _boxes(), [], [], []),
    ],
)  # fmt: skip
def test_a_prediction_fits_one_object(there, said, fits, counts, seen):
    assert [a.tolist() for a in scores.fitting(there, said, scores.matrix(there, said), 0.5)] == [fits, counts, seen]


def test_a_report_has_intervals_over_pictures():
    there, said = made(1)
    target = Objects(("a", "b", "c"), MOST, 0.5)
    outputs = numpy.zeros((len(said), MOST, 6), numpy.float32)
    for row, boxes in zip(outputs, said):
        row[: len(boxes), 0], row[: len(boxes), 1], row[: len(boxes), 2:] = boxes.classes, boxes.scores, boxes.boxes
    answers = target.answers(outputs.reshape(len(said), -1), truths.array(there))
    report = target.report(answers, 0)
    assert set(report) == {AP, AP50, AR, COUNTS, "loss"}
    assert report == target.report(answers, 0)
    for score in report.values():
        assert score["low"] <= score["value"] <= score["high"] and score["n"] == len(there)
    precision = reference(there, answers.predicted)
    assert report[AP]["value"] == pytest.approx(precision[precision > -1].mean(), abs=1e-6)
    assert report[AP50]["low"] < report[AP50]["value"] < report[AP50]["high"]


def test_the_score_from_which_objects_count_is_that_of_the_best_f1():
    there = [_truth(BOX), _truth(BOX)]
    said = [Boxes(numpy.zeros(2, int), numpy.asarray([0.7, 0.4]), numpy.asarray([BOX, FAR], float))] * 2
    target = Objects(("a",), 5)
    answers = {"validation": target.answers(numpy.zeros((0, 30)), truths.array([]))}
    assert target.decided(answers)[0] == target, "without validation pictures nothing is decided"
    held = Answers(there, said, 1, 5, target.threshold)
    decided, answered = target.decided({"validation": held, "test": held})
    assert 0.4 < decided.threshold <= 0.7 and answered["test"].threshold == decided.threshold
    assert decided.losses(answered["test"]).tolist() == [0, 0]
    assert decided.restored(decided.described()) == decided


def test_counts_are_of_each_label_and_picture():
    labels = ("a", "b")
    there = [replace(_truth(BOX, FAR), classes=numpy.asarray([0, 1])), _truth(BOX), _truth(BOX, flag=CROWD), _truth()]
    said = [_boxes(BOX, FAR), _boxes(), _boxes(BOX, BOX), _boxes(FAR, sure=0.1)]
    target = Objects(labels, 5, 0.5)
    answers = Answers(there, said, 2, 5, 0.5)
    true, found = objects_answers.counts(answers)
    assert true.tolist() == [[1, 1], [1, 0], [0, 0], [0, 0]]
    assert found.tolist() == [[2, 0], [0, 0], [0, 0], [0, 0]]
    assert target.summary(answers)[COUNTS] == pytest.approx(3 / 4)
    examples = [Example(f"{i}.png", 0, "", "") for i in range(4)]
    _, of_labels, of_pictures = counting.blocks_of(examples, answers, target, "test pictures")
    values = {row[0].text: [c.value for c in row[1:]] for row in of_labels.rows}
    assert values == {"a": [0.5, 0.5, 0.5, 0.5], "b": [0.25, 0, 0.25, 0.75], "all": [0.75, 0.5, 0.25, 0.75]}
    assert [[c.text or c.value for c in row] for row in of_pictures.rows[:2]] == [
        ["0.png", 2, 2, "1 / 2", "1 / 0"], ["1.png", 1, 0, "1 / 0", "0 / 0"]
    ]  # fmt: skip
