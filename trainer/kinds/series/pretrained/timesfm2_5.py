"""TimesFM 2.5: a decoder over patches of a series, which answers with the quantiles of the steps behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from trainer.kinds.series.pretrained import layers
from trainer.kinds.series.pretrained.layers import Linear, Residual
from trainer.models.weights import Unusable, Weights, whole

MODEL_TYPE = "timesfm2_5"
_LEAST = 1e-6  # a spread below it is none


@dataclass(frozen=True)
class Shape:
    """What config.json says. ``middle`` is the place of the median among the answers to a step."""

    patch: int
    context: int
    horizon: int
    depth: int
    width: int
    inner: int
    heads: int
    keys: int
    head: int
    answers: int
    middle: int
    flips: bool
    bias: bool
    bias_of_heads: bool
    least: float
    turning: float

    @property
    def parameters(self) -> int:
        """Of the layers, which all patches pass."""
        return self.depth * self.width * (self.head * (2 * self.heads + 2 * self.keys) + 2 * self.inner)

    @property
    def copies(self) -> int:
        """How often a series passes the layers for one answer."""
        return 2 if self.flips else 1


def shape(config: Mapping[str, Any]) -> Shape:
    """The shape of a model. Raises Unusable."""
    rope = config.get("rope_parameters") or {}
    kind, turning = (rope.get("rope_type", "default"), rope.get("rope_theta", 10000.0)) if isinstance(rope, dict) else (None, 0)
    if kind != "default" or not isinstance(turning, (int, float)) or not 1 < turning < 1e9:
        raise Unusable("turns positions in a way that is not computed here (rope_parameters)")
    if config.get("activation", "swish") not in ("swish", "silu"):
        raise Unusable("has another activation than SiLU, which is not computed here")
    quantiles = config.get("quantiles", [0.0] * 9)
    if not isinstance(quantiles, list) or not 1 <= len(quantiles) <= 99:
        raise Unusable("has no list of quantiles in its config.json")
    heads = whole(config, "num_attention_heads", 16, 256)
    keys = whole(config, "num_key_value_heads", heads, heads)
    head = whole(config, "head_dim", 80, 1024)
    if heads % keys or head % 2:
        raise Unusable("has a number of heads that does not fit")
    least = config.get("rms_norm_eps", 1e-6)
    return Shape(
        whole(config, "patch_length", 32, 1024), whole(config, "context_length", 16384, 1 << 17), whole(config, "horizon_length", 128, 4096),
        whole(config, "num_hidden_layers", 20, 256), whole(config, "hidden_size", 1280, 16384), whole(config, "intermediate_size", 1280, 65536),
        heads, keys, head, len(quantiles) + 1, whole(config, "decode_index", 5, len(quantiles), 0), config.get("force_flip_invariance", True) is True,
        config.get("use_bias", False) is True, config.get("attention_bias", False) is True,
        least if isinstance(least, float) and 0 < least < 1 else 1e-6, float(turning),
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
    norms: tuple[numpy.ndarray, ...]  # before and after attention, before and after the two layers
    of_query: numpy.ndarray
    of_key: numpy.ndarray


class TimesFm2:
    """``ahead`` forecasts ``horizon`` steps behind a context."""

    def __init__(self, config: Mapping[str, Any], weights: Weights):
        self.shape = s = shape(config)
        self._into = Residual.read(weights, "model.input_ff_layer", 2 * s.patch, s.width, s.width, True)
        self._layers = [self._layer(weights, f"model.layers.{i}") for i in range(s.depth)]
        self._out = Residual.read(weights, "output_projection_point", s.width, s.width, s.horizon * s.answers, False)
        self._turns = s.turning ** -(numpy.arange(0, s.head, 2) / s.head)

    def _layer(self, weights: Weights, name: str) -> _Layer:
        s = self.shape
        own, shared = s.heads * s.head, s.keys * s.head
        inner = ("ff0", "ff1") if weights.has(f"{name}.mlp.ff0.weight") else ("fc1", "fc2")  # in files of its authors, and in others
        parts = (
            ("self_attn.q_proj", s.width, own, s.bias_of_heads), ("self_attn.k_proj", s.width, shared, s.bias_of_heads),
            ("self_attn.v_proj", s.width, shared, s.bias_of_heads), ("self_attn.o_proj", own, s.width, s.bias_of_heads),
            (f"mlp.{inner[0]}", s.width, s.inner, s.bias), (f"mlp.{inner[1]}", s.inner, s.width, s.bias),
        )  # fmt: skip
        norms = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
        query, key, value, out, first, second = (
            Linear.read(weights, f"{name}.{part}", inputs, outputs, bias) for part, inputs, outputs, bias in parts
        )
        return _Layer(
            query, key, value, out, first, second,
            layers.query_scale(weights.take(f"{name}.self_attn.scaling", s.head)),
            tuple(weights.take(f"{name}.{norm}.weight", s.width) for norm in norms),
            weights.take(f"{name}.self_attn.q_norm.weight", s.head), weights.take(f"{name}.self_attn.k_norm.weight", s.head),
        )  # fmt: skip

    def ahead(self, context: numpy.ndarray) -> numpy.ndarray:
        """The medians (float64) of the next steps behind ``context`` (float64 without gaps)."""
        s = self.shape
        middle, spread = context.mean(), context.std()
        even = (context - middle) / (spread if spread > _LEAST * max(1.0, abs(middle)) else 1.0)
        lacking = -len(even) % s.patch
        patches = numpy.concatenate([numpy.zeros(lacking), even]).reshape(-1, s.patch)
        hidden_ones = numpy.zeros(patches.shape)
        hidden_ones[0, :lacking] = 1
        count = numpy.cumsum(s.patch - hidden_ones.sum(axis=1))
        means = numpy.cumsum(patches.sum(axis=1)) / count
        spreads = numpy.sqrt(numpy.maximum(0.0, numpy.cumsum((patches**2).sum(axis=1)) / count - means**2))
        unit = numpy.where(spreads < _LEAST, 1.0, spreads)
        seen = numpy.where(hidden_ones > 0, 0.0, (patches - means[:, None]) / unit[:, None])
        found = self._answers(seen, hidden_ones) * spreads[-1] + means[-1]
        if s.flips:  # the series upside down is forecast, too, and turned back: the mean of both takes no side
            turned = self._answers(-seen, hidden_ones) * spreads[-1] - means[-1]
            found = (found - turned[:, [0, *range(s.answers - 1, 0, -1)]]) / 2
        return found[:, s.middle] * spread + middle

    def _answers(self, seen: numpy.ndarray, hidden_ones: numpy.ndarray) -> numpy.ndarray:
        """The answers (horizon x answers) behind the last patch, in units of the series so far."""
        s = self.shape
        x = self._into(numpy.concatenate([seen, hidden_ones], axis=1).astype(numpy.float32)[None])
        angles = (numpy.arange(x.shape[1])[:, None] * self._turns[None, :]).astype(numpy.float32)
        angles = numpy.concatenate([angles, angles], axis=1)
        turn = numpy.cos(angles), numpy.sin(angles)
        for layer in self._layers:
            x = self._passed(layer, x, turn)
        return self._out(x[:, -1]).reshape(s.horizon, s.answers).astype(numpy.float64)

    def _passed(self, layer: _Layer, x: numpy.ndarray, turn: tuple[numpy.ndarray, numpy.ndarray]) -> numpy.ndarray:
        s, norms = self.shape, layer.norms
        inside = layers.normed(x, norms[0], s.least)
        query, key = (_turned(layers.in_heads(part(inside), n), turn) for part, n in ((layer.query, s.heads), (layer.key, s.keys)))
        query = layers.normed(query, layer.of_query, s.least) * layer.scale
        key = layers.normed(key, layer.of_key, s.least)
        looked = layers.attended(query, key, layers.in_heads(layer.value(inside), s.keys))
        x = layers.normed(layer.out(looked), norms[1], s.least) + x
        inside = layer.second(layers.silu(layer.first(layers.normed(x, norms[2], s.least))))
        return layers.normed(inside, norms[3], s.least) + x


def _turned(x: numpy.ndarray, turn: tuple[numpy.ndarray, numpy.ndarray]) -> numpy.ndarray:
    """Queries or keys turned by their positions."""
    half = x.shape[-1] // 2
    return x * turn[0] + numpy.concatenate([-x[..., half:], x[..., :half]], axis=-1) * turn[1]
