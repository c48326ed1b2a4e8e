"""Measuring a model on rows."""

from dataclasses import dataclass

import numpy
import torch
import torch.nn.functional as F

from trainer import batches, metrics
from trainer.vocabulary import Encoded

_BATCH = 128


@dataclass(frozen=True)
class Measured:
    """A model on some rows: ``confusion`` has true classes as rows, ``loss`` is the mean cross-entropy in nats.

    ``predicted`` and ``confidence`` (the probability of the predicted class) are in the order of the rows; they are empty
    where several workers measured together.
    """

    confusion: list[list[int]]
    loss: float
    predicted: numpy.ndarray
    confidence: numpy.ndarray

    def summary(self) -> dict[str, float]:
        return {"loss": self.loss, "accuracy": metrics.accuracy(self.confusion), "f1_macro": metrics.f1_macro(self.confusion)}


def measure(model: torch.nn.Module, data: Encoded, classes: int, pad_id: int, device: torch.device, rank: int = 0, world: int = 1) -> Measured:
    """Measure ``model``. With several workers each takes its share and the counts are added up, so all get the same figures."""
    totals = torch.zeros(classes * classes + 1, dtype=torch.float64)
    predicted, confidence = numpy.zeros(len(data), numpy.int64), numpy.zeros(len(data))
    model.eval()
    with torch.inference_mode():
        for rows in batches.evaluation(data, _BATCH, rank, world):
            inputs, labels = batches.tensors(data, rows, pad_id, device)
            logits = model(**inputs).logits.float()
            losses = F.cross_entropy(logits, labels, reduction="sum").cpu()
            sure, choice = logits.softmax(-1).max(-1)
            predicted[rows], confidence[rows] = choice.cpu().numpy(), sure.cpu().numpy()
            cells = (labels * classes + choice).cpu()
            totals[:-1] += torch.bincount(cells, minlength=classes * classes)
            totals[-1] += losses
    if world > 1:
        totals = totals.to(device)
        torch.distributed.all_reduce(totals)
        totals, predicted, confidence = totals.cpu(), predicted[:0], confidence[:0]
    confusion = totals[:-1].to(torch.int64).reshape(classes, classes).tolist()
    return Measured(confusion, float(totals[-1]) / max(1, len(data)), predicted, confidence)
