"""A number."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy

from trainer.measure import label_errors, metric, metrics
from trainer.measure.dummy import dummy
from trainer.measure.histogram import histogram
from trainer.measure.metric import Metrics
from trainer.measure.predictions import Predictions
from trainer.targets import compared, magnitudes, promise as promises, target
from trainer.targets.doubt import Doubt, Doubts
from trainer.targets.promise import Kept, Promise

_ROWS = 128  # of an evaluation in memory at once
_WIDER = 1 + 1e-9  # of a limit: a difference of the same numbers may be rounded in another way
_HUGE = 1e150  # of a limit: as for predictions


@dataclass(frozen=True)
class Number:
    """The model works in units of the training targets' standard deviation around their mean. Outputs are in the unit of the data.
    The limit of the promise is half the width of an interval, in the same unit, or a factor of the answer: three limits, as in ``magnitudes``."""

    mean: float
    std: float
    promise: Promise | None = None

    key: ClassVar[str] = "mean"
    metrics: ClassVar[Metrics] = metric.REGRESSION
    doubts_title: ClassVar[str] = "Unusual numbers"
    labels: ClassVar[tuple[str, ...]] = ()
    outputs: ClassVar[int] = 1
    width: ClassVar[int] = 0
    head: ClassVar[int] = 1
    promise_of: ClassVar[promises.Unit] = promises.ROWS
    compared_as: ClassVar[str] = compared.NUMBER
    exact: ClassVar[bool] = True
    evaluation_rows: ClassVar[int] = _ROWS
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = False

    @classmethod
    def learnt(cls, train: list[str]) -> Self:
        """The target with mean and standard deviation of the training targets."""
        return cls.of(cls(0.0, 1.0).encode(train))

    @classmethod
    def of(cls, values: numpy.ndarray) -> Self:
        """The target with mean and standard deviation of the encoded training targets."""
        return cls(float(values.mean()), float(values.std()) or 1.0)

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The numbers in their own unit; NaN for a text that is not a number."""
        return numpy.asarray([numpy.nan if (n := target.number(t)) is None else n for t in targets], dtype=numpy.float64)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return ~numpy.isnan(encoded)

    def text(self, value) -> str:
        return f"{value:.6g}"

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return outputs

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def uncertainty(self, outputs: numpy.ndarray) -> None:
        """A number does not say how sure it is, and all intervals have one width."""
        return None

    def label_form(self) -> dict:
        return {"number": True}

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Predictions:
        return Predictions(truth, outputs)

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        return {"values": histogram(outputs)}

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        def tensor(name: str, values: numpy.ndarray, **more) -> dict:
            return {"name": name, "datatype": "FP64", "shape": [len(outputs)], **more, "data": [float(v) for v in values]}

        of = {} if self.promise is None else {"parameters": {"coverage": self.promise.coverage}}
        return [tensor("value", outputs), *(tensor(name, values, **of) for name, values in self._bounds(outputs).items())]

    def tensor_forms(self) -> list[target.Tensor]:
        return [(name, "FP64", [-1]) for name in ("value", *self._bounds(numpy.zeros(0)))]

    def described(self) -> dict:
        return {"mean": self.mean, "std": self.std, **({"promise": self.promise.described()} if self.promise is not None else {})}

    @classmethod
    def restored(cls, description: dict) -> Self:
        return cls(description["mean"], description["std"], _promised(description.get("promise")))

    def promising(self, answers: Predictions, coverage: float) -> tuple[Self, str]:
        known = numpy.isfinite(answers.truth)
        truth, predicted = answers.truth[known], answers.predicted[known]
        plain = replace(self, promise=None)
        if why := promises.too_few(len(truth), coverage):
            return plain, why
        if truth.min() == truth.max():
            return plain, "All held-out rows have the same number, so they do not say how far answers are from others."
        half = promises.limit(numpy.abs(truth - predicted), coverage) * _WIDER
        if not half < _HUGE:
            return plain, "The held-out numbers are too large for an interval."
        limits, more = _limits(truth, predicted, coverage, half)
        found = replace(self, promise=Promise(coverage, len(truth), limits))
        return found, f"The interval of an answer holds the right number for {promises.percent(coverage)} of rows like the held-out ones.{more}"

    def kept(self, answers: Predictions) -> Kept:
        bounds = self._bounds(answers.predicted)
        limits = self.promise.limits if self.promise is not None else (0.0,)
        size = f"{self.text(2 * limits[0])}, the width of each interval" if len(limits) == 1 else f"from {magnitudes.words(limits)}"
        return Kept((bounds["low"] <= answers.truth) & (answers.truth <= bounds["high"]), size)

    def columns(self, outputs: numpy.ndarray) -> dict[str, list[str]]:
        return {name: [self.text(v) for v in values] for name, values in self._bounds(outputs).items()}

    def _bounds(self, outputs: numpy.ndarray) -> dict[str, numpy.ndarray]:
        """The ends of the intervals; none where nothing is promised."""
        return dict(zip(("low", "high"), magnitudes.bounds(outputs, self.promise.limits), strict=True)) if self.promise is not None else {}

    def doubts(self, answers: Predictions) -> Doubts:
        known = numpy.flatnonzero(numpy.isfinite(answers.truth))
        if len(known) < label_errors.FEWEST:
            return Doubts(why=f"Numbers are checked from {label_errors.FEWEST} rows on that the model had not seen, and there are {len(known)}.")
        held = answers.chosen(known)
        if held.truth.min() == held.truth.max():
            return Doubts(why="All rows that the model had not seen have the same number, so their numbers cannot be checked.")
        found = label_errors.numbers(held)
        return Doubts([self._doubt(int(known[r]), held.truth[r], held.predicted[r], found.usual, times) for r, times in zip(found.rows, found.times)])

    def _doubt(self, row: int, truth: float, predicted: float, usual: float, times: float) -> Doubt:
        away = f"The difference is {self.text(abs(truth - predicted))}; for nine rows in ten it is at most {self.text(usual)}."
        return Doubt(row, self.text(predicted), f"A model that had not seen this row answers {self.text(predicted)}. {away}", float(times))

    def raised(self, answer: numpy.ndarray, others: numpy.ndarray) -> tuple[str, numpy.ndarray]:
        return "the number", answer - others

    def summary(self, answers: Predictions) -> target.Scores:
        return metrics.summary(answers, 0, self.std)

    def report(self, answers: Predictions, seed: int) -> target.Report:
        return metrics.report(answers, 0, seed, self.std)

    def choose_metric(self, asked: str, data) -> tuple[str, str]:
        return metrics.pick_metric(asked, None)

    def losses(self, answers: Predictions) -> numpy.ndarray:
        return ((answers.truth - answers.predicted) / self.std) ** 2

    def right(self, answers: Predictions) -> None:
        return None

    def comparison_loss(self, answers: Predictions, weights, correction) -> float:
        return float(((answers.predicted - answers.truth) ** 2).mean())

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[Predictions, str]:
        return dummy(train, test, 0), "mean"

    def decided(self, answers: dict[str, Predictions]) -> tuple[Self, dict[str, Predictions]]:
        return self, answers

    def finding_rare(self, answers: dict[str, Predictions], judged_by: str) -> tuple[Self, dict[str, Predictions], str]:
        return self, answers, ""

    def weight(self, targets: numpy.ndarray, weights) -> float:
        return float(len(targets))

    def loss(self, logits, targets, weights, smoothing: float):
        import torch
        import torch.nn.functional as F

        scaled = torch.from_numpy(((targets - self.mean) / self.std).astype(numpy.float32)).to(logits.device)
        return F.mse_loss(logits.float().squeeze(-1), scaled, reduction="sum")

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        values = logits.float().squeeze(-1).double().cpu().numpy()
        return values if folded else values * self.std + self.mean

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def of_logits(self, logits: numpy.ndarray) -> numpy.ndarray:
        return logits[:, 0].astype(numpy.float64)

    def comparable(self, logits: numpy.ndarray) -> numpy.ndarray:
        return logits / self.std

    def configuration(self) -> dict:
        return {"num_labels": 1, "problem_type": "regression"}

    def rescaling(self) -> tuple[float, float]:
        return self.std, self.mean


def _limits(truth: numpy.ndarray, predicted: numpy.ndarray, coverage: float, half: float) -> tuple[tuple[float, ...], str]:
    """The limits of the intervals: ``half`` a width, or a factor where numbers are over orders of magnitude and their errors grow with them. The
    sentence says so; empty for a width."""
    added = magnitudes.shift(truth) if len(truth) >= magnitudes.FEWEST else None
    if added is None:
        return (half,), ""
    errors, least = magnitudes.errors(truth, predicted, added)
    limits = (promises.limit(errors, coverage) * _WIDER, least, added)
    if not limits[0] < magnitudes.LARGEST or not magnitudes.narrower(predicted, limits, half):
        return (half,), ""
    return limits, f" It reaches from {magnitudes.words(limits)}, because errors grow with the number."


def _promised(description) -> Promise | None:
    """The promise of a saved target. Raises KeyError, TypeError or ValueError for another description."""
    found = promises.restored(description, (1, 3), _HUGE)
    if found is not None and len(found.limits) == 3 and (found.limits[0] >= magnitudes.LARGEST or not found.limits[1] > 0):
        raise ValueError("its limits are no factor of an answer")
    return found
