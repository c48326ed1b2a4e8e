"""One score of a pair from several: the network's, shared neighbours, degrees, and the likeness of the features.

The weights are learnt on validation edges: each against its candidates by the loss of a softmax, which serves the rank of the right one, and
all against the random pairs by the logistic loss, which serves the areas and the probabilities.
"""

from dataclasses import dataclass

import numpy

from trainer.core import drawn
from trainer.kinds.graph import links, score
from trainer.kinds.graph.comparison.neighbours import Neighbours
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.negatives import Negatives

MODEL = "model"  # the column with the score of the network
_FITTED, _COMPARED = 2000, 200  # edges from which the weights are learnt, and candidates of each
_PENALTY = 1.0  # of the squared weights of columns with deviation 1
PAIRS = 3.0  # see ``fit``
_ITERATIONS = 100


@dataclass(frozen=True)
class Columns:
    """Numbers for each measured edge, for its random pair, and for its candidates: one for each of ``names``."""

    names: tuple[str, ...]
    edges: numpy.ndarray  # (n, columns)
    pairs: numpy.ndarray  # (n, columns), or (0, columns) where rows have candidates alone
    candidates: numpy.ndarray  # (n, k, columns)

    def __len__(self) -> int:
        return len(self.edges)

    def of(self, names: tuple[str, ...]) -> "Columns":
        if names == self.names:
            return self
        places = [self.names.index(n) for n in names]
        return Columns(names, self.edges[:, places], self.pairs[:, places], self.candidates[:, :, places])

    def rows(self, rows: numpy.ndarray) -> "Columns":
        return Columns(self.names, self.edges[rows], self.pairs[rows] if len(self.pairs) else self.pairs, self.candidates[rows])


@dataclass(frozen=True)
class Fusion:
    """A weighted sum of ``columns``."""

    columns: tuple[str, ...]
    weights: tuple[float, ...]

    def of(self, values: numpy.ndarray) -> numpy.ndarray:
        """The scores (float64) of ``values``, whose last axis are the columns."""
        found = numpy.zeros(values.shape[:-1], numpy.float64)
        for place, weight in enumerate(self.weights):  # one by one: all columns as float64 would take much memory
            found += weight * values[..., place].astype(numpy.float64)
        return found

    def answers(self, columns: Columns, sources: numpy.ndarray) -> LinkAnswers:
        """The answers for measured edges. ``sources`` are the sources of the edges."""
        mine = columns.of(self.columns)
        positive = self.of(mine.edges)
        ranks = links.ranks(positive, self.of(mine.candidates))
        return LinkAnswers(positive, self.of(mine.pairs), ranks, sources, mine.candidates.shape[1])

    def scores(self, graph: Neighbours, table: numpy.ndarray | None, source: numpy.ndarray, targets: numpy.ndarray) -> numpy.ndarray:
        """The scores of each source with each of its targets (n x k). ``table`` is that of the network, None where it is no column."""
        return self.of(_joined(graph, table, source, targets, self.columns))

    def described(self) -> dict:
        """As JSON."""
        return {"columns": list(self.columns), "weights": list(self.weights)}


def restored(described: dict) -> Fusion:
    """The fusion that ``described`` gave. Raises KeyError, TypeError or ValueError for something else."""
    columns, weights = tuple(str(c) for c in described["columns"]), tuple(float(w) for w in described["weights"])
    if len(columns) != len(weights) or not numpy.isfinite(weights).all():
        raise ValueError("the weights of the scores do not fit")
    return Fusion(columns, weights)


def columns(graph: Neighbours, table: numpy.ndarray | None, against: Negatives) -> Columns:
    """Everything that is known of the measured edges and of what they are measured against."""
    names = graph.names if table is None else (*graph.names, MODEL)
    found = _joined(graph, table, against.source, numpy.concatenate([against.target[:, None], against.targets], axis=1), names)
    pairs = _joined(graph, table, against.pairs[:, 0], against.pairs[:, 1:], names)
    return Columns(names, found[:, 0], pairs[:, 0], found[:, 1:])


