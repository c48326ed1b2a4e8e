"""One of several classes."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy

from trainer.measure import label_errors, metric, metrics, rare_classes
from trainer.measure.dummy import dummy
from trainer.measure.histogram import histogram
from trainer.measure.metric import Metrics
from trainer.measure.predictions import MAX_CLASSES, Predictions, softmax
from trainer.targets import compared, promise as promises, target, temperature as temperatures
from trainer.targets.doubt import Doubt, Doubts
from trainer.targets.promise import Kept, Promise
from trainer.targets.temperature import HeldOut

_ROWS = 128  # of an evaluation in memory at once
_LEAST = 1e-12  # a likelihood of zero would be an infinite loss
_TEMPERATURES = numpy.geomspace(0.25, 4, 49)
_OF_ALL_CLASSES = ("f1_macro", "mcc")  # metrics for which rare classes count like others
_CALIBRATION_ROWS = 30  # rows from which candidates are compared after calibration
_ODDS = 1e-30  # the smallest probability whose odds are told apart


@dataclass(frozen=True)
class Classes:
    """The label map: the position of a label is the model's output for it. Outputs are the probabilities of all classes. ``factors`` multiply
    them before the highest is answered; without them the most likely class is. The limits of the promise are probabilities from which a
    class is possible. ``temperature`` is that of a network."""

    labels: tuple[str, ...]
    factors: tuple[float, ...] = ()
    promise: Promise | None = None
    temperature: float = temperatures.NONE

    key: ClassVar[str] = "labels"
    metrics: ClassVar[Metrics] = metric.CLASSIFICATION
    doubts_title: ClassVar[str] = "Labels that may be wrong"
    promise_of: ClassVar[promises.Unit] = promises.ROWS
    compared_as: ClassVar[str] = compared.CLASS
    exact: ClassVar[bool] = False
    evaluation_rows: ClassVar[int] = _ROWS
    weighs_classes: ClassVar[bool] = True
    smooths: ClassVar[bool] = True
    adds_pieces: ClassVar[bool] = False

    @property
    def outputs(self) -> int:
        return len(self.labels)

    width = head = outputs

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """Class numbers; -1 for a label that is not in the map."""
        places = {label: i for i, label in enumerate(self.labels)}
        return numpy.asarray([places.get(t, -1) for t in targets], dtype=numpy.int64)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return encoded >= 0

    def text(self, value) -> str:
        return self.labels[int(value)]

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return (outputs * numpy.asarray(self.factors) if self.factors else outputs).argmax(axis=1)

    def confidence(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return outputs[numpy.arange(len(outputs)), self.predicted(outputs)]

    def uncertainty(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """By how little the answered class is ahead of the next one, with the factors by which classes are answered."""
        weighed = (outputs * numpy.asarray(self.factors) if self.factors else outputs).astype(numpy.float64)
        if weighed.shape[1] < 2:
            return numpy.zeros(len(weighed))
        shares = numpy.sort(weighed / numpy.maximum(weighed.sum(axis=1, keepdims=True), _LEAST), axis=1)
        return 1 - (shares[:, -1] - shares[:, -2])

    def label_form(self) -> dict:
        return {}

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Predictions:
        every = numpy.arange(len(outputs))
        predicted = self.predicted(outputs)
        kept = outputs if self.outputs <= MAX_CLASSES else None
        return Predictions(truth, predicted, outputs[every, predicted], outputs[every, truth], kept)

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        counts = numpy.bincount(self.predicted(outputs), minlength=len(self.labels)).tolist()
        sure = self.confidence(outputs)
        return {
            "counts": dict(zip(self.labels, counts, strict=True)),
            "values": histogram(sure, unit="confidence"),
            "min_confidence": settings.min_confidence,
            "unsure": int((sure < settings.min_confidence).sum()),
        }

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        found = target.labels_and_probabilities([self.text(place) for place in self.predicted(outputs)], outputs)
        return found if self.promise is None else [*found, promises.possible_tensor(self.promise, self.possible(outputs))]

    def tensor_forms(self) -> list[target.Tensor]:
        possible: list[target.Tensor] = [("possible", "BOOL", [-1, len(self.labels)])] if self.promise is not None else []
        return [("label", "BYTES", [-1]), ("probability", "FP32", [-1, len(self.labels)]), *possible]

    def described(self) -> dict:
        described = {self.key: list(self.labels), **({"factors": list(self.factors)} if self.factors else {})}
        described |= temperatures.described(self.temperature)
        return {**described, **({"promise": self.promise.described()} if self.promise is not None else {})}

    @classmethod
    def restored(cls, description: dict) -> Self:
        labels, factors = tuple(description[cls.key]), tuple(float(f) for f in description.get("factors", ()))
        if factors and (len(factors) != len(labels) or not all(0 < f < numpy.inf for f in factors)):
            raise ValueError(f"there are {len(labels)} labels and {len(factors)} factors, which must be positive numbers")
        promise = promises.restored(description.get("promise"), (1, len(labels)), most=1.0)
        return cls(labels, factors, promise, temperatures.restored(description))

    def held_out(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> HeldOut:
        return temperatures.losses_of_classes(outputs, truth, len(truth))

    def with_temperature(self, temperature: float) -> Self:
        return replace(self, temperature=temperature)

    def tempered(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return temperatures.of_classes(outputs, self.temperature)

    def promising(self, answers: Predictions, coverage: float) -> tuple[Self, str]:
        known = answers.truth >= 0
        truth, likelihood = answers.truth[known], numpy.asarray(answers.likelihood, numpy.float64)[known]
        plain = replace(self, promise=None)
        if why := promises.too_few(len(truth), coverage):
            return plain, why
        if len(numpy.unique(truth)) < 2:
            return plain, "All held-out rows are of one class, so nothing can be promised of the others."
        limits = promises.least_likely(likelihood, truth, numpy.arange(len(truth)), len(self.labels), coverage)
        found = replace(self, promise=Promise(coverage, len(truth), limits))
        return found, f"The possible classes of an answer hold the right one for {promises.percent(coverage)} of rows like the held-out ones."

    def kept(self, answers: Predictions) -> Kept:
        limits = numpy.resize(self._limits, len(self.labels))
        inside = ((answers.likelihood >= limits[answers.truth]) | (answers.predicted == answers.truth))[answers.truth >= 0]
        if answers.probabilities is None:
            return Kept(inside)
        sizes = self.possible(answers.probabilities).sum(axis=1)
        return Kept(inside, f"{sizes.mean():.2f} of {len(self.labels)} classes; {promises.percent(round((sizes == 1).mean(), 3))} of rows have one")

    def possible(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """Which classes are possible by the promise (rows x classes); the answered one always is."""
        found = outputs >= self._limits
        found[numpy.arange(len(outputs)), self.predicted(outputs)] = True
        return found

    @property
    def _limits(self) -> numpy.ndarray:
        return numpy.asarray(self.promise.limits if self.promise is not None else (0.0,))

    def columns(self, outputs: numpy.ndarray) -> dict[str, list[str]]:
        if self.promise is None:
            return {}
        return {"possible": promises.all_listed(self.labels, self.possible, outputs)}

    def doubts(self, answers: Predictions) -> Doubts:
        known = numpy.flatnonzero(answers.truth >= 0)
        if len(known) < label_errors.FEWEST:
            return Doubts(why=f"Labels are checked from {label_errors.FEWEST} rows on that the model had not seen, and there are {len(known)}.")
        if len(numpy.unique(answers.truth[known])) < 2:
            return Doubts(why="All rows that the model had not seen have the same label, so their labels cannot be checked.")
        found = label_errors.classes(answers.chosen(known), len(self.labels))
        every = zip(known[found.rows], found.likely, found.probability, found.of_label, found.score, strict=True)
        doubts = [self._doubt(int(row), self.labels[j], p, q, found.usual[j], score) for row, j, p, q, score in every]
        warning = "The labels of {rows} are probably wrong: models that had not seen them are sure of another class." if found.evident else ""
        return Doubts(doubts, warning=warning)

    def _doubt(self, row: int, likely: str, probability: float, of_label: float, usual: float, score: float) -> Doubt:
        of = [promises.percent(round(share, 3)) for share in (probability, of_label, usual)]
        said = f"A model that had not seen this row gives {of[0]} to {likely} and {of[1]} to the label"
        reason = f"{said}; rows labelled {likely} get {of[2]} for it on average."
        return Doubt(row, likely, reason, float(score), float(probability), float(of_label))

    def raised(self, answer: numpy.ndarray, others: numpy.ndarray) -> tuple[str, numpy.ndarray]:
        place = int(self.predicted(answer[None])[0])
        both = numpy.concatenate([answer[None], others]).astype(numpy.float64)
        against = numpy.delete(both, place, axis=1).sum(axis=1)  # exact where the class is nearly certain
        odds = numpy.log(numpy.maximum(both[:, place], _ODDS)) - numpy.log(numpy.maximum(against, _ODDS))
        return self.labels[place], odds[0] - odds[1:]

    def summary(self, answers: Predictions) -> target.Scores:
        return metrics.summary(answers, self.outputs)

    def report(self, answers: Predictions, seed: int) -> target.Report:
        return metrics.report(answers, self.outputs, seed)

    def choose_metric(self, asked: str, data) -> tuple[str, str]:
        return metrics.pick_metric(asked, data.counts())

    def losses(self, answers: Predictions) -> numpy.ndarray:
        return -numpy.log(numpy.maximum(answers.likelihood.astype(numpy.float64), _LEAST))

    def right(self, answers: Predictions) -> int:
        return int((answers.predicted == answers.truth).sum())

    def comparison_loss(self, answers: Predictions, weights: numpy.ndarray | None, correction: numpy.ndarray | None) -> float:
        """The loss at the temperature that makes it smallest: how sure a model is can be corrected, its order of classes cannot.

        A network that learnt with class weights of its own gives rare classes higher probabilities. ``correction`` takes that back, so that
        all candidates are compared on the same rows as they are.
        """
        of_rows = None if weights is None else weights[answers.truth]
        if answers.probabilities is None:
            return float(numpy.average(-numpy.log(numpy.clip(answers.likelihood, _LEAST, 1)), weights=of_rows))
        scores = numpy.log(numpy.clip(answers.probabilities.astype(numpy.float64), _LEAST, 1))
        if correction is not None:
            scores -= numpy.log(correction) / self.temperature
        right = scores[numpy.arange(len(answers)), answers.truth]
        tried = _TEMPERATURES if len(answers) >= _CALIBRATION_ROWS else (1.0,)
        return min(float(numpy.average(numpy.logaddexp.reduce(scores / t, axis=1) - right / t, weights=of_rows)) for t in tried)

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[Predictions, str]:
        return dummy(train, test, self.outputs), "most frequent class"

    def decided(self, answers: dict[str, Predictions]) -> tuple[Self, dict[str, Predictions]]:
        return self, answers

    def finding_rare(self, answers: dict[str, Predictions], judged_by: str) -> tuple[Self, dict[str, Predictions], str]:
        held_out = answers["validation"]
        if judged_by not in _OF_ALL_CLASSES or held_out.probabilities is None:
            return self, answers, ""
        chosen = rare_classes.choose(held_out.probabilities, held_out.truth)
        if chosen is None:
            return self, answers, ""
        found = replace(self, factors=chosen.factors)
        label, factor = self.labels[chosen.of], chosen.factors[chosen.of]
        rule = f"from a probability of {1 / (1 + factor):.2g} on" if len(self.labels) == 2 else f"with its probability times {factor:.3g}"
        why = (
            f"{label} is answered {rule}. As the most likely class it was found in {chosen.before} of its {chosen.rows} held-out rows, now in "
            f"{chosen.now}, and {chosen.wrong} other rows are taken for it. Probabilities stay as they are; metric: accuracy keeps the usual rule."
        )
        return found, {name: found.answers(a.probabilities, a.truth) for name, a in answers.items()}, why

    def answering_from(self, threshold: float) -> tuple[Self, str] | None:
        if len(self.labels) != 2:
            return None
        share = min(max(threshold, _LEAST), 1 - _LEAST)
        second, first = self.labels[1], self.labels[0]
        return replace(self, factors=(1.0, (1 - share) / share)), f"{second} is answered from a probability of {threshold:g} on, else {first}."

    def weight(self, targets: numpy.ndarray, weights: numpy.ndarray | None) -> float:
        return float(len(targets)) if weights is None else float(weights[targets].sum())

    def loss(self, logits, targets, weights: numpy.ndarray | None, smoothing: float):
        import torch
        import torch.nn.functional as F

        of_classes = None if weights is None else torch.from_numpy(weights).to(logits.device)
        right = torch.from_numpy(targets).to(logits.device)
        return F.cross_entropy(logits.float(), right, of_classes, reduction="sum", label_smoothing=smoothing)

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        return logits.float().softmax(-1).cpu().numpy()

    def places(self, targets: numpy.ndarray) -> target.Places | None:
        return None

    def of_logits(self, logits: numpy.ndarray) -> numpy.ndarray:
        return softmax(logits)

    comparable = of_logits

    def configuration(self) -> dict:
        return {
            "id2label": dict(enumerate(self.labels)),
            "label2id": {label: i for i, label in enumerate(self.labels)},
            "problem_type": "single_label_classification",
        }

    def rescaling(self) -> None:
        return None
