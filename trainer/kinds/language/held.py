"""How a language model is held in memory while it is trained: the precision of its frozen weights, what is kept for the
backward pass, and which worker holds what.

torch is imported where it is used, which is in workers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trainer.errors import UserError, gigabytes
from trainer.kinds.language.footprint import Footprint, Held
from trainer.memory import memory

if TYPE_CHECKING:
    import torch

    from trainer.config.settings import Settings

_FORMATS = {8: "int8", 4: "nf4"}  # of weights in few bits, as the option frozen_weights names them; the first is tried first
_GPU_PARTS = 16  # in which a batch is computed on a GPU where it does not fit as a whole
_GPU_SHARE = 0.9  # of the memory of a GPU: the rest is taken by libraries and lost between blocks


@dataclass(frozen=True)
class Place:
    """The device of a worker: whether it is a GPU, whether it computes in bf16, its bytes of memory, and the workers that train together."""

    gpu: bool
    bf16: bool
    memory: int
    workers: int = 1


def place() -> Place:
    """The device that a model of this worker is trained on; of several workers the least that each has, so that all choose the same."""
    import torch
    import torch.distributed as dist

    from trainer.train.step import has_bf16

    gpu = torch.cuda.is_available()
    if gpu:
        size = _GPU_SHARE * torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
        half = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        size, half = memory(), has_bf16()
    if not dist.is_initialized():
        return Place(gpu, half, int(size))
    least = torch.tensor([float(size), float(half)], dtype=torch.float64, device="cuda" if gpu else "cpu")
    dist.all_reduce(least, op=dist.ReduceOp.MIN)
    return Place(gpu, bool(least[1]), int(least[0]), dist.get_world_size())


def chosen(needs: Footprint, settings: Settings, where: Place) -> Held:
    """How to hold the model of ``needs``. What the user chose stays.

    Frozen weights are held in bf16 on a GPU that computes in it, which loses nothing there; on a CPU only where the memory is too small
    for fp32. Where the training still does not fit, activations are computed again in the backward pass, then frozen weights are spread
    over the workers: both cost time. What does not fit even so is held in 8 bits, then in 4, which changes the answers a little. On the GPU of a
    single worker only the rows that are computed at once have to fit.
    """
    frozen = needs.trained < needs.weights
    may_spread = frozen or _may_be_spread(settings, where)
    may_halve = frozen and where.bf16 and settings.mixed_precision in ("auto", "bf16")
    bits = next((bits for bits, name in _FORMATS.items() if frozen and settings.frozen_weights == name), 0)
    half = frozen and settings.frozen_weights == "bf16"
    if settings.frozen_weights == "auto" and may_halve:
        half = where.gpu or needs.needed() > where.memory
    found = Held(half or bool(bits and may_halve), settings.recompute == "yes", bits=bits)
    if may_spread and settings.spread_weights == "yes":
        found = replace(found, workers=where.workers)
    if settings.recompute == "auto" and needs.needed(held=found) > where.memory:
        found = replace(found, recomputed=True)
    if may_spread and settings.spread_weights == "auto" and needs.needed(held=found) > where.memory:
        found = replace(found, workers=where.workers)
    return _in_fewer_bits(needs, found, where) if frozen and settings.frozen_weights == "auto" else found


def _may_be_spread(settings: Settings, where: Place) -> bool:
    """Whether weights that are trained may be spread. Raises UserError where the user wants it and it is not possible."""
    if settings.optimizer == "adafactor":
        if settings.spread_weights == "yes" and where.workers > 1:
            raise UserError(
                "spread_optimizer",
                "The optimizer adafactor does not work on weights that are spread over workers.",
                "Choose optimizer: adamw or sgd, or spread_weights: no.",
            )
        return False
    return not where.gpu or (where.bf16 and settings.mixed_precision != "fp16")  # in fp16, gradients are scaled by what one worker sees


def _in_fewer_bits(needs: Footprint, found: Held, where: Place) -> Held:
    """``found`` with weights in 8 or 4 bits, where the training does not fit otherwise and they make it smaller."""
    if where.gpu and where.workers == 1:
        needs = replace(needs, rows=max(1, needs.rows // _GPU_PARTS))
    for bits in _FORMATS:
        fewer = replace(found, bits=bits)
        if needs.needed(held=found) > max(where.memory, needs.needed(held=fewer)):
            found = fewer
    return found


def apply(model: Any, held: Held) -> Any:
    """``model``, which computes its activations again in the backward pass where ``held`` says so."""
    if held.recomputed:
        model.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": False})
    return model


def of(model: torch.nn.Module) -> Held:
    """How ``model`` is held."""
    import torch

    from trainer.models import quantised, transformer
    from trainer.train import spread

    frozen = [p for m in model.modules() if not isinstance(m, quantised.QuantisedLinear) for p in m.parameters(recurse=False) if not p.requires_grad]
    recomputed = bool(transformer.without_adapter(model).is_activation_checkpointing)
    workers = torch.distributed.get_world_size() if spread.is_spread(model) else 1
    return Held(any(p.dtype == torch.bfloat16 for p in frozen), recomputed, workers, quantised.bits_of(model))


def decisions(held: Held, needs: Footprint) -> list[tuple[str, Any, str]]:
    """What to say of ``held``, as ``Kind.device_decisions`` gives it."""
    found: list[tuple[str, Any, str]] = []
    if held.bits:
        saved = gigabytes(needs.needed() - needs.needed(held=Held(held.half, bits=held.bits)))
        why = f"The weights of linear layers, which are not trained, are held in {held.bits} bits ({_FORMATS[held.bits]}): about {saved} "
        why += "less of memory. The adapter belongs to these rounded weights; on the weights as they are installed, its answers differ a little."
        found.append(("frozen_weights", _FORMATS[held.bits], why))
    elif held.half:
        saved = gigabytes(needs.needed() - needs.needed(held=Held(half=True)))
        found.append(
            (
                "frozen_weights",
                "bf16",
                f"The weights that are not trained are held in bf16, and the model computes in it: about {saved} less of memory.",
            )
        )
    if held.recomputed:
        saved = gigabytes(needs.needed(held=Held(held.half, bits=held.bits)) - needs.needed(held=Held(held.half, recomputed=True, bits=held.bits)))
        why = f"Activations are computed again in the backward pass: about {saved} less of memory, in about a third more time."
        found.append(("recompute", "yes", why))
    if held.workers > 1:
        saved = gigabytes(needs.needed(held=replace(held, workers=1)) - needs.needed(held=held))
        what = "that are not trained" if needs.trained < needs.weights else "and of what their training needs"
        why = f"Each of the {held.workers} workers holds a part of the weights {what}: about {saved} less of memory for each."
        found.append(("spread_weights", "yes", why))
    return found
