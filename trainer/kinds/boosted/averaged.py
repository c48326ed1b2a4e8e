"""Several forests as one, which answers the mean of their scores."""

import numpy

from trainer.kinds.boosted import forest as forests
from trainer.kinds.boosted.forest import Forest


def mean(among: list[Forest]) -> Forest:
    """The forest whose scores are the mean of the scores of ``among``, which have the same outputs."""
    nodes = numpy.cumsum([0, *(len(f.feature) for f in among)])[:-1]
    subsets = numpy.cumsum([0, *(len(f.categories) for f in among)])[:-1]
    parts = [_moved(f, int(node), int(subset), len(among)) for f, node, subset in zip(among, nodes, subsets, strict=True)]
    return Forest(
        start=numpy.mean([f.start for f in among], axis=0),
        roots=numpy.concatenate([f.roots + numpy.int32(node) for f, node in zip(among, nodes, strict=True)]),
        categories=numpy.concatenate([f.categories for f in among]),
        **{name: numpy.concatenate([p[name] for p in parts]) for name in forests.OF_NODES},
    )


def _moved(forest: Forest, node: int, subset: int, count: int) -> dict[str, numpy.ndarray]:
    """The nodes of ``forest`` behind ``node`` others and ``subset`` other subsets, with leaves that are divided by ``count``."""
    leaf = forest.left == numpy.arange(len(forest.left))
    return {
        "feature": forest.feature,
        "value": numpy.where(leaf, forest.value / count, forest.value),
        "left": forest.left + numpy.int32(node),
        "right": forest.right + numpy.int32(node),
        "missing_left": forest.missing_left,
        "subset": numpy.where(forest.subset >= 0, forest.subset + numpy.int32(subset), forest.subset).astype(numpy.int32),
    }


def with_absent(forest: Forest, present: numpy.ndarray, wanted: numpy.ndarray, rows: int) -> Forest:
    """``forest`` with an output for each class of ``wanted`` as trees of these classes have them: two classes share one. ``present`` are those
    that it was fitted on, in ``rows`` rows. A class without rows has a probability of about 1 / (``rows`` + 1)."""
    if len(present) == len(wanted):
        return forest
    odds = float(numpy.log(rows + 1))
    if len(wanted) == 2:  # ``forest`` knows one of them, and has no trees
        return Forest(**{**vars(forest), "start": numpy.asarray([odds if present[0] == wanted[1] else -odds])})
    start = numpy.array([0.0, forest.start[0]]) if len(present) == 2 else forest.start
    place = numpy.searchsorted(wanted, present)
    full = numpy.full(len(wanted), numpy.logaddexp.reduce(start) - odds)
    full[place] = start
    none = len(forest.feature)  # a leaf of 0, for the classes without trees
    rounds = len(forest.roots) // len(forest.start)
    roots = numpy.full((rounds, len(wanted)), none, numpy.int32)
    if rounds:
        roots[:, place[1:] if len(present) == 2 else place] = forest.roots.reshape(rounds, -1)
    added = {"feature": 0, "value": 0, "left": none, "right": none, "missing_left": 0, "subset": -1}
    nodes = {name: numpy.append(getattr(forest, name), numpy.asarray([value], getattr(forest, name).dtype)) for name, value in added.items()}
    return Forest(start=full, roots=roots.ravel(), categories=forest.categories, **nodes)
