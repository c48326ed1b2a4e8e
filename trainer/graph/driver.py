"""The training on a graph, from its files to the results. The network goes through the launchers and the loop of all trainings."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy

from trainer import candidates, export
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.data.checks import Checks
from trainer.errors import count
from trainer.export import graph_results
from trainer.graph import features, prepare
from trainer.graph.comparison import choice, compare, compare_nodes
from trainer.graph.comparison.compare import ComparedModel
from trainer.graph.comparison.neighbours import Neighbours
from trainer.graph.graph import Graph
from trainer.graph.prepare import Prepared
from trainer.launch.outcome import Outcome
from trainer.plan import Plan
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.tasks.catalogue import Base
from trainer.tasks.graph import TABLE
from trainer.tasks.target import Classes, Number


class Workers(Protocol):
    """The workers of the run, which are requested before the data is read."""

    launcher: Any

    def request(self, settings: Settings, base: Base) -> Settings: ...


@dataclass
class Run:
    """What a training is carried out with. ``workers`` has the launcher, ``train`` carries out a plan with it."""

    spec: Spec
    settings: Settings
    events: Events
    checks: Checks
    workers: Workers
    train: Callable[[Plan], Outcome]
    began: float


def carry_out(run: Run, graph: Graph) -> None:
    """Train on ``graph``, choose what is delivered, and write the results. Raises UserError for what only the user can fix."""
    base = candidates.choose(run.spec.models, run.settings, "graph", graph.task).network
    run = replace(run, settings=run.workers.request(run.settings, base))
    stop.check(run.spec.folder)
    asked = _asked(run.settings, base.name)  # before the settings that are open are chosen
    prepared = prepare.make(run.spec, run.settings, graph, run.workers.launcher.machine, run.checks)
    run = replace(run, settings=prepared.plan.settings)
    if run.settings.dry_run:
        trial = run.workers.launcher.estimate(prepared.plan)
        export.check(run.spec, run.settings, prepared.data, prepared, trial, run.events, run.began, graph_results.described(prepared))
        return
    outcome = run.train(prepared.plan)
    _deliver(run, prepared, base, outcome, asked)


def _asked(settings: Settings, network: str) -> str:
    """Why the network is delivered whatever is best; empty where the best is."""
    if settings.model == network:
        return f"The model was set to {network}."
    return "" if settings.decoder == "fused" else f"The decoder was set to {settings.decoder}, so the network alone is delivered."


def _deliver(run: Run, prepared: Prepared, base: Base, outcome: Outcome, asked: str) -> None:
    """Compare the network with simple models and their combination, and write the results of the best, or of the network if it was asked for."""
    table = numpy.load(outcome.saved.parent / TABLE, mmap_mode="c", allow_pickle=False)
    network = compare.of_network(outcome, base.name)
    if prepared.links is not None:
        against = len(prepared.measured["test"])
        run.events.phase("test", f"Comparing the network with simple models on {count(against, 'held-out edge')}.")
    else:
        run.events.phase("test", "Comparing the network with simple models on the held-out nodes.")
    found = [network, *_simple(prepared, network, table)]
    chosen, why = (network, asked) if asked else choice.best(found, prepared.plan)
    listed = compare.entries(found, chosen, prepared.plan, why)
    run.events.decision("chosen", chosen.name, f"The model {chosen.name} is delivered. {listed[0]['why']}")
    baselines = [
        {"name": r.name, "title": r.title, "test": compare.report(r.answers["test"], prepared.plan)}
        for r in found
        if r is not network and not (r.simple is not None and r.simple.network)
    ]
    run.events.phase("export", "Writing the model, the metrics and the predictions.")
    if prepared.champion is not None:
        outcome.champion = prepared.champion.answers(outcome.champion)
    delivered = graph_results.Delivered(chosen, outcome, table)
    workers = run.workers.launcher.workers
    graph_results.training(run.spec, run.settings, prepared, delivered, listed, baselines, workers, run.events, run.began)


def _simple(prepared: Prepared, network: ComparedModel, table: numpy.ndarray) -> list[ComparedModel]:
    """The simple models on the same rows, and their combination with the network."""
    store, plan = prepared.store, prepared.plan
    if prepared.links is not None:
        return compare.of_links(Neighbours(store.indptr, store.indices, store.x), table, prepared.measured, plan.settings.seed, plan.metric)
    assert isinstance(plan.target, Classes | Number)
    splits = prepared.data.splits
    numbers = {name: numpy.asarray([e.content for e in rows], numpy.int64) for name, rows in splits.items()}
    truth = {name: plan.target.encode([e.target for e in rows]) for name, rows in splits.items()}
    plain = features.plain_words(prepared.graph.encoder, prepared.graph.arrays)
    return compare_nodes.of_nodes(store, numbers, truth, plan.target, network, plan.settings.seed, plain)
