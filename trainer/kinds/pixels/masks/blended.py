"""Values of masks that are mixtures of two others: programs that scale a mask or smooth its edges make them, and no class has them."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy

from trainer.kinds.pixels import codings

_SAMPLE = 20  # masks
_FEWEST, _PIXELS = 2, 10  # mixtures, below which they may be thin things; and pixels that each of these has in the sample
_BETWEEN = 0.9  # share of the pixels of a mixture whose neighbours have both lower and higher values
_HUGE = 1 << 40
_MOST = 256  # values or colours that are looked at, the most frequent first


def mixtures(masks: Sequence[Path], total: Counter, read: Callable[[Path], numpy.ndarray], colours: bool) -> frozenset[int]:
    """Those of the values in ``total`` that ``masks`` have only between others: all neighbours of no pixel have it, and it lies between two values
    of which that is not so. Empty where these are few. ``read`` gives the values of a mask, packed where they are ``colours``."""
    if len(total) < _FEWEST + 2:
        return frozenset()
    small = not colours and all(v < codings.MOST for v in total if v != codings.NODATA)  # then NODATA is a border, as in VOC
    looked = [value for value, _ in total.most_common(_MOST)]
    inside: Counter = Counter()
    between: Counter = Counter()
    seen: Counter = Counter()
    for file in masks[:: max(1, len(masks) // _SAMPLE)][:_SAMPLE]:
        try:
            values = read(file)
        except (OSError, ValueError, SyntaxError):
            continue
        low, high = _around(values, codings.NODATA if small else None)
        for counts, where in ((seen, values), (inside, values[low == high]), (between, values[(low < values) & (values < high)])):
            counts.update(dict(zip(*(part.tolist() for part in numpy.unique(where, return_counts=True)))))
    own = numpy.asarray([v for v in looked if inside[v]], numpy.int64)
    thin = [v for v in looked if seen[v] and not inside[v]]
    if len(own) < 2:
        return frozenset()
    found = [v for v in thin if (_is_mixed(v, own) if colours else own.min() < v < own.max() and between[v] >= _BETWEEN * seen[v])]
    return frozenset(found) if sum(seen[v] >= _PIXELS for v in found) >= _FEWEST else frozenset()


def _around(values: numpy.ndarray, without: int | None) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The smallest and the largest value of each pixel and its eight neighbours, of neighbours only those that are not ``without``."""
    from scipy import ndimage  # every run imports this module

    low, high = (values, values) if without is None else (numpy.where(values == without, end, values) for end in (_HUGE, -_HUGE))
    return ndimage.minimum_filter(low, 3, mode="nearest"), ndimage.maximum_filter(high, 3, mode="nearest")


def _is_mixed(colour: int, own: numpy.ndarray) -> bool:
    """Whether a packed colour lies between two of ``own``: near the line from one to the other, and near neither."""
    ends, middle = codings.unpacked(own).astype(numpy.float64), codings.unpacked(numpy.asarray(colour)).astype(numpy.float64)
    way, to = ends[None] - ends[:, None], middle - ends[:, None]
    length = (way**2).sum(axis=2)
    share = numpy.clip((way * to).sum(axis=2) / numpy.maximum(length, 1), 0, 1)
    apart = numpy.abs(to - share[..., None] * way).max(axis=2)
    return bool(((apart <= codings.NEAR_COLOUR) & (share > 0) & (share < 1) & (length > 0)).any())
