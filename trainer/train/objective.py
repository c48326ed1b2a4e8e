"""The objective of a training: the loss of rows, by the target, the weights of the classes, and the label smoothing."""

import numpy
import torch

from trainer.targets.target import Target


class Objective:
    """The loss for ``target``. ``weights`` are those of the classes, or None."""

    def __init__(self, target: Target, weights: tuple[float, ...] | None = None, smoothing: float = 0.0):
        self.target, self.smoothing = target, smoothing
        self.weights = None if weights is None else numpy.asarray(weights, numpy.float32)

    def weight(self, targets: numpy.ndarray) -> float:
        """The total weight of rows with these targets."""
        return self.target.weight(targets, self.weights)

    def loss(self, logits: torch.Tensor, targets: numpy.ndarray | torch.Tensor) -> torch.Tensor:
        """The sum over the rows of their weighted losses."""
        return self.target.loss(logits, targets, self.weights, self.smoothing)
