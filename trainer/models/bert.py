"""The encoders of BERT, RoBERTa and DistilBERT, computed with numpy in float32. A test compares them with the classes of transformers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy
from scipy import special

from trainer.measure.predictions import softmax
from trainer.models.weights import Unusable, Weights, whole

_LAYER = (
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
    "intermediate.dense", "output.dense", "output.LayerNorm",
)  # fmt: skip
_LAYER_OF_DISTILBERT = (
    "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
)  # fmt: skip


@dataclass(frozen=True)
class _Family:
    """Where a family has its numbers: the names in config.json of width, layers, heads, the width between and its function, and those of tensors.
    ``first`` is the place of the first token; None where it is behind the padding id."""

    prefix: str
    config: tuple[str, str, str, str, str] = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act")
    layers: str = "encoder.layer"
    layer: tuple[str, ...] = _LAYER
    has_types: bool = True
    first: int | None = 0


_ROBERTA = _Family("roberta.", first=None)
FAMILIES = {
    "bert": _Family("bert."),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "distilbert": _Family(
        "distilbert.", ("dim", "n_layers", "n_heads", "hidden_dim", "activation"), "transformer.layer", _LAYER_OF_DISTILBERT, has_types=False
    ),
}
_FUNCTIONS = {"gelu": lambda x: x * (numpy.float32(0.5) + numpy.float32(0.5) * special.erf(x * numpy.float32(0.5**0.5)))}
_FUNCTIONS["relu"] = lambda x: numpy.maximum(x, 0)


@dataclass(frozen=True)
class Shape:
    """What config.json says of an encoder. ``first`` is the place of the first token."""

    width: int
    layers: int
    heads: int
    between: int
    function: str
    words: int
    places: int
    types: int
    first: int
    least: float

    @property
    def per_token(self) -> int:
        """The multiplications for a token in all layers, without those between tokens."""
        return self.layers * self.width * (4 * self.width + 2 * self.between)


def shape(config: Mapping[str, Any]) -> Shape:
    """The shape of the encoder that config.json describes. Raises Unusable for another model."""
    sort = str(config.get("model_type"))
    if sort not in FAMILIES:
        raise Unusable(f"is of the type {sort[:40]}; {', '.join(FAMILIES)} are computed here")
    family = FAMILIES[sort]
    width, layers, heads, between = (
        whole(config, name, usual, most)
        for name, usual, most in zip(family.config[:4], (768, 12, 12, 3072), (1 << 14, 200, 256, 1 << 16), strict=True)
    )
    function = str(config.get(family.config[4], "gelu"))
    if function not in _FUNCTIONS or config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder", False) is not False:
        raise Unusable("has another activation, other places or another direction in its config.json than are computed here")
    if width % heads:
        raise Unusable("has a hidden size that its number of heads does not divide")
    first = family.first if family.first is not None else whole(config, "pad_token_id", 1, 1 << 20, 0) + 1
    least = config.get("layer_norm_eps", 1e-12)
    if type(least) is not float or not 0 < least < 1:
        raise Unusable(f"has layer_norm_eps {str(least)[:40]} in its config.json, where a number between 0 and 1 is read")
    words, places = whole(config, "vocab_size", 30522, 1 << 24), whole(config, "max_position_embeddings", 512, 1 << 20, 8)
    types = whole(config, "type_vocab_size", 2, 1 << 10) if family.has_types else 0
    return Shape(width, layers, heads, between, function, words, places, types, first, least)


class Encoder:
    """An encoder that was read. Raises Unusable where its weights are not those that its config.json describes."""

    def __init__(self, config: Mapping[str, Any], weights: Weights):
        self.shape = shape(config)
        family, own = FAMILIES[config["model_type"]], self.shape
        self._weights = weights
        prefix = family.prefix if weights.has(f"{family.prefix}embeddings.word_embeddings.weight") else ""
        take = lambda name, *sizes: weights.take(f"{prefix}{name}", *sizes)  # noqa: E731
        self._words = take("embeddings.word_embeddings.weight", own.words, own.width)
        self._places = take("embeddings.position_embeddings.weight", own.places, own.width)
        if own.types:  # all tokens are of the first text
            self._places = self._places + take("embeddings.token_type_embeddings.weight", own.types, own.width)[0]
        self._norm = self._norm_of(f"{prefix}embeddings.LayerNorm")
        self._layers = [self._layer(f"{prefix}{family.layers}.{i}", family.layer) for i in range(own.layers)]

    def _norm_of(self, name: str) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Older files call the numbers of a LayerNorm gamma and beta."""
        names = ("weight", "bias") if self._weights.has(f"{name}.weight") else ("gamma", "beta")
        scale, shift = (self._weights.take(f"{name}.{n}", self.shape.width) for n in names)
        return scale, shift

    def _layer(self, place: str, names: tuple[str, ...]) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
        width, between = self.shape.width, self.shape.between
        sizes = {5: (between, width), 6: (width, between)}
        found = []
        for i, name in enumerate(names):
            if i in (4, 7):
                found.append(self._norm_of(f"{place}.{name}"))
                continue
            rows, columns = sizes.get(i, (width, width))
            weight, bias = self._weights.take(f"{place}.{name}.weight", rows, columns), self._weights.take(f"{place}.{name}.bias", rows)
            found.append((weight, bias))
        return found

    def mean(self, tokens: list[int]) -> numpy.ndarray:
        """The mean of the vectors of the ``tokens`` of one text (float32), which are less than ``shape.words``, and fewer than its places."""
        own = self.shape
        x = self._normed(self._words[tokens] + self._places[own.first : own.first + len(tokens)], self._norm)
        for query, key, value, out, norm, wide, narrow, last in self._layers:
            x = self._normed(x + _linear(self._attended(*(_linear(x, part) for part in (query, key, value))), out), norm)
            x = self._normed(x + _linear(_FUNCTIONS[own.function](_linear(x, wide)), narrow), last)
        return x.mean(axis=0)

    def _normed(self, x: numpy.ndarray, norm: tuple[numpy.ndarray, numpy.ndarray]) -> numpy.ndarray:
        apart = x - x.mean(axis=-1, keepdims=True)
        return norm[0] * (apart / numpy.sqrt((apart * apart).mean(axis=-1, keepdims=True) + numpy.float32(self.shape.least))) + norm[1]

    def _attended(self, query: numpy.ndarray, key: numpy.ndarray, value: numpy.ndarray) -> numpy.ndarray:
        """Each token sees all tokens (tokens x width)."""
        query, key, value = (part.reshape(len(part), self.shape.heads, -1).swapaxes(0, 1) for part in (query, key, value))
        found = softmax(query @ key.swapaxes(1, 2) * numpy.float32(query.shape[2] ** -0.5)) @ value
        return found.swapaxes(0, 1).reshape(found.shape[1], -1)


def _linear(x: numpy.ndarray, part: tuple[numpy.ndarray, numpy.ndarray]) -> numpy.ndarray:
    return x @ part[0].T + part[1]
