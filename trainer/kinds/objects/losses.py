"""The loss of the maps of a network, and the maps as arrays. torch: in workers only."""

import numpy
import torch

from trainer.kinds.objects import decoding
from trainer.kinds.objects.decoding import SIDES

_AWAY, _HARD = 4, 2  # powers of the focal loss: for places beside a centre, and for easy places
_BOXES, _OUTLINES = 2.0, 2.0  # weights of the sides and of the outlines beside that of the labels
_SURE = 1e-4


def of_maps(maps: torch.Tensor, labels: int, weights: numpy.ndarray | None, outlined: bool = False) -> torch.Tensor:
    """The sum of the losses of pictures. ``maps`` has the network's, then those of the truth; ``weights`` are those of the labels."""
    answered = decoding.answered(labels, outlined)
    mine, truth = maps[:, :answered].float(), maps[:, answered:].detach()
    heat, sides, distances = mine.split([labels, SIDES, answered - labels - SIDES], dim=1)  # whose gradients are joined at once
    centres, right, weight, ignored = truth[:, :labels], truth[:, labels : labels + SIDES], truth[:, -2], truth[:, -1:]
    probability = torch.sigmoid(heat).clamp(_SURE, 1 - _SURE)
    is_centre = (centres >= 1).float()
    of_label = 1.0 if weights is None else torch.as_tensor(weights, device=maps.device).view(1, -1, 1, 1)
    there = -torch.log(probability) * (1 - probability) ** _HARD * is_centre * of_label
    away = -torch.log(1 - probability) * probability**_HARD * (1 - centres) ** _AWAY * (1 - is_centre) * (1 - ignored)
    number = is_centre.sum(dim=(1, 2, 3)).clamp(min=1)
    of_labels = (there + away).sum(dim=(1, 2, 3)) / number
    fit = (weight * (1 - _overlap(sides, right))).sum(dim=(1, 2)) / number
    losses = of_labels + _BOXES * fit
    if outlined:
        losses = losses + _OUTLINES * _of_rays(distances, truth[:, labels + SIDES : -2], weight) / number
    return losses.sum()


def _of_rays(distances: torch.Tensor, right: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The logarithm of the union over the intersection of outlines around the same places, where the true one is known."""
    known = right.sum(dim=1) > 0
    union, shared = torch.maximum(distances, right).sum(dim=1), torch.minimum(distances, right).sum(dim=1)
    ratio = torch.log(union.clamp(min=1e-3) / shared.clamp(min=1e-3))
    return (weight * known * ratio).sum(dim=(1, 2))


def _overlap(sides: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The generalised intersection over union of boxes around the same places."""
    shared = torch.minimum(sides, right)
    around = torch.maximum(sides, right)

    def area(distances: torch.Tensor) -> torch.Tensor:
        return (distances[:, 0] + distances[:, 2]) * (distances[:, 1] + distances[:, 3])

    inner, outer = area(shared), area(around).clamp(min=1e-6)
    union = (area(sides) + area(right) - inner).clamp(min=1e-6)
    return inner / union - (outer - union) / outer


def answers(maps: torch.Tensor, labels: int) -> numpy.ndarray:
    """The maps with probabilities in place of the logits of labels."""
    maps = maps.float()
    return torch.cat([torch.sigmoid(maps[:, :labels]), maps[:, labels:]], dim=1).cpu().numpy()
