"""How a worker answers questions to a network of a graph. These objects travel with paths only."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy

from trainer.kinds.graph.comparison import node_scores
from trainer.kinds.graph.delivery import likeliest, scorers, stored
from trainer.kinds.graph.delivery.stored import Stored


@dataclass(frozen=True)
class _Question:
    """A question about the graph in the file ``graph``, to the model in ``folder``. ``work`` is a folder for large tables."""

    folder: Path
    graph: Path
    work: Path

    def __getstate__(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name != "store"}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)

    @cached_property
    def store(self) -> Stored:
        return stored.load(self.graph)

    def table(self, model, device) -> numpy.ndarray:
        """The row of each node by the network."""
        from trainer.kinds.graph import inference

        return inference.table(model, cast(Any, self.store), device, inference.Layers(self.work, 0, 1))

    def batch(self, rows: numpy.ndarray, augment=None) -> dict[str, numpy.ndarray]:
        raise TypeError("a table of all nodes answers")


@dataclass(frozen=True)
class Pairs(_Question):
    """Whether these pairs of nodes are edges."""

    source: numpy.ndarray
    target: numpy.ndarray

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.source), numpy.int8)

    def together(self, model, device, rank: int = 0, world: int = 1) -> numpy.ndarray:
        """The score of each pair."""
        return self._scored(self.table(model, device))

    def simple(self, target) -> numpy.ndarray:
        """The same, without a network."""
        return self._scored(None)

    def _scored(self, table: numpy.ndarray | None) -> numpy.ndarray:
        return scorers.load(self.folder, table, self.store).scores(self.source, self.target[:, None])[:, 0]


@dataclass(frozen=True)
class NewLinks(_Question):
    """The ``k`` likeliest new links of these nodes."""

    source: numpy.ndarray
    k: int
    left: int
    end: int

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.source), numpy.int8)

    def together(self, model, device, rank: int = 0, world: int = 1) -> numpy.ndarray:
        """The targets of each node, -1 where there are no more, and then their scores."""
        return self._found(self.table(model, device))

    def simple(self, target) -> numpy.ndarray:
        """The same, without a network."""
        return self._found(None)

    def _found(self, table: numpy.ndarray | None) -> numpy.ndarray:
        near = table if table is not None or self.store.x is None else scorers.by_features(self.store.x)
        links = likeliest.find(scorers.load(self.folder, table, self.store), self.store, near, self.source, self.k, self.left, self.end)
        return numpy.hstack([links.targets, links.scores])


@dataclass(frozen=True)
class Labels(_Question):
    """The classes or numbers of these nodes."""

    nodes: numpy.ndarray

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.nodes), numpy.int8)

    def together(self, model, device, rank: int = 0, world: int = 1) -> Any:
        """The outputs of the network for each node (a tensor)."""
        import torch

        table = self.table(model, device)
        with torch.inference_mode():
            return model.classified(torch.from_numpy(numpy.ascontiguousarray(table[self.nodes])).to(device))

    def simple(self, target) -> numpy.ndarray:
        """The outputs of a model without a network."""
        return self.joined(None, target)

    def joined(self, network: numpy.ndarray | None, target) -> numpy.ndarray:
        """The answers of all that was delivered, with those of the network (None where it is no part): probabilities (nodes x classes), or
        numbers."""
        found = node_scores.load(self.folder)
        return network if found is None else found.outputs(self.store, self.nodes, network)
