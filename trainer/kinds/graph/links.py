"""The scores of a link model on held-out edges, and their metrics.

Each edge is scored beside one random pair that is no edge, and its target is ranked among candidates that are no targets of its source.
Equal scores share the mean of their ranks. Otherwise a model that gives every pair the same score would win or lose by the order of the
pairs.
"""

from dataclasses import dataclass, replace

import numpy

from trainer.measure import intervals, rank_statistics
from trainer.measure.metric import LOSS, Metric, table
from trainer.measure.predictions import diverged

HITS = (1, 10, 100)
DESCRIBED = table(
    Metric("mrr", "MRR"),
    *(Metric(f"hits_at_{n}", f"Hits@{n}") for n in HITS),
    Metric("auc", "AUC", judges=True),
    Metric("average_precision", "average precision"),
    Metric("accuracy", "accuracy"),
    LOSS,
)
METRICS = tuple(DESCRIBED)
_RESAMPLES = 200  # of the average precision, which sorts the scores


@dataclass(frozen=True)
class LinkAnswers:
    """The scores of n held-out edges. A rank is between 1 and ``candidates`` + 1. ``threshold`` is the score from which a pair is called an
    edge; None takes the one with the best accuracy on these edges, which is right on the validation edges alone."""

    positive: numpy.ndarray  # float64 (n): the score of each edge
    negative: numpy.ndarray  # float64 (n): the score of a random pair that is no edge
    ranks: numpy.ndarray  # float64 (n): the rank of the edge's target among it and the candidates, equal scores averaged
    sources: numpy.ndarray  # (n): the source of each edge; edges of one source depend on each other
    candidates: int  # targets that are no edges, for each source
    threshold: float | None = None

    def __post_init__(self):
        if not len(self.positive) == len(self.negative) == len(self.ranks) == len(self.sources):
            raise ValueError(f"{len(self.positive)}, {len(self.negative)}, {len(self.ranks)} and {len(self.sources)} values for one set of edges")
        if not all(numpy.isfinite(v).all() for v in (self.positive, self.negative, self.ranks)):
            raise diverged()

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def scores(self) -> numpy.ndarray:
        """The scores of the edges and then of the other pairs."""
        return numpy.concatenate([self.positive, self.negative]).astype(numpy.float64)

    @property
    def truth(self) -> numpy.ndarray:
        """1 for each edge, and then 0 for each other pair."""
        return numpy.repeat(numpy.array([1, 0]), len(self))


