"""The rows of a graph as the training reads them: edges to predict, or nodes to classify, with the neighbourhoods that a step draws.

They travel between processes with paths only. The arrays behind them are files that all workers map.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from trainer.kinds.graph import links, score
from trainer.kinds.graph.sampler import Bags, Sampler, Skipped
from trainer.kinds.graph.store import Store

_WATCHED, _WATCHED_PAIRS = 2000, 500_000  # edges that are measured during the training, and their candidates together
_MOST_KNOWN = 256  # neighbours of a node that are looked up, so that they are no negatives of it


@dataclass(frozen=True)
class Drawn:
    """How a step draws: neighbours of a node for each layer, from the outermost one, and negatives. ``left`` is that of the graph."""

    fanout: tuple[int, ...]
    aggregation: str
    negatives: int = 0
    left: int = 0


class _Rows:
    """What rows of edges and rows of nodes share: the store, and the sampler on it, which each process makes for itself."""

    def __init__(self, store: Store, drawn: Drawn):
        self.store, self.drawn = store, drawn

    def __getstate__(self) -> dict:
        return {n: v for n, v in self.__dict__.items() if n not in ("sampler", "edges", "measured")}

    @property
    def cost(self) -> int:
        """About as many rows as the computation of the table of all nodes takes as long as."""
        return self.store.nodes // 6

    @cached_property
    def sampler(self) -> Sampler:
        return Sampler(self.store, self.drawn.aggregation)

    def hops(self, seeds: np.ndarray, random: np.random.Generator, skipped: Skipped | None = None) -> dict[str, np.ndarray]:
        """The inputs of the layers for ``seeds``, which are different nodes. Layer 0 is the lowest one."""
        found: dict[str, np.ndarray] = {}
        nodes = seeds
        for number in range(len(self.drawn.fanout) - 1, 0, -1):
            bags = self.sampler.neighbours(nodes, self.drawn.fanout[-1 - number], random, skipped)
            below, place = self.sampler.unique(np.concatenate([nodes, bags.found]))
            found |= _inputs(number, place[: len(nodes)], Bags(place[len(nodes) :], bags.start, bags.share))
            nodes = below
        bags = self.sampler.neighbours(nodes, self.drawn.fanout[-1], random, skipped)
        return found | self._features(nodes, bags)

    def _features(self, nodes: np.ndarray, bags: Bags) -> dict[str, np.ndarray]:
        """The features of ``nodes`` and the combined ones of their neighbours, which depend on no weight: computed here, so that a GPU
        needs no copy of all features."""
        import torch

        from trainer.kinds.graph import sage

        x = torch.from_numpy(self.store.x)
        share = None if bags.share is None else torch.from_numpy(bags.share).to(x.dtype)
        mode = sage.MODES[self.drawn.aggregation]
        with torch.no_grad():
            near = sage.combined(x, torch.from_numpy(bags.found), torch.from_numpy(bags.start.astype(np.int32)), share, mode)
            own = x[torch.from_numpy(nodes.astype(np.int64))]
        return {"x": own.float().numpy(), "near": near.float().numpy()}


class Edges(_Rows):
    """Edges in the file ``place`` (int32, count x 2), which the model learns to tell from pairs that are none.

    ``measured`` is None, or the prefix of the files with the edges that are measured, and with what they are measured against.
    """

    def __init__(self, store: Store, drawn: Drawn, place: Path, count: int, measured: Path):
        super().__init__(store, drawn)
        self.place, self.count, self.prefix = place, count, measured

    @property
    def lengths(self) -> np.ndarray:
        return np.broadcast_to(np.int64(1), self.count)

    @cached_property
    def edges(self) -> np.ndarray:
        return np.load(self.place, mmap_mode="c", allow_pickle=False)

    @cached_property
    def measured(self) -> dict[str, np.ndarray]:
        return {n: np.load(f"{self.prefix}-{n}.npy", allow_pickle=False) for n in ("source", "target", "pairs", "candidates")}

    def batch(self, rows: np.ndarray, augment: np.random.Generator | None = None) -> dict[str, np.ndarray]:
        """The inputs for edges: their ends, negatives that all of them share, and the neighbourhoods of these without the edges themselves."""
        random = np.random.default_rng(0) if augment is None else augment
        ends = self.edges[rows]
        source, target = np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
        left, every = self.drawn.left, self.store.nodes
        tails = random.integers(left, every, self.drawn.negatives, np.int32)
        heads = random.integers(0, left, self.drawn.negatives, np.int32) if left else tails
        together = [source, target, tails, heads] if left else [source, target, tails]
        seeds, place = self.sampler.unique(np.concatenate(together))
        places = np.split(place, np.cumsum([len(p) for p in together])[:-1])
        skipped = self.sampler.skipping(source, target)
        try:
            found = self.hops(seeds, random, skipped)
        finally:
            skipped.close()
        return found | {
            "sources": places[0], "targets": places[1], "tails": places[2], "heads": places[-1],
            "no_tail": self._known(source, tails, random), "no_head": self._known(target, heads, random),
        }  # fmt: skip

    def _known(self, ends: np.ndarray, drawn: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Which of the ``drawn`` nodes are no negatives of each end (ends x drawn): itself, and its neighbours."""
        found = ends[:, None] == drawn
        near = self.sampler.neighbours(ends, _MOST_KNOWN, random)
        inside = np.flatnonzero(np.isin(near.found, drawn))
        if len(inside):
            rows = np.searchsorted(near.start, inside, side="right") - 1
            np.logical_or.at(found, rows, near.found[inside][:, None] == drawn)
        return found

    def together(self, model, device, rank: int = 0, world: int = 1) -> np.ndarray:
        """The outputs for the measured edges, from the table of all nodes."""
        from trainer.kinds.graph import inference

        layers = inference.Layers(self.store.folder, rank, world)
        table = inference.table(model, self.store, device, layers)
        found = self.outputs(table, watched=True)
        layers.remove(table)
        return found

    def outputs(self, table: np.ndarray, watched: bool = False) -> np.ndarray:
        """Of each measured edge: its score, that of a pair that is none, its rank among the candidates, its source, and their number.

        ``watched`` takes some of the edges and candidates only, for an evaluation during the training.
        """
        m = self.measured
        if watched:
            rows = np.unique(np.linspace(0, len(m["source"]) - 1, _WATCHED).astype(int)) if len(m["source"]) else np.arange(0)
            m = {n: v[rows] for n, v in m.items()}
            m["candidates"] = m["candidates"][:, : max(1, _WATCHED_PAIRS // max(1, len(rows)))]
        positive = score.pairs(table, m["source"], m["target"])
        others = score.candidates(table, m["source"], m["candidates"])
        columns = [
            positive, score.pairs(table, m["pairs"][:, 0], m["pairs"][:, 1]), links.ranks(positive.astype(np.float32), others), m["source"],
            np.full(len(positive), others.shape[1]),
        ]  # fmt: skip
        return np.stack([np.asarray(c, np.float64) for c in columns], axis=1)


class Nodes(_Rows):
    """Nodes whose class or number the model learns."""

    def __init__(self, store: Store, drawn: Drawn, nodes: np.ndarray):
        super().__init__(store, drawn)
        self.nodes = nodes

    @property
    def lengths(self) -> np.ndarray:
        return np.broadcast_to(np.int64(1), len(self.nodes))

    def batch(self, rows: np.ndarray, augment: np.random.Generator | None = None) -> dict[str, np.ndarray]:
        """The inputs for some nodes: their neighbourhoods, and the place of each."""
        random = np.random.default_rng(0) if augment is None else augment
        seeds, place = self.sampler.unique(self.nodes[rows].astype(np.int32))
        return self.hops(seeds, random) | {"at": place}

    def together(self, model, device, rank: int = 0, world: int = 1):
        """The outputs of the model for all these nodes (a tensor), from the table of all nodes."""
        from trainer.kinds.graph import inference

        layers = inference.Layers(self.store.folder, rank, world)
        table = inference.table(model, self.store, device, layers)
        found = self.outputs(table, model, device)
        layers.remove(table)
        return found

    def outputs(self, table: np.ndarray, model, device):
        import torch

        with torch.inference_mode():
            return model.classified(torch.from_numpy(np.ascontiguousarray(table[self.nodes])).to(device))


def _inputs(number: int, own: np.ndarray, bags: Bags) -> dict[str, np.ndarray]:
    """The inputs of a layer: the place of each node, and those of its neighbours, among the nodes of the layer below."""
    found = {f"own_{number}": own, f"bag_{number}": bags.found.astype(np.int64), f"start_{number}": bags.start.astype(np.int64)}
    return found if bags.share is None else found | {f"share_{number}": bags.share}
