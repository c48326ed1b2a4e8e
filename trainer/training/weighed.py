"""Which columns, or other parts of an example, the delivered model relies on, measured on rows that it has not seen."""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from trainer import estimators
from trainer.core import columnar
from trainer.core.blocks import Section
from trainer.core.example import Dataset, Example
from trainer.export import important
from trainer.measure import importance
from trainer.measure.predictions import Predictions
from trainer.training.candidates import Candidate

if TYPE_CHECKING:
    from trainer.training.prepare import Prepared

_SHARE, _MOST, _OF_LONG = 0.05, 1.0, 0.01  # of the time of the run until now: a share of it, up to so many seconds; and of a long one this share


def sections(best: Candidate, prepared: "Prepared", data: Dataset, began: float) -> list[Section]:
    """The section of the report; none where examples of this kind share no parts. ``began`` is the monotonic time of the start of the run."""
    plan, test = prepared.plan, best.outcome.answers["test"]
    names = plan.kind.shared_parts(data)
    if not names or not isinstance(test, Predictions):
        return []
    target = best.target or plan.target
    examples, truth = data.splits["test"], test.truth
    kept = numpy.flatnonzero(target.known(truth)) if len(truth) == len(examples) else numpy.zeros(0, numpy.int64)
    if why := _why_not(truth[kept]):
        return [important.unknown(why)]
    if (model := _model(best, prepared)) is None:
        return [important.unknown("The network was not saved in a form that can be asked here, so what it relies on was not measured.")]

    def prepared_for(rows: numpy.ndarray) -> importance.Losses:
        outputs = _exchanging(model, plan.kind, list(columnar.taken(examples, kept[rows])))
        right = truth[kept[rows]]

        def losses(part: int, places: numpy.ndarray, others: numpy.ndarray) -> tuple[numpy.ndarray, float]:
            answers = target.answers(outputs(part, places, others), right[places])
            return target.losses(answers), float(target.summary(answers).get(plan.metric, math.nan))

        return losses

    took = time.monotonic() - began
    seconds = max(_OF_LONG * took, min(_SHARE * took, _MOST))
    found = importance.measure(names, len(kept), prepared_for, plan.settings.seed, seconds)
    return [important.section(found, target.metrics[plan.metric].title, plan.kind.things)]


def _model(best: Candidate, prepared: "Prepared") -> Any:
    """The delivered model as it was saved; None for a network without model.onnx."""
    if best.fitted is not None:
        return estimators.load(best.base.name, best.outcome.saved, prepared.plan.models)
    plan = prepared.plan
    described = {"kind": plan.kind.name, "target": (best.target or plan.target).described(), "encoder": prepared.encoder.described()["encoder"]}
    return plan.kind.network_in(best.outcome.saved, described)


def _exchanging(model, kind, examples: list[Example]) -> Callable[[int, numpy.ndarray, numpy.ndarray], numpy.ndarray]:
    """What gives the outputs of ``model`` with one part from other examples. An estimator that is faster than with new examples has
    ``exchanging``."""
    if (faster := getattr(model, "exchanging", None)) is not None:
        prepared, whole = faster(examples), model.outputs(examples)
        return lambda part, places, others: prepared.outputs(part, places, others) if part >= 0 else whole[places]
    return lambda part, places, others: model.outputs(
        [examples[p] if part < 0 else kind.with_part(examples[p], part, examples[o]) for p, o in zip(places, others, strict=True)]
    )


def _why_not(truth: numpy.ndarray) -> str:
    if len(truth) < importance.FEWEST:
        return f"What the model relies on is measured from {importance.FEWEST} test rows on, and there are {len(truth)}."
    if len(numpy.unique(truth)) < 2:
        return "All test rows have the same label, so they cannot show what the model relies on."
    return ""
