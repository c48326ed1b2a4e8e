"""Draws the neighbourhoods that a step of a training reads. All randomness comes from the generator that the caller passes."""

from dataclasses import dataclass

import numpy as np

from trainer.kinds.graph.store import Store


@dataclass(frozen=True)
class Bags:
    """The neighbours of some nodes, one bag for each node: those of node i are ``found[start[i]:start[i + 1]]``.

    ``share`` is what each of them counts in the sum over its bag; None where each counts as one of the mean.
    """

    found: np.ndarray
    start: np.ndarray  # int64, one for each node
    share: np.ndarray | None = None


class Skipped:
    """Edges that are no messages in this step: those that the step learns to predict."""

    def __init__(self, source: np.ndarray, target: np.ndarray, nodes: int, flags: np.ndarray):
        """``flags`` is room for one flag of each node. All of them are False, and are again after ``close``."""
        self.nodes, self.flags = nodes, flags
        self.ends = np.concatenate([source, target])
        self.keys = np.unique(_key(source, target, nodes))
        flags[self.ends] = True

    def among(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether each pair is one of these edges, in either direction."""
        found = self.flags[b]
        found &= self.flags[a]  # most pairs are ruled out by this
        some = np.flatnonzero(found)
        keys = _key(a[some], b[some], self.nodes)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found[some] = self.keys[at] == keys
        return found

    def close(self) -> None:
        self.flags[self.ends] = False


class Sampler:
    """Draws from ``store``. ``aggregation`` is mean, add or max."""

    def __init__(self, store: Store, aggregation: str):
        self.store, self.aggregation = store, aggregation
        self._place = np.zeros(store.nodes, np.int32)
        self._flags = np.zeros(store.nodes, bool)

    def skipping(self, source: np.ndarray, target: np.ndarray) -> Skipped:
        return Skipped(source, target, self.store.nodes, self._flags)

    def neighbours(self, nodes: np.ndarray, most: int, random: np.random.Generator, skipped: Skipped | None = None) -> Bags:
        """All neighbours of each node that has at most ``most``, else ``most`` of them, drawn with replacement."""
        indptr = self.store.indptr
        first = indptr[nodes]
        degree = indptr[nodes + 1] - first
        taken = np.minimum(degree, most)
        start, size = _starts(taken)
        place = np.arange(size) - np.repeat(start - first, taken)
        many = np.flatnonzero(degree > most)
        if len(many):
            drawn = (start[many][:, None] + np.arange(most)).ravel()
            place[drawn] = (first[many][:, None] + (random.random((len(many), most)) * degree[many][:, None]).astype(np.int64)).ravel()
        found = self.store.indices[place]
        share = None
        if self.aggregation != "max" and self.store.weights is not None:
            share = np.asarray(self.store.weights[place], np.float32)
        if skipped is not None:
            kept = ~skipped.among(np.repeat(nodes, taken), found)
            if not kept.all():
                found, share = found[kept], None if share is None else share[kept]
                left = np.add.reduceat(np.append(kept, False), start, dtype=np.int64) * (taken > 0)
                degree = degree - (taken - left)
                taken = left
                start, _ = _starts(taken)
        return Bags(found, start, self._shares(share, start, taken, degree))

    def _shares(self, weights: np.ndarray | None, start: np.ndarray, taken: np.ndarray, degree: np.ndarray) -> np.ndarray | None:
        """What each drawn neighbour counts, so that a bag has the expectation of the bag of all neighbours."""
        if self.aggregation == "add":
            scale = np.repeat((degree / np.maximum(taken, 1)).astype(np.float32), taken)
            return scale if weights is None else scale * weights
        return None if weights is None else normalised(weights, start)

    def unique(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different ones of ``nodes`` and the place of each entry among them. Their order depends on ``nodes`` alone."""
        every = np.arange(len(nodes), dtype=np.int32)
        self._place[nodes] = every  # of equal nodes the last one stays
        different = nodes[self._place[nodes] == every]
        self._place[different] = every[: len(different)]
        return different, self._place[nodes].astype(np.int64)


def normalised(weights: np.ndarray, start: np.ndarray) -> np.ndarray:
    """``weights`` divided by their sum within each bag."""
    if not len(weights):
        return weights
    sums = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
    ends = np.append(start[1:], len(weights))
    total = sums[ends] - sums[start]
    return (weights / np.repeat(np.maximum(total, 1e-12), ends - start)).astype(np.float32)


def _starts(sizes: np.ndarray) -> tuple[np.ndarray, int]:
    """Where bags of these sizes begin, and their total size."""
    ends = np.cumsum(sizes)
    return ends - sizes, int(ends[-1]) if len(ends) else 0


def _key(a: np.ndarray, b: np.ndarray, nodes: int) -> np.ndarray:
    """One number for each unordered pair."""
    return np.minimum(a, b).astype(np.int64) * nodes + np.maximum(a, b)
