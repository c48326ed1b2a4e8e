"""Which of the trained candidates is delivered, and why."""

from typing import TYPE_CHECKING

import numpy

from trainer.config import settings as options
from trainer.estimators import sampled
from trainer.training.candidates import Candidate, Wanted

if TYPE_CHECKING:
    from trainer.core.plan import Plan
    from trainer.targets.target import Answers, Target


class Comparison:
    """Compares the candidates ``found`` by ``plan``. Losses on many rows take long, so each is computed once."""

    def __init__(self, found: list[Candidate], wanted: Wanted, plan: "Plan"):
        self._found, self._wanted, self._plan = found, wanted, plan
        self._losses: dict[int, float] = {}  # by identity

    def best(self) -> Candidate:
        """The candidate to deliver: the one asked for, else the one with the smallest loss on the validation rows, or, where the user
        chose a metric, the one that is best by it."""
        if named := next((c for c in self._found if c.base.name == self._wanted.named), None):
            return named
        if len(self._found) == 1:
            return self._found[0]
        return min(self._found, key=self._rank)

    def entries(self, chosen: Candidate) -> list[dict]:
        """The candidates of result.json: the chosen one first."""
        listed, target = [], self._plan.target
        for candidate in sorted(self._found, key=lambda c: c is not chosen):
            outcome = candidate.outcome
            entry = {
                "name": candidate.name, "title": candidate.title, "sort": candidate.sort, "base": candidate.base.name,
                "parameters": outcome.parameters, "seconds": outcome.seconds, "cpu_seconds": round(sum(w["cpu_seconds"] for w in outcome.workers), 2),
                "validation": target.summary(outcome.answers["validation"]), "chosen": candidate is chosen,
                "why": " ".join(filter(None, (self._why(candidate, chosen), sampled.said(getattr(candidate.fitted, "sampled", ()))))),
            }  # fmt: skip
            if test := target.report(outcome.answers["test"], self._plan.settings.seed):
                entry["test"] = test
            listed.append(entry)
        return [*listed, *self._wanted.skipped]

    def _why(self, candidate: Candidate, chosen: Candidate) -> str:
        plan, named = self._plan, self._wanted.named
        if named:
            return f"The model was set to {named}." if candidate is chosen else f"For comparison: the model was set to {named}."
        if len(self._found) == 1:
            return "It is the only model that was trained."
        if plan.settings.source("metric") != "chosen":
            title, best = plan.target.metrics[plan.metric].title, "the best: " if candidate is chosen else ""
            return f"Its {title} on the validation rows is {best}{_metric(candidate, plan):.4g}."
        where = "on rows held out in turn, since there are few validation rows," if _by_folds(self._found) else "on the validation rows"
        loss = self._loss(candidate)
        if candidate is chosen:
            return f"Its loss {where} is the smallest: {loss:.4g}."
        return f"Its loss {where} is {loss:.4g}, that of {chosen.name} {self._loss(chosen):.4g}."

    def _rank(self, candidate: Candidate) -> tuple[float, float]:
        plan, loss = self._plan, self._loss(candidate)
        if plan.settings.source("metric") == "chosen":
            return loss, loss
        value = _metric(candidate, plan)
        return (-value if plan.target.metrics[plan.metric].higher_is_better else value), loss

    def _loss(self, candidate: Candidate) -> float:
        if id(candidate) not in self._losses:
            self._losses[id(candidate)] = _loss(candidate, self._found, self._plan)
        return self._losses[id(candidate)]


def _metric(candidate: Candidate, plan: "Plan") -> float:
    return plan.target.summary(candidate.outcome.answers["validation"]).get(plan.metric, numpy.nan)


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
