"""How well objects are found: average precision as COCO measures it, and its parts for resampled pictures.

faster-coco-eval matches and accumulates; tests hold its values against pycocotools.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from faster_coco_eval.core import faster_eval_api, mask as masks
from faster_coco_eval.core.coco import COCO

from trainer.kinds.objects.truth import Truth

IOU = 0.5  # of a prediction and an object, from which they fit
_EVERYTHING = (0.0, 1e10)  # square pixels
SIZES = {"small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10)}  # square pixels of an object, as COCO defines them
_NOTHING = -1.0  # in the tables of the evaluator: there is nothing to find


@dataclass(frozen=True)
class Boxes:
    """What was found in one picture, the surest first: numbers of labels, scores, and boxes in pixels (n x 4). ``outlines`` are rings of
    polygons (each p x 2), or empty where there are boxes only."""

    classes: numpy.ndarray
    scores: numpy.ndarray
    boxes: numpy.ndarray
    outlines: tuple[numpy.ndarray, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    def sure(self, threshold: float) -> "Boxes":
        """Those with at least this score."""
        kept = self.scores >= threshold
        return Boxes(self.classes[kept], self.scores[kept], self.boxes[kept], tuple(o for o, k in zip(self.outlines, kept) if k))


class Matched:
    """The predictions of pictures matched with their objects, at the overlaps from 0.5 to 0.95."""

    def __init__(
        self,
        truths: Sequence[Truth],
        predicted: Sequence[Boxes],
        classes: int,
        most: int,
        outlined: bool = False,
        areas: Sequence[tuple[float, float]] = (_EVERYTHING,),
    ):
        """``most`` predictions of a picture count, for all classes together at most that many each. With ``outlined`` masks are compared.
        Each of ``areas`` is a range of square pixels: objects of another size are neither found nor missed."""
        self.pictures, self.classes, self.areas = len(truths), classes, len(areas)
        truth, answers = documents(truths, predicted, classes, outlined)
        right = COCO(truth)
        found = right.loadRes(answers) if answers else COCO({**truth, "annotations": []})
        self._evaluator = faster_eval_api.COCOeval_faster(right, found, "segm" if outlined else "bbox", separate_eval=True, print_function=_silent)
        self._evaluator.params.areaRng = [list(area) for area in areas]
        self._evaluator.params.areaRngLbl = [str(i) for i in range(len(areas))]
        self._evaluator.params.maxDets = [most]
        self._evaluator.evaluate()

    def tables(self, pictures: numpy.ndarray | None = None) -> "Tables":
        """Precision and recall in the first range of areas over these pictures, some of which may be there several times; over all where there
        are none."""
        return self.by_area(pictures)[0]

    def by_area(self, pictures: numpy.ndarray | None = None) -> "list[Tables]":
        """The same for each range of areas."""
        params, entries = self._evaluator._paramsEval, self._evaluator._evalImgs_cpp
        if pictures is not None:
            entries = [entries[group * self.pictures + int(i)] for group in range(self.classes * self.areas) for i in pictures]
        made = faster_eval_api._C.COCOevalAccumulate(params, entries)
        shape = made["counts"]
        precision = numpy.asarray(made["precision"]).reshape(shape)
        recall = numpy.asarray(made["recall"]).reshape(shape[0], *shape[2:])
        return [Tables(precision[:, :, :, a, 0], recall[:, :, a, 0]) for a in range(self.areas)]


@dataclass(frozen=True)
class Tables:
    """``precision`` is by overlap, recall from 0 to 1 and class; ``recall`` by overlap and class. Both are -1 for a class without objects."""

    precision: numpy.ndarray
    recall: numpy.ndarray

    @property
    def ap(self) -> float:
        return _mean(self.precision)

    @property
    def ap50(self) -> float:
        return _mean(self.precision[0])

    @property
    def ar(self) -> float:
        return _mean(self.recall)

    def of_class(self, number: int) -> tuple[float, float]:
        """AP50 and AP50:95 of a class; NaN where it has no objects."""
        return _mean(self.precision[0, :, number]), _mean(self.precision[:, :, number])


def _mean(values: numpy.ndarray) -> float:
    held = values[values > _NOTHING]
    return float(held.mean()) if held.size else float("nan")


def _silent(*said) -> None:
    """The evaluator tells of each of its steps."""


def documents(truths: Sequence[Truth], predicted: Sequence[Boxes], classes: int, outlined: bool) -> tuple[dict, list[dict]]:
    """The objects as a document of COCO, and the predictions as its list of results. Difficult objects are like crowds: they are neither
    found nor missed."""
    images = [{"id": i, "width": t.width, "height": t.height} for i, t in enumerate(truths)]
    entries: list[dict] = []
    for i, truth in enumerate(truths):
        sizes = areas(truth, outlined)
        for k in range(len(truth.classes)):
            left, top, right, bottom = (float(c) for c in truth.boxes[k])
            entry = {
                "id": len(entries) + 1, "image_id": i, "category_id": int(truth.classes[k]), "iscrowd": int(not truth.counted[k]),
                "bbox": [left, top, right - left, bottom - top], "area": float(sizes[k]),
            }  # fmt: skip
            if outlined:
                entry["segmentation"] = truth.outlines[k]
            entries.append(entry)
    answers = [a for i, boxes in enumerate(predicted) for a in results(boxes, i, outlined)]
    categories = [{"id": c, "name": str(c)} for c in range(classes)]
    return {"info": {}, "images": images, "annotations": entries, "categories": categories}, answers


def results(boxes: Boxes, image: int, outlined: bool) -> list[dict]:
    """What was found in a picture, as entries of COCO's list of results."""
    entries = []
    for k in range(len(boxes)):
        left, top, right, bottom = (round(float(c), 2) for c in boxes.boxes[k])
        entry = {
            "image_id": image, "category_id": int(boxes.classes[k]), "score": round(float(boxes.scores[k]), 5),
            "bbox": [left, top, round(right - left, 2), round(bottom - top, 2)],
        }  # fmt: skip
        if outlined:
            entry["segmentation"] = [[round(float(c), 2) for c in boxes.outlines[k].ravel()]]
        entries.append(entry)
    return entries


