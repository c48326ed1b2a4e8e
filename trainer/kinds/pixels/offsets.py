"""How readily each class is answered: chosen on the validation pictures, so that their mean IoU is largest. Runs in workers.

A network that is unsure answers with the most frequent class, because that is most often right. The mean IoU counts all classes alike, so it is
larger where a rare class is answered also when it is a little less likely than another one.
"""

from typing import Any

import numpy
import torch

from trainer.kinds.pixels import inference
from trainer.kinds.pixels.codings import MOST
from trainer.kinds.pixels.target import ious
from trainer.kinds.pixels.windows import Windows

_GRID = numpy.arange(-4, 7) / 4  # of the offset of a class, in logits
_ROUNDS = 2  # over all classes
_PIXELS = 300_000  # of the validation pictures, from all over them
_FEWEST = 4  # pictures: what fewer tell is chance
_GAIN = 0.005  # of the mean IoU, below which nothing is changed


def measure(model: Any, data: Windows, device: torch.device) -> numpy.ndarray:
    """What is added to the logits of each class; all 0 where that gains little."""
    if data.pictures < _FEWEST:
        return numpy.zeros(data.classes)
    logits, truth = _sample(model, data, device)
    return chosen(logits, truth)


def chosen(logits: numpy.ndarray, truth: numpy.ndarray) -> numpy.ndarray:
    """The offsets for pixels with these logits (pixels x classes) and these classes: one class after the other takes its best one."""
    count = logits.shape[1]
    found = numpy.zeros(count)
    if not len(truth):
        return found
    start = best = _score(truth, logits.argmax(axis=1), count)
    for _ in range(_ROUNDS):
        for label in range(1, count):
            shifted = logits + found
            mine = logits[:, label].copy()
            shifted[:, label] = -numpy.inf
            others = shifted.argmax(axis=1)
            highest = shifted[numpy.arange(len(truth)), others]
            scores = [_score(truth, numpy.where(mine + offset > highest, label, others), count) for offset in _GRID]
            if max(scores) > best:
                best, found[label] = max(scores), _GRID[int(numpy.argmax(scores))]
    return found if best - start >= _GAIN else numpy.zeros(count)


def _score(truth: numpy.ndarray, answers: numpy.ndarray, count: int) -> float:
    confusion = numpy.bincount(truth * count + answers, minlength=count * count).reshape(count, count)
    return float(numpy.nanmean(ious(confusion)))


def _sample(model: Any, data: Windows, device: torch.device) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Logits and classes of known pixels, equally far apart in all pictures."""
    pixels = int(numpy.prod(data.sizes, axis=1).sum())
    apart = max(1, int(numpy.ceil((pixels / _PIXELS) ** 0.5)))
    logits, truth = [], []
    for number in range(data.pictures):
        right = data.truth(number)
        for rows, columns, answer in inference.answered(model, data.picture(number), device):
            part = numpy.asarray(right[rows, columns])[::apart, ::apart]
            known = part < MOST
            logits.append(answer[::apart, ::apart].float().cpu().numpy()[known])
            truth.append(part[known].astype(numpy.int64))
    return numpy.concatenate(logits), numpy.concatenate(truth)
