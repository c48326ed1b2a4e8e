"""The objective of a training: the loss of rows, and the meaning of the outputs."""

import numpy
import torch
import torch.nn.functional as F

from trainer.tasks.target import Classes, Number


class Objective:
    """The loss and the outputs for a target. ``weights`` are those of the classes, or None."""

    def __init__(self, target: Classes | Number, weights: tuple[float, ...] | None = None, smoothing: float = 0.0):
        self.target, self.smoothing = target, smoothing
        self.weights = None if weights is None else numpy.asarray(weights, numpy.float32)

    @property
    def classes(self) -> int:
        """How many classes there are; 0 for a number."""
        return self.target.outputs if isinstance(self.target, Classes) else 0

    @property
    def scale(self) -> float:
        return self.target.std if isinstance(self.target, Number) else 1.0

    def weight(self, targets: numpy.ndarray) -> float:
        """The total weight of rows with these targets."""
        return float(len(targets)) if self.weights is None else float(self.weights[targets].sum())

    def loss(self, logits: torch.Tensor, targets: numpy.ndarray) -> torch.Tensor:
        """The sum over the rows of their weighted losses."""
        logits = logits.float()
        if isinstance(self.target, Classes):
            weights = None if self.weights is None else torch.from_numpy(self.weights).to(logits.device)
            return F.cross_entropy(logits, torch.from_numpy(targets).to(logits.device), weights, reduction="sum", label_smoothing=self.smoothing)
        wanted = torch.from_numpy(((targets - self.target.mean) / self.target.std).astype(numpy.float32)).to(logits.device)
        return F.mse_loss(logits.squeeze(-1), wanted, reduction="sum")

    def outputs(self, logits: torch.Tensor, folded: bool) -> numpy.ndarray:
        """Probabilities of all classes, or the answered numbers in the target's unit. A saved model (``folded``) answers in it itself."""
        if isinstance(self.target, Classes):
            return logits.float().softmax(-1).cpu().numpy()
        values = logits.float().squeeze(-1).double().cpu().numpy()
        return values if folded else values * self.target.std + self.target.mean
