"""Simple models of nodes: labels that spread along the edges, and linear models on the features of a node and of those around it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from trainer import threads
from trainer.measure import linear
from trainer.measure.linear import Linear
from trainer.measure.predictions import Predictions, softmax
from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.targets.target import Target

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STEPS = 2  # edges over which features are spread
_ROUNDS, _KEPT = 50, 0.9  # of the propagation, and what a node takes from its neighbours in each
_MOST = 300_000_000  # numbers of the spread features, 1.2 GB; wider graphs have no such model
_SECONDS = 60.0  # see measure.linear.fit
_STRENGTHS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # of the penalty on weights of features of length 1
_LEAST = 1e-6  # of a probability


@dataclass(frozen=True)
class Spread:
    """A linear model on features that were averaged over the neighbours ``steps`` times (simplified graph convolution, Wu et al. 2019).

    With 0 steps it is a linear model on the features of the node alone. ``columns`` multiplies the features of a node first, which then get
    the length 1; None leaves them as they are.
    """

    model: Linear
    steps: int
    columns: numpy.ndarray | None = None

    @property
    def parameters(self) -> int:
        return self.model.weights.size + self.model.bias.size

    def outputs(self, indptr: numpy.ndarray, indices: numpy.ndarray, x: numpy.ndarray, nodes: numpy.ndarray) -> numpy.ndarray:
        """Probabilities (nodes x classes), or numbers in the unit of the data (nodes)."""
        if not self.steps:
            return self.of(scaled(x[nodes], self.columns))
        return self.of(spread(indptr, indices, scaled(x, self.columns), self.steps)[nodes])

    def of(self, features: numpy.ndarray) -> numpy.ndarray:
        scores = features @ self.model.weights + self.model.bias
        return softmax(scores) if self.model.classes else scores[:, 0].astype(numpy.float64)

    def save(self, path: Path) -> None:
        """Write the weights as safetensors."""
        from safetensors.numpy import save_file

        tensors = {"weights": self.model.weights, "bias": self.model.bias}
        if self.columns is not None:
            tensors["columns"] = self.columns
        save_file(tensors, path, metadata={"classes": str(self.model.classes), "steps": str(self.steps)})


def load(path: Path) -> Spread:
    """The model that ``save`` wrote. Raises OSError, ValueError or KeyError for another file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            told = file.metadata() or {}
            weights, bias = file.get_tensor("weights"), file.get_tensor("bias")
            columns = file.get_tensor("columns") if "columns" in file.keys() else None  # noqa: SIM118 - the file itself cannot be searched
    except SafetensorError as e:
        raise ValueError(f"{path.name} cannot be read: {e}") from None
    classes, steps = int(told["classes"]), int(told["steps"])
    if weights.ndim != 2 or bias.shape != (max(1, classes),) or weights.shape[1] != len(bias) or not 0 <= steps <= 16:
        raise ValueError(f"{path.name} has tensors of other shapes")
    if columns is not None and columns.shape != (len(weights),):
        raise ValueError(f"{path.name} has tensors of other shapes")
    found = Linear(weights.astype(numpy.float32), bias.astype(numpy.float32), classes)
    return Spread(found, steps, None if columns is None else columns.astype(numpy.float32))


def fit(
    features: numpy.ndarray, steps: int, numbers: dict[str, numpy.ndarray], truth: dict[str, numpy.ndarray], classes: int, seed: int
) -> tuple[Spread, tuple[float, float]] | None:
    """The linear model on ``features`` (nodes x width) whose penalty has most right answers on the validation nodes, and how good it is on them
    (greater is better); None where it would be too large.

    Columns keep their scales, as the reading of the graph chose them: a column that the neighbours average out would otherwise count as much
    as one that they share.
    """
    train, held = numbers["train"], numbers["validation"]
    size = float(numpy.linalg.norm(features[train], axis=1).mean()) or 1.0  # so that the same strengths suit all features
    best: Linear | None = None
    most = (-numpy.inf, -numpy.inf)
    with threads.one_of_blas():
        for model in linear.path(features[train] / size, truth["train"], classes, seed, _SECONDS, None, _STRENGTHS, even=False):
            value = _goodness(model.predict(features[held] / size, truth["validation"])) if len(held) else most
            if best is None or value > most:
                best, most = model, value
    return None if best is None else (Spread(replace(best, weights=best.weights / numpy.float32(size)), steps), most)


