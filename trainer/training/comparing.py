"""Which of the trained candidates is delivered, and why."""

from typing import TYPE_CHECKING

import numpy

from trainer.config import settings as options
from trainer.estimators import sampled
from trainer.training.candidates import Candidate, Wanted

if TYPE_CHECKING:
    from trainer.core.plan import Plan
    from trainer.targets.target import Answers, Target


def best(found: list[Candidate], wanted: Wanted, plan: "Plan") -> Candidate:
    """The candidate to deliver: the one asked for, else the one with the smallest loss on the validation rows, or, where the user
    chose a metric, the one that is best by it."""
    if named := next((c for c in found if c.base.name == wanted.named), None):
        return named
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda c: _rank(c, found, plan))


def entries(found: list[Candidate], chosen: Candidate, wanted: Wanted, plan: "Plan") -> list[dict]:
    """The candidates of result.json: the chosen one first."""
    listed = []
    for candidate in sorted(found, key=lambda c: c is not chosen):
        outcome = candidate.outcome
        entry = {
            "name": candidate.name, "title": candidate.title, "sort": candidate.sort, "base": candidate.base.name,
            "parameters": outcome.parameters, "seconds": outcome.seconds, "cpu_seconds": round(sum(w["cpu_seconds"] for w in outcome.workers), 2),
            "validation": plan.target.summary(outcome.answers["validation"]), "chosen": candidate is chosen,
            "why": " ".join(filter(None, (_why(candidate, chosen, found, wanted, plan), sampled.said(getattr(candidate.fitted, "sampled", ()))))),
        }  # fmt: skip
        if test := plan.target.report(outcome.answers["test"], plan.settings.seed):
            entry["test"] = test
        listed.append(entry)
    return [*listed, *wanted.skipped]


def _why(candidate: Candidate, chosen: Candidate, found: list[Candidate], wanted: Wanted, plan: "Plan") -> str:
    if wanted.named:
        return f"The model was set to {wanted.named}." if candidate is chosen else f"For comparison: the model was set to {wanted.named}."
    if len(found) == 1:
        return "It is the only model that was trained."
    if plan.settings.source("metric") != "chosen":
        value = plan.target.summary(candidate.outcome.answers["validation"]).get(plan.metric, numpy.nan)
        return f"Its {plan.target.metrics[plan.metric].title} on the validation rows is {'the best: ' if candidate is chosen else ''}{value:.4g}."
    where = "on rows held out in turn, since there are few validation rows," if _by_folds(found) else "on the validation rows"
    loss = _loss(candidate, found, plan)
    if candidate is chosen:
        return f"Its loss {where} is the smallest: {loss:.4g}."
    return f"Its loss {where} is {loss:.4g}, that of {chosen.name} {_loss(chosen, found, plan):.4g}."


def _rank(candidate: Candidate, found: list[Candidate], plan: "Plan") -> tuple[float, float]:
    loss = _loss(candidate, found, plan)
    if plan.settings.source("metric") == "chosen":
        return loss, loss
    value = plan.target.summary(candidate.outcome.answers["validation"]).get(plan.metric, numpy.nan)
    return (-value if plan.target.metrics[plan.metric].higher_is_better else value), loss


def _loss(candidate: Candidate, found: list[Candidate], plan: "Plan") -> float:
    """The loss by which candidates are compared: on rows held out in turn if all have it, else on the validation rows."""
    if candidate.held_out_loss is not None and _by_folds(found):
        return candidate.held_out_loss
    of_network = candidate.fitted is None and candidate.beside is None
    return comparison_loss(candidate.outcome.answers["validation"], plan, of_network, candidate.target)


def _by_folds(found: list[Candidate]) -> bool:
    return all(c.held_out_loss is not None for c in found)


def comparison_loss(answers: "Answers", plan: "Plan", network: bool = False, target: "Target | None" = None) -> float:
    """The loss by which candidates are compared: see ``Target.comparison_loss``. ``target`` is that of the candidate; None for that of the plan.

    Rows have weights only where a person asked for class weights, which all candidates then have. Those that were chosen for a network
    alone are taken back.
    """
    of_classes = None if plan.weights is None else numpy.asarray(plan.weights)
    of_network = plan.settings.source("class_weights") == options.CHOSEN
    return (target or plan.target).comparison_loss(answers, None if of_network else of_classes, of_classes if of_network and network else None)
