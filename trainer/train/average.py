"""The running average of the weights, which is what is measured and kept of a small model from scratch."""

import copy

import torch

# A small model from scratch jumps about from step to step, and the epoch that happens to measure best on few validation rows
# is often not. The running average of its weights is measured and kept instead: on SST-2, test accuracies were 0.79 to 0.81
# with it (six runs) and 0.78 to 0.80 without (three).
AVERAGE = 0.995


class Average:
    """The running average of a model's weights; counts and running figures are taken over as they are."""

    def __init__(self, model: torch.nn.Module):
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.pairs = [list(m.parameters()) for m in (self.model, model)]
        self.buffers = list(zip(self.model.buffers(), model.buffers(), strict=True))

    @torch.no_grad()
    def follow(self, steps: int) -> None:
        """Move towards the model after its step number ``steps``, counted from 1."""
        torch._foreach_lerp_(*self.pairs, 1 - min(AVERAGE, steps / (9 + steps)))
        for mine, theirs in self.buffers:
            mine.copy_(theirs)
