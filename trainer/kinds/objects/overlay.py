"""The picture that shows which objects a model finds: truth beside answer in a training, the answer on the picture in a prediction."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import numpy
from PIL import Image, ImageDraw

from trainer.core.blocks import Block
from trainer.core.example import Example
from trainer.data.pictures import thumbnails
from trainer.data.pictures.colours import NAMES, PALETTE
from trainer.errors import count, some
from trainer.export import sheet
from trainer.export.finished import Answered, Finished
from trainer.export.sheet import Panel
from trainer.kinds.objects.scores import Boxes
from trainer.kinds.objects.target import Objects
from trainer.kinds.objects.truth import Truth

_SIDE = 640  # pixels of the longer side of a picture that is drawn on
_LOOKED = 50  # examples that are looked at for some with objects
_PEN = 3  # pixels


def of_training(finished: Finished) -> dict[str, dict]:
    """Write the picture of typical test pictures. Gives what is told of it; nothing where there are none."""
    answers, target = finished.outcome.answers["test"], cast(Objects, finished.prepared.plan.target)
    examples, panels = finished.data.splits["test"], []
    order = numpy.argsort(-target.losses(answers), kind="stable") if len(answers) else ()
    nearest = sorted(range(len(order)), key=lambda i: (not answers.truths[order[i]].counted.any(), abs(i - len(order) // 2)))
    for row in (int(order[i]) for i in nearest[: sheet.MOST]):
        truth, boxes = answers.truths[row], answers.predicted[row].sure(answers.threshold)
        seen = _seen(examples[row], truth.width)
        if seen is None:
            continue
        image, scale = seen
        sides = (_of_truth(truth, target), f"Truth: {_name(examples[row])}"), (_found(boxes), f"Answer ({count(len(boxes), 'object')})")
        panels += [Panel(_marked(image, scale, marks), words) for marks, words in sides]
    text = f"Typical test pictures: on the left what is right, on the right what the model finds. {_words(target)}"
    return sheet.write(finished.folder.parent, panels, 2, _legend(target), text)


def of_prediction(answered: Answered, out: Path) -> dict[str, dict]:
    """Write the picture of some pictures with what is found in them: the first ones with objects. Gives what is told of it."""
    target, drawn = cast(Objects, answered.target), _first(answered)
    panels = [Panel(image, f"{_name(example)} ({count(objects, 'object')})") for image, example, objects in drawn]
    text = f"What the model finds in {some([example.file for _, example, _ in drawn])}. {_words(target)}"
    return sheet.write(out, panels, len(panels), _legend(target), text)


def in_report(answered: Answered) -> list[Block]:
    """The same pictures for the report."""
    drawn = ((image, f"{example.file}: {count(objects, 'object')}") for image, example, objects in _first(answered))
    return sheet.in_report("What the model finds", drawn, _words(cast(Objects, answered.target)))


def _first(answered: Answered) -> list[tuple[Image.Image, Example, int]]:
    """The first pictures with objects, else without, with what is found drawn on them, and the number of these objects."""
    target = cast(Objects, answered.target)
    found = [target.boxes(row).sure(target.threshold) for row in answered.outputs[:_LOOKED]]
    filled = [i for i, boxes in enumerate(found) if len(boxes)]
    empty = [i for i, boxes in enumerate(found) if not len(boxes)]
    drawn = []
    for row in sorted([*filled, *empty][: sheet.MOST]):
        if (seen := _seen(answered.examples[row])) is not None:
            drawn.append((_marked(*seen, _found(found[row])), answered.examples[row], len(found[row])))
    return drawn


def _seen(example: Example, width: int = 0) -> tuple[Image.Image, float] | None:
    """A picture to draw on, and its width as a share of the ``width`` in which objects are; 0 for its own. None where it cannot
    be read again."""
    try:
        image = thumbnails.upright(example.content)
    except (OSError, ValueError):
        return None
    width = width or image.width
    image.thumbnail((_SIDE, _SIDE))
    if (larger := _SIDE // 2 // max(image.size)) > 1:  # lines are thin beside the pixels of a small picture
        image = image.resize((image.width * larger, image.height * larger), Image.Resampling.NEAREST)
    return image, image.width / width


def _of_truth(truth: Truth, target: Objects) -> Iterable[tuple[int, numpy.ndarray]]:
    """The label and the outline of each object that is to be found."""
    for i in numpy.flatnonzero(truth.counted).tolist():
        yield int(truth.classes[i]), truth.rings[i] if target.outlined else _corners(truth.boxes[i])


def _found(boxes: Boxes) -> Iterable[tuple[int, numpy.ndarray]]:
    for i, label in enumerate(boxes.classes.tolist()):
        yield int(label), boxes.outlines[i] if boxes.outlines else _corners(boxes.boxes[i])


def _corners(box: Sequence[float]) -> numpy.ndarray:
    left, top, right, bottom = box
    return numpy.asarray([(left, top), (right, top), (right, bottom), (left, bottom)])


def _marked(image: Image.Image, scale: float, marks: Iterable[tuple[int, numpy.ndarray]]) -> Image.Image:
    """A copy of ``image`` with outlines in the colours of their labels."""
    drawn = image.copy()
    pen = ImageDraw.Draw(drawn)
    for label, ring in marks:
        points = [(float(x), float(y)) for x, y in ring * scale]
        pen.line([*points, points[0]], PALETTE[label % len(PALETTE)], _PEN, "curve")
    return drawn


def _legend(target: Objects) -> list[tuple[sheet.Colour, str]]:
    return [(PALETTE[i % len(PALETTE)], label) for i, label in enumerate(target.labels)]


def _words(target: Objects) -> str:
    said = some([f"{NAMES[i % len(NAMES)]} is {label}" for i, label in enumerate(target.labels)], 16)
    return f"{said[:1].upper()}{said[1:]}."


def _name(example: Example) -> str:
    return example.file.rpartition("/")[2]
