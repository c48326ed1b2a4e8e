"""Whether rows that lie near each other on the map are much more alike than others."""

import numpy

from trainer.data import series

BLOCKS = 30  # at least so many, where the places allow it
_GRIDS = (10, 20, 40, 80, 160)


def blocks(latitude: numpy.ndarray, longitude: numpy.ndarray) -> list[str]:
    """The names of squares of a grid, one for each row and empty without a place. The grid is as coarse as BLOCKS squares with rows allow."""
    known = ~(numpy.isnan(latitude) | numpy.isnan(longitude))
    names = [""] * len(latitude)
    if not known.any():
        return names
    for side in _GRIDS:
        cells = [_steps(c[known], side) for c in (latitude, longitude)]
        if len(numpy.unique(numpy.stack(cells), axis=1).T) >= BLOCKS:
            break
    for row, north, east in zip(numpy.flatnonzero(known), *cells):
        names[row] = f"block {north} {east}"
    return names


def _steps(values: numpy.ndarray, side: int) -> numpy.ndarray:
    low, high = values.min(), values.max()
    return numpy.minimum(side - 1, ((values - low) / max(high - low, 1e-12) * side).astype(int))


def alike_in(groups: list[str], target: numpy.ndarray, classes: bool) -> float:
    """The mean difference of two rows of one group by that of any two rows; 1 where groups tell nothing."""
    _, codes = numpy.unique(groups, return_inverse=True)
    sizes = numpy.bincount(codes).astype(float)
    inside = len(groups) - len(sizes)
    if inside < series.MIN_PAIRS:
        return 1.0
    if classes:
        counts = numpy.zeros((len(sizes), int(target.max()) + 1))
        numpy.add.at(counts, (codes, target.astype(int)), 1)
        near = float((sizes - (counts**2).sum(axis=1) / sizes).sum()) / inside
        total = counts.sum(axis=0)
        far = float(len(groups) - (total**2).sum() / len(groups)) / (len(groups) - 1)
    else:
        ranks = series.ranks(target)
        means = numpy.bincount(codes, ranks) / sizes
        near = float(((ranks - means[codes]) ** 2).sum()) / inside
        far = float(ranks.var(ddof=1))
    return near / far if far > 0 else 1.0
