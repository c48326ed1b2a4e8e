"""The parts of transformers that models of series have in common, in float32 (copies x patches x width)."""

from dataclasses import dataclass

import numpy
from scipy import special

from trainer.measure.predictions import softmax
from trainer.models.weights import Weights

_FAR = numpy.float32(-1e30)  # what a place that must not be seen adds to its score


@dataclass(frozen=True)
class Linear:
    """``weight`` (outputs x inputs), and ``bias`` where there is one."""

    weight: numpy.ndarray
    bias: numpy.ndarray | None

    def __call__(self, x: numpy.ndarray) -> numpy.ndarray:
        found = x @ self.weight.T
        return found if self.bias is None else found + self.bias

    @staticmethod
    def read(weights: Weights, name: str, inputs: int, outputs: int, bias: bool) -> "Linear":
        return Linear(weights.take(f"{name}.weight", outputs, inputs), weights.take(f"{name}.bias", outputs) if bias else None)


@dataclass(frozen=True)
class Residual:
    """Two layers with SiLU between them, and a straight way beside them."""

    first: Linear
    second: Linear
    beside: Linear

    def __call__(self, x: numpy.ndarray) -> numpy.ndarray:
        return self.second(silu(self.first(x))) + self.beside(x)

    @staticmethod
    def read(weights: Weights, name: str, inputs: int, hidden: int, outputs: int, bias: bool) -> "Residual":
        return Residual(
            Linear.read(weights, f"{name}.input_layer", inputs, hidden, bias), Linear.read(weights, f"{name}.output_layer", hidden, outputs, bias),
            Linear.read(weights, f"{name}.residual_layer", inputs, outputs, bias),
        )  # fmt: skip


def silu(x: numpy.ndarray) -> numpy.ndarray:
    return x * special.expit(x)


def normed(x: numpy.ndarray, weight: numpy.ndarray, least: float) -> numpy.ndarray:
    """``x`` in units of the root of its mean square (RMSNorm)."""
    return weight * (x / numpy.sqrt((x * x).mean(axis=-1, keepdims=True) + numpy.float32(least)))


def centred(x: numpy.ndarray, weight: numpy.ndarray, bias: numpy.ndarray, least: float) -> numpy.ndarray:
    """``x`` with mean 0 and variance 1 (LayerNorm)."""
    apart = x - x.mean(axis=-1, keepdims=True)
    return weight * (apart / numpy.sqrt((apart * apart).mean(axis=-1, keepdims=True) + numpy.float32(least))) + bias


def in_heads(x: numpy.ndarray, heads: int) -> numpy.ndarray:
    """``x`` as copies x heads x patches x width of a head."""
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(1, 2)


def attended(query: numpy.ndarray, key: numpy.ndarray, value: numpy.ndarray) -> numpy.ndarray:
    """Each patch sees itself and those before it. Takes heads, gives copies x patches x width; groups of heads may share keys and values."""
    shared = query.shape[1] // key.shape[1]
    if shared > 1:
        key, value = key.repeat(shared, axis=1), value.repeat(shared, axis=1)
    patches = query.shape[2]
    scores = query @ key.swapaxes(2, 3) + numpy.triu(numpy.full((patches, patches), _FAR), 1)
    found = softmax(scores) @ value
    return found.swapaxes(1, 2).reshape(len(query), patches, -1)


def query_scale(scaling: numpy.ndarray) -> numpy.ndarray:
    """What a query is multiplied by: learnt for each place of a head."""
    return (numpy.logaddexp(0.0, scaling.astype(numpy.float64)) * 1.442695041 / len(scaling) ** 0.5).astype(numpy.float32)