def _goodness(answers: Predictions) -> tuple[float, float]:
    """The share of right answers, then the loss: with few labels a model that is right is often far too sure of it."""
    if answers.continuous:
        return 0.0, -float(((answers.predicted - answers.truth) ** 2).mean())
    loss = -numpy.log(numpy.clip(answers.likelihood, _LEAST, 1)).mean()
    return float((answers.predicted == answers.truth).mean()), -float(loss)


def affordable(nodes: int, width: int) -> bool:
    """Whether the spread features of all nodes fit into the memory."""
    return nodes * width <= _MOST


def scaled(x: numpy.ndarray, columns: numpy.ndarray | None) -> numpy.ndarray:
    """The features ``x`` (nodes x width, float32), multiplied by ``columns`` and then of length 1 for each node; as they are without ``columns``."""
    found = numpy.asarray(x, numpy.float32)
    if columns is None:
        return found
    found = found * columns
    found /= numpy.maximum(numpy.linalg.norm(found, axis=1, keepdims=True), _LEAST)
    return found


def spread(indptr: numpy.ndarray, indices: numpy.ndarray, x: numpy.ndarray, steps: int = STEPS) -> numpy.ndarray:
    """``x`` (nodes x features) averaged over each node and its neighbours ``steps`` times, with less weight for those of many edges."""
    half = _normalised(indptr, indices, loops=True)
    found = numpy.asarray(x, numpy.float32)
    for _ in range(steps):
        found = half @ found
    return found


def propagate(indptr: numpy.ndarray, indices: numpy.ndarray, train: numpy.ndarray, truth: numpy.ndarray, target: Target) -> numpy.ndarray:
    """What the labels of the training nodes say of all nodes (nodes x classes, or nodes x 1): they spread along the edges, round after round.

    Nodes that no label reaches have the shares of the classes, or the mean.
    """
    nodes = len(indptr) - 1
    half = _normalised(indptr, indices, loops=False)
    known = numpy.zeros((nodes, target.outputs + (not isinstance(target, Classes))), numpy.float32)
    if isinstance(target, Classes):
        known[train, truth] = 1
    else:
        factor, summand = target.rescaling() or (1.0, 0.0)
        known[train, 0], known[train, 1] = (truth - summand) / factor, 1
    found = known
    for _ in range(_ROUNDS):
        found = _KEPT * (half @ found) + (1 - _KEPT) * known
    if isinstance(target, Classes):
        shares = known.sum(axis=0) / max(1, len(train))
        total = found.sum(axis=1, keepdims=True)
        found = numpy.where(total > _LEAST, found / numpy.maximum(total, _LEAST), shares)
        return (found + _LEAST) / (found + _LEAST).sum(axis=1, keepdims=True)
    reached = numpy.where(found[:, 1] > _LEAST, found[:, 0] / numpy.maximum(found[:, 1], _LEAST), 0.0)
    factor, summand = target.rescaling() or (1.0, 0.0)
    return (reached * factor + summand)[:, None]


def answers(target: Target, outputs: numpy.ndarray, truth: numpy.ndarray) -> Predictions:
    """The answers behind probabilities (rows x classes) or numbers (rows)."""
    return target.answers(outputs.astype(numpy.float64) if isinstance(target, Number) else outputs, truth)


def _normalised(indptr: numpy.ndarray, indices: numpy.ndarray, loops: bool) -> "csr_matrix":
    """The adjacency divided by the roots of the degrees of both ends, with an edge from each node to itself where ``loops``."""
    from scipy import sparse

    nodes = len(indptr) - 1
    edges = sparse.csr_matrix((numpy.ones(len(indices), numpy.float32), indices, indptr), shape=(nodes, nodes))
    if loops:
        edges = (edges + sparse.identity(nodes, numpy.float32, format="csr")).tocsr()
    root = 1 / numpy.sqrt(numpy.maximum(numpy.diff(edges.indptr), 1)).astype(numpy.float32)
    edges.data = numpy.repeat(root, numpy.diff(edges.indptr)) * root[edges.indices]
    return edges
