"""The shapes of language models from scratch: Llama's, and Mixtral's where there are several experts.

Rotary positions, gated layers, root mean square norms and one matrix for input and output. With the same weights and steps it
predicted plays with 2.58 bits per character where GPT-2's shape had 3.02. Saved, it is an ordinary model of transformers.
"""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

HEAD = 48  # wide; the width of a model is a multiple of it
LENGTH = 256  # tokens that a model from scratch reads, unless max_length says otherwise
CHOSEN_EXPERTS = 2  # for each token
# Bytes of training text up to which a shape is used. In an hour two CPUs train the first on some ten million tokens, which suits
# its size; larger ones pay off with more text, more hours or a GPU.
_BY_TEXT = ((8_000_000, 3, 144), (80_000_000, 6, 288), (float("inf"), 8, 576))


@dataclass(frozen=True)
class Shape:
    """The size of a model: layers, width, entries of the vocabulary, tokens it reads, and experts in each layer (1 for none)."""

    layers: int
    width: int
    vocabulary: int
    length: int
    experts: int = 1
    router_loss: float = 0.0

    @property
    def heads(self) -> int:
        return self.width // HEAD

    @property
    def inner(self) -> int:
        """The width within a gated layer: eight thirds of the model's, as a multiple of 8. Experts share it: a token costs no more."""
        whole = 8 * math.ceil(self.width / 3)
        return whole if self.experts == 1 else whole // CHOSEN_EXPERTS

    @property
    def parameters(self) -> int:
        """The number of weights, without building the model."""
        layer = 4 * self.width**2 + 2 * self.width + self.experts * 3 * self.width * self.inner
        router = self.experts * self.width if self.experts > 1 else 0
        return self.vocabulary * self.width + self.layers * (layer + router) + self.width

    @property
    def learning_rate(self) -> float:
        return 1e-3 if self.parameters <= 10_000_000 else 6e-4

    def described(self) -> dict:
        """The shape as the plain values that ``restored`` takes."""
        return asdict(self)

    @property
    def used(self) -> int:
        """The weights that take part in the prediction of one token."""
        idle = max(0, self.experts - CHOSEN_EXPERTS) * 3 * self.width * self.inner
        return self.parameters - self.layers * idle


def choose(size: int, vocabulary: int, length: int, experts: int = 1, router_loss: float = 0.0) -> Shape:
    """The shape for ``size`` bytes of training text."""
    layers, width = next((layers, width) for most, layers, width in _BY_TEXT if size <= most)
    return Shape(layers, width, vocabulary, length, experts, router_loss)


def restored(described: dict) -> Shape:
    """The shape among other values that a plan describes."""
    return Shape(**{f.name: described[f.name] for f in fields(Shape)})


def build(shape: Shape, end: int | None = None) -> Any:
    """A model of this shape with random weights, which come from torch's generator. ``end`` is the number of the token between texts."""
    common = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "max_position_embeddings": shape.length,
        "tie_word_embeddings": True,
        "attention_dropout": 0.0,
        "bos_token_id": end,
        "eos_token_id": end,
        "pad_token_id": None,
    }
    if shape.experts > 1:
        from transformers.models.mixtral.configuration_mixtral import MixtralConfig
        from transformers.models.mixtral.modeling_mixtral import MixtralForCausalLM

        routing = {
            "num_local_experts": shape.experts,
            "num_experts_per_tok": CHOSEN_EXPERTS,
            "router_aux_loss_coef": shape.router_loss,
            "sliding_window": None,
        }
        return MixtralForCausalLM(MixtralConfig(**common, **routing))
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**common))
