"""Which rows were answered by a model that had not seen them: what the checks of labels are made from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy

from trainer.core.example import Dataset, Example
from trainer.estimators import folds
from trainer.estimators.folds import OutOfFold
from trainer.export.doubted import Looked
from trainer.measure import linear, predictions
from trainer.measure.predictions import Predictions
from trainer.targets.doubt import Doubting
from trainer.training.candidates import Candidate

if TYPE_CHECKING:
    from trainer.core.plan import Plan
    from trainer.training.prepare import Prepared

_MOST = 10_000  # rows that a linear model is fitted to in folds only for this
_MOST_ENTRIES = 20_000_000  # of its features
_SECONDS = 1.0  # of each fold, by the assumed speed of the solver
_WORSE = 0.05  # share of rows that the linear model may answer wrong beyond those that the delivered model does
_LARGER = 1.5  # times the loss of the delivered model that its loss may be, for numbers


def rows(best: Candidate, found: Sequence[Candidate], prepared: "Prepared", data: Dataset) -> list[Looked]:
    """The rows with answers by models that had not seen them: the test rows by the delivered model ``best``; and the training and validation rows
    by folds of it, or of another candidate, or of a linear model that answers about as well. Else the validation rows by the delivered model."""
    plan, answers = replace(prepared.plan, target=best.target or prepared.plan.target), best.outcome.answers
    if not isinstance(plan.target, Doubting) or plan.kind.answers_places:
        return []
    test = _of_split("test", data, answers)
    if (own := _out_of_fold(best)) is not None:
        parts, said = _by_split(own, data), _answered(own, plan.target)
        all_of = predictions.concatenated([said, *(answered for *_, answered in test)])
        return [Looked([*parts, *((name, examples) for name, examples, _ in test)], all_of, "the delivered model, fitted without these rows")]
    held_out = [*_of_split("validation", data, answers), *test]
    looked = [Looked.together(held_out, "the delivered model")] if held_out else []
    others = [(c.name, folded) for c in found if (folded := _out_of_fold(c)) is not None]
    if others:
        name, folded = others[-1]  # it joins those before it
        return [*looked, _training(folded, plan, data, f"the model {name}, fitted without these rows")]
    if (folded := _linear(prepared, data, answers.get("validation"))) is not None:
        looked.append(_training(folded, plan, data, "a linear model, fitted without these rows, since the delivered one has seen them"))
    return looked


def _out_of_fold(candidate: Candidate) -> OutOfFold | None:
    return getattr(candidate.fitted, "out_of_fold", None)


def _answered(found: OutOfFold, target: Any) -> Predictions:
    return target.answers(found.outputs, target.encode([e.target for e in found.examples]))


def _of_split(name: str, data: Dataset, answers: dict) -> list[tuple[str, Sequence[Example], Predictions]]:
    """The examples of a split and their answers; none where an example has none or several."""
    examples, said = data.splits[name], answers.get(name)
    return [(name, examples, said)] if isinstance(said, Predictions) and 0 < len(examples) == len(said) else []


def _by_split(found: OutOfFold, data: Dataset) -> list[tuple[str, Sequence[Example]]]:
    """The answered rows by their splits: the validation rows are behind the training rows."""
    validation = {id(e) for e in data.splits["validation"]}
    first = len(found.examples) - sum(id(e) in validation for e in found.examples)
    return [("train", found.examples[:first]), ("validation", found.examples[first:])]


def _training(found: OutOfFold, plan: "Plan", data: Dataset, by: str) -> Looked:
    """Those of the answered rows that are training rows: the delivered model itself answers the others."""
    train = _by_split(found, data)[0]
    return Looked([train], _answered(found, plan.target).chosen(numpy.arange(len(train[1]))), by)


def _linear(prepared: "Prepared", data: Dataset, delivered: Any) -> OutOfFold | None:
    """The answers of the linear model to compare with, fitted in folds; None where there are many rows, where this kind has none, or where it is
    clearly worse than the ``delivered`` model on the validation rows."""
    plan, target = prepared.plan, cast(Any, prepared.plan.target)
    if len(data.splits["train"]) + len(data.splits["validation"]) > _MOST:
        return None
    parts = folds.of(data, target, plan.settings.seed, numpy.inf, _MOST)
    if parts is None or not isinstance(delivered, Predictions) or not target.known(parts.targets).all():
        return None
    classes = len(target.labels)
    read = plan.kind.linear_features(prepared.encoder, data, plan.splits, linear.max_width(classes))
    if read is None:
        return None
    features = _stacked([read.features["train"], read.features["validation"]])
    if features.shape[0] != len(parts.examples) or features.shape[0] * min(features.shape[1], 1000) > _MOST_ENTRIES:
        return None
    said: list[tuple[numpy.ndarray, Predictions]] = []
    for kept, held in parts.parts():
        truth = parts.targets
        model = linear.fit(features[kept], truth[kept], features[held], truth[held], classes, plan.settings.seed, _SECONDS)
        if model is None:
            return None
        said.append((held, model.predict(features[held], truth[held])))
    order = numpy.argsort(numpy.concatenate([held for held, _ in said]))
    answers = predictions.concatenated([p for _, p in said]).chosen(order)
    of_validation = answers.chosen(numpy.arange(len(data.splits["train"]), len(parts.examples)))
    if len(delivered) != len(of_validation) or not _about_as_good(target, of_validation, delivered):
        return None
    outputs = answers.predicted if answers.continuous else answers.probabilities
    return None if outputs is None else OutOfFold(parts.examples, outputs)


def _about_as_good(target: Any, mine: Predictions, delivered: Predictions) -> bool:
    right, others = target.right(mine), target.right(delivered)
    if right is None or others is None:
        return float(numpy.mean(target.losses(mine))) <= _LARGER * float(numpy.mean(target.losses(delivered)))
    return right >= others - _WORSE * len(mine)


def _stacked(parts: list) -> Any:
    if isinstance(parts[0], numpy.ndarray):
        return numpy.concatenate(parts)
    from scipy import sparse

    return sparse.vstack(parts, format="csr")
