"""TimesFM 1 and 2: a decoder over patches of a series, which answers with the mean of the steps behind it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from trainer.kinds.series.pretrained import layers
from trainer.kinds.series.pretrained.layers import Linear, Residual
from trainer.models.weights import Unusable, Weights, whole

MODEL_TYPE = "timesfm"
_FEWEST = 3  # values of the first patch whose mean and spread are the unit
_NORM = 1e-6  # of LayerNorm, which no configuration changes


@dataclass(frozen=True)
class Shape:
    """What config.json says. ``shortest`` and ``longest`` are the periods of the waves that tell positions, where ``waves``."""

    patch: int
    context: int
    horizon: int
    depth: int
    width: int
    inner: int
    heads: int
    head: int
    answers: int
    paces: int
    least: float
    tolerance: float
    waves: bool
    shortest: int
    longest: int

    @property
    def parameters(self) -> int:
        """Of the layers, which all patches pass."""
        return self.depth * self.width * (4 * self.heads * self.head + 2 * self.inner)

    @property
    def copies(self) -> int:
        return 1


def shape(config: Mapping[str, Any]) -> Shape:
    """The shape of a model. Raises Unusable."""
    quantiles = config.get("quantiles", [0.0] * 9)
    if not isinstance(quantiles, list) or len(quantiles) > 99:
        raise Unusable("has no list of quantiles in its config.json")
    least, tolerance = (v if isinstance(v := config.get(n), float) and 0 < v < 1 else 1e-6 for n in ("rms_norm_eps", "tolerance"))
    return Shape(
        whole(config, "patch_length", 32, 1024), whole(config, "context_length", 512, 1 << 17), whole(config, "horizon_length", 128, 4096),
        whole(config, "num_hidden_layers", 50, 256), whole(config, "hidden_size", 1280, 16384), whole(config, "intermediate_size", 1280, 65536),
        whole(config, "num_attention_heads", 16, 256), whole(config, "head_dim", 80, 1024), len(quantiles) + 1, whole(config, "freq_size", 3, 100, 3),
        least, tolerance, config.get("use_positional_embedding", False) is True, whole(config, "min_timescale", 1, 1 << 30),
        whole(config, "max_timescale", 10_000, 1 << 30),
    )  # fmt: skip


@dataclass(frozen=True)
class _Layer:
    query: Linear
    key: Linear
    value: Linear
    out: Linear
    first: Linear
    second: Linear
    scale: numpy.ndarray
    norm: numpy.ndarray
    inner_norm: tuple[numpy.ndarray, numpy.ndarray]


class TimesFm:
    """``ahead`` forecasts ``horizon`` steps behind a context."""

    def __init__(self, config: Mapping[str, Any], weights: Weights):
        self.shape = s = shape(config)
        self._into = Residual.read(weights, "decoder.input_ff_layer", 2 * s.patch, s.inner, s.width, True)
        self._paces = weights.take("decoder.freq_emb.weight", s.paces, s.width)
        self._layers = [self._layer(weights, f"decoder.layers.{i}") for i in range(s.depth)]
        self._out = Residual.read(weights, "horizon_ff_layer", s.width, s.inner, s.horizon * s.answers, True)

    def _layer(self, weights: Weights, name: str) -> _Layer:
        s = self.shape
        own = s.heads * s.head
        parts = (
            ("self_attn.q_proj", s.width, own), ("self_attn.k_proj", s.width, own), ("self_attn.v_proj", s.width, own),
            ("self_attn.o_proj", own, s.width), ("mlp.gate_proj", s.width, s.inner), ("mlp.down_proj", s.inner, s.width),
        )  # fmt: skip
        query, key, value, out, first, second = (Linear.read(weights, f"{name}.{part}", inputs, outputs, True) for part, inputs, outputs in parts)
        return _Layer(
            query, key, value, out, first, second,
            layers.query_scale(weights.take(f"{name}.self_attn.scaling", s.head)), weights.take(f"{name}.input_layernorm.weight", s.width),
            (weights.take(f"{name}.mlp.layer_norm.weight", s.width), weights.take(f"{name}.mlp.layer_norm.bias", s.width)),
        )  # fmt: skip

    def ahead(self, context: numpy.ndarray, pace: int = 0) -> numpy.ndarray:
        """The means (float64) of the next steps behind ``context`` (float64 without gaps). ``pace`` is 0 for steps of up to a day, 1 for weeks and
        months, and 2 for longer ones."""
        s = self.shape
        lacking = -len(context) % s.patch
        patches = numpy.concatenate([numpy.zeros(lacking), context]).reshape(-1, s.patch)
        hidden_ones = numpy.zeros(patches.shape)
        hidden_ones[0, :lacking] = 1
        first = patches[0, lacking:] if s.patch - lacking >= _FEWEST or len(patches) == 1 else patches[1]
        middle, spread = first.mean(), max(first.std(), s.tolerance)
        seen = numpy.where(hidden_ones > 0, 0.0, (patches - middle) / spread)
        x = self._into(numpy.concatenate([seen, hidden_ones], axis=1).astype(numpy.float32)[None])
        if s.waves:
            x = x + self._waves(x.shape[1])
        x = x + self._paces[pace]
        for layer in self._layers:
            x = self._passed(layer, x)
        found = self._out(x[:, -1]).reshape(s.horizon, s.answers).astype(numpy.float64)
        return found[:, 0] * spread + middle

    def _waves(self, patches: int) -> numpy.ndarray:
        """What tells the position of each patch."""
        s = self.shape
        number = s.width // 2
        slower = math.log(s.longest / s.shortest) / max(number - 1, 1)
        angles = numpy.arange(patches)[:, None] * (s.shortest * numpy.exp(numpy.arange(number) * -slower))[None, :]
        return numpy.concatenate([numpy.sin(angles), numpy.cos(angles), numpy.zeros((patches, s.width % 2))], axis=1).astype(numpy.float32)

    def _passed(self, layer: _Layer, x: numpy.ndarray) -> numpy.ndarray:
        s = self.shape
        inside = layers.normed(x, layer.norm, s.least)
        query, key, value = (layers.in_heads(part(inside), s.heads) for part in (layer.query, layer.key, layer.value))
        x = layer.out(layers.attended(query * layer.scale, key, value)) + x
        inside = numpy.maximum(layer.first(layers.centred(x, *layer.inner_norm, _NORM)), numpy.float32(0))
        return layer.second(inside) + x
