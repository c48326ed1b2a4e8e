"""The encoder of ResNet, computed with numpy in float32. A test compares it with the classes of transformers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from trainer.models.weights import Unusable, Weights, whole

MODEL_TYPE = "resnet"
_BASIC, _BOTTLENECK, _REDUCTION = "basic", "bottleneck", 4
_MOST_STAGES, _WIDEST = 16, 1 << 14
_LEAST = numpy.float32(1e-5)  # of a normalisation, as torch has it


@dataclass(frozen=True)
class Convolution:
    """A convolution and what normalises its answers. ``weight`` is (side x side x inputs) x outputs."""

    weight: numpy.ndarray
    bias: numpy.ndarray
    side: int
    stride: int

    def of(self, x: numpy.ndarray) -> numpy.ndarray:
        """The answers for ``x`` (height x width x inputs)."""
        seen = _windows(x, self.side, self.stride, 0.0).transpose(0, 1, 3, 4, 2)
        height, width = seen.shape[:2]
        found = numpy.ascontiguousarray(seen).reshape(height * width, -1) @ self.weight
        found += self.bias
        return found.reshape(height, width, -1)


@dataclass(frozen=True)
class _Layer:
    """Convolutions one after another beside ``beside``, which is None where their input is added as it is."""

    convolutions: tuple[Convolution, ...]
    beside: Convolution | None


class Encoder:
    """An encoder that was read. Raises Unusable where its weights are not those that its config.json describes."""

    def __init__(self, config: Mapping[str, Any], weights: Weights):
        sizes, depths = (_sizes(config, *told) for told in (("hidden_sizes", (256, 512, 1024, 2048), _WIDEST), ("depths", (3, 4, 6, 3), 200)))
        first = whole(config, "embedding_size", 64, _WIDEST)
        sort, inner, early = (
            config.get(*told) for told in (("layer_type", _BOTTLENECK), ("downsample_in_bottleneck", False), ("downsample_in_first_stage", False))
        )
        if len(sizes) != len(depths) or sort not in (_BASIC, _BOTTLENECK) or type(inner) is not bool or type(early) is not bool:
            raise Unusable("has other layers in its config.json than are computed here")
        if config.get("hidden_act", "relu") != "relu" or whole(config, "num_channels", 3, 1 << 10) != 3:
            raise Unusable("has another activation or other colours in its config.json than are computed here")
        self._weights, self._bottleneck, self._inner = weights, sort == _BOTTLENECK, inner
        prefix = "resnet." if weights.has("resnet.embedder.embedder.convolution.weight") else ""
        self._first = self._convolution(f"{prefix}embedder.embedder", 3, first, 7, 2)
        self._layers, inputs = [], first
        for stage, (outputs, depth) in enumerate(zip(sizes, depths, strict=True)):
            for place in range(depth):
                stride = 2 if place == 0 and (stage or early) else 1
                self._layers.append(self._layer(f"{prefix}encoder.stages.{stage}.layers.{place}", inputs, outputs, stride))
                inputs = outputs
        self.width = inputs

    def _layer(self, place: str, inputs: int, outputs: int, stride: int) -> _Layer:
        reduced, within = outputs // _REDUCTION, stride if self._inner else 1
        parts = [(inputs, outputs, 3, stride), (outputs, outputs, 3, 1)]
        if self._bottleneck:
            parts = [(inputs, reduced, 1, within), (reduced, reduced, 3, stride // within), (reduced, outputs, 1, 1)]
        own = tuple(self._convolution(f"{place}.layer.{i}", *part) for i, part in enumerate(parts))
        beside = self._convolution(f"{place}.shortcut", inputs, outputs, 1, stride) if inputs != outputs or stride != 1 else None
        return _Layer(own, beside)

    def _convolution(self, place: str, inputs: int, outputs: int, side: int, stride: int) -> Convolution:
        take = self._weights.take
        scale, bias, mean, spread = (take(f"{place}.normalization.{n}", outputs) for n in ("weight", "bias", "running_mean", "running_var"))
        if not (spread > -_LEAST).all():
            raise Unusable(f"has spreads below 0 in {place} of its weights")
        scale = scale / numpy.sqrt(spread + _LEAST)
        weight = take(f"{place}.convolution.weight", outputs, inputs, side, side).transpose(2, 3, 1, 0).reshape(-1, outputs)
        return Convolution(numpy.ascontiguousarray(weight * scale), bias - mean * scale, side, stride)

    def vector(self, pixels: numpy.ndarray) -> numpy.ndarray:
        """The mean over all places of the last answers for the normalised ``pixels`` (height x width x 3, float32)."""
        x = _windows(_positive(self._first.of(pixels)), 3, 2, -numpy.inf).max(axis=(3, 4))
        for layer in self._layers:
            found, last = x, len(layer.convolutions) - 1
            for i, convolution in enumerate(layer.convolutions):
                found = convolution.of(found)
                if i < last:
                    found = _positive(found)
            found += x if layer.beside is None else layer.beside.of(x)
            x = _positive(found)
        return x.mean(axis=(0, 1))

    def multiplications(self, side: int) -> int:
        """Those for a picture of ``side`` x ``side`` pixels."""
        at = -(-side // 2)
        found, at = at * at * self._first.weight.size, -(-at // 2)
        for layer in self._layers:
            for convolution in layer.convolutions:
                at = -(-at // convolution.stride)
                found += at * at * convolution.weight.size
            found += at * at * layer.beside.weight.size if layer.beside else 0
        return found


def _sizes(config: Mapping[str, Any], name: str, usual: tuple[int, ...], most: int) -> list[int]:
    """A list of whole numbers of a configuration. Raises Unusable."""
    found = config.get(name, list(usual))
    if not isinstance(found, list) or not 1 <= len(found) <= _MOST_STAGES:
        raise Unusable(f"has no list {name} in its config.json")
    return [whole({name: n}, name, 1, most) for n in found]


def _windows(x: numpy.ndarray, side: int, stride: int, edge: float) -> numpy.ndarray:
    """The squares of ``side`` pixels (height x width x inputs x side x side) around each ``stride``-th pixel; beyond the picture is ``edge``."""
    reach = side // 2
    wider = numpy.pad(x, ((reach, reach), (reach, reach), (0, 0)), constant_values=edge)
    return numpy.lib.stride_tricks.sliding_window_view(wider, (side, side), axis=(0, 1))[::stride, ::stride]


def _positive(x: numpy.ndarray) -> numpy.ndarray:
    return numpy.maximum(x, 0, out=x)