def overlaps(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    """The intersection over union of boxes (len(a) x len(b))."""
    low, high = numpy.maximum(a[:, None, :2], b[None, :, :2]), numpy.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = numpy.prod(numpy.clip(high - low, 0, None), axis=2)
    areas = numpy.prod(a[:, 2:] - a[:, :2], axis=1)[:, None] + numpy.prod(b[:, 2:] - b[:, :2], axis=1)[None]
    return shared / numpy.maximum(areas - shared, 1e-9)


def areas(truth: Truth, outlined: bool) -> numpy.ndarray:
    """The square pixels of each object of a picture: of its mask where outlines are learnt, else of its box."""
    if outlined:
        return numpy.asarray([float(masks.area(_runs(outline, truth))) for outline in truth.outlines])
    return numpy.prod(truth.boxes[:, 2:] - truth.boxes[:, :2], axis=1)


def matrix(truth: Truth, boxes: Boxes) -> numpy.ndarray:
    """The intersection over union of all predictions and objects of a picture: of their masks where both have outlines, else of their boxes."""
    if not len(boxes) or not len(truth.classes):
        return numpy.zeros((len(boxes), len(truth.classes)))
    if not boxes.outlines or not truth.outlines:
        return overlaps(boxes.boxes, truth.boxes)
    found = masks.frPyObjects([ring.ravel().tolist() for ring in boxes.outlines], truth.height, truth.width)
    there = [_runs(outline, truth) for outline in truth.outlines]
    return numpy.asarray(masks.iou(found, there, [0] * len(there)))


def _runs(outline, truth: Truth) -> dict:
    """The mask of a segmentation, whose parts are one object."""
    runs = masks.frPyObjects(outline, truth.height, truth.width)
    return masks.merge(runs) if isinstance(runs, list) else runs


def fitting(truth: Truth, boxes: Boxes, overlap: numpy.ndarray, threshold: float) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """Of the predictions with at least this score: whether each fits an object of its class, whether it counts, and whether each object is
    found. ``overlap`` is the matrix of all. The surest one takes an object; one in a crowd or on a difficult object does not count."""
    sure, overlap = boxes.sure(threshold), overlap[boxes.scores >= threshold]
    fits, counts = numpy.zeros(len(sure), bool), numpy.ones(len(sure), bool)
    is_found = numpy.zeros(len(truth.classes), bool)
    for i in range(len(sure)):
        near = (overlap[i] >= IOU) & (truth.classes == sure.classes[i])
        mine = near & truth.counted & ~is_found
        if mine.any():
            best = int(numpy.argmax(numpy.where(mine, overlap[i], -1)))
            fits[i] = is_found[best] = True
        elif (near & ~truth.counted).any():
            counts[i] = False
    return fits, counts, is_found
