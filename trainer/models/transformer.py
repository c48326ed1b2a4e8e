"""Models of the transformers library: from an installed base, saved and loaded. Imported only in workers, because torch takes seconds."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from trainer.core.plan import Plan
from trainer.errors import UserError
from trainer.models import quantised
from trainer.targets.target import Target

_LOCAL = {"local_files_only": True, "trust_remote_code": False}


def from_base(auto_class: str, plan: Plan, dtype: torch.dtype | str = torch.float32, **options) -> torch.nn.Module:
    """The installed model of ``plan`` with a new head; with random weights throughout if it starts from scratch.

    ``dtype`` is the type of weights that are read, or "auto" for that of the files. ``options`` fill in missing entries of its
    configuration. Raises UserError.
    """
    import transformers

    with usable(plan):
        config = configuration(plan)
        for name, value in options.items():
            if getattr(config, name, None) is None:
                setattr(config, name, value)
        return with_weights(getattr(transformers, auto_class), config, plan, dtype)


def configuration(plan: Plan) -> Any:
    """The configuration of the installed model of ``plan`` for its target."""
    import transformers

    config = transformers.AutoConfig.from_pretrained(plan.base.folder, **_LOCAL)
    for name, value in plan.target.configuration().items():
        setattr(config, name, value)
    return config


def with_weights(made_by: Any, config: Any, plan: Plan, dtype: torch.dtype | str = torch.float32) -> Any:
    """A model of ``config`` with the weights of the installed one where these fit, and random ones elsewhere. ``made_by`` is its class, or an
    automatic one of transformers."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    if plan.base.fresh:
        return made_by.from_config(config, trust_remote_code=False) if hasattr(made_by, "from_config") else made_by(config)
    return made_by.from_pretrained(plan.base.folder, config=config, use_safetensors=True, ignore_mismatched_sizes=True, dtype=dtype, **_LOCAL)


@contextlib.contextmanager
def usable(plan: Plan) -> Iterator[None]:
    """Raises UserError where the installed model of ``plan`` cannot be loaded for its task."""
    try:
        yield
    except (ValueError, KeyError, OSError, AttributeError, ImportError, json.JSONDecodeError) as e:
        raise UserError(
            "model_unusable",
            f"The installed model {plan.base.name} cannot be used for {plan.task}.",
            "Choose another model, or ask the administrator to check its files.",
            str(e).strip().split("\n")[0],
        ) from e


def save(model: Any, plan: Plan, folder: Path) -> None:
    """Save weights (safetensors) and config.json. A saved regression model predicts in the unit of the data."""
    fold(model, plan.target)
    model.save_pretrained(folder, safe_serialization=True)


def load(auto_class: str, folder: Path, like: torch.nn.Module | None, dtype: torch.dtype | str = torch.float32) -> torch.nn.Module:
    """The model that was saved in ``folder``; of the class of ``like``, if given, which saves a search. ``dtype`` is as for ``from_base``."""
    if like is None:
        import transformers

        transformers.utils.logging.disable_progress_bar()
        like_class = getattr(transformers, auto_class)
    else:
        like_class = type(like)
    return like_class.from_pretrained(folder, use_safetensors=True, dtype=dtype, **_LOCAL)


@torch.no_grad()
def fold(model: torch.nn.Module, target: Target) -> None:
    """Fold the rescaling of the target into the last layer, so that the model predicts in the unit of the target."""
    if (rescaling := target.rescaling()) is None:
        return
    factor, summand = rescaling
    last = [m for m in model.modules() if isinstance(m, torch.nn.Linear) and m.out_features == 1][-1]
    if last.bias is None:
        last.bias = torch.nn.Parameter(torch.zeros(1, device=last.weight.device))
    last.weight.mul_(factor)
    last.bias.mul_(factor).add_(summand)


def without_adapter(model: Any) -> Any:
    """The model inside an adapter; the model itself where it has none."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def parameters(model: torch.nn.Module) -> int:
    """The number of weights of ``model``, also of those that share a byte."""
    hidden = sum(m.hidden for m in model.modules() if isinstance(m, quantised.QuantisedLinear))
    return sum(p.numel() for p in model.parameters()) + hidden


def freeze(model: torch.nn.Module) -> bool:
    """Freeze all weights except the head; False if the model does not say which these are."""
    base = getattr(model, "base_model", None)
    if base is None or base is model:
        return False
    base.requires_grad_(False)
    return True
