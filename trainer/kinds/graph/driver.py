"""The training on a graph, from its files to the results. The network goes through the launchers and the loop of all trainings."""

from dataclasses import replace

import numpy

from trainer import export
from trainer.config.settings import Settings
from trainer.core import registry
from trainer.data.claims import Claim
from trainer.errors import UserError, count
from trainer.kinds.graph import encoded_texts, features, links, prepare, reading
from trainer.kinds.graph.comparison import choice, compare, compare_nodes
from trainer.kinds.graph.comparison.compare import ComparedModel
from trainer.kinds.graph.comparison.neighbours import Neighbours
from trainer.kinds.graph.comparison.node_scores import MAJORITY
from trainer.kinds.graph.delivery import results as graph_results
from trainer.kinds.graph.network import TABLE
from trainer.kinds.graph.prepare import Prepared
from trainer.launch.outcome import Outcome
from trainer.models import catalogue
from trainer.models.catalogue import Base
from trainer.run_folder import stop
from trainer.search import space
from trainer.training import candidates
from trainer.training.carry_out import Run


def carry_out(run: Run, claim: Claim) -> None:
    """Read the graph, train on it, choose what is delivered, and write the results. Raises UserError for what only the user can fix."""
    if space.is_wanted(run.settings):
        raise UserError("graph_search", "A search for settings is not possible on a graph.", "Set trials to 0.")
    if (base := encoded_texts.named(run.spec.models, run.settings.model)) is not None:  # it reads the texts of nodes; the network reads the graph
        run = replace(run, settings=run.settings.with_chosen(text_encoder=base.name, model=catalogue.AUTO))
    graph = reading.load(claim.reading, run.settings, run.checks, run.spec.work, run.spec)
    stop.check(run.spec.folder)
    kind = registry.of("graph")
    base = candidates.choose(run.spec.models, run.settings, kind, graph.task).network
    run = replace(run, settings=run.workers.request(run.settings, base, kind))
    stop.check(run.spec.folder)
    asked = _asked(run.settings, base.name)  # before the settings that are open are chosen
    prepared = prepare.make(run.spec, run.settings, graph, run.workers.launcher.machine, run.checks)
    run = replace(run, settings=prepared.plan.settings)
    if run.settings.dry_run:
        trial = run.workers.launcher.estimate(prepared.plan)
        export.check(run, run.settings, prepared.data, prepared, trial, graph_results.described(prepared))
        return
    outcome = run.workers.train(prepared.plan)
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
        {
            "name": r.name,
            "title": r.title,
            "role": "constant" if r.name == MAJORITY else "simple",
            "test": compare.report(r.answers["test"], prepared.plan),
        }
        for r in found
        if r is not network and not (r.simple is not None and r.simple.network)
    ]
    if prepared.links is not None and len(network.answers["test"]):
        baselines.append(links.at_random(network.answers["test"]))
    run.events.phase("export", "Writing the model, the metrics and the predictions.")
    if prepared.champion is not None:
        outcome.champion = prepared.champion.answers(outcome.champion)
    delivered = graph_results.Delivered(chosen, outcome, table)
    workers = run.workers.launcher.workers
    graph_results.training(run, prepared, delivered, listed, baselines, workers)


def _simple(prepared: Prepared, network: ComparedModel, table: numpy.ndarray) -> list[ComparedModel]:
    """The simple models on the same rows, and their combination with the network."""
    store, plan = prepared.store, prepared.plan
    if prepared.links is not None:
        return compare.of_links(Neighbours(store.indptr, store.indices, store.x), table, prepared.measured, plan.settings.seed, plan.metric)
    splits = prepared.data.splits
    numbers = {name: numpy.asarray([e.content for e in rows], numpy.int64) for name, rows in splits.items()}
    truth = {name: plan.target.encode([e.target for e in rows]) for name, rows in splits.items()}
    plain = features.plain_words(prepared.graph.encoder, prepared.graph.arrays)
    return compare_nodes.of_nodes(store, numbers, truth, plan.target, network, plan.settings.seed, plain)
