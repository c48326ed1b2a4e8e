"""The candidates of a training on a graph, measured on the same rows, and the choice among them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from trainer.core.plan import Plan
from trainer.kinds.graph import links
from trainer.kinds.graph.comparison import fusion
from trainer.kinds.graph.comparison.delivered import PairScores
from trainer.kinds.graph.comparison.fusion import MODEL, Columns, Fusion
from trainer.kinds.graph.comparison.neighbours import TITLES, Neighbours
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.negatives import Negatives
from trainer.launch.outcome import Outcome
from trainer.measure.predictions import Predictions
from trainer.training import candidates

HEURISTIC, COMBINATION = "heuristic", "combination"
FUSION, HEURISTICS = "fusion", "heuristics"
FEWEST = 20  # sources of validation edges, from which weights are learnt
_DIGITS = 4


@dataclass(frozen=True)
class ComparedModel:
    """A candidate. ``simple`` is what is delivered where it is the best; None for the network itself."""

    name: str
    title: str
    sort: str
    answers: dict[str, Any]  # split to LinkAnswers or Predictions
    simple: Any = None
    parameters: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    base: str = ""

    def value(self, plan: Plan) -> float:
        """The metric that chooses, on the validation rows: larger is better."""
        found = plan.target.summary(self.answers["validation"]).get(plan.metric, numpy.nan)
        return found if plan.target.metrics[plan.metric].higher_is_better else -found


def of_network(outcome: Outcome, name: str) -> ComparedModel:
    """The network that the workers trained."""
    answers = dict(outcome.answers)
    if isinstance(answers["test"], LinkAnswers):
        answers["test"] = links.at_threshold(answers["test"], answers["validation"])
    cpu = sum(w["cpu_seconds"] for w in outcome.workers)
    return ComparedModel(name, f"{name} from random weights", candidates.NETWORK, answers, None, outcome.parameters, outcome.seconds, cpu, name)


def of_links(graph: Neighbours, table: numpy.ndarray | None, measured: dict[str, Negatives], seed: int, metric: str = "mrr") -> list[ComparedModel]:
    """The simple models of edges, their fusion, and their fusion with the network, whose table of all nodes is ``table``.

    The fusions are learnt on the validation edges. So their validation figures come from two halves of the sources, each scored by
    weights from the other half. ``metric`` chooses how they are learnt.
    """
    began, cpu = time.monotonic(), time.process_time()
    known = {name: fusion.columns(graph, table, against) for name, against in measured.items()}
    spent = time.monotonic() - began, time.process_time() - cpu
    found = [_single(name, graph, known, measured, spent) for name in graph.names]
    if len(numpy.unique(measured["validation"].source)) < FEWEST:
        return found
    found.insert(
        0, _fused(HEURISTICS, "shared neighbours, degrees and features, weighed", graph.names, graph, None, known, measured, seed, spent, metric)
    )
    if table is not None:
        names = (*graph.names, MODEL)
        title = "the network with shared neighbours, degrees and features"
        found.insert(0, _fused(FUSION, title, names, graph, table, known, measured, seed, spent, metric))
    return found


def _sign(metric: str) -> int:
    return 1 if links.DESCRIBED[metric].higher_is_better else -1


def _single(name: str, graph: Neighbours, known: dict[str, Columns], measured: dict[str, Negatives], spent: tuple[float, float]) -> ComparedModel:
    score = Fusion((name,), (1.0,))
    return _compared(name, TITLES[name], HEURISTIC, PairScores(score, graph, None), known, measured, spent, None)


def _fused(
    name: str,
    title: str,
    names: tuple[str, ...],
    graph: Neighbours,
    table: numpy.ndarray | None,
    known: dict[str, Columns],
    measured: dict[str, Negatives],
    seed: int,
    spent: tuple[float, float],
    metric: str,
) -> ComparedModel:
    began, cpu = time.monotonic(), time.process_time()
    sources = measured["validation"].source
    tried = [(fusion.crossed(known["validation"], names, sources, seed, balance), balance) for balance in (fusion.PAIRS, 0.0)]
    held, balance = max(tried, key=lambda t: _sign(metric) * links.summary(t[0])[metric])
    score = fusion.fit(known["validation"], names, seed, balance)
    spent = spent[0] + time.monotonic() - began, spent[1] + time.process_time() - cpu
    return _compared(
        name, title, candidates.ESTIMATOR if table is None else COMBINATION, PairScores(score, graph, table), known, measured, spent, held
    )


def _compared(
    name: str,
    title: str,
    sort: str,
    scores: PairScores,
    known: dict[str, Columns],
    measured: dict[str, Negatives],
    spent: tuple[float, float],
    held: LinkAnswers | None,
) -> ComparedModel:
    answers = {split: scores.fusion.answers(columns, measured[split].source.astype(numpy.int64)) for split, columns in known.items()}
    if held is not None:
        answers["validation"] = held
    answers["test"] = links.at_threshold(answers["test"], answers["validation"])
    learnt = 0 if sort == HEURISTIC else scores.parameters
    return ComparedModel(name, title, sort, answers, scores, learnt, round(spent[0], 3), round(spent[1], 2))


def entries(found: list[ComparedModel], chosen: ComparedModel, plan: Plan, asked: str = "") -> list[dict]:
    """The candidates of result.json: the chosen one first, then the best on the validation rows. ``asked`` says why the chosen one is delivered
    if that is not because it is the best."""
    rows = "edges" if isinstance(chosen.answers["validation"], LinkAnswers) else "nodes"
    order = sorted(found, key=lambda r: (r is not chosen, -numpy.nan_to_num(r.value(plan), nan=-numpy.inf)))
    return [_entry(r, chosen, plan, asked, rows) for r in order]


def _entry(candidate: ComparedModel, chosen: ComparedModel, plan: Plan, asked: str, rows: str) -> dict:
    entry: dict[str, Any] = {"name": candidate.name, "title": candidate.title, "sort": candidate.sort}
    if candidate.base:
        entry["base"] = candidate.base
    if candidate.parameters:
        entry["parameters"] = candidate.parameters
    entry |= {
        "seconds": candidate.seconds,
        "cpu_seconds": round(candidate.cpu, 2),
        "validation": plan.target.summary(candidate.answers["validation"]),
    }
    if test := report(candidate.answers["test"], plan):
        entry["test"] = test
    return entry | {"chosen": candidate is chosen, "why": _why(candidate, chosen, plan, asked, rows)}


def report(answers: LinkAnswers | Predictions, plan: Plan) -> dict:
    """The metrics of ``answers`` with their intervals."""
    return plan.target.report(answers, plan.settings.seed)


def _why(candidate: ComparedModel, chosen: ComparedModel, plan: Plan, asked: str, rows: str) -> str:
    own, its = abs(candidate.value(plan)), abs(chosen.value(plan))
    if candidate is chosen:
        return asked or f"Its {plan.target.metrics[plan.metric].title} on the validation {rows} is the best: {own:.{_DIGITS}g}."
    return f"Its {plan.target.metrics[plan.metric].title} on the validation {rows} is {own:.{_DIGITS}g}, that of {chosen.name} {its:.{_DIGITS}g}."


def timed(make: Callable[[], Any]) -> tuple[Any, float, float]:
    """What ``make`` gives, with its seconds and its seconds of processor time."""
    began, cpu = time.monotonic(), time.process_time()
    found = make()
    return found, round(time.monotonic() - began, 3), round(time.process_time() - cpu, 2)
