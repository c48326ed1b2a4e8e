"""Masks as run lengths: the list and the compressed text of COCO, and rows of CVAT. Untrusted, so that every number is checked."""

from typing import Any

import numpy

from trainer.kinds.annotated import limits
from trainer.kinds.annotated.shapes import Runs

_CHARACTER, _MORE, _SIGN, _BITS = 48, 0x20, 0x10, 5
_GROUPS = 7  # of a number in the compressed text: more than 32 bits are no run


def of_coco(segmentation: Any) -> Runs | None:
    """The runs of an object with ``counts`` and ``size``; None where they do not fill that size."""
    size = limits.numbers(segmentation.get("size")) if isinstance(segmentation, dict) else None
    if size is None or len(size) != 2 or min(size) < 1 or size[0] * size[1] > limits.PIXELS:
        return None
    counts = segmentation.get("counts")
    if isinstance(counts, str):
        listed = decompressed(counts)
    else:
        values = limits.numbers(counts) if isinstance(counts, list) and len(counts) <= limits.RUNS else None
        listed = None if values is None or any(v % 1 for v in values) else [int(v) for v in values]
    height, width = int(size[0]), int(size[1])
    if listed is None or any(c < 0 for c in listed) or sum(listed) != height * width:
        return None
    return Runs(numpy.asarray(listed, numpy.int64), height, width)


def decompressed(text: str) -> list[int] | None:
    """The counts behind COCO's compressed text; None where it is none."""
    counts: list[int] = []
    value = group = 0
    for character in text:
        bits = ord(character) - _CHARACTER
        if not 0 <= bits < 2 * _MORE or group == _GROUPS or len(counts) == limits.RUNS:
            return None
        value |= (bits & (_MORE - 1)) << (_BITS * group)
        group += 1
        if bits & _MORE:
            continue
        if bits & _SIGN:
            value -= 1 << (_BITS * group)
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
        value = group = 0
    return None if group else counts


def of_mask(mask: numpy.ndarray) -> Runs:
    """The runs of a mask (height x width, bool)."""
    values = numpy.asarray(mask, bool).ravel(order="F")
    changes = numpy.flatnonzero(values[1:] != values[:-1]) + 1
    edges = numpy.concatenate([[0], changes, [len(values)]])
    counts = numpy.diff(edges)
    return Runs(numpy.concatenate([[0], counts]) if len(values) and values[0] else counts, *mask.shape)


def mask(runs: Runs) -> numpy.ndarray:
    """The mask (height x width, bool) behind runs."""
    return _filled(runs.counts).reshape((runs.height, runs.width), order="F")


def _filled(counts: numpy.ndarray) -> numpy.ndarray:
    """The pixels behind counts of which every second one is inside."""
    return numpy.repeat(numpy.arange(len(counts)) % 2 == 1, counts)


def of_rows(counts: Any, width: float, height: float) -> numpy.ndarray | None:
    """The mask of a rectangle whose runs go row after row, outside first; None where they do not fill it."""
    listed = limits.numbers(counts)
    if listed is None or min(width, height) < 1 or width * height > limits.PIXELS or any(c < 0 or c % 1 for c in listed):
        return None
    if sum(listed) != int(width) * int(height):
        return None
    return _filled(numpy.asarray(listed, numpy.int64)).reshape(int(height), int(width))


def bounds(runs: Runs) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of what is inside; None where nothing is."""
    ends = numpy.cumsum(runs.counts)
    starts, stops = ends[0:-1:2], ends[1::2]
    filled = stops > starts
    starts, stops = starts[filled], stops[filled] - 1
    if not len(starts):
        return None
    left, right = int(starts[0] // runs.height), int(stops[-1] // runs.height)
    wraps = starts // runs.height != stops // runs.height  # such a run reaches the bottom and goes on at the top
    top = 0 if wraps.any() else int((starts % runs.height).min())
    bottom = runs.height - 1 if wraps.any() else int((stops % runs.height).max())
    return left, top, right + 1, bottom + 1
