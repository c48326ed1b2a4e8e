"""What the report says of answers for pixels: areas, what is confused, and windows with truth and answer."""

import base64
from typing import cast

import numpy

from trainer.core import blocks
from trainer.core.blocks import DATA, RESULT, Block, Cell, Column, Matrix, Picture, Section
from trainer.core.example import Example
from trainer.data import rasters
from trainer.errors import some
from trainer.export import display
from trainer.export.finished import Answered, Finished
from trainer.kinds.pixels import codings, delivery, overlay, shown
from trainer.kinds.pixels.encoder import Encoder
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.scenes import areas, units, where
from trainer.kinds.pixels.sure import words
from trainer.kinds.pixels.target import Counted, PixelClasses, ious
from trainer.measure import intervals
from trainer.run_folder import files

_SAMPLES = 20
_TRIED, _TRIED_BYTES = 3, 60_000  # test pictures that a page offers to try the model with, and the size of one
_NAMED = 4  # classes of a picture in a line


def sections(finished: Finished) -> list[Section]:
    target, test = finished.prepared.plan.target, finished.outcome.answers["test"]
    described = finished.prepared.encoder.described()
    facts = {
        "Stored": described["model"]["image_form"],
        "Windows": f"{described['encoder']['side']} by {described['encoder']['side']} pixels",
        "Pictures are answered": "in windows with a border, which is computed and not used, so that there are no seams",
    }
    coding = codings.restored(described["encoder"]["coding"])
    if isinstance(coding, codings.Classes):
        facts["Values in delivered masks"] = some([f"{value} is {label}" for value, label in zip(delivery.written(coding), target.labels)], 20)
    found = [Section(DATA, "Pictures and masks", [blocks.facts(facts), *where.maps(finished.data)])]
    if not len(test):
        return found
    promised = words.sections(cast(PixelClasses | PixelNumbers, target), test.sure, finished.settings.seed, finished.events)
    inside: list[Block] = []
    if isinstance(target, PixelClasses):
        inside += [_areas(target, test, finished.settings.seed), _confused(target, test)]
    inside += _windows(finished, target, test)
    return [*found, Section(RESULT, "Areas" if isinstance(target, PixelClasses) else "Numbers of pixels", inside), *promised]


def _areas(target: PixelClasses, test: Counted, seed: int) -> Block:
    confusion = target.confusion(test.figures.sum(axis=0))
    drawn = ious(target.confusion(intervals.resampled_means(test.figures, seed)))
    total = max(1.0, confusion.sum())
    rows = []
    for number, (label, value) in enumerate(zip(target.labels, ious(confusion))):
        known = drawn[:, number][numpy.isfinite(drawn[:, number])]
        if numpy.isfinite(value):
            low, high = intervals.percentiles(known, float(value))
            overlap = Cell(value=float(value), low=low, high=high)
        else:
            overlap = Cell("not in the test data")
        rows.append([Cell(label), overlap, Cell(value=confusion[number].sum() / total), Cell(value=confusion[:, number].sum() / total)])
    columns = [Column("Class"), Column("IoU"), Column("True area"), Column("Predicted area")]
    note = (
        "IoU: the pixels that are rightly answered with a class, as a share of all that have it or are answered with it. Intervals are over pictures."
    )
    return blocks.table("Classes in the test data", columns, rows, note=note)


def _confused(target: PixelClasses, test: Counted) -> Block:
    counts = target.confusion(test.figures.sum(axis=0)).astype(numpy.int64).tolist()
    return blocks.matrix("Pixels by class", Matrix("True", "Predicted", target.labels, target.labels, counts, same=True))


def _windows(finished: Finished, target, test: Counted) -> list[Block]:
    legend = overlay.words(target)
    pictures = finished.data.splits["test"]
    found = []
    for sort, title in ((shown.WORST, "Windows with the most wrong answers"), (shown.TYPICAL, "Typical windows")):
        drawn = [Picture(w.png, _caption(pictures[w.picture], w, bool(target.labels))) for w in test.shown or () if w.sort == sort]
        if drawn:
            found.append(blocks.pictures(title, drawn, text=[f"Each shows the picture, what is right, and what the model answers. {legend}"]))
    return found


def _caption(example: Example, window: shown.Shown, classes: bool) -> str:
    score = f"{window.score if window.score == 1 else min(window.score, 0.999):.1%} right" if classes else f"RMSE {window.score:.4g}"
    place = f", from column {window.left} and row {window.top} on" if window.left or window.top else ""
    return display.short(f"{example.file}{place}: {score}")


def predictions(finished: Finished) -> str:
    """predictions.csv of a training: a line for each test picture and class, or one for each picture of numbers."""
    test = finished.outcome.answers["test"]
    return table(finished.data.splits["test"], finished.prepared.plan.target, test.figures, numpy.ones(len(test), bool))


