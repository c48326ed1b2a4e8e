"""The quick way to use an installed model: its weights stay as they are, and logistic regression finds the weights of its head."""

from typing import Any

import numpy
import torch

from trainer.core.plan import Plan, Rows
from trainer.measure import linear
from trainer.train import batches

_AT_ONCE = 64  # rows
_CHECKED = 8  # rows whose scores are compared with those of the logistic regression
_CLOSE = 1e-2  # difference of scores, relative to the largest
_SHARE = 1 / 3  # of the seconds of an epoch: one pass forward
_LONGEST = 0.5  # share of the time that is left


def is_tried(plan: Plan, cut: bool) -> bool:
    """Whether the installed model is also tried as it is. ``cut`` says that the time limit ends its training."""
    if plan.base.fresh or plan.settings.freeze_encoder:
        return False
    return plan.kind.tries_frozen(plan, cut)


def reserved(plan: Plan, estimate: float, left: float, world: int) -> float:
    """The seconds to keep for it of the ``left`` ones, where a training of ``estimate`` seconds with ``world`` workers does not fit."""
    if estimate <= left or not is_tried(plan, cut=True):
        return 0.0
    return min(_LONGEST * left, _SHARE * world * estimate / plan.settings.epochs)


def model(plan: Plan, device: torch.device) -> torch.nn.Module | None:
    """The installed model of ``plan`` under a linear head on its pooled features, fitted on the training rows with a penalty that the
    validation rows choose. None if the head of the model is not a single linear layer, or if the fit would be too large."""
    found: Any = plan.kind.build_frozen(plan)
    if found is None:
        return None
    found.to(device).eval()
    head = _head(found, plan.target.outputs)
    if head is None:
        return None
    features = {name: _features(found, head, plan.splits[name], device) for name in ("train", "validation")}
    if any(f is None for f in features.values()):
        return None
    targets = {name: plan.splits[name].targets for name in features}
    weights = None if plan.weights is None else numpy.asarray(plan.weights)
    fitted = linear.fit(
        features["train"], targets["train"], features["validation"], targets["validation"], plan.target.outputs, plan.settings.seed,
        class_weights=weights,
    )  # fmt: skip
    if fitted is None:
        return None
    with torch.no_grad():
        head.weight.copy_(torch.from_numpy(fitted.weights.T.copy()))
        if head.bias is None:
            head.bias = torch.nn.Parameter(torch.zeros(plan.target.outputs, device=device))
        head.bias.copy_(torch.from_numpy(fitted.bias))
    return found if _is_linear_on(found, plan.splits["train"], features["train"], fitted, device) else None


def _head(found: torch.nn.Module, outputs: int) -> Any:
    layers = [m for m in found.modules() if isinstance(m, torch.nn.Linear) and m.out_features == outputs]
    return layers[-1] if layers else None


def _features(found: torch.nn.Module, head: torch.nn.Module, rows: Rows, device: torch.device) -> numpy.ndarray | None:
    """What ``head`` reads of each row (rows x width, float32); None if it is not one vector for each row."""
    seen: list[torch.Tensor] = []
    handle = head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach().float().cpu()))
    try:
        with torch.inference_mode():
            order = batches.evaluation(rows.features.lengths, _AT_ONCE) if len(rows) else []
            for some in order:
                found(**batches.tensors(rows.features.batch(some), device))
    finally:
        handle.remove()
    if not seen:
        return numpy.zeros((0, head.in_features), numpy.float32) if isinstance(head, torch.nn.Linear) else None
    together = torch.cat(seen).numpy()
    if together.ndim != 2 or len(together) != len(rows):
        return None
    in_order = numpy.empty_like(together)
    in_order[numpy.concatenate(order)] = together
    return in_order


def _is_linear_on(found: Any, rows: Rows, features: numpy.ndarray, fitted: linear.Linear, device: torch.device) -> bool:
    """Whether the scores of the whole model are those of the logistic regression, and no other head is averaged in."""
    some = numpy.arange(min(_CHECKED, len(rows)))
    with torch.inference_mode():
        scores = found(**batches.tensors(rows.features.batch(some), device)).logits.float().cpu().numpy()
    wanted = features[some] @ fitted.weights + fitted.bias
    return bool(numpy.abs(scores - wanted).max() <= _CLOSE * max(1.0, float(numpy.abs(wanted).max())))
