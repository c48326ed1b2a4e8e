"""The trained language model and its base answer the same prompts and read the same held-out examples. Runs in a worker."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.core.plan import Plan
from trainer.kinds.language import lora, samples
from trainer.run_folder.events import Events

MERGED = "merged"


@dataclass
class Asked:
    """The answers as token ids. ``before`` and ``base`` are None where the training began with random weights.

    ``base`` is how likely the base model finds the test examples. ``trained`` is the number of weights that were trained. ``merged``
    is the folder of the model with its adapter merged, if that was asked for.
    """

    after: list[list[int]]
    before: list[list[int]] | None
    base: Any  # Likelihoods, or None
    trained: int
    merged: Path | None


def ask(model, plan: Plan, device, events: Events | None) -> Asked:
    """Ask ``model``, which is trained, and its base. Merges the adapter of ``model`` last, if that is asked for. See ``Kind.after_training``."""
    from trainer.train import evaluate

    if events is not None:
        events.phase("test", f"Writing answers to {len(plan.details.prompts)} held-out prompts.")
    adapted = hasattr(model, "disable_adapter")
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad or not adapted)
    after = samples.answers(model, plan.details, device)
    before = base = None
    if not plan.base.fresh:
        with _base(model, plan, adapted) as original:
            before = samples.answers(original, plan.details, device)
            if len(rows := plan.splits["test"]):
                base = evaluate.answers(original, rows, plan.target, device)
    merged = None
    if adapted and plan.settings.merge and events is not None:
        merged = Path(plan.work) / MERGED
        lora.merge(_in_single_precision(model, plan), merged)
    return Asked(after, before, base, trained, merged)


def _in_single_precision(model, plan: Plan):
    """``model`` on the base as it is installed: an adapter that is added to weights in bf16 would be rounded with them, and of weights that are
    spread over workers there is a part only. An adapter that has learnt on weights in few bits needs these, in fp32."""
    from trainer.kinds.language import held, network

    how = held.of(model)
    if not (how.half or how.bits or how.workers > 1):
        return model
    found = lora.moved(model, network.base_model(plan))
    if how.bits:
        lora.round_base(found, how.bits)
    return found


@contextlib.contextmanager
def _base(model, plan: Plan, adapted: bool):
    """The model as it was before the training."""
    if adapted:
        with model.disable_adapter():
            yield model
        return
    from trainer.kinds.language import network as language
    from trainer.train import parts

    yield language.untrained(plan, next(model.parameters()).device.type, parts.are_in(model))
