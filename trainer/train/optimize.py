"""The optimizer and its learning rate, which is a function of the step."""

import math

import torch


class Optimization:
    """Updates the weights of ``model`` over ``steps`` steps, with ``rate`` as the peak learning rate.

    ``scaler`` is the gradient scaler in fp16.
    """

    def __init__(self, model: torch.nn.Module, settings, rate: float, steps: int, scaler: torch.amp.GradScaler | None):
        self.settings, self.highest, self.steps, self.rate = settings, rate, steps, 0.0
        self.warm_up = max(1, round(settings.warmup_ratio * steps))
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = _optimizer(settings.optimizer, _groups(self.parameters, settings.weight_decay), rate)
        self.scaler = scaler

    def step(self, step: int) -> None:
        """Take step number ``step``, counted from 0, and forget the gradients."""
        self.rate = self.highest * self._share(step)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
        if self.scaler is not None:
            self.scaler.unscale_(self.optimizer)
        if self.settings.max_grad_norm:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.max_grad_norm)
        if self.scaler is not None:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def _share(self, step: int) -> float:
        """The learning rate of a step as a share of the peak: a linear warm-up, then the schedule."""
        rise = (step + 1) / self.warm_up
        left = min(1.0, max(0.0, (self.steps - step) / max(1, self.steps - self.warm_up)))
        fall = {"linear": left, "cosine": 0.5 * (1 - math.cos(math.pi * left)), "constant": 1.0}[self.settings.scheduler]
        return min(rise, fall)


def _groups(parameters: list, decay: float) -> list[dict]:
    """Parameter groups: weight decay applies to matrices only, not to biases and norms."""
    matrices = [p for p in parameters if p.ndim > 1]
    others = [p for p in parameters if p.ndim <= 1]
    return [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def _optimizer(name: str, groups: list[dict], rate: float) -> torch.optim.Optimizer:
    if name == "sgd":
        return torch.optim.SGD(groups, lr=rate, momentum=0.9)
    if name == "adafactor":
        return torch.optim.Adafactor(groups, lr=rate)
    return torch.optim.AdamW(groups, lr=rate, fused=True)  # one pass over the weights: a fifth of a small model's step otherwise
