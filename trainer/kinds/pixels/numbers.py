"""A number for each pixel. Answers are sums for each picture, from which the metrics follow."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy

from trainer.kinds.pixels import measures
from trainer.kinds.pixels.sure.levels import RANGES, ranges
from trainer.kinds.pixels.target import OF_PIXELS, Counted, OfPixels
from trainer.measure.metric import LOSS, TARGET_UNIT, Metric, Metrics, table
from trainer.targets import promise as promises, spans, target
from trainer.targets.promise import Kept, Promise, Unit

_HUGE = 1e150  # of a limit


@dataclass(frozen=True)
class PixelNumbers(OfPixels):
    """The model works in units of the standard deviation of the training pixels around their mean; saved models answer in the unit of the data. The
    limit of the promise is that of the mean of a picture, those of ``of_pixels`` are half the width of the interval of a pixel, for each range of
    answers (see ``sure.levels``)."""

    mean: float
    std: float
    promise: Promise | None = None
    of_pixels: Promise | None = None

    key: ClassVar[str] = "pixel_mean"
    promise_of: ClassVar[Unit] = Unit("means of pictures", "pictures")
    first: ClassVar[str] = "rmse"
    labels: ClassVar[tuple[str, ...]] = ()
    metrics: ClassVar[Metrics] = table(
        Metric("rmse", "RMSE", higher_is_better=False, unit=TARGET_UNIT),
        Metric("mae", "MAE", higher_is_better=False, unit=TARGET_UNIT),
        Metric("r2", "R²"),
        LOSS,
    )
    outputs: ClassVar[int] = measures.NUMBERS
    width: ClassVar[int] = measures.NUMBERS
    head: ClassVar[int] = 1

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The mean number of each picture, NaN for one without a mask. A name of a mask, of a picture to be answered, stands for 0."""
        return numpy.asarray([numpy.nan if not t else target.number(t) or 0.0 for t in targets], numpy.float64)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return ~numpy.isnan(encoded)

    def text(self, value) -> str:
        return f"{value:.6g}"

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """The mean answer of each picture."""
        return outputs[:, 5] / numpy.maximum(1, outputs[:, 6])

    def described(self) -> dict:
        promised = {"promise": self.promise, OF_PIXELS: self.of_pixels}
        described = {name: made.described() for name, made in promised.items() if made is not None}
        return {self.key: self.mean, "pixel_std": self.std, **described}

    @classmethod
    def restored(cls, description: dict) -> Self:
        promise, of_pixels = (promises.restored(description.get(name), (n,), _HUGE) for name, n in (("promise", 1), (OF_PIXELS, len(RANGES) + 1)))
        return cls(description[cls.key], description["pixel_std"], promise, of_pixels)

    def around(self, answered: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The ends (float32) of the intervals around the numbers that are ``answered`` for pixels."""
        limits = self.of_pixels.limits if self.of_pixels is not None else (0.0,) * (len(RANGES) + 1)
        half = numpy.asarray(limits, numpy.float32)[ranges(answered, self.mean, self.std)]
        return answered - half, answered + half

    def promising(self, answers: Counted, coverage: float) -> tuple[Self, str]:
        true, said = self._means(answers.figures)
        made, text = spans.made(numpy.abs(true - said), coverage, "the true mean of the pixels")
        return replace(self, promise=made), text

    def kept(self, answers: Counted) -> Kept:
        true, said = self._means(answers.figures)
        ends = self.bounds(said)
        return spans.kept(ends, true, f"{self.text((ends[1] - ends[0]).mean())}, the width of each interval")

    def columns(self, outputs: numpy.ndarray) -> dict[str, list[str]]:
        if self.promise is None:
            return {}
        return {name: [self.text(v) for v in end[:, 0]] for name, end in zip(("low", "high"), self.bounds(self.predicted(outputs)[:, None]))}

    def bounds(self, means: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The ends of the intervals around the predicted means of pictures (pictures x 1)."""
        half = numpy.asarray(self.promise.limits if self.promise is not None else 0.0)
        return means - half, means + half

    def _means(self, figures: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The true and the predicted mean of the pictures with known pixels (pictures x 1)."""
        known = figures[figures[:, 0] > 0]
        return (known[:, 3] / known[:, 0])[:, None], self.predicted(known)[:, None]

    def losses(self, answers: Counted) -> numpy.ndarray:
        return answers.figures[:, 1] / numpy.maximum(1, answers.figures[:, 0]) / self.std**2

    def comparison_loss(self, answers: Counted, weights, correction) -> float:
        return self.summary(answers)["loss"]

    def _scores(self, sums: numpy.ndarray) -> dict[str, numpy.ndarray]:
        number, squares, apart, total, total_squares = sums.T[:5]
        with numpy.errstate(invalid="ignore", divide="ignore"):
            spread = total_squares - total**2 / number
            return {
                "rmse": numpy.sqrt(squares / number), "mae": apart / number, "r2": 1 - squares / numpy.where(spread > 0, spread, numpy.nan),
                LOSS.name: squares / number / self.std**2,
            }  # fmt: skip

    def loss(self, logits, targets, weights, smoothing: float):
        """torch: of each window, the mean squared error of its known pixels."""
        import torch

        known = torch.isfinite(targets)
        right = (torch.where(known, targets, self.mean) - self.mean) / self.std
        apart = (logits.float().squeeze(-1) - right) ** 2 * known
        return len(targets) * apart.sum() / known.sum().clamp_min(1)

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        values = logits.float().squeeze(-1).cpu().numpy()
        return values if folded else values * self.std + self.mean

    def comparable(self, logits: numpy.ndarray) -> numpy.ndarray:
        return logits / self.std

    def rescaling(self) -> tuple[float, float]:
        return self.std, self.mean
