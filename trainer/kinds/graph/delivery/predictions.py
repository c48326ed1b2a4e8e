"""The results of questions to a model of links: probabilities of pairs, or the likeliest new links of nodes."""

from collections.abc import Iterator

import numpy

from trainer.errors import count
from trainer.export import Asking, display, results
from trainer.kinds.graph import links as measured
from trainer.kinds.graph.asking.prepared import Prepared
from trainer.kinds.graph.asking.questions import Questions
from trainer.kinds.graph.delivery import chances, stored
from trainer.measure.histogram import histogram
from trainer.measure.metric import described as metric_info
from trainer.run_folder import files

SAMPLES = 20


def facts(asked: Questions, ready: Prepared, described: dict, per_node: int = 0) -> dict[str, str]:
    """What was asked, and what is known of the nodes, in words."""
    question = "the label of each node"
    if asked.asked == "pairs":
        question = "whether two nodes have an edge"
        if described["graph"].get("chance"):
            threshold = chances.restored(described["graph"]["chance"]).of(numpy.asarray(float(described["graph"]["threshold"])))
            question += f": yes from a probability of {float(threshold):.3g} on"
    elif per_node:
        question = f"the {per_node:,} likeliest new edges of each node"
    alone = f"{count(ready.alone, 'new node')}: only the features of these nodes were used" if ready.alone else ""
    left = f"{count(ready.unknown, 'row')} with an id that the trained graph does not have" if ready.unknown else ""
    return {
        "Question": question,
        "Known nodes": f"{ready.known:,} of the trained graph, {count(ready.new, 'new node')}",
        "Edges of new nodes": f"{ready.edges:,}" if ready.edges else "",
        "Without an edge": alone,
        "Left out": left,
    }


def links(asking: Asking, asked: Questions, ready: Prepared, outputs: numpy.ndarray, versions: dict) -> None:
    """Write predictions.csv and result.json. ``outputs`` are scores of pairs, or targets and then scores of each node."""
    spec, settings, model = asking.spec, asking.settings, asking.model
    described = model.description
    chance, threshold = chances.restored(described["graph"]["chance"]), float(described["graph"]["threshold"])
    (spec.work / results.OUT).mkdir()
    per_node = 0
    if asked.asked == "pairs":
        probabilities = chance.of(outputs)
        lines, samples = _pairs(asked, ready, probabilities, outputs >= threshold), _pair_samples(asked, ready, probabilities, outputs >= threshold)
        head = ["file", "row", "source", "target", "probability", "predicted", "known", *["label"] * (_truth(asked, ready) is not None)]
    else:
        per_node = settings.top_k
        k = outputs.shape[1] // 2
        targets, probabilities = outputs[:, :k].astype(numpy.int64), chance.of(outputs[:, k:])
        names = stored.load(ready.graph).ids
        lines, samples = _links(asked, ready, targets, probabilities, names), _link_samples(asked, ready, targets, probabilities, names)
        probabilities = probabilities[targets >= 0]
        head = ["file", "row", "source", "rank", "target", "probability"]
    files.write_text(spec.work / results.OUT / "predictions.csv", display.table(head, lines))
    scores: dict = {}
    if (truth := _truth(asked, ready)) is not None:
        column = next(p.label for p in asked.pairs if p.label)
        told = truth >= 0
        right = measured.of_pairs(numpy.asarray(outputs, numpy.float64)[told], truth[told], threshold, settings.seed)
        scores = {"label_column": column, "scores": right}
    columns = [c for p in asked.pairs for c in p.ends] + [n.id for n in asked.nodes]
    found = {
        "model": {"run": model.version.run, "name": model.version.name, "version": model.version.version, "base": described["base"], "labels": []},
        "unit": "pair" if asked.asked == "pairs" else "node",
        "rows": len(ready.source),
        "skipped": asked.skipped + ready.unknown,
        "files": results.first(asked.files),
        "input_columns": results.columns(dict.fromkeys(columns)),
        "values": histogram(probabilities, unit="probability"),
        "facts": [{"name": name, "value": value} for name, value in facts(asked, ready, described, per_node).items() if value],
        **scores,
        "trained_scores": described["test"],
        "samples": samples,
    }
    results.finish(
        spec, settings, "prediction", described["task"], asking.events, asking.began,
        prediction=found, versions=versions, metric_info=metric_info(measured.DESCRIBED),
    )  # fmt: skip


