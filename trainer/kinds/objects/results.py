"""The part of the report about objects: scores of each label, curves, counts, and the worst and typical pictures with their boxes."""

import base64
import io
from collections.abc import Sequence
from typing import cast

import numpy
from PIL import Image, ImageDraw

from trainer.core import blocks
from trainer.core.blocks import COUNT, NUMBER, RESULT, Axis, Block, Cell, Chart, Column, Overlay, Picture, Section, Series
from trainer.core.example import Example
from trainer.data.pictures.bands import Bands
from trainer.export import display
from trainer.export.finished import Answered, Finished
from trainer.kinds.objects import counting, looks, overlay, scores, truth as truths
from trainer.kinds.objects.answers import Answers
from trainer.kinds.objects.encoder import Encoder
from trainer.kinds.objects.target import Objects
from trainer.kinds.objects.truth import Truth
from trainer.run_folder import files

_SHOWN = 12  # worst pictures, and typical ones
_SIDES = (220, 180, 140, 100)  # pixels of a picture, the first with which it is small enough
_BYTES = 30_000  # of a picture
_MARKS = 48  # on one picture
_NAMED = 8  # right boxes, up to which their labels are written
_TRIED, _TRIED_BYTES = 3, 64_000  # pictures to try the model with, and their size
_CURVES = 6  # labels with a curve of their own
_LEGEND = (
    "Green with a full line: found, and an object is there. Orange with a dashed line: found, but there is no such object. "
    "Blue with a dotted line: an object that was not found."
)
_RIGHT, _WRONG, _MISSED = "#00a878", "#f08c00", "#1a6fd6"  # as the report draws boxes
_OUTLINED = (
    "Green: found, and an object is there. Orange: found, but there is no such object. Blue: the true outline of an object that was not found."
)
_MEANING = (
    "AP50 counts an object as right from an overlap of half with an object of the same label (intersection over union); AP50:95 is the mean over "
    "overlaps from 0.5 to 0.95. Precision, recall and counts are of the objects from the score that was best on the validation pictures."
)


