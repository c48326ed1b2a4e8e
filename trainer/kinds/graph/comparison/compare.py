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
from trainer.kinds.graph.comparison.fusion import MODEL, Fusion
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
    compared = _Comparison(graph, table, measured, seed, metric)
    found = [compared.single(name) for name in graph.names]
    if len(numpy.unique(measured["validation"].source)) < FEWEST:
        return found
    found.insert(0, compared.fused(HEURISTICS, "shared neighbours, degrees and features, weighed", graph.names))
    if table is not None:
        found.insert(0, compared.fused(FUSION, "the network with shared neighbours, degrees and features", (*graph.names, MODEL)))
    return found


class _Comparison:
    """The scores of the edges that were measured, by each simple model and by the network, and the models that are made of them."""

    def __init__(self, graph: Neighbours, table: numpy.ndarray | None, measured: dict[str, Negatives], seed: int, metric: str):
        self.graph, self.table, self.seed, self.metric = graph, table, seed, metric
        self.sources = {split: against.source for split, against in measured.items()}
        began, cpu = time.monotonic(), time.process_time()
        self.known = {split: fusion.columns(graph, table, against) for split, against in measured.items()}
        self.seconds, self.cpu = time.monotonic() - began, time.process_time() - cpu

    def single(self, name: str) -> ComparedModel:
        """A simple model alone."""
        return self._compared(name, TITLES[name], HEURISTIC, PairScores(Fusion((name,), (1.0,)), self.graph, None), None, 0.0, 0.0)

    def fused(self, name: str, title: str, names: tuple[str, ...]) -> ComparedModel:
        """The models ``names`` as one, which is learnt on the validation edges."""
        began, cpu = time.monotonic(), time.process_time()
        validation, sources = self.known["validation"], self.sources["validation"]
        tried = [(fusion.crossed(validation, names, sources, self.seed, balance), balance) for balance in (fusion.PAIRS, 0.0)]
        sign = 1 if links.DESCRIBED[self.metric].higher_is_better else -1
        held, balance = max(tried, key=lambda t: sign * links.summary(t[0])[self.metric])
        score = fusion.fit(validation, names, self.seed, balance)
        sort, table = (COMBINATION, self.table) if MODEL in names else (candidates.ESTIMATOR, None)
        seconds, used = time.monotonic() - began, time.process_time() - cpu
        return self._compared(name, title, sort, PairScores(score, self.graph, table), held, seconds, used)

    def _compared(self, name: str, title: str, sort: str, scores: PairScores, held: LinkAnswers | None, seconds: float, cpu: float) -> ComparedModel:
        """``held`` are the answers to the validation edges by weights that were not learnt from them; None where nothing is learnt."""
        answers = {split: scores.fusion.answers(columns, self.sources[split].astype(numpy.int64)) for split, columns in self.known.items()}
        if held is not None:
            answers["validation"] = held
        answers["test"] = links.at_threshold(answers["test"], answers["validation"])
        learnt = 0 if sort == HEURISTIC else scores.parameters
        return ComparedModel(name, title, sort, answers, scores, learnt, round(self.seconds + seconds, 3), round(self.cpu + cpu, 2))


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
