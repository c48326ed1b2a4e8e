"""Several labels for each example."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy

from trainer.kinds.rows import label_sets as forms
from trainer.measure import label_sets as measure, label_thresholds
from trainer.measure.histogram import histogram
from trainer.measure.label_sets import LabelSets
from trainer.measure.metric import Metrics
from trainer.targets import promise as promises, target, temperature as temperatures
from trainer.targets.promise import Kept, Promise
from trainer.targets.temperature import HeldOut

_ROWS = 128  # of an evaluation in memory at once
_LEAST = 1e-12  # of a probability
_FAR = 80.0  # a logit beyond which a probability does not change


@dataclass(frozen=True)
class Labels:
    """``separator`` stands between the labels in the data. A model's outputs are the probability of each label, and then of each whether it is
    predicted. A network predicts a label from the probability on that ``thresholds`` has for it; without them from a half on. The limits of the
    promise are probabilities from which a label is possible; predicted ones always are. ``temperature`` is that of a network."""

    labels: tuple[str, ...]
    separator: str = ";"
    thresholds: tuple[float, ...] = ()
    promise: Promise | None = None
    temperature: float = temperatures.NONE

    key: ClassVar[str] = "label_sets"
    metrics: ClassVar[Metrics] = measure.DESCRIBED
    promise_of: ClassVar[promises.Unit] = promises.Unit("labels that rows have")
    exact: ClassVar[bool] = False
    evaluation_rows: ClassVar[int] = _ROWS
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = False

    @property
    def outputs(self) -> int:
        return 2 * len(self.labels)

    width = outputs

    @property
    def head(self) -> int:
        return len(self.labels)

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

    def uncertainty(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """The sum over the labels of how little a model knows of each (its entropy in bits), as a share of the largest sum."""
        likely = numpy.clip(outputs[:, : len(self.labels)].astype(numpy.float64), _LEAST, 1 - _LEAST)
        unsure = likely * numpy.log2(likely) + (1 - likely) * numpy.log2(1 - likely)
        return numpy.asarray(-unsure.mean(axis=1))

    def label_form(self) -> dict:
        return {"separator": self.separator, "none": forms.NONE}

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> LabelSets:
        return LabelSets(truth > 0, self.predicted(outputs), outputs[:, : len(self.labels)].astype(numpy.float64))

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        predicted = self.predicted(outputs)
        counts = dict(zip(self.labels, predicted.sum(axis=0).tolist(), strict=True))
        return {"counts": counts, "values": histogram(predicted.sum(axis=1), unit="labels of a row")}

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        found = target.labels_and_probabilities([self.text(row) for row in self.predicted(outputs)], outputs[:, : len(self.labels)])
        return found if self.promise is None else [*found, promises.possible_tensor(self.promise, self.possible(outputs))]

    def tensor_forms(self) -> list[target.Tensor]:
        possible: list[target.Tensor] = [("possible", "BOOL", [-1, len(self.labels)])] if self.promise is not None else []
        return [("label", "BYTES", [-1]), ("probability", "FP32", [-1, len(self.labels)]), *possible]

    def described(self) -> dict:
        described: dict = {
            self.key: list(self.labels),
            "separator": self.separator,
            **({"thresholds": list(self.thresholds)} if self.thresholds else {}),
        }
        described |= temperatures.described(self.temperature)
        return {**described, **({"promise": self.promise.described()} if self.promise is not None else {})}

    @classmethod
    def restored(cls, description: dict) -> Self:
        labels, thresholds = tuple(description[cls.key]), tuple(float(t) for t in description.get("thresholds", ()))
        if thresholds and len(thresholds) != len(labels):
            raise ValueError(f"there are {len(labels)} labels and {len(thresholds)} thresholds")
        promise = promises.restored(description.get("promise"), (1, len(labels)), most=1.0)
        return cls(labels, str(description["separator"]), thresholds, promise, temperatures.restored(description))

    def held_out(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> HeldOut:
        return temperatures.losses_of_labels(outputs[:, : len(self.labels)], truth)

    def with_temperature(self, temperature: float) -> Self:
        return replace(self, temperature=temperature)

    def tempered(self, outputs: numpy.ndarray) -> numpy.ndarray:
        found = temperatures.of_labels(outputs[:, : len(self.labels)], self.temperature)
        return numpy.concatenate([found, self._likely(found)], axis=1).astype(outputs.dtype)

    def promising(self, answers: LabelSets, coverage: float) -> tuple[Self, str]:
        rows, truth = numpy.nonzero(answers.truth)
        labelled, plain, share = answers.truth.any(axis=1), replace(self, promise=None), promises.percent(coverage)
        if why := promises.too_few(int(labelled.sum()), coverage):
            return plain, why
        if (answers.truth[labelled] == answers.truth[labelled][0]).all():
            return plain, "All held-out rows have the same labels, so nothing can be promised of the others."
        limits = promises.least_likely(answers.probabilities[answers.truth], truth, rows, len(self.labels), coverage)
        if not limits:
            most = promises.most_of_a_row(rows)
            needed = f"{promises.fewest(coverage, most)} labels of held-out rows or more, where a row has up to {most}"
            return plain, f"A promise of {share} needs {needed}, and there are {len(rows)}."
        found = replace(self, promise=Promise(coverage, int(labelled.sum()), limits))
        return found, f"The possible labels of answers hold {share} of the labels that rows like the held-out ones have."

    def kept(self, answers: LabelSets) -> Kept:
        possible = self._possible(answers.probabilities, answers.predicted)
        whole = promises.percent(round((possible | ~answers.truth).all(axis=1).mean(), 3))
        size = f"{possible.sum(axis=1).mean():.2f} of {len(self.labels)} labels; they hold all right ones for {whole} of rows"
        return Kept(possible[answers.truth], size, numpy.nonzero(answers.truth)[0])

    def columns(self, outputs: numpy.ndarray) -> dict[str, list[str]]:
        if self.promise is None:
            return {}
        return {"possible": [promises.listed(self.labels, self.possible(row[None])[0], row) for row in outputs]}

    def possible(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """Which labels are possible by the promise (rows x labels)."""
        return self._possible(outputs[:, : len(self.labels)], self.predicted(outputs))

    def _possible(self, probabilities: numpy.ndarray, predicted: numpy.ndarray) -> numpy.ndarray:
        limits = numpy.asarray(self.promise.limits if self.promise is not None else (0.0,))
        return numpy.asarray((probabilities >= limits) | predicted)

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

    def decided(self, answers: dict[str, LabelSets]) -> tuple[Self, dict[str, LabelSets]]:
        if not len(answers["validation"]):
            return self, answers
        thresholds = label_thresholds.best(answers["validation"].probabilities, answers["validation"].truth)
        decided = replace(self, thresholds=tuple(thresholds.tolist()))
        return decided, {name: replace(a, predicted=decided._likely(a.probabilities)) for name, a in answers.items()}

    def finding_rare(self, answers: dict[str, LabelSets], judged_by: str) -> tuple[Self, dict[str, LabelSets], str]:
        return self, answers, ""

    def weight(self, targets: numpy.ndarray, weights) -> float:
        return float(len(targets))

    def loss(self, logits, targets, weights, smoothing: float):
        import torch
        import torch.nn.functional as F

        right = torch.from_numpy((targets > 0).astype(numpy.float32)).to(logits.device)
        return F.binary_cross_entropy_with_logits(logits.float(), right, reduction="sum") / len(self.labels)

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        return self.of_logits(logits.float().cpu().numpy())

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def of_logits(self, logits: numpy.ndarray) -> numpy.ndarray:
        found = self.comparable(logits)
        return numpy.concatenate([found, self._likely(found)], axis=1).astype(numpy.float32)

    def comparable(self, logits: numpy.ndarray) -> numpy.ndarray:
        return 1 / (1 + numpy.exp(-numpy.clip(logits, -_FAR, _FAR)))

    def configuration(self) -> dict:
        return {
            "id2label": dict(enumerate(self.labels)),
            "label2id": {label: i for i, label in enumerate(self.labels)},
            "problem_type": "multi_label_classification",
        }

    def rescaling(self) -> None:
        return None

    def _likely(self, probabilities: numpy.ndarray) -> numpy.ndarray:
        """Which labels are predicted (bool)."""
        return numpy.asarray(probabilities >= numpy.asarray(self.thresholds or label_thresholds.USUAL, numpy.float32))
