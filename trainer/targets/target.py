"""The target of a model: what it answers, how that is encoded, learnt, measured and described.

Everything that depends on the sort of answer is a method here, so no other module asks which sort it has. Methods with torch in their
description run in workers; all others must not import it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy

from trainer.core import cells

if TYPE_CHECKING:
    import torch

    from trainer.config.settings import Settings
    from trainer.core.example import Dataset
    from trainer.measure.metric import Metrics

Scores = dict[str, float]  # the value of each metric, by its name
Report = dict[str, dict]  # one split of metrics.json: the value, the interval and the number of rows of each metric, by its name


Tensor = tuple[str, str, list[int]]  # name, data type and shape of a tensor of the Open Inference Protocol; -1 is any number of rows


class Answers(Protocol):
    """The answers of a model beside what would be right, for a number of examples. Only the target that made them looks inside."""

    def __len__(self) -> int: ...


class Places(Protocol):
    """Where the answers of rows are that have several each, such as a tag for each word."""

    @property
    def count(self) -> int:
        """The answers of all rows."""

    def of(self, rows: numpy.ndarray) -> numpy.ndarray:
        """The numbers of the answers of ``rows``, row after row."""

    def chosen(self, rows: numpy.ndarray, outputs: numpy.ndarray) -> numpy.ndarray:
        """Of ``outputs`` (rows x places x width) those that are answers."""


class Target(Protocol):
    """One sort of answer, learnt from the training targets. What it calls answers are ``Answers`` of its own form; places are ``Places`` or None."""

    key: ClassVar[str]  # of ``described`` that no other target has
    metrics: ClassVar[Metrics]

    # The answers as text and as numbers.
    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, labels or tags; empty where there are none."""

    @property
    def outputs(self) -> int:
        """Numbers of an answer, in the form that a model of this target gives it."""

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The targets of examples as numbers; a value that ``known`` is False for where nobody knows."""

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        """Whether each of the ``encoded`` targets can be compared with an answer (bool)."""

    def text(self, value) -> str:
        """One predicted value as a person reads it."""

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """The value that ``outputs`` stand for, one for each example: see ``text``."""

    def confidence(self, outputs: numpy.ndarray) -> numpy.ndarray | None:
        """How likely each predicted value is; None where the outputs do not say so."""

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Any:
        """The ``outputs`` beside the encoded ``truth``. Raises UserError for numbers that are not finite."""

    def overview(self, outputs: numpy.ndarray, settings: Settings) -> dict:
        """What was predicted for all examples together: ``counts``, ``values`` and ``unsure`` of a prediction in result.json."""

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        """The ``outputs`` as tensors of the Open Inference Protocol, for single answers."""

    def tensor_forms(self) -> list[Tensor]:
        """The names, data types and shapes of ``tensors``."""

    def described(self) -> dict:
        """This target as JSON, for the description beside the weights."""

    @classmethod
    def restored(cls, description: dict) -> Target:
        """The target that ``described`` wrote. Raises KeyError, TypeError or ValueError for another description."""

    # Measuring.
    def summary(self, answers: Any) -> Scores:
        """Every metric that can be computed, for an evaluation during the training. Empty without rows."""

    def report(self, answers: Any, seed: int) -> Report:
        """Every metric with its 95 % interval; ``seed`` draws the resampled rows."""

    def choose_metric(self, asked: str, data: Dataset) -> tuple[str, str]:
        """The metric that chooses the best model, and the reason as a sentence. ``asked`` is auto or a name. Raises UserError if it does not fit."""

    def losses(self, answers: Any) -> numpy.ndarray:
        """The loss of every example, by which two models are compared row by row."""

    def right(self, answers: Any) -> int | None:
        """How many examples are answered right; None where an answer is not simply right or wrong."""

    def comparison_loss(self, answers: Any, weights: numpy.ndarray | None, correction: numpy.ndarray | None) -> float:
        """The loss by which candidates are compared. ``weights`` are those of the classes; ``correction`` are weights that this model alone
        learnt with, which are taken back."""

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[Any, str]:
        """The answers of a model that does not look at the rows, from the encoded targets; and its name in a sentence."""

    def decided(self, answers: dict[str, Any]) -> tuple[Target, dict[str, Any]]:
        """This target with what the answers of a trained network to the validation rows decide, such as thresholds, and the answers to all splits
        by it."""

    def finding_rare(self, answers: dict[str, Any], judged_by: str) -> tuple[Target, dict[str, Any], str]:
        """This target with a rule for classes that an estimator never answers, as its answers to the validation rows show, where the metric
        ``judged_by`` counts them; the answers to all splits by it; and the reason as a sentence, empty where nothing changed."""

    # Learning, in workers.
    @property
    def width(self) -> int:
        """Numbers of each example's outputs in an evaluation; 0 where it is one number."""

    @property
    def exact(self) -> bool:
        """Whether outputs are kept in float64."""

    @property
    def evaluation_rows(self) -> int:
        """Of an evaluation in memory at once."""

    @property
    def weighs_classes(self) -> bool:
        """Whether rare classes may have a higher weight without being asked for."""

    @property
    def smooths(self) -> bool:
        """Whether a search tries to smooth its labels."""

    @property
    def adds_pieces(self) -> bool:
        """Whether the outputs of an example are the sums over its pieces, and not their mean."""

    @property
    def head(self) -> int:
        """Numbers that the last layer of a network gives for each answer; 0 where the target does not decide it."""

    def weight(self, targets: numpy.ndarray, weights: numpy.ndarray | None) -> float:
        """The total weight of rows with these targets. ``weights`` are those of the classes."""

    def loss(self, logits: torch.Tensor, targets: numpy.ndarray | torch.Tensor, weights: numpy.ndarray | None, smoothing: float) -> torch.Tensor:
        """torch: the sum over the rows of their weighted losses. ``targets`` is a tensor where the inputs hold what is learnt."""

    def read(self, logits: torch.Tensor, learnt: torch.Tensor | None, folded: bool) -> numpy.ndarray:
        """torch: the outputs behind ``logits``. ``learnt`` are targets that the inputs hold. A saved model (``folded``) answers in the unit
        of the data."""

    def places(self, targets: numpy.ndarray) -> Any:
        """Where the answers of rows with these targets are; None where each row is one answer."""

    def of_logits(self, logits: numpy.ndarray) -> numpy.ndarray:
        """The outputs behind the ``logits`` of a saved network, as ``read`` gives them, without torch."""

    def comparable(self, logits: numpy.ndarray) -> numpy.ndarray:
        """The outputs behind ``logits`` in a unit in which differences of 0.0001 are small."""

    def configuration(self) -> dict:
        """The entries of a configuration of transformers that define the head of a model."""

    def rescaling(self) -> tuple[float, float] | None:
        """The factor and the summand that the last layer of a model gets when it is saved; None for none."""


