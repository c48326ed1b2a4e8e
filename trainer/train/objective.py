"""The objective of a training: the loss of rows, and the meaning of the outputs."""

import numpy
import torch
import torch.nn.functional as F

from trainer.kinds.language.sequences import IGNORED
from trainer.targets.target import Classes, Links, Number, Tags, Target, Tokens

_ROWS = 128  # of an evaluation in memory at once
_TEXTS = 8  # of a language model, whose outputs are as wide as its vocabulary


class Objective:
    """The loss and the outputs for a target. ``weights`` are those of the classes, or None."""

    def __init__(self, target: Target, weights: tuple[float, ...] | None = None, smoothing: float = 0.0):
        self.target, self.smoothing = target, smoothing
        self.weights = None if weights is None else numpy.asarray(weights, numpy.float32)

    @property
    def classes(self) -> int:
        """How many classes there are; 0 for a number."""
        return self.target.outputs if isinstance(self.target, Classes) else 0

    @property
    def width(self) -> int:
        """The numbers of each example's outputs; 0 where it is one number."""
        return self.target.outputs if isinstance(self.target, Tokens) else self.classes

    @property
    def evaluation_rows(self) -> int:
        return _TEXTS if isinstance(self.target, Tokens) else _ROWS

    @property
    def adds_pieces(self) -> bool:
        """Whether the outputs of an example are the sums over its pieces, and not their mean."""
        return isinstance(self.target, Tokens)

    @property
    def scale(self) -> float:
        return self.target.std if isinstance(self.target, Number) else 1.0

    def weight(self, targets: numpy.ndarray) -> float:
        """The total weight of rows with these targets: of texts, their learnt tokens; of tagged words, the words."""
        if isinstance(self.target, Tokens):
            return float(targets[:, 0].sum())
        if isinstance(self.target, Tags):
            return float(max(1, (targets >= 0).sum()))
        return float(len(targets)) if self.weights is None else float(self.weights[targets].sum())

    def loss(self, logits: torch.Tensor, targets: numpy.ndarray | torch.Tensor) -> torch.Tensor:
        """The sum over the rows of their weighted losses. Of texts, ``targets`` are the learnt tokens as a tensor, and the sum is over these."""
        if isinstance(targets, torch.Tensor):
            chosen = targets != IGNORED  # first, so that no other place is converted
            return F.cross_entropy(logits[chosen].float(), targets[chosen], reduction="sum", label_smoothing=self.smoothing)
        logits = logits.float()
        if isinstance(self.target, Links):  # the first of the scores is that of the edge
            every = logits.flatten(0, 1)
            return F.cross_entropy(every, every.new_zeros(len(every), dtype=torch.int64), reduction="sum") / logits.shape[1]
        if isinstance(self.target, Tags):
            targets = targets[:, : logits.shape[1]]
            known = targets >= 0
            logits, targets = logits[:, : targets.shape[1]][torch.from_numpy(known).to(logits.device)], targets[known].astype(numpy.int64)
        if isinstance(self.target, Classes):
            weights = None if self.weights is None else torch.from_numpy(self.weights).to(logits.device)
            return F.cross_entropy(logits, torch.from_numpy(targets).to(logits.device), weights, reduction="sum", label_smoothing=self.smoothing)
        assert isinstance(self.target, Number)
        wanted = torch.from_numpy(((targets - self.target.mean) / self.target.std).astype(numpy.float32)).to(logits.device)
        return F.mse_loss(logits.squeeze(-1), wanted, reduction="sum")

    def counts(self, logits: torch.Tensor, tokens: torch.Tensor) -> numpy.ndarray:
        """Of each row: the nats that its learnt ``tokens`` cost, how many they are, and how many of them were the likeliest."""
        chosen = tokens != IGNORED
        kept, wanted = logits[chosen].float(), tokens[chosen]
        nats = torch.zeros(tokens.shape, dtype=torch.float64, device=tokens.device)
        nats[chosen] = F.cross_entropy(kept, wanted, reduction="none").double()
        right = torch.zeros_like(nats)
        right[chosen] = (kept.argmax(-1) == wanted).double()
        return torch.stack([nats.sum(1), chosen.sum(1).double(), right.sum(1)], dim=1).cpu().numpy()

    def outputs(self, logits: torch.Tensor, folded: bool) -> numpy.ndarray:
        """Probabilities of all classes, or the answered numbers in the target's unit. A saved model (``folded``) answers in it itself."""
        if isinstance(self.target, Classes):
            return logits.float().softmax(-1).cpu().numpy()
        assert isinstance(self.target, Number)
        values = logits.float().squeeze(-1).double().cpu().numpy()
        return values if folded else values * self.target.std + self.target.mean
