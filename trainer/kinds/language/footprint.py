"""How much memory the training of an installed language model needs."""

from dataclasses import dataclass
from pathlib import Path

from trainer.errors import UserError, gigabytes

SHORTER = 256  # tokens that are proposed where the memory is too small
_STATE = 12  # bytes for each trained weight beside itself: its gradient and two moments
_ROOM = 600_000_000  # of the process itself, with torch and transformers
_BILLION = 1_000_000_000
BYTES = {8: 1.0, 4: 0.5 + 2 / 64}  # of a weight in so many bits, as trainer.models.quantised holds it
_PUT_TOGETHER = 8  # bytes for each weight of the layer that is computed, where it is held in few bits
_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")  # in the configurations of mixtures of experts


@dataclass(frozen=True)
class Held:
    """How a model is held while it is trained: frozen weights in bf16 (``half``), activations ``recomputed`` in the backward pass, frozen
    weights (all, if all are trained) in equal parts on so many ``workers``, and those of linear layers in so many ``bits`` (8, 4; 0 as the
    others)."""

    half: bool = False
    recomputed: bool = False
    workers: int = 1
    bits: int = 0


AS_IT_IS = Held()  # all weights in fp32, all activations kept


@dataclass(frozen=True)
class Footprint:
    """What decides the memory of a training: the weights, how many are trained, the size of a batch and of the model's layers, and how many
    weights are not in linear layers below an adapter (``others``), which are never held in few bits."""

    weights: int
    trained: int
    rows: int
    length: int
    layers: int
    width: int
    vocabulary: int
    others: int = 0

    def needed(self, length: int = 0, held: Held = AS_IT_IS) -> int:
        """About how many bytes it takes, with sequences of ``length`` tokens (0: as chosen)."""
        tokens = self.rows * (length or self.length)
        # Where they are computed again, a layer keeps its input (4 bytes a number), and one layer at a time has the rest.
        layers = 2 * self.layers + 34 if held.recomputed else 34 * self.layers
        activations = (1 if held.half else 2) * tokens * (layers * self.width + 10 * self.vocabulary)
        if self.trained >= self.weights and held.workers > 1:
            # The first worker also puts the weights together, when the training is over and nothing but their parts is left.
            training = (4 + _STATE) * self.weights // held.workers + activations
            return _ROOM + max(training, 4 * self.weights + 4 * self.weights // held.workers)
        frozen = self.weights - self.trained if self.trained < self.weights else 0
        inner = max(0, frozen - self.others) if held.bits else 0
        held_frozen = int((2 if held.half else 4) * (frozen - inner) + BYTES.get(held.bits, 0) * inner) // held.workers
        if inner:
            activations += _PUT_TOGETHER * 4 * self.width**2
        return _ROOM + 4 * (self.weights - frozen) + held_frozen + _STATE * self.trained + activations


def of(folder: Path, config: dict, settings, shape: dict) -> Footprint:
    """The footprint of the model in ``folder``. Sizes that its configuration does not name count as those of a small model."""
    weights = count(folder)
    layers, width = _size(config, ("num_hidden_layers", "n_layer"), 12), _size(config, ("hidden_size", "n_embd"), 768)
    inner = _size(config, ("intermediate_size", "n_inner"), 4 * width)
    adapter = shape.get("rank", 0) * layers * (8 * width + 3 * (width + inner))
    vocabulary = _size(config, ("vocab_size",), shape["vocabulary_size"])
    # The embeddings, and the last layer where it has weights of its own. Experts are not single layers, so none of their weights counts.
    others = weights if any(config.get(name) for name in _EXPERTS) else (1 if config.get("tie_word_embeddings") else 2) * vocabulary * width
    rows = -(-settings.batch_size // max(1, settings.gradient_accumulation))
    return Footprint(
        weights, adapter if shape["finetuning"] == "lora" else weights, rows, shape["max_length"], layers, width,
        vocabulary, others,
    )  # fmt: skip


def count(folder: Path) -> int:
    """The number of weights of the model in ``folder``, from the headers of its files."""
    import math

    from safetensors import safe_open

    total = 0
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="numpy") as opened:
            total += sum(math.prod(opened.get_slice(name).get_shape()) for name in opened.keys())  # noqa: SIM118 - not a dict
    return total


def check(needs: Footprint, available: int, name: str, method: str, held: Held = AS_IT_IS) -> None:
    """Raise UserError where the training of a model that is ``held`` so does not fit into ``available`` bytes."""
    needed = needs.needed(held=held)
    if needed <= available:
        return
    shorter = f"max_length {SHORTER} ({gigabytes(needs.needed(SHORTER, held))})" if needs.length > SHORTER else "a smaller batch_size"
    raise UserError(
        "model_memory",
        f"{name} has {spelled_count(needs.weights)} weights: {'LoRA' if method == 'lora' else 'full finetuning'} needs about {gigabytes(needed)} "
        f"and the worker has {gigabytes(available)}.",
        f"Choose a smaller model, {shorter}, or ask for more memory.",
    )


def spelled_count(number: int) -> str:
    """A number of weights as text: "1.7 billion", "135 million"."""
    return f"{number / _BILLION:.1f} billion" if number >= _BILLION else f"{max(1, round(number / 1e6))} million"


def _size(config: dict, names: tuple[str, ...], default: int) -> int:
    return next((config[n] for n in names if isinstance(config.get(n), int) and config[n] > 0), default)
