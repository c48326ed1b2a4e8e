"""Several labels for each row."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy

from trainer.kinds.rows import label_sets as forms
from trainer.kinds.text.label_sets import measure
from trainer.kinds.text.label_sets.measure import LabelSets
from trainer.measure.histogram import histogram
from trainer.measure.metric import Metrics
from trainer.targets import target


@dataclass(frozen=True)
class Labels(target.WithoutNetwork):
    """``separator`` stands between the labels in the data. A model's outputs are the probability of each label, and then of each whether it is
    predicted. No network learns this target."""

    labels: tuple[str, ...]
    separator: str = ";"

    key: ClassVar[str] = "label_sets"
    metrics: ClassVar[Metrics] = measure.DESCRIBED
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False

    @property
    def outputs(self) -> int:
        return 2 * len(self.labels)

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """1 for each label that a row has, else 0 (rows x labels); -1 throughout where nobody knows."""
        places = {label: i for i, label in enumerate(self.labels)}
        encoded = numpy.zeros((len(targets), len(self.labels)), numpy.int64)
        for row, text in zip(encoded, targets, strict=True):
            row[:] = 0 if text.strip() else -1
            row[[places[p] for p in forms.parts(text, self.separator) if p in places]] = 1
        return encoded

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return numpy.asarray((encoded >= 0).all(axis=1))

    def text(self, value) -> str:
        """The labels that are predicted: ``value`` has 1 for each."""
        return forms.joined([self.labels[i] for i in numpy.flatnonzero(value)], self.separator)

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return outputs[:, len(self.labels) :] > 0.5

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> LabelSets:
        return LabelSets(truth > 0, self.predicted(outputs), outputs[:, : len(self.labels)].astype(numpy.float64))

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        predicted = self.predicted(outputs)
        counts = dict(zip(self.labels, predicted.sum(axis=0).tolist(), strict=True))
        return {"counts": counts, "values": histogram(predicted.sum(axis=1), unit="labels of a row")}

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        return target.labels_and_probabilities([self.text(row) for row in self.predicted(outputs)], outputs[:, : len(self.labels)])

    def tensor_forms(self) -> list[target.Tensor]:
        return [("label", "BYTES", [-1]), ("probability", "FP32", [-1, len(self.labels)])]

    def described(self) -> dict:
        return {self.key: list(self.labels), "separator": self.separator}

    @classmethod
    def restored(cls, description: dict) -> Self:
        return cls(tuple(description[cls.key]), str(description["separator"]))

    def summary(self, answers: LabelSets) -> target.Scores:
        return measure.summary(answers)

    def report(self, answers: LabelSets, seed: int) -> target.Report:
        return measure.report(answers, seed)

    def choose_metric(self, asked: str, data) -> tuple[str, str]:
        return measure.pick_metric(asked)

    def losses(self, answers: LabelSets) -> numpy.ndarray:
        return answers.losses()

    def right(self, answers: LabelSets) -> None:
        return None

    def comparison_loss(self, answers: LabelSets, weights, correction) -> float:
        return float(answers.losses().mean())

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[LabelSets, str]:
        return measure.dummy(train, test), "most frequent label"
