"""A copy of a model in bf16 that computes the gradients, beside the weights in fp32 that are trained."""

import copy

import torch

from trainer.core.plan import Plan


class HalfCopy:
    """The copy, as ``model``, of a model whose weights are all trained.

    With autocast, norms and the sums between layers are in fp32, and each product converts its weights and inputs. A GPU spends more
    time on that than on the products. The optimizer, the moving average, evaluations and checkpoints use the weights in fp32.
    """

    def __init__(self, model: torch.nn.Module):
        self.model = copy.deepcopy(model)
        for weights in self.model.parameters():
            weights.data = weights.data.to(torch.bfloat16)
        self._theirs: list[torch.Tensor] = list(model.parameters())
        self._mine: list[torch.Tensor] = list(self.model.parameters())

    def take_weights(self) -> None:
        with torch.no_grad():
            torch._foreach_copy_(self._mine, self._theirs)

    def give_gradients(self) -> None:
        """Add the gradients to those of the weights in fp32, and forget them."""
        for theirs, mine in zip(self._theirs, self._mine, strict=True):
            if mine.grad is None:
                continue
            theirs.grad = mine.grad.float() if theirs.grad is None else theirs.grad.add_(mine.grad)
        self.forget_gradients()

    def forget_gradients(self) -> None:
        self.model.zero_grad(set_to_none=True)


def pays(device: torch.device, plan: Plan, model: torch.nn.Module) -> bool:
    """Whether a training in bf16 uses a copy: on a GPU, if the inputs of the model are token ids and no weight is frozen."""
    return device.type == "cuda" and plan.kind.token_ids and all(p.requires_grad for p in model.parameters())
