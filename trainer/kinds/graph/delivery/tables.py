"""The tables that a training on a graph hands over: predictions.csv and predicted_links.csv."""

from collections.abc import Iterator

import numpy

from trainer.export import display
from trainer.kinds.graph.delivery.chances import Chance
from trainer.kinds.graph.delivery.likeliest import Links
from trainer.kinds.graph.graph import Graph
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.negatives import Negatives
from trainer.measure.predictions import Predictions
from trainer.targets import promise
from trainer.targets.classes import Classes
from trainer.targets.target import Target

SHOWN = 10  # pairs in a report


def of_links(graph: Graph, against: Negatives, answers: LinkAnswers, chance: Chance, threshold: float) -> str:
    """predictions.csv of a link model: each test edge with its rank among the candidates, and then its random pair, which is no edge."""
    head = ["source", "target", "edge", "probability", "predicted", "rank", "candidates"]
    return display.table(head, _link_lines(graph, against, answers, chance, threshold))


def _link_lines(graph: Graph, against: Negatives, answers: LinkAnswers, chance: Chance, threshold: float) -> Iterator[list]:
    positive, negative = chance.of(answers.positive), chance.of(answers.negative)
    for i in range(len(answers)):
        ends = _ids(graph, against.source[i], against.target[i])
        yield [*ends, "yes", f"{positive[i]:.4f}", _said(answers.positive[i], threshold), f"{answers.ranks[i]:g}", answers.candidates]
        yield [*_ids(graph, *against.pairs[i]), "no", f"{negative[i]:.4f}", _said(answers.negative[i], threshold), "", ""]


def of_nodes(graph: Graph, nodes: numpy.ndarray, target: Target, answers: Predictions) -> str:
    """predictions.csv of a model of nodes: one line for each test node."""
    texts, classifies = graph.texts is not None, isinstance(target, Classes)
    beside = promise.columns(target, answers.probabilities if classifies else answers.predicted)
    head = ["id", *["text"] * texts, "label", "predicted", *["confidence", "probability of label"] * classifies, *beside]
    rows = []
    for i, node in enumerate(nodes):
        line = [*_ids(graph, node), *([display.short(text(graph, node))] if texts else []), (graph.labels or ())[node]]
        line.append(target.text(answers.predicted[i]))
        if classifies and answers.confidence is not None and answers.likelihood is not None:
            line += [f"{answers.confidence[i]:.4f}", f"{answers.likelihood[i]:.4f}"]
        rows.append([*line, *(cells[i] for cells in beside.values())])
    return display.table(head, rows)


def of_new_links(graph: Graph, found: Links, chance: Chance) -> str:
    """predicted_links.csv: the likeliest new links of each node, the best first."""
    texts = graph.texts is not None
    head = ["source", "target", "rank", "probability", *["source text", "target text"] * texts]
    return display.table(head, _new_lines(graph, found, chance, texts))


def _new_lines(graph: Graph, found: Links, chance: Chance, texts: bool) -> Iterator[list]:
    probabilities = chance.of(found.scores)
    for i, source in enumerate(found.source):
        for place, target in enumerate(found.targets[i]):
            if target < 0:
                break
            more = [display.short(text(graph, source)), display.short(text(graph, target))] if texts else []
            yield [*_ids(graph, source, target), place + 1, f"{probabilities[i, place]:.4f}", *more]


def surprising(graph: Graph, against: Negatives, answers: LinkAnswers, chance: Chance) -> list[dict]:
    """The test edges with the lowest scores."""
    order = numpy.argsort(answers.positive, kind="stable")[:SHOWN]
    return [_pair(graph, against.source[i], against.target[i], chance.of(answers.positive[i])) for i in order]


def likely(graph: Graph, found: Links, chance: Chance) -> list[dict]:
    """The likeliest of all new links, each pair of nodes once."""
    flat = numpy.argsort(-found.scores, axis=None, kind="stable")
    pairs: dict[tuple[int, int], dict] = {}
    width = found.targets.shape[1]
    for place in flat[: 4 * SHOWN]:
        source, target = int(found.source[place // width]), int(found.targets.flat[place])
        if target >= 0 and len(pairs) < SHOWN:
            pairs.setdefault((min(source, target), max(source, target)), _pair(graph, source, target, chance.of(found.scores.flat[place])))
    return list(pairs.values())


def text(graph: Graph, node) -> str:
    """What is shown of a node beside its id."""
    return (graph.texts or ())[int(node)] if graph.texts is not None else ""


def name(graph: Graph, node) -> str:
    """The id of a node, with its text where it has one."""
    more = text(graph, node)
    return f"{graph.ids[int(node)].as_py()}: {more}" if more else graph.ids[int(node)].as_py()


def _pair(graph: Graph, source, target, probability) -> dict:
    one, other = (display.short(i) for i in _ids(graph, source, target))
    found = {"source": one, "target": other, "score": round(float(probability), 6)}
    more = {"source_text": display.short(text(graph, source)), "target_text": display.short(text(graph, target))}
    return {**found, **{name: value for name, value in more.items() if value}}


def _ids(graph: Graph, *nodes) -> list[str]:
    return [graph.ids[int(node)].as_py() for node in nodes]


def _said(score: float, threshold: float) -> str:
    return "yes" if score >= threshold else "no"