def answers_table(answered: Answered) -> str:
    return table(answered.examples, answered.target, answered.outputs, answered.known)


def table(examples, target, figures: numpy.ndarray, known: numpy.ndarray) -> str:
    """The areas of the answers as CSV, with their intervals; with the true ones and how good the answers are where masks are known."""
    more, promises = bool(known.any()), ["low", "high"] * (target.promise is not None)
    if not isinstance(target, PixelClasses):
        head = ["file", "pixels", "mean predicted", *promises, *["mean", "rmse"] * more]
        return display.table(head, (_numbers(e, target, f, k, more) for e, f, k in zip(examples, figures, known)))
    placed = any(metres(e) for e in examples)
    head = ["file", "class", "predicted pixels", "predicted share", *["predicted m2"] * placed, *promises, *["pixels", "iou"] * more]
    return display.table(head, (line for e, f, k in zip(examples, figures, known) for line in _classes(e, target, f, k, more, placed)))


def metres(example: Example) -> float:
    """Square metres of a pixel of a scene; 0 where they are not known."""
    return areas.of_pixel(example.content.scene) if isinstance(example.content, units.Asked) else 0.0


def _numbers(example: Example, target: PixelNumbers, figures: numpy.ndarray, known: bool, any_known: bool) -> list:
    number, squares, _, total, _, said, pixels = figures
    within = _ends(example, target, numpy.asarray([said / max(1, pixels)]), "{:.6g}")[0]
    line = [example.file, int(pixels), f"{said / max(1, pixels):.6g}", *within]
    more = [f"{total / number:.6g}", f"{(squares / number) ** 0.5:.6g}"] if known and number else ["", ""]
    return [*line, *more] if any_known else line


def _classes(example: Example, target: PixelClasses, figures: numpy.ndarray, known: bool, any_known: bool, placed: bool):
    counts, confusion, each = target.areas(figures), target.confusion(figures), metres(example)
    shares = counts / max(1, counts.sum())
    within = _ends(example, target, shares, "{:.4f}")
    for number, (label, overlap) in enumerate(zip(target.labels, ious(confusion))):
        square = [f"{counts[number] * each:.10g}" if each else ""] * placed
        line = [example.file, label, int(counts[number]), f"{shares[number]:.4f}", *square, *within[number]]
        more = [int(confusion[number].sum()), f"{overlap:.4f}" if numpy.isfinite(overlap) else ""] if known else ["", ""]
        yield [*line, *more] if any_known else line


def _ends(example: Example, target: PixelClasses | PixelNumbers, values: numpy.ndarray, form: str) -> list[list[str]]:
    """The ends of the interval of each value of a picture; without a promise none, and empty ones for a scene, which is no held-out picture."""
    if target.promise is None:
        return [[] for _ in values]
    if isinstance(example.content, units.Asked):
        return [["", ""] for _ in values]
    return [[form.format(low), form.format(high)] for low, high in zip(*(end[0] for end in target.bounds(values[None])))]


def samples(answered: Answered) -> list[dict]:
    """The first pictures of a prediction with what was found in them."""
    target = answered.target
    found = []
    for example, figures in zip(answered.examples[:_SAMPLES], answered.outputs):
        said = _shares(target, target.areas(figures)) if isinstance(target, PixelClasses) else _mean(figures[5], figures[6])
        found.append(display.entry(example, answered.kind, (), predicted=display.short(said)))
    return found


def examples(finished: Finished) -> list[dict]:
    """Whole test pictures to try the model with, and what it finds in them."""
    target, test = finished.prepared.plan.target, finished.outcome.answers["test"]
    tried: list[dict] = []
    largest = cast(Encoder, finished.prepared.encoder).largest
    for example, figures in zip(finished.data.splits["test"], test.figures):
        if len(tried) == _TRIED:
            break
        if example.content.picture.stat().st_size > _TRIED_BYTES or (largest and max(rasters.size(example.content.picture)) > largest):
            continue
        if isinstance(target, PixelClasses):
            right, said = (_shares(target, counts) for counts in (target.confusion(figures).sum(axis=1), target.areas(figures)))
        else:
            right, said = _mean(figures[3], figures[0]), _mean(figures[5], figures[6])
        data = base64.b64encode(files.read_bytes(example.content.picture, _TRIED_BYTES)).decode()
        tried.append({"as": "row", "input": {"image": data}, "label": display.short(right), "predicted": display.short(said)})
    return tried


def _shares(target: PixelClasses, counts: numpy.ndarray) -> str:
    """The classes with the largest areas, in words."""
    order = numpy.argsort(-counts, kind="stable")[:_NAMED]
    return ", ".join(f"{target.labels[i]} {counts[i] / max(1, counts.sum()):.1%}" for i in order if counts[i])


def _mean(total: float, pixels: float) -> str:
    return f"mean {total / max(1, pixels):.6g}"
