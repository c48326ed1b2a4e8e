"""Classes or numbers of nodes from several models: the network, linear models on features, and labels that spread along the edges."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy

from trainer.kinds.graph.comparison import nodes as simple
from trainer.kinds.graph.comparison.fusion import MODEL, Columns, Fusion, restored
from trainer.kinds.graph.comparison.nodes import Spread
from trainer.measure.predictions import softmax
from trainer.run_folder import files

NAME = "fusion.json"
SPREAD, LINEAR, PROPAGATION, MAJORITY = "spread", "linear", "propagation", "constant"
TITLES = {
    SPREAD: "linear model on features that were averaged over the neighbours twice (simplified graph convolution)",
    LINEAR: "linear model on the features of the node alone",
    PROPAGATION: "labels that spread along the edges (label propagation)",
}
_LEAST = 1e-9  # of a probability
_BYTES = 100_000


@dataclass(frozen=True)
class NodeScores:
    """The weighted product of the probabilities of several models; of a regression, the numbers of one of them.

    ``linear`` are the fitted models by name. ``propagated`` has what the labels of the training nodes say of each node of the graph
    (nodes x classes, or nodes x 1).
    """

    fusion: Fusion
    classes: int  # 0 for a regression
    linear: dict[str, Spread] = field(default_factory=dict)
    propagated: numpy.ndarray | None = None

    @property
    def network(self) -> bool:
        """Whether the network is part of it."""
        return MODEL in self.fusion.columns

    @property
    def parameters(self) -> int:
        weights = len(self.fusion.columns) if len(self.fusion.columns) > 1 else 0
        return weights + sum(self.linear[n].parameters for n in self.fusion.columns if n in self.linear)

    def outputs(self, graph, nodes: numpy.ndarray, network: numpy.ndarray | None) -> numpy.ndarray:
        """Probabilities (nodes x classes), or numbers in the unit of the data (nodes).

        ``graph`` has indptr, indices and x, perhaps of more nodes than those of the training. ``network`` are the outputs of the network
        for ``nodes``; None where it is no part.
        """
        parts = [self._part(name, graph, nodes, network) for name in self.fusion.columns]
        return joined(self.fusion, parts) if self.classes else numpy.asarray(parts[0], numpy.float64).reshape(len(nodes))

    def _part(self, name: str, graph, nodes: numpy.ndarray, network: numpy.ndarray | None) -> numpy.ndarray:
        if name in self.linear:
            return self.linear[name].outputs(graph.indptr, graph.indices, graph.x, nodes)
        found = network if name == MODEL else None if self.propagated is None else _reached(self.propagated, graph, nodes)
        if found is None:
            raise ValueError(f"the outputs of {name} are missing")
        return found

    def save(self, folder: Path) -> None:
        from safetensors.numpy import save_file

        files.write_json(folder / NAME, {**self.fusion.described(), "classes": self.classes})
        for name in self.fusion.columns:
            if name in self.linear:
                self.linear[name].save(folder / f"{name}.safetensors")
            elif name == PROPAGATION and self.propagated is not None:
                save_file({"propagated": self.propagated.astype(numpy.float32)}, folder / f"{name}.safetensors")


def load(folder: Path) -> NodeScores | None:
    """What ``save`` wrote; None where the network alone was delivered. Raises OSError, KeyError, TypeError or ValueError for other files."""
    if not (folder / NAME).exists():
        return None
    described = files.read_json(folder / NAME, _BYTES)
    fusion, classes = restored(described), int(described["classes"])
    if unknown := set(fusion.columns) - {MODEL, SPREAD, LINEAR, PROPAGATION}:
        raise ValueError(f"there is no model {sorted(unknown)[0]}")
    linear = {n: simple.load(folder / f"{n}.safetensors") for n in fusion.columns if n in (SPREAD, LINEAR)}
    propagated = _propagated(folder / f"{PROPAGATION}.safetensors") if PROPAGATION in fusion.columns else None
    widths = [m.model.classes for m in linear.values()] + ([] if propagated is None or not classes else [propagated.shape[1]])
    if any(width != classes for width in widths):
        raise ValueError("the models have different classes")
    return NodeScores(fusion, classes, linear, propagated)


def columns(outputs: dict[str, numpy.ndarray], truth: numpy.ndarray) -> Columns:
    """Logarithms of the probabilities as columns: of the true class, and of all others, which are its candidates."""
    logs = numpy.stack([numpy.log(numpy.maximum(o, _LEAST)) for o in outputs.values()], axis=2).astype(numpy.float32)
    every, classes = numpy.arange(len(truth)), logs.shape[1]
    others = logs[numpy.arange(classes)[None, :] != truth[:, None]].reshape(len(truth), classes - 1, logs.shape[2])
    return Columns(tuple(outputs), logs[every, truth], numpy.zeros((0, len(outputs)), numpy.float32), others)


def joined(fusion: Fusion, parts: list[numpy.ndarray]) -> numpy.ndarray:
    """The probabilities (rows x classes) from those of each column of ``fusion``."""
    logs = numpy.stack([numpy.log(numpy.maximum(p, _LEAST)) for p in parts], axis=2)
    return softmax(fusion.of(logs))


def _reached(propagated: numpy.ndarray, graph, nodes: numpy.ndarray) -> numpy.ndarray:
    """What the labels say of ``nodes``. Of a node that came later it is the mean over its neighbours, or over all nodes."""
    found = numpy.empty((len(nodes), propagated.shape[1]), numpy.float32)
    known = nodes < len(propagated)
    found[known] = propagated[nodes[known]]
    for i in numpy.flatnonzero(~known):
        near = graph.indices[graph.indptr[nodes[i]] : graph.indptr[nodes[i] + 1]]
        near = near[near < len(propagated)]
        found[i] = propagated[near].mean(axis=0) if len(near) else propagated.mean(axis=0)
    return found


def _propagated(path: Path) -> numpy.ndarray:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            found = file.get_tensor("propagated")
    except SafetensorError as e:
        raise ValueError(f"{path.name} cannot be read: {e}") from None
    if found.ndim != 2 or not numpy.isfinite(found).all():
        raise ValueError(f"{path.name} has other tensors")
    return found
