"""A direction: an angle in degrees, clockwise from north. A model answers with a vector that points there."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy

from trainer.measure import intervals
from trainer.measure.histogram import histogram
from trainer.measure.metric import LOSS, Metric, asked_for, table
from trainer.measure.predictions import diverged
from trainer.targets import target

TURN = "turn"
POINTS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")  # of the compass
_LEAST = 1e-9  # length of a vector, so that it can be divided by


@dataclass(frozen=True)
class Directions:
    """Answers beside what would be right: the true directions in degrees, and the predicted vectors (n x 2)."""

    truth: numpy.ndarray
    vectors: numpy.ndarray
    confidence: None = None  # a vector does not say how sure it is

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def predicted(self) -> numpy.ndarray:
        """In degrees."""
        return degrees(self.vectors)

    @property
    def turns(self) -> numpy.ndarray:
        """By how many degrees each answer is turned away from the truth, from 0 to 180."""
        return numpy.abs((self.predicted - self.truth + 180) % 360 - 180)


@dataclass(frozen=True)
class Direction:
    """A direction. Nothing of it is learnt from the data."""

    key: ClassVar[str] = "direction"
    metrics: ClassVar = table(Metric(TURN, "mean turn", higher_is_better=False, unit="°"), LOSS)
    labels: ClassVar[tuple[str, ...]] = ()
    outputs: ClassVar[int] = 2
    width: ClassVar[int] = 2
    head: ClassVar[int] = 2
    exact: ClassVar[bool] = False
    evaluation_rows: ClassVar[int] = 128
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = False

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The directions in degrees; NaN for a text that is none."""
        return numpy.asarray([numpy.nan if (n := target.number(t)) is None else n for t in targets], numpy.float64)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return ~numpy.isnan(encoded)

    def text(self, value) -> str:
        return f"{value:.0f}"

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return degrees(outputs)

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Directions:
        if not numpy.isfinite(outputs).all():
            raise diverged()
        return Directions(truth, outputs)

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        return {"values": histogram(degrees(outputs), unit="°")}

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        found = degrees(outputs)
        return [
            {"name": "direction", "datatype": "FP64", "shape": [len(found)], "data": [round(float(d), 1) for d in found]},
            {"name": "point", "datatype": "BYTES", "shape": [len(found)], "data": [POINTS[place] for place in points(found)]},
        ]

    def tensor_forms(self) -> list[target.Tensor]:
        return [("direction", "FP64", [-1]), ("point", "BYTES", [-1])]

    def described(self) -> dict:
        return {self.key: "degrees"}

    @classmethod
    def restored(cls, description: dict) -> Self:
        if description[cls.key] != "degrees":
            raise ValueError("its unit is unknown")
        return cls()

    def summary(self, answers: Directions) -> target.Scores:
        return {name: float(values.mean()) for name, values in self._of_rows(answers).items()} if len(answers) else {}

    def report(self, answers: Directions, seed: int) -> target.Report:
        found = {}
        for name, value in self.summary(answers).items():
            low, high = intervals.percentiles(intervals.resampled_means(self._of_rows(answers)[name][:, None], seed), value)
            found[name] = {"value": value, "low": low, "high": high, "n": len(answers)}
        return found

    def choose_metric(self, asked: str, data) -> tuple[str, str]:
        if asked == "auto":
            return TURN, "The mean turn between the answer and the truth chooses the best model: it is in degrees."
        return asked_for(asked, self.metrics, "directions")

    def losses(self, answers: Directions) -> numpy.ndarray:
        return 1 - numpy.cos(numpy.radians(answers.turns))

    def right(self, answers: Directions) -> None:
        return None

    def comparison_loss(self, answers: Directions, weights, correction) -> float:
        return float(self.losses(answers).mean())

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[Directions, str]:
        return Directions(test, numpy.tile(vectors(train).mean(axis=0), (len(test), 1))), "mean direction"

    def decided(self, answers: dict[str, Directions]) -> tuple[Self, dict[str, Directions]]:
        return self, answers

    def weight(self, targets: numpy.ndarray, weights) -> float:
        return float(len(targets))

    def loss(self, logits, targets, weights, smoothing: float):
        import torch

        right = torch.from_numpy(vectors(targets).astype(numpy.float32)).to(logits.device)
        return (1 - torch.nn.functional.cosine_similarity(logits.float(), right)).sum()

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        return logits.float().cpu().numpy()

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def of_logits(self, logits: numpy.ndarray) -> numpy.ndarray:
        return logits

    def comparable(self, logits: numpy.ndarray) -> numpy.ndarray:
        return logits / numpy.maximum(numpy.linalg.norm(logits, axis=1, keepdims=True), _LEAST)

    def configuration(self) -> dict:
        return {}

    def rescaling(self) -> None:
        return None

    def _of_rows(self, answers: Directions) -> dict[str, numpy.ndarray]:
        return {TURN: answers.turns, "loss": self.losses(answers)}


def degrees(found: numpy.ndarray) -> numpy.ndarray:
    """Where the vectors ``found`` (n x 2, north and east) point to, from 0 to 360."""
    return numpy.degrees(numpy.arctan2(found[:, 1], found[:, 0])).astype(numpy.float64) % 360


def vectors(angles: numpy.ndarray) -> numpy.ndarray:
    """The vectors of length 1 that point to ``angles``, in degrees."""
    turned = numpy.radians(angles)
    return numpy.stack([numpy.cos(turned), numpy.sin(turned)], axis=1)


def points(angles: numpy.ndarray) -> numpy.ndarray:
    """The place in ``POINTS`` of the nearest point of the compass."""
    width = 360 / len(POINTS)
    return ((angles + width / 2) // width).astype(int) % len(POINTS)
