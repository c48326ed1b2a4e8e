"""The objects of one picture as the target of an example: a text for the example, arrays for the model and its scores."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer.kinds.annotated.shapes import Picture, Shape
from trainer.kinds.objects import outlines

COUNTED, DIFFICULT, CROWD = 0, 1, 2  # the last number of an object


@dataclass(frozen=True, slots=True)
class Truth:
    """The objects of a picture of ``width`` by ``height`` pixels.

    ``classes`` are numbers of labels, ``boxes`` left, top, right and bottom in pixels (n x 4), ``flags`` the sort of each. ``outlines`` are
    segmentations as COCO has them and ``rings`` the largest ring of each, or empty where only boxes are known. ``known`` is False where nobody
    annotated the picture.
    """

    width: int
    height: int
    classes: numpy.ndarray
    boxes: numpy.ndarray
    flags: numpy.ndarray
    outlines: tuple = ()
    rings: tuple[numpy.ndarray, ...] = ()
    known: bool = True

    @property
    def counted(self) -> numpy.ndarray:
        """Whether each object is to be found: neither a crowd nor difficult."""
        return self.flags == COUNTED


def written(picture: Picture, outlined: bool) -> str:
    """The target of an example."""
    objects = [[s.label, *(round(c, 2) for c in s.box), _flag(s, outlined), *([_outline(s, picture)] if outlined else [])] for s in picture.shapes]
    return json.dumps({"size": [picture.width, picture.height], "objects": objects}, separators=(",", ":"), ensure_ascii=False)


def _flag(shape: Shape, outlined: bool) -> int:
    """An object whose outline nobody drew is difficult, where outlines are learnt."""
    if shape.crowd:
        return CROWD
    return DIFFICULT if shape.difficult or (outlined and not shape.has_outline) else COUNTED


def _outline(shape: Shape, picture: Picture):
    """The segmentation of a shape as COCO has it; the rectangle of its box where it has no outline."""
    if shape.runs is not None or shape.holes:
        from trainer.kinds.annotated import masks, runs

        mine = shape.runs or runs.of_mask(masks.mask(shape, picture.width, picture.height))
        return {"size": [mine.height, mine.width], "counts": mine.counts.tolist()}
    if shape.rings:
        return [[round(float(c), 2) for c in ring.ravel()] for ring in shape.rings]
    left, top, right, bottom = shape.box
    return [[left, top, right, top, right, bottom, left, bottom]]


def labels(target: str) -> list[str]:
    """The labels of the objects that count, one for each."""
    return [o[0] for o in json.loads(target)["objects"] if o[5] == COUNTED] if target else []


def read(target: str, names: Sequence[str]) -> Truth:
    """The objects behind the target of an example. Those of other labels than ``names`` are left out."""
    document = json.loads(target) if target else {}
    width, height = document.get("size", (1, 1))
    places = {name: i for i, name in enumerate(names)}
    known = [o for o in document.get("objects", ()) if o[0] in places]
    return Truth(
        int(width),
        int(height),
        numpy.asarray([places[o[0]] for o in known], numpy.int64),
        numpy.asarray([o[1:5] for o in known], numpy.float64).reshape(-1, 4),
        numpy.asarray([o[5] for o in known], numpy.int64),
        tuple(o[6] for o in known if len(o) > 6),
        tuple(outlines.of_segmentation(o[6]) for o in known if len(o) > 6),
        bool(target),
    )


def array(truths: Sequence[Truth]) -> numpy.ndarray:
    """The truths of examples as an array of objects, one for each."""
    listed = numpy.empty(len(truths), object)
    for i, truth in enumerate(truths):
        listed[i] = truth
    return listed


def in_words(target: str) -> str:
    """How many objects of each label there are."""
    counted: dict[str, int] = {}
    for label in labels(target):
        counted[label] = counted.get(label, 0) + 1
    return words(counted)


def words(counted: dict[str, int]) -> str:
    """The numbers by label in the order of the labels, so that truth and answer are alike where they are equal."""
    return ", ".join(f"{number} {label}" for label, number in sorted(counted.items()) if number) or "no objects"
