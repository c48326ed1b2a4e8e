"""What the held-out pictures of a training say of how sure answers for pixels are: the temperature, the limits, and what they come to. In workers."""

from dataclasses import dataclass, replace
from typing import Any

import numpy
import torch
import torch.nn.functional as F

from trainer.kinds.pixels import inference
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.sure import levels
from trainer.kinds.pixels.target import PixelClasses
from trainer.kinds.pixels.windows import Windows
from trainer.targets import temperature
from trainer.targets.temperature import Chosen

FEWEST = 5  # pictures from which a temperature is chosen
_APART = 100  # answers of a picture that tell something by themselves, by which the loss of pixels is weighed
_PICTURES, _PIXELS = 64, 4000  # that a temperature is chosen from, and pixels of each part of one


@dataclass(frozen=True)
class Sure:
    """How sure the answers for the pixels of pictures were: see ``levels``. ``possible`` is the mean number of possible classes of each picture's
    pixels, ``why`` says why nothing is promised."""

    counts: numpy.ndarray  # pictures x groups x levels
    possible: numpy.ndarray
    why: str = ""


class Sampled:
    """Probabilities and truth of some pixels of each picture."""

    def __init__(self) -> None:
        self.odds: list[numpy.ndarray] = []
        self.truth: list[numpy.ndarray] = []

    def __call__(self, number: int, scores: torch.Tensor, answered: numpy.ndarray, truth: numpy.ndarray) -> None:
        some = numpy.linspace(0, len(truth) - 1, min(len(truth), _PIXELS)).astype(numpy.int64)
        self.odds.append(_odds(scores[torch.from_numpy(some).to(scores.device)], temperature.NONE))
        self.truth.append(truth[some].astype(numpy.int64))


class Counts:
    """The counts of the pixels of each picture, by ``target``; and their losses without its temperature."""

    def __init__(self, target: PixelClasses | PixelNumbers, pictures: int):
        self.target, self.classes = target, len(target.labels)
        groups = self.classes or len(levels.RANGES) + 1
        self.counts = numpy.zeros((min(pictures, levels.most_pictures(groups)), groups, levels.LEVELS + 1), numpy.uint32)
        self.losses, self._possible, self._pixels = numpy.zeros(pictures), numpy.zeros(pictures), numpy.zeros(pictures)

    def __call__(self, number: int, scores: torch.Tensor, answered: numpy.ndarray, truth: numpy.ndarray) -> None:
        if isinstance(self.target, PixelNumbers):
            if number < len(self.counts):
                self.counts[number] += levels.of_numbers(answered, truth, self.target.mean, self.target.std)
            return
        right = torch.from_numpy(truth.astype(numpy.int64)).to(scores.device)
        self.losses[number] += float(F.cross_entropy(scores, right, reduction="sum"))
        if number >= len(self.counts):
            return
        odds = _odds(scores, self.target.temperature)
        self.counts[number] += levels.of_classes(odds, answered, truth, self.classes)
        if self.target.of_pixels is not None:
            self._possible[number] += self.target.possible(odds, answered).sum()
            self._pixels[number] += len(truth)

    def sure(self, why: str) -> Sure:
        known = self._pixels > 0
        return Sure(self.counts, self._possible[known] / self._pixels[known], why)


def chosen(model: Any, held_out: Windows, device: torch.device) -> Chosen:
    """The temperature that the pixels of some held-out pictures choose. Pictures count as rows, because the pixels of one are alike."""
    sampled, pictures = Sampled(), 0
    for number in numpy.linspace(0, held_out.pictures - 1, min(held_out.pictures, _PICTURES)).astype(numpy.int64):
        before = len(sampled.truth)
        inference.answer(model, held_out, int(number), device, looking=sampled)
        pictures += len(sampled.truth) > before
    if pictures < FEWEST:
        return temperature.chosen(temperature.HeldOut(pictures, pictures, lambda _: 0.0), "pictures", FEWEST)
    odds, truth = numpy.concatenate(sampled.odds), numpy.concatenate(sampled.truth)
    return temperature.chosen(
        replace(temperature.losses_of_classes(odds, truth, len(truth)), rows=pictures, answers=_APART * pictures), "pictures", FEWEST
    )


def promising(target: PixelClasses | PixelNumbers, counts: numpy.ndarray, coverage: float) -> tuple[PixelClasses | PixelNumbers, str]:
    """``target`` with the promise that the ``counts`` of held-out pictures allow, and why there is none."""
    if isinstance(target, PixelNumbers):
        std = target.std
        made, why = levels.made(counts, coverage, lambda found: levels.errors(found, std))
    else:
        made, why = levels.made(counts, coverage, levels.probabilities)
    return replace(target, of_pixels=made), why


def _odds(scores: torch.Tensor, at: float) -> numpy.ndarray:
    return (scores / at).softmax(-1).cpu().numpy()