class WithoutSingleAnswers:
    """The part of a target whose models answer for datasets only."""

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        raise NotImplementedError(f"{type(self).__name__} are not answered row by row")

    def tensor_forms(self) -> list[Tensor]:
        raise NotImplementedError(f"{type(self).__name__} are not answered row by row")

    def of_logits(self, logits: numpy.ndarray) -> numpy.ndarray:
        raise NotImplementedError(f"{type(self).__name__} have no model.onnx")

    comparable = of_logits

    def decided(self, answers: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        return self, answers

    def finding_rare(self, answers: dict[str, Any], judged_by: str) -> tuple[Self, dict[str, Any], str]:
        return self, answers, ""


def fits(target: Target, outputs: numpy.ndarray) -> bool:
    """Whether the outputs of a model have the form of ``target`` and are finite."""
    width = (target.outputs,) if target.labels else ()
    return outputs.shape[1:] == width and bool(numpy.isfinite(outputs).all())


def number(text: str) -> float | None:
    """``text`` as a number; None if it is not a finite number."""
    value = cells.number(text)
    return None if math.isnan(value) else value


def labels_and_probabilities(predicted: list[str], odds: numpy.ndarray) -> list[dict]:
    """The tensors of predicted labels and of the probability of every label (rows x labels)."""
    odds = numpy.asarray(odds, numpy.float64)
    return [
        {"name": "label", "datatype": "BYTES", "shape": [len(predicted)], "data": predicted},
        {"name": "probability", "datatype": "FP32", "shape": list(odds.shape), "data": [round(float(p), 7) for p in odds.ravel()]},
    ]
