"""The choice of what is delivered among the candidates of a training on a graph."""

from dataclasses import fields, replace

import numpy

from trainer.core.plan import Plan
from trainer.kinds.graph.comparison.compare import FUSION, ComparedModel
from trainer.measure.predictions import Predictions

_RESAMPLES, _ROWS = 200, 2000  # of the validation nodes, and rows of each at most


def best(found: list[ComparedModel], plan: Plan) -> tuple[ComparedModel, str]:
    """The best candidate by the metric on the validation rows, of equal ones the first; and why, if it is another one.

    Of nodes, the combination is delivered unless another candidate is better by more than the standard error of their difference: the epoch of the
    network and the penalty of a linear model were chosen on the same nodes, so their figures say too much, and the weights of the combination
    were not, so its figure does not.
    """
    values = [r.value(plan) for r in found]
    first = found[int(numpy.nanargmax(values))] if not numpy.isnan(values).all() else found[0]
    fused = next((r for r in found if r.name == FUSION and isinstance(r.answers["validation"], Predictions)), None)
    if fused is None or first is fused or numpy.isnan(fused.value(plan)):
        return first, ""
    error, behind = _error(first, fused, plan), first.value(plan) - fused.value(plan)
    if behind > error:
        return first, ""
    return fused, _why(first, fused, plan, error) if behind else ""


def _why(first: ComparedModel, fused: ComparedModel, plan: Plan, error: float) -> str:
    title, own, its = plan.target.metrics[plan.metric].title, abs(fused.value(plan)), abs(first.value(plan))
    text = f"Its {title} on the validation nodes is {own:.4g}. That of {first.name}, which was tuned on these nodes, is {its:.4g}: "
    return f"{text}better by no more than the standard error of the difference, {error:.2g}."


def _error(one: ComparedModel, other: ComparedModel, plan: Plan) -> float:
    """The standard error of the difference of two candidates in the metric, on the same validation rows."""
    random, n = numpy.random.default_rng(plan.settings.seed), len(one.answers["validation"])
    size = min(n, _ROWS)
    drawn = (random.integers(0, n, size) for _ in range(_RESAMPLES))
    differences = [_value(one, rows, plan) - _value(other, rows, plan) for rows in drawn]
    return float(numpy.nanstd(differences)) * (size / n) ** 0.5


def _value(candidate: ComparedModel, rows: numpy.ndarray, plan: Plan) -> float:
    answers = candidate.answers["validation"]
    columns = {f.name: None if (values := getattr(answers, f.name)) is None else values[rows] for f in fields(answers)}
    return replace(candidate, answers={"validation": Predictions(**columns)}).value(plan)