def fit(known: Columns, names: tuple[str, ...], seed: int, balance: float = PAIRS) -> Fusion:
    """The weights of the columns ``names`` that put edges before their candidates, and before random pairs, best.

    ``balance`` is what a random pair counts beside a list of candidates.
    """
    from scipy.optimize import minimize

    mine = Columns(known.names, known.edges, known.pairs, known.candidates[:, :_COMPARED])
    if len(mine) > _FITTED:
        mine = mine.rows(drawn.rows(len(mine), _FITTED, seed))
    mine = mine.of(names)
    deviation = mine.candidates.reshape(-1, len(names)).std(axis=0, dtype=numpy.float64)
    scale = numpy.where(deviation > 0, deviation, 1.0)
    ahead = (mine.candidates - mine.edges[:, None, :]).astype(numpy.float32) / scale.astype(numpy.float32)
    ends = numpy.concatenate([mine.edges[: len(mine.pairs)], mine.pairs]).astype(numpy.float64) / scale
    middle = ends.sum(axis=0) / max(1, len(ends))  # the bias is then small
    signs = numpy.repeat([1.0, -1.0], len(mine.pairs))

    def loss(given: numpy.ndarray) -> tuple[float, numpy.ndarray]:
        weights, bias = given[:-1], given[-1]
        ranked, slope = _ranked(ahead, weights)
        margins = signs * ((ends - middle) @ weights + bias)
        told = -balance * signs * numpy.exp(-numpy.logaddexp(0, margins))
        value = ranked + balance * numpy.logaddexp(0, -margins).sum() + _PENALTY * (weights @ weights) / 2
        return float(value), numpy.append(slope + (ends - middle).T @ told + _PENALTY * weights, told.sum())

    found = minimize(loss, numpy.zeros(len(names) + 1), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}).x[:-1]
    return Fusion(names, tuple(float(w) for w in found / scale))


def _ranked(ahead: numpy.ndarray, weights: numpy.ndarray) -> tuple[float, numpy.ndarray]:
    """The loss of the softmax over each edge and its candidates, and its slope. ``ahead`` is what candidates have more than their edge."""
    scores = (ahead @ weights.astype(numpy.float32)).astype(numpy.float64)
    most = numpy.maximum(scores.max(axis=1, initial=0), 0)
    odds = numpy.exp(scores - most[:, None])
    total = odds.sum(axis=1) + numpy.exp(-most)
    share = (odds / total[:, None]).astype(numpy.float32)
    slope = share.reshape(-1) @ ahead.reshape(-1, ahead.shape[2])
    return float((numpy.log(total) + most).sum()), slope.astype(numpy.float64)


def crossed(known: Columns, names: tuple[str, ...], sources: numpy.ndarray, seed: int, balance: float = PAIRS) -> LinkAnswers:
    """The answers for validation edges by weights that were learnt on the others: half of the sources are scored by weights from the other
    half, so that no edge is scored by weights that saw it or another edge of its source."""
    different, group = numpy.unique(sources, return_inverse=True)
    half = numpy.random.default_rng(seed).permutation(len(different)) % 2
    parts: list[tuple[numpy.ndarray, LinkAnswers]] = []
    for side in (0, 1):
        rows = numpy.flatnonzero(half[group] == side)
        others = numpy.flatnonzero(half[group] != side)
        parts.append((rows, fit(known.rows(others), names, seed, balance).answers(known.rows(rows), sources[rows])))
    order = numpy.argsort(numpy.concatenate([rows for rows, _ in parts]), kind="stable")

    def whole(name: str) -> numpy.ndarray:
        return numpy.concatenate([getattr(a, name) for _, a in parts])[order]

    return LinkAnswers(whole("positive"), whole("negative"), whole("ranks"), sources, parts[0][1].candidates)


def _joined(graph: Neighbours, table: numpy.ndarray | None, source: numpy.ndarray, targets: numpy.ndarray, names: tuple[str, ...]) -> numpy.ndarray:
    """The columns ``names`` of each source and each of its targets."""
    found = numpy.empty((*targets.shape, len(names)), numpy.float32)
    if others := tuple(n for n in names if n != MODEL):
        found[:, :, [names.index(n) for n in others]] = graph.columns(source, targets, others)
    if MODEL in names:
        if table is None:
            raise ValueError("the score of the network is missing")
        found[:, :, names.index(MODEL)] = score.candidates(table, source, targets)
    return found
