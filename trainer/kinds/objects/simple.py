"""A simple detector for comparison: blobs of the usual size, brighter or darker than what is around them."""

import collections

import numpy
from PIL import Image
from scipy import ndimage

from trainer.core.example import Dataset, Example
from trainer.data import rasters
from trainer.kinds.objects.answers import Answers
from trainer.kinds.objects.scores import Boxes
from trainer.kinds.objects.target import Objects
from trainer.kinds.objects.truth import Truth

TITLE = "blob detector"
_SIDE = 256  # pixels of the longest side in which blobs are looked for
_MOST = 100  # of a picture
_INNER = 2.8  # half axes of a blob for each standard deviation of the filter, times two


def answers(data: Dataset, target: Objects, truth: dict[str, numpy.ndarray]) -> Answers:
    """The blobs in the test pictures. Each has the label whose objects are of its size, and the mean form of that label."""
    sizes = _mean_sizes(truth["train"])
    boxes = [_blobs(e, t, sizes) for e, t in zip(data.splits["test"], truth["test"])]
    return target.of_boxes(list(truth["test"]), boxes)


def _mean_sizes(train: numpy.ndarray) -> dict[int, numpy.ndarray]:
    """The mean width and height of the objects of each label, in shares of the longest side of their pictures."""
    by_label: dict[int, list[numpy.ndarray]] = collections.defaultdict(list)
    for t in train:
        for label, box in zip(t.classes[t.counted], t.boxes[t.counted]):
            by_label[int(label)].append((box[2:] - box[:2]) / max(t.width, t.height))
    return {label: numpy.mean(sides, axis=0) for label, sides in by_label.items()}


def _blobs(example: Example, truth: Truth, sizes: dict[int, numpy.ndarray]) -> Boxes:
    grey = _grey(example)
    if grey is None:
        return Boxes(numpy.zeros(0, numpy.int64), numpy.zeros(0), numpy.zeros((0, 4)))
    longest, scale = max(truth.width, truth.height), max(truth.width, truth.height) / max(grey.shape)
    labels, strengths, boxes = [], [], []
    for label, share in sizes.items():
        deviation = max(0.7, float(share.mean()) * max(grey.shape) / _INNER)
        response = numpy.abs(ndimage.gaussian_filter(grey, deviation) - ndimage.gaussian_filter(grey, 1.6 * deviation))
        peaks = (response == ndimage.maximum_filter(response, size=max(3, round(2 * deviation)))) & (response > 0)
        rows, columns = numpy.nonzero(peaks)
        for k in numpy.argsort(-response[rows, columns], kind="stable")[:_MOST]:
            middle = numpy.asarray([columns[k] + 0.5, rows[k] + 0.5]) * scale
            half = share * longest / 2
            labels.append(label)
            strengths.append(response[rows[k], columns[k]])
            boxes.append(numpy.clip([*(middle - half), *(middle + half)], 0, [truth.width, truth.height] * 2))
    order = numpy.argsort(-numpy.asarray(strengths), kind="stable")[:_MOST]
    return Boxes(numpy.asarray(labels, numpy.int64)[order], numpy.asarray(strengths, float)[order], numpy.asarray(boxes, float).reshape(-1, 4)[order])


def _grey(example: Example) -> numpy.ndarray | None:
    """A picture as one small band between 0 and 1; None where it cannot be read."""
    try:
        if rasters.form(example.content).plain:
            pixels = numpy.asarray(rasters.seen(example.content)).mean(axis=2)
        else:
            pixels = numpy.nan_to_num(rasters.values(example.content)[0].astype(numpy.float32).mean(axis=2))
    except (OSError, ValueError):
        return None
    image = Image.fromarray(pixels.astype(numpy.float32))
    factor = _SIDE / max(image.size)
    values = numpy.asarray(image.resize((max(1, round(image.width * factor)), max(1, round(image.height * factor)))))
    return (values - values.min()) / max(1e-6, float(values.max() - values.min()))