def _pairs(asked: Questions, ready: Prepared, probabilities: numpy.ndarray, edges: numpy.ndarray) -> Iterator[list]:
    known, truth = _known(ready), _truth(asked, ready)
    for i, (table, row) in enumerate(_rows(asked.pairs, ready)):
        said = ["yes" if edges[i] else "no", "yes" if known[i] else "no", *([] if truth is None else [("no", "yes", "")[truth[i]]])]
        yield [table.head.name, int(table.rows[row]), table.source[row], table.target[row], f"{probabilities[i]:.4f}", *said]


def _pair_samples(asked: Questions, ready: Prepared, probabilities: numpy.ndarray, edges: numpy.ndarray) -> list[dict]:
    found = []
    for (table, row), probability, edge in zip(_rows(asked.pairs, ready), probabilities[:SAMPLES], edges):
        content = display.short(f"{table.source[row]} – {table.target[row]}")
        answer = {"predicted": "edge" if edge else "no edge", "confidence": round(float(probability), 4)}
        found.append({"file": table.head.name, "row": int(table.rows[row]), "content": content, **answer})
    return found


def _links(asked: Questions, ready: Prepared, targets: numpy.ndarray, probabilities: numpy.ndarray, names) -> Iterator[list]:
    for i, (table, row) in enumerate(_rows(asked.nodes, ready)):
        for place, target in enumerate(targets[i].tolist()):
            if target >= 0:
                yield [table.head.name, int(table.rows[row]), table.ids[row], place + 1, names[target].as_py(), f"{probabilities[i, place]:.4f}"]


def _link_samples(asked: Questions, ready: Prepared, targets: numpy.ndarray, probabilities: numpy.ndarray, names) -> list[dict]:
    found = []
    for (table, row), some, chance in zip(_rows(asked.nodes, ready), targets[:SAMPLES], probabilities):
        there = [(names[t].as_py(), float(p)) for t, p in zip(some.tolist(), chance) if t >= 0]
        predicted = display.short(", ".join(f"{name} ({p:.2f})" for name, p in there) or "none")
        sure = {"confidence": round(there[0][1], 4)} if there else {}
        content = display.short(table.ids[row])
        found.append({"file": table.head.name, "row": int(table.rows[row]), "content": content, "predicted": predicted, **sure})
    return found


def _truth(asked: Questions, ready: Prepared) -> numpy.ndarray | None:
    """Which of the answered pairs are edges as the tables say it: 1 or 0, -1 where they say nothing; None without such a column."""
    if not any(p.edges is not None for p in asked.pairs):
        return None
    parts = [numpy.full(len(rows), -1, numpy.int8) if p.edges is None else p.edges[rows] for p, rows in zip(asked.pairs, ready.kept)]
    return numpy.concatenate(parts).astype(numpy.int64)


def _rows(tables, ready: Prepared) -> Iterator[tuple]:
    """The table and the row in it of each answer."""
    return ((table, row) for table, rows in zip(tables, ready.kept) for row in rows.tolist())


def _known(ready: Prepared) -> numpy.ndarray:
    """Which pairs are edges of the trained graph, in either direction."""
    assert ready.target is not None
    graph = stored.load(ready.graph)
    ends = numpy.unique(ready.source)
    degrees = graph.indptr[ends + 1] - graph.indptr[ends]
    places = numpy.arange(int(degrees.sum())) + numpy.repeat(graph.indptr[ends] - numpy.cumsum(degrees) + degrees, degrees)
    keys = numpy.repeat(ends.astype(numpy.int64), degrees) * graph.nodes + graph.indices[places]
    return numpy.isin(ready.source.astype(numpy.int64) * graph.nodes + ready.target, keys)
