"""The objects in a picture: what a network answers for each place of the picture, and what is made and measured of it."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy

from trainer.kinds.objects import decoding, outlines, scores, sure, texts, truth as truths
from trainer.kinds.objects.answers import Answers, count_errors, counts, f1, hits
from trainer.kinds.objects.scores import Boxes, Matched
from trainer.kinds.objects.truth import Truth
from trainer.measure import intervals
from trainer.measure.histogram import histogram
from trainer.measure.metric import LOSS, Metric, asked_for, table
from trainer.measure.predictions import diverged
from trainer.targets import promise as promises, target
from trainer.targets.promise import Kept, Promise, Unit

AP50, AP, AR, COUNTS = "ap50", "ap", "recall", "count_error"
CHOOSING = (AP, AP50, AR, COUNTS)
_RESAMPLES, _FEWER = 200, 50  # the fewer for so many pictures that their interval is narrow
_MANY = 500  # pictures
_DEFAULT = 0.3  # score from which an object counts, until validation pictures have decided it
_SCORES = numpy.arange(0.05, 0.95, 0.025)  # that are tried for it
_ROWS = 4
_SMALL = 100.0  # a hundredth of a pixel, or of a logit, changes no answer


@dataclass(frozen=True)
class Objects:
    """The objects of ``labels``; at most ``most`` are found in a picture. With ``outlined`` each has an outline beside its box. The limits of the
    promise are those of counts (see ``sure``)."""

    labels: tuple[str, ...]
    most: int
    threshold: float = _DEFAULT
    outlined: bool = False
    promise: Promise | None = None

    key: ClassVar[str] = "objects"
    promise_of: ClassVar[Unit] = sure.PICTURES
    metrics: ClassVar = table(
        Metric(AP, "AP50:95", perfect=1.0), Metric(AP50, "AP50", judges=True), Metric(AR, "recall50:95"),
        Metric(COUNTS, "count error", higher_is_better=False, unit="objects of a picture"), LOSS,
    )  # fmt: skip
    exact: ClassVar[bool] = False
    evaluation_rows: ClassVar[int] = _ROWS
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = False
    head: ClassVar[int] = 0  # the network answers for each place

    @property
    def outputs(self) -> int:
        return self.most * decoding.numbers(self.outlined)

    width = outputs

    def encode(self, targets: list[str]) -> numpy.ndarray:
        return truths.array([truths.read(t, self.labels) for t in targets])

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return numpy.asarray([t.known for t in encoded], bool)

    def text(self, value) -> str:
        """The numbers of objects by label: ``value`` counts them."""
        return truths.words(dict(zip(self.labels, (int(v) for v in value), strict=True)))

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """How many objects of each label are found (pictures x labels)."""
        return numpy.asarray([self.counted(self.boxes(row)) for row in outputs]).reshape(len(outputs), len(self.labels))

    def counted(self, boxes: Boxes) -> numpy.ndarray:
        """How many objects of each label count in a picture."""
        return numpy.bincount(boxes.sure(self.threshold).classes, minlength=len(self.labels))

    def boxes(self, row: numpy.ndarray) -> Boxes:
        """What was found in a picture, whatever its score."""
        return decoding.unpacked(row, self.outlined)

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Answers:
        if not numpy.isfinite(outputs).all():
            raise diverged()
        return Answers(list(truth), [self.boxes(row) for row in outputs], len(self.labels), self.most, self.threshold, self.outlined)

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        counted = self.predicted(outputs)
        return {
            "counts": dict(zip(self.labels, counted.sum(axis=0).tolist(), strict=True)),
            "values": histogram(counted.sum(axis=1).astype(numpy.float64), unit="objects of a picture"),
        }

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        found = [self.boxes(row).sure(self.threshold) for row in outputs]
        counted = self.predicted(outputs)
        answered = {"objects": [self.text(row) for row in counted], "boxes": [texts.boxes(b, self.labels) for b in found]}
        if self.outlined:
            answered["outlines"] = [texts.outlines(b, self.labels) for b in found]
        listed = [{"name": name, "datatype": "BYTES", "shape": [len(outputs)], "data": data} for name, data in answered.items()]
        return listed if self.promise is None else [*listed, *sure.tensors(self.promise, counted)]

    def tensor_forms(self) -> list[target.Tensor]:
        forms = [("objects", "BYTES", [-1]), ("boxes", "BYTES", [-1]), *([("outlines", "BYTES", [-1])] if self.outlined else [])]
        return forms if self.promise is None else [*forms, *sure.FORMS]

    def described(self) -> dict:
        described = {self.key: list(self.labels), "most": self.most, "threshold": self.threshold, "outlined": self.outlined}
        return {**described, **({"promise": self.promise.described()} if self.promise is not None else {})}

    @classmethod
    def restored(cls, description: dict) -> Self:
        most, threshold = int(description["most"]), float(description["threshold"])
        if not 1 <= most <= decoding.MOST or not 0 <= threshold <= 1:
            raise ValueError(f"it finds {most} objects with a score from {threshold}")
        labels = tuple(str(label) for label in description[cls.key])
        made = promises.restored(description.get("promise"), (len(labels) + (len(labels) > 1),), decoding.MOST)
        return cls(labels, most, threshold, bool(description["outlined"]), made)

    def promising(self, answers: Answers, coverage: float) -> tuple[Self, str]:
        made, said = sure.made(*counts(answers), coverage)
        return replace(self, promise=made), said

    def kept(self, answers: Answers) -> Kept:
        return sure.kept(self.promise, *counts(answers)) if self.promise is not None else Kept(numpy.zeros(0, bool))

    def columns(self, outputs: numpy.ndarray) -> dict[str, list[str]]:
        """The interval of the number of all objects of each picture."""
        return {} if self.promise is None else sure.columns(self.promise, self.predicted(outputs))

    # Measuring.
    def summary(self, answers: Answers) -> target.Scores:
        if not len(answers):
            return {}
        tables = self.matched(answers).tables()
        of_pictures = {COUNTS: float(count_errors(answers).mean()), "loss": float(self.losses(answers).mean())}
        values = {AP: tables.ap, AP50: tables.ap50, AR: tables.ar, **of_pictures}
        return {name: value for name, value in values.items() if not math.isnan(value)}

    def matched(self, answers: Answers) -> Matched:
        return Matched(answers.truths, answers.predicted, answers.classes, answers.most, self.outlined)

    def by_size(self, answers: Answers) -> dict[str, scores.Tables]:
        """The scores of the small, medium and large objects as COCO defines them."""
        ranges = list(scores.SIZES.values())
        matched = Matched(answers.truths, answers.predicted, answers.classes, answers.most, self.outlined, ranges)
        return dict(zip(scores.SIZES, matched.by_area(), strict=True))

    def report(self, answers: Answers, seed: int) -> target.Report:
        """Intervals are those of resampled pictures."""
        summary = self.summary(answers)
        if not summary:
            return {}
        random, matched = numpy.random.default_rng(seed), self.matched(answers)
        per_picture = {COUNTS: count_errors(answers), "loss": self.losses(answers)}
        drawn: dict[str, list[float]] = {name: [] for name in summary}
        for _ in range(_RESAMPLES if len(answers) <= _MANY else _FEWER):
            rows = random.integers(0, len(answers), len(answers))
            tables = matched.tables(rows)
            values = {AP: tables.ap, AP50: tables.ap50, AR: tables.ar, **{n: float(v[rows].mean()) for n, v in per_picture.items()}}
            for name, held in drawn.items():
                held += [values[name]] if not math.isnan(values[name]) else []
        report = {}
        for name, value in summary.items():
            low, high = intervals.percentiles(numpy.asarray(drawn[name] or [value]), value)
            report[name] = {"value": value, "low": low, "high": high, "n": len(answers)}
        return report

    def choose_metric(self, asked: str, data) -> tuple[str, str]:
        if asked == "auto":
            return AP, "AP50:95 chooses the best model: it counts found objects, false ones and how well their boxes fit."
        return asked_for(asked, self.metrics, "objects in pictures")

    def losses(self, answers: Answers) -> numpy.ndarray:
        """Of each picture one minus the F1 score of its objects, at the score from which they count."""
        return numpy.asarray([1 - f1(*hits(answers, i)) for i in range(len(answers))])

    def right(self, answers: Answers) -> None:
        return None

    def comparison_loss(self, answers: Answers, weights, correction) -> float:
        return float(self.losses(answers).mean())

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[Answers, str]:
        """The box of the mean size of the most frequent label, in the middle of each picture."""
        sizes = [(b / (t.width, t.height, t.width, t.height), c) for t in train for b, c in zip(t.boxes[t.counted], t.classes[t.counted])]
        label = numpy.bincount([c for _, c in sizes]).argmax() if sizes else 0
        chosen = numpy.asarray([b for b, c in sizes if c == label] or [[0.4, 0.4, 0.6, 0.6]])
        width, height = (chosen[:, 2:] - chosen[:, :2]).mean(axis=0)
        share = numpy.asarray([[(1 - width) / 2, (1 - height) / 2, (1 + width) / 2, (1 + height) / 2]])
        boxes = [Boxes(numpy.asarray([label]), numpy.ones(1), share * (t.width, t.height, t.width, t.height)) for t in test]
        return self.of_boxes(list(test), boxes), "one box of the mean size in the middle"

    def of_boxes(self, truth: list[Truth], boxes: list[Boxes]) -> Answers:
        """The answers of a model that finds boxes only: ellipses in them, where outlines are asked for."""
        if self.outlined:
            boxes = [replace(b, outlines=tuple(outlines.ellipse(box) for box in b.boxes)) for b in boxes]
        return Answers(truth, boxes, len(self.labels), self.most, 0.0, self.outlined)

    def decided(self, answers: dict[str, Answers]) -> tuple[Self, dict[str, Answers]]:
        """The score from which objects count is the one with the best F1 on the validation pictures."""
        held = answers["validation"]
        if not len(held):
            return self, answers
        sums = numpy.asarray([sum(numpy.asarray(hits(at, i)) for i in range(len(at))) for at in map(held.at, _SCORES)])
        values = numpy.asarray([f1(*row) for row in sums])
        best = numpy.flatnonzero(values >= values.max())
        threshold = round(float(_SCORES[best[len(best) // 2]]), 3)
        return replace(self, threshold=threshold), {n: a.at(threshold) for n, a in answers.items()}

    def finding_rare(self, answers: dict[str, Answers], judged_by: str) -> tuple[Self, dict[str, Answers], str]:
        return self, answers, ""

    # Learning.
    def weight(self, targets: numpy.ndarray, weights) -> float:
        return float(len(targets))

    def loss(self, logits, targets, weights, smoothing: float):
        """torch: of the maps of a network with those that are right, or the losses of pictures by a model that has a loss of its own."""
        if logits.ndim == 1:
            return logits.float().sum()
        from trainer.kinds.objects import losses

        return losses.of_maps(logits, len(self.labels), weights, self.outlined)

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        if logits.ndim == 3:
            return decoding.packed_boxes(logits.float().cpu().numpy(), len(self.labels), self.most, self.outlined)
        from trainer.kinds.objects import losses

        return decoding.packed(losses.answers(logits, len(self.labels)), len(self.labels), self.most, self.outlined)

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def of_logits(self, logits: numpy.ndarray) -> numpy.ndarray:
        if logits.ndim == 3:
            return decoding.packed_boxes(logits, len(self.labels), self.most, self.outlined)
        return decoding.packed(decoding.with_probabilities(logits, len(self.labels)), len(self.labels), self.most, self.outlined)

    def comparable(self, logits: numpy.ndarray) -> numpy.ndarray:
        return logits / _SMALL

    def configuration(self) -> dict:
        return {}

    def rescaling(self) -> None:
        return None