def sections(finished: Finished) -> list[Section]:
    """The section of a training with test pictures."""
    answers, target = finished.outcome.answers["test"], cast(Objects, finished.prepared.plan.target)
    if not len(answers):
        return []
    examples, ranges = finished.data.splits["test"], cast(Encoder, finished.prepared.encoder).bands
    listed = _scored(examples, answers, target, "test pictures")
    order = numpy.argsort(-target.losses(answers), kind="stable")
    worst = order[: min(_SHOWN, -(-len(order) // 2))]
    others = order[len(worst) :]
    typical = others[max(0, (len(others) - _SHOWN) // 2) :][:_SHOWN]
    for title, rows in (("The worst test pictures", worst), ("Typical test pictures", typical)):
        shown = [p for i in rows if (p := picture(examples[i], answers, int(i), target, ranges)) is not None]
        listed += [blocks.pictures(title, shown, note=_OUTLINED if target.outlined else _LEGEND)] if shown else []
    return [Section(RESULT, "Objects", listed)]


def of_prediction(answered: Answered) -> list[Section]:
    """The section of a prediction: scores where annotations are beside the new pictures, how many objects there are, and the first pictures."""
    rows, target = numpy.flatnonzero(answered.known), cast(Objects, answered.target)
    listed = [_found(answered, target), *overlay.in_report(answered)]
    if len(rows):
        answers = target.answers(answered.outputs[rows], answered.truth[rows])
        listed += _scored([answered.examples[i] for i in rows.tolist()], answers, target, "annotated pictures")
    return [Section(RESULT, "Objects", listed)]


def _found(answered: Answered, target: Objects) -> Block:
    """How many objects of each label are found, and in how many pictures."""
    counts = target.predicted(answered.outputs)
    rows = [[Cell(label), Cell(value=int(of.sum())), Cell(value=int((of > 0).sum()))] for label, of in zip(target.labels, counts.T)]
    said = f"Objects count from a score of {target.threshold:g} on. counts.csv has the numbers of each picture. objects.json has lower scores, too."
    return blocks.table("Objects that are found", [Column("Label"), Column("Objects", COUNT), Column("Pictures with it", COUNT)], rows, note=said)


def _scored(examples: Sequence[Example], answers: Answers, target: Objects, pictures: str) -> list[Block]:
    """Scores by label, curves, scores by size, and counts; ``pictures`` says of which."""
    tables = target.matched(answers).tables()
    listed = [_per_label(answers, target, tables), _curves(answers, target, tables), counting.by_size(answers, target)]
    return [*listed, *counting.blocks_of(examples, answers, target, pictures)]


def _per_label(answers: Answers, target: Objects, tables: scores.Tables) -> Block:
    counted = _label_counts(answers)
    rows = []
    for number, label in enumerate(target.labels):
        right, said, there = counted[number]
        ap50, ap = tables.of_class(number)
        precision, recall = right / said if said else numpy.nan, right / there if there else numpy.nan
        shares = [counting.share(v) for v in (ap50, ap, precision, recall)]
        rows.append([Cell(label), *shares, Cell(value=int(there)), Cell(value=int(said))])
    columns = [Column("Label"), Column("AP50", NUMBER), Column("AP50:95", NUMBER), Column("Precision", NUMBER), Column("Recall", NUMBER),
               Column("True objects", COUNT), Column("Predicted", COUNT)]  # fmt: skip
    said = f"Objects count from a score of {target.threshold:g} on, the best on the validation pictures."
    return blocks.table("", columns, rows, text=[said], note=_MEANING)


def _label_counts(answers: Answers) -> numpy.ndarray:
    """Right, predicted and true objects of each label."""
    counted = numpy.zeros((answers.classes, 3), int)
    for row, (truth, boxes) in enumerate(zip(answers.truths, answers.predicted)):
        fits, counts, _ = answers.fitting(row)
        said = boxes.sure(answers.threshold).classes
        for column, classes in enumerate((said[fits], said[counts], truth.classes[truth.counted])):
            counted[:, column] += numpy.bincount(classes, minlength=answers.classes)
    return counted


def _curves(answers: Answers, target: Objects, tables: scores.Tables) -> Block:
    recall = numpy.linspace(0, 1, tables.precision.shape[1])
    frequent = numpy.argsort(-_label_counts(answers)[:, 2], kind="stable")[:_CURVES]
    series = [
        Series([(float(r), float(p)) for r, p in zip(recall, tables.precision[0, :, number])], target.labels[number])
        for number in sorted(frequent)
        if (tables.precision[0, :, number] >= 0).all()
    ]
    summary = "The precision of the boxes for each share of the true objects that are found, at an overlap of half."
    return blocks.chart(
        "Precision and recall", Chart("line", Axis("recall", zero=True), Axis("precision", zero=True), series, summary, file="precision_recall")
    )


def picture(example: Example, answers: Answers, row: int, target: Objects, ranges: Bands | None) -> Picture | None:
    """A test picture with what is right, wrong and missed on it; None where it cannot be read again or is too large."""
    truth, boxes = answers.truths[row], answers.predicted[row]
    fits, counts, is_found = answers.fitting(row)
    sure = boxes.sure(answers.threshold)
    marks = [_mark(truth, b, "", "shown") for b in truth.boxes[truth.counted & ~is_found]]
    wrong = [(b, c) for b, c, f, n in zip(sure.boxes, sure.classes, fits, counts) if not f and n]
    marks += [_mark(truth, b, target.labels[int(c)], "wrong") for b, c in wrong]
    named = len(target.labels) > 1 and fits.sum() <= _NAMED
    right = zip(sure.boxes[fits], sure.classes[fits])
    marks += [_mark(truth, b, target.labels[int(c)] if named else "", "right") for b, c in right]
    outer = sure.outlines if target.outlined else ()
    lines = [*((r, _MISSED) for r, c, f in zip(truth.rings, truth.counted, is_found) if c and not f)] if outer else []
    lines += [(r, _RIGHT if f else _WRONG) for r, f, n in zip(outer, fits, counts) if f or n]
    png = small(example, ranges, lines, truth.width)
    if png is None:
        return None
    missed = int((truth.counted & ~is_found).sum())
    words = f"{int(fits.sum())} right, {len(wrong)} wrong, {missed} missed"
    return Picture(png, display.short(f"{example.file}: {words}"), [] if outer else marks[:_MARKS])


def _mark(truth: Truth, box: Sequence[float], label: str, mark) -> Overlay:
    left, top, right, bottom = (float(c) for c in box)
    return Overlay(
        round(left / truth.width, 4), round(top / truth.height, 4), round((right - left) / truth.width, 4), round((bottom - top) / truth.height, 4),
        display.short(label)[:40], mark,
    )  # fmt: skip


def small(example: Example, ranges: Bands | None, lines: Sequence[tuple[numpy.ndarray, str]] = (), width: int = 1) -> str | None:
    """A picture as a small PNG in base64, with outlines on it in their colours; None where it cannot be read or is too large even so. ``width`` is
    that of the picture in which the outlines are."""
    try:
        pixels = looks.read(example.content, example.file, ranges)
    except Exception:  # a picture that has changed since it was read
        return None
    image = Image.fromarray(numpy.ascontiguousarray(pixels[..., :3] if pixels.shape[2] > 2 else pixels[..., 0]))
    for side in _SIDES:
        shown = image.copy()
        shown.thumbnail((side, side))
        if lines:
            shown = shown.convert("RGB")
        pen = ImageDraw.Draw(shown)
        for ring, colour in lines:
            points = [(float(x), float(y)) for x, y in ring * (shown.width / width)]
            pen.line([*points, points[0]], fill=colour, width=2)
        data = io.BytesIO()
        shown.quantize(64).save(data, "PNG", optimize=True)
        if data.tell() <= _BYTES:
            return base64.b64encode(data.getvalue()).decode()
    return None


def examples(finished: Finished) -> list[dict]:
    """Whole test pictures to try the model with, and what it finds in them."""
    answers, target = finished.outcome.answers["test"], cast(Objects, finished.prepared.plan.target)
    tried: list[dict] = []
    for i, example in enumerate(finished.data.splits["test"]):
        if len(tried) == _TRIED:
            break
        if example.content.stat().st_size <= _TRIED_BYTES:
            data = base64.b64encode(files.read_bytes(example.content, _TRIED_BYTES)).decode()
            said = target.counted(answers.predicted[i])
            tried.append({"as": "row", "input": {"image": data}, "label": truths.in_words(example.target), "predicted": target.text(said)})
    return tried
