"""LoRA by peft: small matrices beside those of a frozen model, saved in the layout that PEFT, vLLM and others load.

torch and peft are imported where they are used, which is in workers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from trainer.run_folder import files

if TYPE_CHECKING:
    import torch

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"
BASE = "adapter_base.json"  # how the base is rounded, if it is: in CONFIG, a name that other programs do not know is an error in some of them


def wrap(model: torch.nn.Module, rank: int, alpha: int, seed: int) -> torch.nn.Module:
    """``model`` with an adapter on every linear layer but the last. Only the adapter is trained; at the beginning it changes nothing."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(seed)
    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM"))


def hold(model: torch.nn.Module, bits: int, device: str = "cpu") -> None:
    """Hold the weights below the adapter of ``model`` in ``bits`` (8 or 4). They are rounded on ``device``, layer by layer, and stay there."""
    from trainer.models.quantised import QuantisedLinear

    for wrapper in _wrappers(model):
        layer = wrapper.base_layer
        wrapper.base_layer = QuantisedLinear(_outputs_first(layer).to(device), layer.bias, bits)


def round_base(model: torch.nn.Module, bits: int) -> None:
    """Round the weights below the adapter of ``model`` as ``hold`` does, in the precision that they are in."""
    from trainer.models import quantised

    for wrapper in _wrappers(model):
        weight = _outputs_first(wrapper.base_layer)
        weight.copy_(quantised.rounded(weight, bits))


def _wrappers(model: torch.nn.Module) -> list:
    from peft.tuners.lora import LoraLayer

    return [m for m in model.modules() if isinstance(m, LoraLayer)]


def _outputs_first(layer) -> torch.Tensor:
    """The weights of ``layer`` as outputs x inputs; GPT-2's layers have them the other way round."""
    import torch

    weight: torch.Tensor = layer.weight.detach()
    return weight if isinstance(layer, torch.nn.Linear) else weight.t()


def save(model, folder: Path, base: str, revision: str, bits: int = 0) -> None:
    """Write the adapter. Its configuration names the ``base`` model and its ``revision``, and no path of this machine. ``bits`` are those
    of the base that it was trained on, if few (see ``base_bits``)."""
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {n: t.detach().cpu().contiguous() for n, t in get_peft_model_state_dict(model, save_embedding_layers=False).items()}
    save_file(tensors, str(folder / WEIGHTS), metadata={"format": "pt"})
    if bits:
        files.write_json(folder / BASE, {"bits": bits})
    config = model.active_peft_config.to_dict()
    config |= {"base_model_name_or_path": base, "revision": revision or None, "inference_mode": True}
    files.write_json(folder / CONFIG, {name: _plain(value) for name, value in sorted(config.items())})


def attach(model: torch.nn.Module, folder: Path) -> torch.nn.Module:
    """``model`` with the adapter of ``folder``. Raises ValueError if the two do not fit."""
    from peft import LoraConfig, get_peft_model

    stored = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if stored.get("peft_type") != "LORA" or not isinstance(stored.get("r"), int) or not isinstance(stored.get("target_modules"), list):
        raise ValueError("its adapter is not LoRA")
    config = LoraConfig(
        r=stored["r"], lora_alpha=stored["lora_alpha"], lora_dropout=0.0, target_modules=stored["target_modules"], task_type="CAUSAL_LM"
    )
    return refreshed(get_peft_model(model, config), folder)


def refreshed(model, folder: Path):
    """``model``, which has an adapter already, with the weights of the one in ``folder``. Raises ValueError if they do not fit."""
    from peft import get_peft_model_state_dict, set_peft_model_state_dict
    from safetensors.torch import load_file

    tensors = load_file(str(folder / WEIGHTS))
    if tensors.keys() != get_peft_model_state_dict(model, save_embedding_layers=False).keys():
        raise ValueError("its adapter does not fit the base model")
    set_peft_model_state_dict(model, tensors)
    return model.eval()


def moved(model, base: torch.nn.Module):
    """The adapter of ``model`` on ``base``, which has the same shape."""
    from peft import get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict

    found = get_peft_model(base, model.active_peft_config)
    set_peft_model_state_dict(found, get_peft_model_state_dict(model, save_embedding_layers=False))
    return found.eval()


def base_bits(folder: Path) -> int:
    """The bits to which the base of the adapter in ``folder`` was rounded while it was trained; 0 for not at all. Raises ValueError."""
    from trainer.models.quantised import BITS

    if not (folder / BASE).is_file():
        return 0
    told = files.read_json(folder / BASE)
    bits = told.get("bits") if isinstance(told, dict) else None
    if isinstance(bits, bool) or bits not in BITS:
        raise ValueError("its adapter belongs to a base in a precision that is not known here")
    return int(bits)


def merge(model, folder: Path) -> None:
    """Write the model with its adapter added to the weights. ``model`` cannot be used as an adapter any more."""
    model.merge_and_unload().save_pretrained(folder, safe_serialization=True)


def is_adapter(folder: Path) -> bool:
    return (folder / CONFIG).is_file() and (folder / WEIGHTS).is_file()


def _plain(value):
    """``value`` for JSON; sets in order, because their own order differs from run to run."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return value.value if hasattr(value, "value") else value
