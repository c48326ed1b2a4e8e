"""The results of a training on a graph: model, metrics, predictions, vectors, likely new links, and the data of the report."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy

from trainer.config.settings import Settings
from trainer.core import blocks
from trainer.core.example import Dataset, Example
from trainer.errors import count
from trainer.export import display, doubted, promised, results, tested
from trainer.export.description import describe, use
from trainer.export.doubted import Listed, Looked
from trainer.export.training_results import add_event_files, compared_champion, described_training
from trainer.kinds.graph import links
from trainer.kinds.graph.comparison.compare import ComparedModel
from trainer.kinds.graph.delivery import chances, encoders, figures, likeliest, picture, sections, stored, tables, vectors, words
from trainer.kinds.graph.delivery.chances import Chance
from trainer.kinds.graph.delivery.scorers import ByTable
from trainer.kinds.graph.graph import LINKS
from trainer.kinds.graph.prepare import Prepared
from trainer.kinds.graph.score import EXTRA
from trainer.launch.outcome import Outcome
from trainer.measure.metric import described as metric_info
from trainer.measure.predictions import Predictions
from trainer.models.saved_model import DESCRIPTION
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.training import prepare as preparing
from trainer.training.baseline import Baselines
from trainer.training.candidates import NETWORK
from trainer.training.carry_out import Run

MOST_LINKS = 1_000_000  # rows of predicted_links.csv
SAMPLES = 5


@dataclass(frozen=True)
class Delivered:
    """What is delivered: ``candidate``. ``outcome`` is that of the network, whose ``table`` has a row for each node."""

    candidate: ComparedModel
    outcome: Outcome
    table: numpy.ndarray

    @property
    def needs_network(self) -> bool:
        """Whether predictions take the network."""
        return self.candidate.simple is None or self.candidate.simple.network

    @property
    def parameters(self) -> int:
        """Of all that is delivered."""
        beside = self.candidate.parameters if self.candidate.simple is not None else 0
        return beside + (self.outcome.parameters if self.needs_network else 0)


def training(run: Run, prepared: Prepared, delivered: Delivered, listed: list[dict], baselines: list[dict], workers: int) -> None:
    """Write all results that the worker did not write, and result.json last. ``listed`` are the candidates, and ``baselines`` the simple
    models on the same test rows."""
    spec, settings, events = run.spec, run.settings, run.events
    answers = delivered.candidate.answers
    prepared, promise = promised.training(prepared, answers, settings, events)
    plan, graph, outcome, out = prepared.plan, prepared.graph, delivered.outcome, spec.work / results.OUT
    reports = {n: plan.target.report(a, settings.seed) for n, a in answers.items()}
    at = outcome.position
    chosen = {"task": plan.task, "metric": plan.metric, "best_epoch": at.best_epoch, "best_step": at.best_step, **reports, "baselines": baselines}
    if reports["test"]:
        events.eval(at.best_epoch, at.best_step, "test", {name: score["value"] for name, score in reports["test"].items()})
    chance, threshold, doubts = None, 0.0, Listed([])
    if graph.task == LINKS:
        chance, threshold = chances.fitted(answers["validation"]), links.best_threshold(answers["validation"])
    section = _section(prepared)
    section["stored"] = _model(out / "model", delivered, prepared, reports["test"], chance, threshold)
    files.write_json(out / "metrics.json", chosen)
    add_event_files(spec, settings, out)
    embeddings = delivered.table[:, :-EXTRA] if graph.task == LINKS else delivered.table
    section["embeddings"] = vectors.write(out / "embeddings.parquet", graph, embeddings)
    section["picture"] = picture.picture(embeddings, graph, settings.seed)
    section["memory"]["peak_bytes"] = max(w["peak_memory_bytes"] for w in outcome.workers)
    if chance is not None:
        section |= _of_links(out, settings, prepared, delivered, chance, threshold, events)
        details: dict = {}
    else:
        section |= _of_nodes(out, settings, prepared, answers["test"])
        named = _named(prepared)
        details = tested.details(named, plan.target, answers["test"], Baselines([], None, None, None, ""))
        held_out = Looked.together([(n, named.splits[n], answers[n]) for n in ("validation", "test")], "the delivered model")
        doubts = doubted.training([held_out], named, plan.target, events)
        doubts.write(out)
    from importlib.metadata import version

    learnt = sections.learnt(section, graph.task, plan.target.metrics)
    shown = [sections.graph(section, graph.task, bool(prepared.data.dropped)), learnt, sections.imitated(prepared.links), *promise, *doubts.sections]
    results.finish(
        spec, settings, "training", plan.task, events, run.began,
        checks=prepared.data.checks, warnings=outcome.warnings, estimate_seconds=outcome.estimate_seconds, hardware=outcome.hardware,
        versions={**outcome.versions, "ray": version("ray")},
        metric_info=metric_info(plan.target.metrics), chosen_by=plan.metric, unit=plan.kind.thing(graph.task),
        metric=plan.metric, best_epoch=at.best_epoch, best_step=at.best_step, metrics=chosen,
        model=_described_model(delivered, prepared, out),
        data=described_data(prepared),
        training={**described_training(settings, outcome, workers), "network_apart": delivered.candidate.sort != NETWORK},
        champion=compared_champion(spec, plan, outcome),
        candidates=listed, sections=blocks.described(shown),
        **details,
        usage=_usage(delivered, prepared, out), about={**_about(section, graph.task), **doubts.about},
    )  # fmt: skip


def described(prepared: Prepared) -> dict:
    """The ``data`` and the ``sections`` of result.json as far as they are known before the training."""
    shown = sections.graph(_section(prepared), prepared.graph.task, bool(prepared.data.dropped))
    return {"data": described_data(prepared), "sections": blocks.described([shown])}


def _section(prepared: Prepared) -> dict:
    memory = {f"{name}_bytes": int(value) for name, value in prepared.memory.items()}
    return figures.shape(prepared.graph, prepared.links or prepared.numbers) | {"memory": memory}


def _model(folder: Path, delivered: Delivered, prepared: Prepared, test: dict, chance: Chance | None, threshold: float) -> dict:
    """Write the folder of the model; gives ``stored`` of result.json."""
    folder.parent.mkdir()
    if delivered.needs_network:
        os.rename(delivered.outcome.saved, folder)
    else:
        folder.mkdir()
        files.write_json(folder / "config.json", {"model_type": delivered.candidate.name, "task": prepared.plan.task})
    if delivered.candidate.simple is not None:
        delivered.candidate.simple.save(folder)
    graph, target = prepared.graph, prepared.plan.target
    if target.labels:
        files.write_json(folder / "labels.json", list(target.labels))
    settings = prepared.plan.settings
    of_graph = {
        "delivered": delivered.candidate.name, "network": delivered.needs_network, "directed": graph.directed, "left": graph.left,
        "encoder": graph.encoder, "seed": settings.seed, "ends": list(graph.ends), "prefixes": list(graph.prefixes), "id_column": settings.id_column,
    }  # fmt: skip
    if chance is not None:
        of_graph |= {"chance": chance.described(), "threshold": threshold}
    ready = preparing.Prepared(prepared.plan, prepared.encoder)
    description = {**describe(ready, prepared.data, test), "graph": of_graph}
    files.write_json(folder / DESCRIPTION, {**description, "use": use(ready, description, folder)})
    encoders.save(folder, graph.arrays)
    size = stored.write(folder / stored.NAME, graph)
    return {"bytes": size, "delivered": size <= stored.BYTES}


def _of_links(out: Path, settings: Settings, prepared: Prepared, delivered: Delivered, chance: Chance, threshold: float, events: Events) -> dict:
    """Write what a model of links says; gives its figures."""
    graph, against, test = prepared.graph, prepared.measured["test"], delivered.candidate.answers["test"]
    files.write_text(out / "predictions.csv", tables.of_links(graph, against, test, chance, threshold))
    seen = figures.degrees(graph, prepared.messages)
    found: dict = {}
    if len(test):
        found = {
            "candidates_per_source": int(test.candidates),
            "ranked": len(test),
            "by_degree": figures.links_by_degree(test, seen, settings.seed),
            "scores": figures.score_bins(chance.of(test.positive), chance.of(test.negative), float(chance.of(numpy.asarray(threshold)))),
            "surprising": tables.surprising(graph, against, test, chance),
        }
    if settings.predict_top_k:
        known = stored.load(out / "model" / stored.NAME)
        scorer = delivered.candidate.simple or ByTable(delivered.table)
        sources = _sources(prepared, delivered)
        events.phase("export", f"Looking for the likeliest new links of {count(len(sources), 'node')}.")
        new = likeliest.find(scorer, known, delivered.table, sources, settings.predict_top_k, graph.left)
        files.write_text(out / "predicted_links.csv", tables.of_new_links(graph, new, chance))
        rows = int((new.targets >= 0).sum())
        found["predicted_links"] = {
            "nodes": len(new.source),
            "rows": rows,
            "per_node": settings.predict_top_k,
            "all_nodes": len(new.source) == (graph.left or graph.nodes),
        }
        found["likely"] = tables.likely(graph, new, chance)
    return found


def _sources(prepared: Prepared, delivered: Delivered) -> numpy.ndarray:
    """The nodes whose new links are predicted: all, or those with the most edges where that takes too long. Of a bipartite graph, sources."""
    graph = prepared.graph
    most = min(likeliest.affordable(graph.nodes, delivered.table.shape[1]), max(1, MOST_LINKS // prepared.plan.settings.predict_top_k))
    found = figures.degrees(graph)[: graph.left or graph.nodes]
    if len(found) <= most:
        return numpy.arange(len(found))
    return numpy.sort(numpy.argsort(-found, kind="stable")[:most])


def _of_nodes(out: Path, settings: Settings, prepared: Prepared, test: Predictions) -> dict:
    """Write what a model of nodes says of the test nodes; gives its figures."""
    nodes = numpy.asarray([e.content for e in prepared.data.splits["test"]], numpy.int64)
    files.write_text(out / "predictions.csv", tables.of_nodes(prepared.graph, nodes, prepared.plan.target, test))
    if not len(test):
        return {}
    return {"by_degree": figures.nodes_by_degree(test, figures.degrees(prepared.graph)[nodes], settings.seed)}


def _named(prepared: Prepared) -> Dataset:
    """The data with the ids and texts of nodes as the contents of the validation and test examples."""

    def shown(e: Example) -> Example:
        more = tables.text(prepared.graph, e.content)
        return replace(e, file=_file(prepared), content=f"{e.id}: {more}" if more else e.id)

    data = prepared.data
    return replace(data, splits={**data.splits, **{n: [shown(e) for e in data.splits[n]] for n in ("validation", "test")}})


def _file(prepared: Prepared) -> str:
    return prepared.graph.files[-1] if prepared.graph.files else ""


def described_data(prepared: Prepared) -> dict:
    """The ``data`` of result.json. Edges are counted, since they are no examples."""
    data, graph = prepared.data, prepared.graph
    train = prepared.numbers["train"][:SAMPLES]
    if graph.task == LINKS:
        pairs = ((int(graph.source[e]), int(graph.target[e])) for e in train)
        samples = [(" – ".join(tables.name(graph, n) for n in pair), "edge") for pair in pairs]
    else:
        samples = [(tables.name(graph, e.content), e.target) for e in data.splits["train"][:SAMPLES]]
    shown = [{"file": _file(prepared), "row": 0, "content": display.short(content), "label": label} for content, label in samples]
    found = results.data_of(data, {"data": {}}, shown, prepared.plan.target)
    of_links = {"label_words": "none: a pair of nodes has an edge or not"} if graph.task == LINKS else {"enough": 0}
    counts = {"nodes": graph.nodes, "edges": graph.edges}
    return {**found, **of_links, "counts": counts, "rows": {name: len(numbers) for name, numbers in prepared.numbers.items()}}


def _described_model(delivered: Delivered, prepared: Prepared, out: Path) -> dict:
    plan, name = prepared.plan, delivered.candidate.name
    weights = "model.safetensors" if (out / "model" / "model.safetensors").exists() else stored.NAME
    found = {
        "kind": plan.kind.name, "base": name, "from_scratch": True, "gains_by_base": False,
        "parameters": delivered.parameters, "labels": list(plan.target.labels),
        "weights_sha256": files.sha256(out / "model" / weights),
    }  # fmt: skip
    return found


def _usage(delivered: Delivered, prepared: Prepared, out: Path) -> dict:
    """``usage`` of result.json."""
    plan, graph = prepared.plan, prepared.graph
    shape = plan.shape["model"] if (out / "model" / "model.safetensors").exists() else None
    of_links = plan.task == LINKS
    decoder = "" if not of_links or shape is None else "fused" if delivered.candidate.simple is not None else str(shape["decoder"])
    vectors = ", and a vector for each node" if shape is not None else ""
    found = {
        "snippet": plan.kind.snippet(plan.base.name, plan.task, out / "model"),
        "input": words.reads(shape, tuple(graph.columns), bool(graph.told.get("from_edges"))),
        "output": f"the probability of an edge between two nodes{vectors}" if of_links else "",
        "origin": words.origin(delivered.candidate, shape, decoder),
        "limits": words.limits(plan.task, "time" in (graph.told or {}) and prepared.links is not None and prepared.links.way == "time"),
    }
    return {name: told for name, told in found.items() if told}


def _about(section: dict, task: str) -> dict[str, dict]:
    """What is said of the files that only graphs have, by their paths."""
    found: dict[str, dict] = {
        "out/predicted_links.csv": {
            "title": "Predicted links",
            "text": "The likeliest new edges of each node, with their probabilities. They are guesses.",
        },
        "out/embeddings.parquet": {"title": "Embeddings", "text": "The id and the vector of every node, as a Parquet table.", "of_model": True},
    }
    if task == LINKS:
        found["out/predictions.csv"] = {"text": "Every test edge and as many random pairs, with their probabilities."}
    if not section["stored"]["delivered"]:
        found[f"out/model/{stored.NAME}"] = {"apart": True}
    return found
