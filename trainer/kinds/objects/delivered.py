"""Files with what was found: a table of all objects, and COCO's JSON with scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy

from trainer.core.example import Example
from trainer.export import display, results
from trainer.export.finished import Answered, Finished
from trainer.kinds.annotated import matching
from trainer.kinds.objects import outlines, scores
from trainer.kinds.objects.scores import Boxes
from trainer.kinds.objects.target import Objects
from trainer.kinds.objects.truth import Truth
from trainer.run_folder import files

FILE = "objects.json"
ABOUT = {"title": "Objects", "text": "All objects that the model finds in the pictures, with their scores, in the form of COCO."}
LEAST = 0.05  # score of an object in the JSON; the table has those that count


def table(examples: Sequence[Example], target: Objects, found: Sequence[Boxes], truths: Sequence[Truth] | None = None) -> str:
    """predictions.csv: a line for each object that counts, and one for each picture without any."""
    head = ["file", "object", "label", "score", "left", "top", "right", "bottom", "objects of the picture", *["annotated"] * (truths is not None)]
    lines = []
    for i, (example, boxes) in enumerate(zip(examples, found)):
        sure = boxes.sure(target.threshold)
        more = [] if truths is None else [int(truths[i].counted.sum()) if truths[i].known else ""]
        if not len(sure):
            lines.append([example.file, "", "", "", "", "", "", "", 0, *more])
        for k in range(len(sure)):
            box = [f"{c:.1f}" for c in sure.boxes[k]]
            lines.append([example.file, k + 1, target.labels[int(sure.classes[k])], f"{sure.scores[k]:.4f}", *box, len(sure), *more])
    return display.table(head, lines)


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


def write(folder: Path, document: dict) -> None:
    files.write_json(folder / FILE, document)


def of_training(finished: Finished) -> None:
    """Write what the model finds in the test pictures beside its other results."""
    answers, examples = finished.outcome.answers["test"], finished.data.splits["test"]
    sizes = [(t.width, t.height) for t in answers.truths]
    write(finished.folder.parent, coco(examples, cast(Objects, finished.prepared.plan.target), answers.predicted, sizes))


def of_prediction(answered: Answered, folder: Path) -> dict:
    """Write what the model finds in the pictures of a prediction into ``folder``, and return what is told of the file."""
    sizes = [matching.upright_size(e.content) for e in answered.examples]
    target = cast(Objects, answered.target)
    write(folder, coco(answered.examples, target, [target.boxes(row) for row in answered.outputs], sizes))
    return about()


def about() -> dict:
    """What is told of the file, by its path in a result."""
    return {f"{results.OUT}/{FILE}": ABOUT}