def ranks(positive: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
    """The rank of each of ``positive`` (n) among it and ``others`` (n x candidates): 1 is the best, equal scores share the mean."""
    own = numpy.asarray(positive)[:, None]
    return 1 + ((others > own).sum(axis=1) + (others >= own).sum(axis=1)) / 2


def at_random(answers: LinkAnswers) -> dict:
    """The entry of metrics.json for a random order of the same candidates."""
    ranked = answers.candidates + 1
    rank = float((1 / numpy.arange(1, ranked + 1)).sum() / ranked)
    count = len(answers)
    test = {"mrr": {"value": rank, "n": count}, "auc": {"value": 0.5, "n": count}}
    return {"name": "random", "title": "random order", "role": "chance", "test": test}


def best_threshold(a: LinkAnswers) -> float:
    """The score from which pairs are called edges, so that most of the edges and random pairs of ``a`` are right.

    It lies in the middle between two scores that occur.
    """
    scores, order = a.scores, numpy.argsort(-a.scores, kind="stable")
    falling = scores[order]
    gain = numpy.cumsum(2 * a.truth[order] - 1)
    ends = numpy.append(numpy.flatnonzero(falling[1:] < falling[:-1]), len(falling) - 1)
    best = ends[gain[ends].argmax()]
    if gain[best] <= 0:
        return float(numpy.nextafter(falling[0], numpy.inf))
    return float(falling[best] if best + 1 == len(falling) else (falling[best] + falling[best + 1]) / 2)


def at_threshold(a: LinkAnswers, validation: LinkAnswers) -> LinkAnswers:
    """``a``, of which accuracy is measured at the threshold that is best on the ``validation`` edges."""
    return replace(a, threshold=best_threshold(validation)) if len(validation) else a


def summary(a: LinkAnswers) -> dict[str, float]:
    """Every metric that can be computed; hits_at_K only where there are more than K candidates. No metrics without edges."""
    if not len(a):
        return {}
    columns = _columns(a)
    values = {name: float(column.mean()) for name, column in columns.items()}
    values["auc"] = _auc(a)[0]
    values["average_precision"] = float(_precision(a, numpy.ones((1, len(a))))[0])
    values["accuracy"] = _accuracy(a)
    return {name: values[name] for name in METRICS if name in values}


def report(a: LinkAnswers, seed: int) -> dict[str, dict]:
    """Each metric of ``summary`` with its 95 % interval and the number of edges.

    Accuracy has Wilson's interval over edges and other pairs, auc a similar one with DeLong's standard error. The average precision has
    the middle 95 % over resampled edges, the other metrics over resampled sources. One edge has no interval.
    """
    values, n = summary(a), len(a)
    if n < 2:
        return {name: {"value": value, "n": n} for name, value in values.items()}
    columns = _columns(a)
    _, group = numpy.unique(a.sources, return_inverse=True)
    sums = numpy.stack([numpy.bincount(group, column) for column in (numpy.ones(n), *columns.values())], axis=1)
    drawn = intervals.resampled_means(sums, seed) if len(sums) > 1 else sums
    found = {name: intervals.percentiles(drawn[:, i + 1] / drawn[:, 0], values[name]) for i, name in enumerate(columns)}
    area, error = _auc(a)
    found["auc"] = intervals.like_a_share(area, error or 0.0, 2 * n)
    found["accuracy"] = intervals.wilson(values["accuracy"], 2 * n)
    weights = numpy.random.default_rng(seed).multinomial(n, numpy.full(n, 1 / n), size=_RESAMPLES).astype(numpy.float64)
    found["average_precision"] = intervals.percentiles(_precision(a, weights), values["average_precision"])
    return {name: {"value": value, "low": found[name][0], "high": found[name][1], "n": n} for name, value in values.items()}


def _columns(a: LinkAnswers) -> dict[str, numpy.ndarray]:
    """The metrics that are means over the edges. The loss is that of telling each edge from its random pair by their scores."""
    found = {"mrr": 1 / a.ranks}
    found |= {f"hits_at_{k}": (a.ranks <= k).astype(numpy.float64) for k in HITS if k < a.candidates}
    return found | {"loss": numpy.logaddexp(0, a.negative - a.positive)}


def _auc(a: LinkAnswers) -> tuple[float, float | None]:
    found = rank_statistics.roc_auc(a.truth, numpy.stack([-a.scores, a.scores], axis=1))
    assert found is not None  # there are as many other pairs as edges
    return found


def _accuracy(a: LinkAnswers) -> float:
    cut = best_threshold(a) if a.threshold is None else a.threshold
    return float(((a.positive >= cut).sum() + (a.negative < cut).sum()) / (2 * len(a)))


def _precision(a: LinkAnswers, weights: numpy.ndarray) -> numpy.ndarray:
    """The average precision for each row of ``weights`` (resamples x edges): how often an edge counts, with its random pair."""
    return _precision_of(a.scores, a.truth, numpy.concatenate([weights, weights], axis=1))


def _precision_of(scores: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray) -> numpy.ndarray:
    """The average precision for each row of ``weights`` (resamples x pairs): how often a pair counts."""
    order = numpy.argsort(-scores, kind="stable")
    falling, right = scores[order], truth[order]
    ends = numpy.append(numpy.flatnonzero(falling[1:] < falling[:-1]), len(falling) - 1)
    found = numpy.zeros(len(weights))
    for i, row in enumerate(weights):
        counted = row[order]
        edges = numpy.cumsum(counted * right)[ends]
        share = edges / numpy.maximum(numpy.cumsum(counted)[ends], 1e-12)
        found[i] = (numpy.diff(edges, prepend=0.0) * share).sum() / max(edges[-1], 1e-12)
    return found


def of_pairs(scores: numpy.ndarray, truth: numpy.ndarray, threshold: float, seed: int) -> dict[str, dict]:
    """How well ``scores`` (n) tell the pairs that are edges (``truth`` 1) from the others (0), each metric with its 95 % interval. Pairs count
    as edges from the score ``threshold`` on. Only the accuracy is known where all pairs are of one sort."""
    n = len(scores)
    if not n:
        return {}
    accuracy = float(((scores >= threshold) == (truth == 1)).mean())
    values: dict[str, tuple[float, tuple[float, float]]] = {"accuracy": (accuracy, intervals.wilson(accuracy, n))}
    if (area := rank_statistics.roc_auc(truth, numpy.stack([-scores, scores], axis=1))) is not None:
        values["auc"] = area[0], intervals.like_a_share(area[0], area[1] or 0.0, n)
        precision = float(_precision_of(scores, truth, numpy.ones((1, n)))[0])
        weights = numpy.random.default_rng(seed).multinomial(n, numpy.full(n, 1 / n), size=_RESAMPLES).astype(numpy.float64)
        drawn = _precision_of(scores, truth, weights[(weights * truth).sum(axis=1) > 0])
        values["average_precision"] = precision, intervals.percentiles(drawn, precision)
    return {name: {"value": value, "low": low, "high": high, "n": n} for name, (value, (low, high)) in values.items()}
