"""Files with what was found: a table of all objects, one of the counts, and COCO's JSON with scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy

from trainer.core.example import Example
from trainer.export import display, results
from trainer.export.finished import Answered, Finished
from trainer.kinds.annotated import matching
from trainer.kinds.objects import outlines, scores, sure
from trainer.kinds.objects.scores import Boxes
from trainer.kinds.objects.target import Objects
from trainer.kinds.objects.truth import Truth
from trainer.run_folder import files

FILE = "objects.json"
ABOUT = {"title": "Objects", "text": "All objects that the model finds in the pictures, with their scores, in the form of COCO."}
COUNTS = "counts.csv"
ABOUT_COUNTS = {
    "title": "Counts",
    "text": "How many objects of each label the model finds in each picture, with the interval that holds the true number as often as promised.",
}
_ALL = "all"
LEAST = 0.05  # score of an object in the JSON; the table has those that count


def table(examples: Sequence[Example], target: Objects, found: Sequence[Boxes], truths: Sequence[Truth] | None = None) -> str:
    """predictions.csv: a line for each object that counts, and one for each picture without any. The interval is that of the number of objects of
    the picture."""
    beside = {} if target.promise is None else sure.columns(target.promise, _counted(target, found))
    head = [
        "file",
        "object",
        "label",
        "score",
        "left",
        "top",
        "right",
        "bottom",
        "objects of the picture",
        *beside,
        *["annotated"] * (truths is not None),
    ]
    lines = []
    for i, (example, boxes) in enumerate(zip(examples, found)):
        shown = boxes.sure(target.threshold)
        more = [*(cells[i] for cells in beside.values()), *([] if truths is None else [int(truths[i].counted.sum()) if truths[i].known else ""])]
        if not len(shown):
            lines.append([example.file, "", "", "", "", "", "", "", 0, *more])
        for k in range(len(shown)):
            box = [f"{c:.1f}" for c in shown.boxes[k]]
            lines.append([example.file, k + 1, target.labels[int(shown.classes[k])], f"{shown.scores[k]:.4f}", *box, len(shown), *more])
    return display.table(head, lines)


def counts(examples: Sequence[Example], target: Objects, found: Sequence[Boxes], truths: Sequence[Truth] | None = None) -> str:
    """counts.csv: a line for each picture and label, and of several labels one for all, with the intervals."""
    said = sure.with_all(_counted(target, found))
    low, high = sure.bounds(target.promise, _counted(target, found)) if target.promise is not None else (None, None)
    names = [*target.labels, *([_ALL] if len(target.labels) > 1 else [])]
    head = ["file", "label", "objects", *(["low", "high"] if low is not None else []), *["annotated"] * (truths is not None)]
    lines = []
    for i, example in enumerate(examples):
        there = [""] * len(names)
        if truths is not None and truths[i].known:
            there = sure.with_all(numpy.bincount(truths[i].classes[truths[i].counted], minlength=len(target.labels))[None])[0].tolist()
        for k, name in enumerate(names):
            within = [low[i, k], high[i, k]] if low is not None and high is not None else []
            lines.append([example.file, name, said[i, k], *within, *([there[k]] if truths is not None else [])])
    return display.table(head, lines)


def _counted(target: Objects, found: Sequence[Boxes]) -> numpy.ndarray:
    return numpy.asarray([target.counted(boxes) for boxes in found], numpy.int64).reshape(len(found), len(target.labels))


def coco(examples: Sequence[Example], target: Objects, found: Sequence[Boxes], sizes: Sequence[tuple[int, int]]) -> dict:
    """The objects in the form of a COCO document, with a score for each. ``sizes`` are widths and heights."""
    images = [{"id": i, "file_name": e.file, "width": int(w), "height": int(h)} for i, (e, (w, h)) in enumerate(zip(examples, sizes))]
    entries = [a for i, boxes in enumerate(found) for a in scores.results(boxes.sure(LEAST), i, bool(boxes.outlines))]
    annotations = [{"id": n, "iscrowd": 0, "area": round(_area(a), 2), **a} for n, a in enumerate(entries, 1)]
    info = {"description": f"Objects with a score of at least {LEAST}. The model counts those from {target.threshold} on."}
    return {"info": info, "images": images, "annotations": annotations, "categories": [{"id": c, "name": n} for c, n in enumerate(target.labels)]}


def _area(entry: dict) -> float:
    """In pixels: of the outline where there is one, else of the box."""
    if "segmentation" in entry:
        return sum(outlines.area(numpy.asarray(ring).reshape(-1, 2)) for ring in entry["segmentation"])
    return entry["bbox"][2] * entry["bbox"][3]


def of_training(finished: Finished) -> None:
    """Write what the model finds in the test pictures beside its other results."""
    answers, examples = finished.outcome.answers["test"], finished.data.splits["test"]
    sizes = [(t.width, t.height) for t in answers.truths]
    _write(finished.folder.parent, examples, cast(Objects, finished.prepared.plan.target), answers.predicted, sizes, answers.truths)


def of_prediction(answered: Answered, folder: Path) -> dict:
    """Write what the model finds in the pictures of a prediction into ``folder``, and return what is told of the files."""
    sizes = [matching.upright_size(e.content) for e in answered.examples]
    target = cast(Objects, answered.target)
    truths = list(answered.truth) if answered.known.any() else None
    _write(folder, answered.examples, target, [target.boxes(row) for row in answered.outputs], sizes, truths)
    return about()


def _write(
    folder: Path,
    examples: Sequence[Example],
    target: Objects,
    found: Sequence[Boxes],
    sizes: Sequence[tuple[int, int]],
    truths: Sequence[Truth] | None,
) -> None:
    files.write_json(folder / FILE, coco(examples, target, found, sizes))
    files.write_text(folder / COUNTS, counts(examples, target, found, truths))


def about() -> dict:
    """What is told of the files, by their paths in a result."""
    return {f"{results.OUT}/{FILE}": ABOUT, f"{results.OUT}/{COUNTS}": ABOUT_COUNTS}
