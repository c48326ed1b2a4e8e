"""Whether the rows of a table are a series: in an order of time in which neighbours are much more alike than strangers.

All tests are exact formulas over the ranks of the target, without a model: the ratio of Bartels (1982) for numbers, and its counterpart for
classes. It is about 1 where rows are independent of each other, and near 0 where each is like the one before.
"""

from dataclasses import dataclass

import numpy

from trainer.data.columns.clocks import Clock

ALIKE = 0.5  # a ratio below it: neighbours are much more alike than strangers
CERTAIN = 3.0  # standard deviations below 1
MIN_PAIRS = 40  # of neighbours
SORTED = 0.98  # of the steps from row to row go the same way
ONCE = 0.99  # of the rows have a time of their own, in their series
DENSE = 0.5  # of the steps between first and last time have a row
MIN_LENGTH = 8  # rows of one of several series, on average
_SEED = 7


@dataclass(frozen=True)
class Series:
    """How the rows lie in time. ``ratio`` is the one of Bartels within each series, ``sure`` its distance from 1 in standard deviations.

    ``key`` is the column that tells several series apart, empty for one. ``once`` says that a time occurs once in a series, ``ordered`` that the
    table has the order of time, or one row for each step of it.
    """

    column: str
    key: str
    once: bool
    ordered: bool
    ratio: float
    sure: float

    @property
    def alike(self) -> bool:
        """Whether neighbours in time are much more alike than strangers."""
        return self.ratio < ALIKE and self.sure > CERTAIN


def look(clock: Clock, target: numpy.ndarray, classes: bool, keys: dict[str, numpy.ndarray]) -> Series | None:
    """How the rows, with ``target`` as numbers (codes of ``classes``), lie in time; None if they are too few.

    ``keys`` are codes of the columns that may tell several series apart. Numbers such as years, which may be a property of the rows, are an
    order of time only where each occurs once.
    """
    known = ~numpy.isnan(clock.times)
    when, what = clock.times[known], target[known]
    if len(when) <= MIN_PAIRS:
        return None
    name, codes = _key(when, {n: c[known] for n, c in keys.items()})
    once = _once(when, codes)
    ordered = (_sorted(when, codes) and (once or clock.dates)) or (once and _regular(when, codes))
    ratio, pairs = _ratio(when, ranks(what) if not classes else what, codes, classes)
    return Series(clock.column, name, once, ordered, ratio, (1 - ratio) * pairs**0.5) if pairs >= MIN_PAIRS else None


def _key(when: numpy.ndarray, keys: dict[str, numpy.ndarray]) -> tuple[str, numpy.ndarray]:
    """The column in each of whose values a time occurs once, where times repeat; else one series of all rows."""
    one = numpy.zeros(len(when), int)
    if _once(when, one):
        return "", one
    fitting = [(len(numpy.unique(c)), n) for n, c in keys.items() if len(when) >= MIN_LENGTH * len(numpy.unique(c)) and _once(when, c)]
    return (min(fitting)[1], keys[min(fitting)[1]]) if fitting else ("", one)


def _once(when: numpy.ndarray, codes: numpy.ndarray) -> bool:
    order = numpy.lexsort((when, codes))
    same = (numpy.diff(when[order]) == 0) & (numpy.diff(codes[order]) == 0)
    return same.sum() <= (1 - ONCE) * len(when)


def _sorted(when: numpy.ndarray, codes: numpy.ndarray) -> bool:
    """Whether the rows of each series come in the order of time, or of time backwards."""
    order = numpy.argsort(codes, kind="stable")
    steps = numpy.diff(when[order])[numpy.diff(codes[order]) == 0]
    moving = steps[steps != 0]
    return len(moving) > 0 and max((moving > 0).sum(), (moving < 0).sum()) >= SORTED * len(moving)


def _regular(when: numpy.ndarray, codes: numpy.ndarray) -> bool:
    """Whether most steps of time, of the length that is most frequent, have one row in each series."""
    order = numpy.lexsort((when, codes))
    steps = numpy.diff(when[order])[numpy.diff(codes[order]) == 0]
    lengths, counts = numpy.unique(steps[steps > 0], return_counts=True)
    if not len(lengths):
        return False
    return len(steps) >= DENSE * float(steps.sum() / lengths[counts.argmax()])


def _ratio(when: numpy.ndarray, what: numpy.ndarray, codes: numpy.ndarray, classes: bool) -> tuple[float, int]:
    """The mean difference of neighbours by that of strangers, within series, and the number of pairs. Rows of one time come in a random order."""
    chance = numpy.random.default_rng(_SEED).permutation(len(when))
    order = numpy.lexsort((chance, when, codes))
    together = numpy.diff(codes[order]) == 0
    sizes = numpy.bincount(codes, minlength=codes.max() + 1).astype(float)
    steps = numpy.diff(what[order])[together]
    if classes:
        near = float((steps != 0).sum())
        pairs = numpy.unique(numpy.stack([codes, what.astype(int)]), axis=1, return_counts=True)
        alike = numpy.bincount(pairs[0][0], pairs[1] * (pairs[1] - 1.0), minlength=len(sizes))
        far = float(((sizes - 1) * (1 - alike / numpy.maximum(1, sizes * (sizes - 1))))[sizes > 1].sum())
    else:
        near = float((steps**2).sum())
        means = numpy.bincount(codes, what, minlength=len(sizes)) / numpy.maximum(1, sizes)
        far = 2 * float(((what - means[codes]) ** 2).sum())  # of n - 1 pairs of strangers, each two variances apart
    return (near / far if far > 0 else 1.0), int(together.sum())


def ranks(what: numpy.ndarray) -> numpy.ndarray:
    """The ranks of numbers, equal for equal numbers: so single peaks count no more than others."""
    from scipy import stats  # takes a second to import, and most data are no series

    return stats.rankdata(what)
