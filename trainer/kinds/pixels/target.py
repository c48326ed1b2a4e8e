"""A class or a number for each pixel. Answers are counts for each picture, from which the metrics follow."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy

from trainer.core.example import Dataset
from trainer.kinds.pixels import measures
from trainer.kinds.pixels.codings import MOST
from trainer.kinds.pixels.drawn import BACKGROUND, DRAWN, SEPARATOR
from trainer.measure import intervals
from trainer.measure.metric import LOSS, Metric, Metrics, asked_for, table
from trainer.measure.predictions import diverged, softmax
from trainer.targets import promise as promises, spans, target, temperature as temperatures
from trainer.targets.promise import Kept, Promise, Unit

_ROUNDED = 1e-6  # of a share
OF_PIXELS = "pixel_promise"  # in the description of a target
MIOU, ACCURACY, BORDERS = "mean_iou", "pixel_accuracy", "boundary_f1"


@dataclass(frozen=True)
class Counted:
    """``figures`` are those of each picture (see ``measures``). ``shown`` are windows for the report, and ``sure`` is how sure the answers for
    pixels were (see ``sure.looking``); None where there are none."""

    figures: numpy.ndarray
    shown: Any = None
    sure: Any = None

    def __len__(self) -> int:
        return len(self.figures)


class OfPixels(target.WithoutSingleAnswers):
    """What classes and numbers of pixels have in common."""

    metrics: ClassVar[Metrics]
    exact: ClassVar[bool] = True
    evaluation_rows: ClassVar[int] = 8
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = False
    first: ClassVar[str]

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Counted:
        if not numpy.isfinite(outputs).all():
            raise diverged()
        return Counted(outputs)

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        return {}

    def right(self, answers: Counted) -> None:
        return None

    def constant(self, train: numpy.ndarray, test: numpy.ndarray):
        raise NotImplementedError("the kind has baselines of its own")

    def choose_metric(self, asked: str, data: Dataset) -> tuple[str, str]:
        if asked == "auto":
            return self.first, f"The {self.metrics[self.first].title} on the validation data chooses the best model."
        return asked_for(asked, self.metrics, "answers for pixels")

    def summary(self, answers: Counted) -> target.Scores:
        if not len(answers):
            return {}
        found = self._scores(answers.figures.sum(axis=0)[None])
        return {name: float(values[0]) for name, values in found.items() if numpy.isfinite(values[0])}

    def report(self, answers: Counted, seed: int) -> target.Report:
        """Intervals are over resampled pictures: pixels of one picture are alike."""
        found = {}
        drawn = self._scores(intervals.resampled_means(answers.figures, seed) * len(answers)) if len(answers) else {}
        for name, value in self.summary(answers).items():
            low, high = intervals.percentiles(drawn[name][numpy.isfinite(drawn[name])], value)
            found[name] = {"value": value, "low": low, "high": high, "n": len(answers)}
        return found

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def configuration(self) -> dict:
        return {}

    def weight(self, targets: numpy.ndarray, weights: numpy.ndarray | None) -> float:
        return float(len(targets))

    def _scores(self, sums: numpy.ndarray) -> dict[str, numpy.ndarray]:
        """The metrics of each of several sums of figures (sums x figures)."""
        raise NotImplementedError


@dataclass(frozen=True)
class PixelClasses(OfPixels):
    """The label map: the position of a label is the class of a pixel. The limits of the promise are those of the share of each class, those of
    ``of_pixels`` the probabilities from which each class of a pixel is possible, at the ``temperature`` of the network.
    ``colours`` are those of the classes in masks to learn from that are in colours."""

    labels: tuple[str, ...]
    promise: Promise | None = None
    temperature: float = temperatures.NONE
    of_pixels: Promise | None = None
    colours: tuple[tuple[int, int, int], ...] = ()

    key: ClassVar[str] = "pixel_classes"
    promise_of: ClassVar[Unit] = Unit("areas of classes in pictures", "pictures")
    first: ClassVar[str] = MIOU
    metrics: ClassVar[Metrics] = table(
        Metric(MIOU, "mean IoU", judges=True, perfect=1.0), Metric(ACCURACY, "pixel accuracy"), Metric(BORDERS, "boundary F1"), LOSS
    )

    @property
    def outputs(self) -> int:
        return measures.width(len(self.labels))

    width = outputs

    @property
    def head(self) -> int:
        return len(self.labels)

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """1 for a picture with a mask, or with outlines of a class of this model, else 0: what they are is among the encoded rows."""
        return numpy.asarray([bool(t) and self._is_told(t) for t in targets], numpy.int64)

    def _is_told(self, text: str) -> bool:
        drawn = text.removeprefix(DRAWN).split(SEPARATOR)
        return not text.startswith(DRAWN) or any(label == BACKGROUND or label in self.labels for label in drawn)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return encoded > 0

    def text(self, value) -> str:
        return self.labels[int(value)]

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """The class that most pixels of a picture have."""
        return outputs[:, -len(self.labels) :].argmax(axis=1)

    def described(self) -> dict:
        promised = {"promise": self.promise, OF_PIXELS: self.of_pixels}
        described = {self.key: list(self.labels), **temperatures.described(self.temperature)}
        described |= {"colours": [list(c) for c in self.colours]} if self.colours else {}
        return {**described, **{name: made.described() for name, made in promised.items() if made is not None}}

    @classmethod
    def restored(cls, description: dict) -> Self:
        labels = tuple(description[cls.key])
        colours = tuple(tuple(c) for c in description.get("colours", ()))
        promise = promises.restored(description.get("promise"), (len(labels),), most=1.0 + _ROUNDED)
        of_pixels = promises.restored(description.get(OF_PIXELS), (len(labels),), most=1.0)
        return cls(labels, promise, temperatures.restored(description), of_pixels, colours)

    def promising(self, answers: Counted, coverage: float) -> tuple[Self, str]:
        true, said = self._shares(answers.figures)
        made, text = spans.made(numpy.abs(true - said), coverage, "the true share of a class")
        return replace(self, promise=made), text

    def kept(self, answers: Counted) -> Kept:
        true, said = self._shares(answers.figures)
        ends = self.bounds(said)
        return spans.kept(ends, true, f"{promises.percent(round(float((ends[1] - ends[0]).mean()), 3))} of a picture, the mean width of an interval")

    def columns(self, outputs: numpy.ndarray) -> dict[str, list[str]]:
        return {}  # an answer has a line for each class: see ``bounds``

    def bounds(self, shares: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The ends of the intervals around the shares of a picture that are answered with each class (pictures x classes)."""
        half = numpy.asarray(self.promise.limits if self.promise is not None else 0.0)
        return numpy.maximum(0.0, shares - half), numpy.minimum(1.0, shares + half)

    def _shares(self, figures: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The true and the predicted share of each class among the known pixels of the pictures that have any (pictures x classes)."""
        confusion = self.confusion(figures)
        pixels = confusion.sum(axis=(1, 2))
        known = pixels > 0
        return tuple(confusion[known].sum(axis=axis) / pixels[known, None] for axis in (2, 1))

    def confusion(self, figures: numpy.ndarray) -> numpy.ndarray:
        """Pixels by their true and their predicted class, over all pictures or of each (… x classes x classes)."""
        count = len(self.labels)
        return figures[..., : count * count].reshape(*figures.shape[:-1], count, count)

    def possible(self, odds: numpy.ndarray, answered: numpy.ndarray) -> numpy.ndarray:
        """Which classes of pixels are possible by the promise (… x classes), by their probabilities and the class that is ``answered``."""
        limits = self.of_pixels.limits if self.of_pixels is not None else (0.0,)
        found = odds >= numpy.asarray(limits, numpy.float32)
        numpy.put_along_axis(found, answered[..., None].astype(numpy.int64), True, axis=-1)
        return found

    def areas(self, figures: numpy.ndarray) -> numpy.ndarray:
        """Pixels that were answered with each class, also where the truth is not known (… x classes)."""
        return figures[..., -len(self.labels) :]

    def losses(self, answers: Counted) -> numpy.ndarray:
        pixels = numpy.maximum(1, self.confusion(answers.figures).sum(axis=(1, 2)))
        return answers.figures[:, len(self.labels) ** 2] / pixels

    def comparison_loss(self, answers: Counted, weights, correction) -> float:
        return self.summary(answers)["loss"]

    def _scores(self, sums: numpy.ndarray) -> dict[str, numpy.ndarray]:
        confusion = self.confusion(sums)
        pixels = confusion.sum(axis=(1, 2))
        loss, said_hit, said, true_hit, true = sums[:, len(self.labels) ** 2 :][:, : measures.FIGURES].T
        with numpy.errstate(invalid="ignore", divide="ignore"):
            right = numpy.diagonal(confusion, axis1=1, axis2=2)
            precision, recall = said_hit / said, true_hit / true
            both = numpy.nan_to_num(2 * precision * recall / (precision + recall))
            of_borders = numpy.where((said > 0) & (true > 0), both, numpy.where(said + true > 0, 0.0, numpy.nan))
            overlaps = ious(confusion)
            mean = numpy.nansum(overlaps, axis=1) / numpy.isfinite(overlaps).sum(axis=1)  # NaN where no class is known
            return {MIOU: mean, ACCURACY: right.sum(axis=1) / pixels, BORDERS: of_borders, LOSS.name: loss / pixels}

    def loss(self, logits, targets, weights: numpy.ndarray | None, smoothing: float):
        """torch: of each window, the mean loss of its known pixels and one minus the overlap (Dice) of the classes that are in the batch."""
        import torch
        import torch.nn.functional as F

        known = targets < MOST
        right = torch.where(known, targets, 0).long()
        logits = logits.float()
        of_classes = None if weights is None else torch.from_numpy(weights).to(logits.device)
        flat = F.cross_entropy(logits.flatten(0, 2), right.flatten(), of_classes, reduction="none", label_smoothing=smoothing)
        pixels = known.flatten().float()
        entropy = (flat * pixels).sum() / pixels.sum().clamp_min(1)
        odds = logits.softmax(-1) * known[..., None]
        there = F.one_hot(right, len(self.labels)) * known[..., None]
        shared, both = (odds * there).sum((0, 1, 2)), (odds + there).sum((0, 1, 2))
        held = there.sum((0, 1, 2)) > 0
        apart = (1 - 2 * shared / both.clamp_min(1))[held]
        return len(targets) * (entropy + (apart.mean() if held.any() else 0.0))

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        return logits.float().argmax(-1).to("cpu").numpy().astype(numpy.uint8)

    def comparable(self, logits: numpy.ndarray) -> numpy.ndarray:
        return softmax(logits)

    def rescaling(self) -> None:
        return None


def ious(confusion: numpy.ndarray) -> numpy.ndarray:
    """The overlap of true and predicted pixels by all that are either (… x classes); NaN for a class that is neither."""
    right = numpy.diagonal(confusion, axis1=-2, axis2=-1)
    either = confusion.sum(axis=-1) + confusion.sum(axis=-2) - right
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return numpy.where(either > 0, right / either, numpy.nan)
