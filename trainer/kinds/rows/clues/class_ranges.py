"""Classes that are ranges of a number, as grades are of a score: the number tells the class, whatever else is known."""

import collections
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy

from trainer.errors import some
from trainer.kinds.rows.clues import same

ROWS = 2_000
FEWEST, OF_CLASS = 40, 3  # rows, and rows of each class
MOST_CLASSES = 20
RIGHT, OF_EACH = 0.99, 0.9  # shares of all rows and of each class that lie in the range of their class
RIGHT_OF_RATIO, FEWEST_FOR_RATIOS = 0.995, 100  # there are many ratios
GAP = 0.05  # of the span of nearly all numbers: classes that are further apart differ by nature
MOST_CODES = 20  # different numbers, up to which they may be codes
ITEMS, MOST_COLUMNS = 3, 12  # columns that are summed, and columns of which two are divided
_STEM = re.compile(r"(.*?)[ ._-]*\d+")


@numpy.errstate(all="ignore")  # ratios of very large numbers
def find(columns: Mapping[str, Sequence[str]], targets: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """What each class is a range of, in words and as columns; None where there is no such number."""
    every = -(-len(targets) // ROWS)
    targets = targets[::every]
    counts = collections.Counter(targets)
    if len(targets) < FEWEST or not 2 <= len(counts) <= MOST_CLASSES or min(counts.values()) < OF_CLASS:
        return None
    codes = numpy.unique(targets, return_inverse=True)[1]
    numbers = {name: numpy.array([float(c) if c else numpy.nan for c in cells[::every]]) for name, cells in columns.items()}
    for words, of, found, right in _numbers(numbers):
        if _are_ranges(found, codes, right):
            return words, of
    return None


def _numbers(columns: dict[str, numpy.ndarray]) -> Iterator[tuple[str, tuple[str, ...], numpy.ndarray, float]]:
    """The columns, the sums of those that are numbered, and the ratios of two: x / y and x / y². No single columns of codes, which are compared with
    the classes value by value elsewhere."""
    different = {n: len(numpy.unique(numbers[~numpy.isnan(numbers)])) for n, numbers in columns.items()}
    for name, numbers in ((n, c) for n, c in columns.items() if different[n] > MOST_CODES):
        yield name, (name,), numbers, RIGHT
    items = collections.defaultdict(list)
    for name in columns:
        if (match := _STEM.fullmatch(name.strip().lower())) and match[1] not in same.NO_NAMES:
            items[match[1]].append(name)
    for names in items.values():
        if len(names) >= ITEMS:
            yield f"the sum of {some(names, 6)}", tuple(names), numpy.sum([columns[n] for n in names], axis=0), RIGHT
    positive = [n for n, c in columns.items() if numpy.nanmin(c, initial=1) > 0 and different[n] > MOST_CODES]
    if len(positive) <= MOST_COLUMNS and len(next(iter(columns.values()), ())) >= FEWEST_FOR_RATIOS:
        for a, b in itertools.permutations(positive, 2):
            yield f"{a} / {b}", (a, b), columns[a] / columns[b], RIGHT_OF_RATIO
            yield f"{a} / {b}²", (a, b), columns[a] / columns[b] ** 2, RIGHT_OF_RATIO


def _are_ranges(numbers: numpy.ndarray, codes: numpy.ndarray, least: float) -> bool:
    """Whether each class is a range of ``numbers``, and the ranges touch."""
    known = ~numpy.isnan(numbers)
    numbers, codes = numbers[known], codes[known]
    counts = numpy.bincount(codes)
    if len(numbers) < FEWEST or counts.min() < OF_CLASS or counts.sum() < 0.8 * len(known):
        return False
    low, high = numpy.quantile(numbers, [0.05, 0.95])
    widest = max(GAP * (high - low), float(numpy.diff(numpy.unique(numbers)).min(initial=numpy.inf)))  # whole numbers are one apart
    order = sorted(range(len(counts)), key=lambda code: float(numpy.median(numbers[codes == code])))
    bounds = []
    for below, above in itertools.pairwise(order):
        bound, gap = _bound(numpy.sort(numbers[codes == below]), numpy.sort(numbers[codes == above]))
        if gap > widest:
            return False
        bounds.append(bound)
    if any(a >= b for a, b in itertools.pairwise(bounds)):
        return False
    right = numpy.array(order)[numpy.searchsorted(bounds, numbers, "right")] == codes
    return bool(right.mean() >= least and all(right[codes == code].mean() >= OF_EACH for code in order))


def _bound(below: numpy.ndarray, above: numpy.ndarray) -> tuple[float, float]:
    """The first number of the upper class with the fewest rows on the wrong side, and how far it is from the last one below it."""
    wrong = len(below) - numpy.searchsorted(below, above, "left") + numpy.arange(len(above))
    bound = float(above[wrong.argmin()])
    under = below[below < bound]
    return bound, bound - float(under[-1]) if len(under) else float("inf")
