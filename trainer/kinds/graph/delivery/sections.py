"""The parts of the report that only graphs have: the graph, and what the model learnt of it."""

import math

from trainer.core import blocks
from trainer.core.blocks import DATA, RESULT, Axis, Block, Cell, Chart, Column, Rule, Section, Series
from trainer.data import ordered
from trainer.data.cut import TITLE, Cut
from trainer.errors import count, size_in_words
from trainer.kinds.graph.delivery import words
from trainer.kinds.graph.graph import LINKS
from trainer.kinds.graph.splits import LinkSplits
from trainer.measure.metric import Metric

_COLOURS = {
    "label": "A colour is a label. ",
    "community": "A colour is a community, which was found in the edges. ",
    "side": "A colour is one of the two sorts of nodes. ",
}
_EASY_PAIRS = (
    "AUC, average precision and accuracy compare the test edges with as many random pairs. Most random pairs have no common neighbour, "
    "so they are easy to tell, and these figures are too high. A pair that somebody has a reason to ask about is harder."
)
_GUESSES = (
    "Pairs without an edge in the data. Each is a guess, not a finding. "
    "Where nodes are people, it is a claim about persons: check it before you use it."
)

_NODES = "the scores stand for other nodes of this graph, and not for those of another one."


def graph(told: dict, task: str, dropped_apart: bool) -> Section:
    """What the graph of ``told`` is (see trainer.kinds.graph.delivery.figures)."""
    return Section(DATA, "Graph", [blocks.facts(words.facts(told, task, dropped_apart)), *_degrees(told["degrees"])])


def imitated(links: LinkSplits | None) -> Section:
    """What the test edges of ``links`` stand for; without them, the test nodes."""
    if links is None:
        text = "The test nodes are part of the graph that the model has seen, with their edges and without their labels: " + _NODES
    elif links.way == "given":
        text = Cut().imitates("edges")
    else:
        text = Cut(ordered.TIME if links.way == "time" else ordered.RANDOM).imitates("edges")
    known = f"{len(links.test) - links.unseen:,} of {len(links.test):,} test edges are between nodes that have training edges." if links else ""
    return Section(RESULT, TITLE, [blocks.text(text, *[known] * bool(known))])


def learnt(told: dict, task: str, metrics: dict[str, Metric]) -> Section:
    """What the model knows of the graph. ``metrics`` describe those of the target."""
    parts = [
        *([blocks.text(*_sentences(told))] if task == LINKS else []),
        *_picture(told.get("picture")),
        *_scores(told.get("scores")),
        *_by_degree(told.get("by_degree"), metrics),
        *_pairs(
            "Test edges that the model did not expect",
            "They may be wrong, or they say something that the other edges do not.",
            told.get("surprising"),
        ),
        *_pairs("Likely new edges", _GUESSES, told.get("likely")),
        *_files(told),
    ]
    return Section(RESULT, "What the model learnt of the graph", parts)


def _sentences(told: dict) -> list[str]:
    if not (candidates := told.get("candidates_per_source")):
        return [_EASY_PAIRS]
    ranked = told.get("ranked") or told["split"]["test"]
    subject = "The test edge was" if ranked == 1 else f"The {ranked:,} test edges were each"
    order = sum(1 / rank for rank in range(1, candidates + 2)) / (candidates + 1)
    return [
        f"{subject} ranked against {count(candidates, 'pair')} without an edge from the same source. MRR is the mean of 1 / rank: "
        f"1 puts every true target first, and a random order has about {order:.2g}. Pairs with equal scores share the mean of their ranks.",
        _EASY_PAIRS,
    ]


def _degrees(bins: dict) -> list[Block]:
    """How many nodes have how many edges. A bin of several degrees shows the nodes for each of them, so that its width does not matter."""
    points = []
    for low, high, n in zip(bins["edges"], bins["edges"][1:], bins["counts"]):
        if n:
            points.append((math.sqrt(low * max(low, high - 1)), n / max(1, high - low)))
    if not points:
        return []
    x, y = Axis("degree", log=True), Axis("nodes with this degree", log=True)
    most = f"{bins['edges'][-1] - 1:,}"
    summary = f"Nodes by their number of edges, on logarithmic axes; the largest number is at most {most}."
    return [blocks.chart("Edges of a node", Chart("dots", x, y, [Series(points)], summary))]


def _picture(picture: dict | None) -> list[Block]:
    if not picture or not picture["points"]:
        return []
    groups: dict[int, list] = {}
    for x, y, group in picture["points"]:
        groups.setdefault(group, []).append((x, y))
    names = picture["groups"]
    series = [Series(points, names[group] if 0 <= group < len(names) else "") for group, points in sorted(groups.items(), key=lambda g: g[0] % 1000)]
    note = _COLOURS.get(picture["grouped_by"], "") + "Near nodes are alike to the model."
    if picture["explained"]:
        note += f" The two directions have {100 * picture['explained']:.0f} % of the variance of the vectors."
    summary = f"{count(len(picture['points']), 'node')} by the two directions in which their vectors differ most; near nodes are alike to the model."
    drawn = Chart("dots", Axis(""), Axis(""), series, summary, same_unit=True, file="embedding")
    return [blocks.chart("Nodes as the model sees them", drawn, note=note)]


def _scores(scores: dict | None) -> list[Block]:
    if not scores or not scores["positive"]:
        return []
    rules = [Rule(scores["threshold"], "edge from here on")] if "threshold" in scores else []
    series = [Series(_outline(scores["edges"], scores[name]), title) for name, title in (("positive", "test edges"), ("negative", "random pairs"))]
    summary = "Share of the test edges and of random pairs without an edge by their score."
    if rules:
        summary += f" A pair is called an edge from {scores['threshold']:.3g} on."
    drawn = Chart("line", Axis("probability of an edge", zero=True), Axis("share", zero=True), series, summary, rules)
    return [blocks.chart("Scores of edges and of random pairs", drawn)]


def _outline(edges: list[float], counts: list[int]) -> list[tuple[float, float]]:
    """The line around the bars of a histogram whose heights are shares."""
    total = sum(counts)
    if not total:
        return []
    inner = [point for low, high, n in zip(edges, edges[1:], counts) for point in ((low, n / total), (high, n / total))]
    return [(edges[0], 0.0), *inner, (edges[-1], 0.0)]


def _by_degree(found: dict | None, metrics: dict[str, Metric]) -> list[Block]:
    if not found or len(found["rows"]) < 2:
        return []
    rows, title = found["rows"], metrics[found["metric"]].title
    points = [(i, r["value"]) for i, r in enumerate(rows)]
    ranges = [(i, r["low"], r["high"]) for i, r in enumerate(rows) if "low" in r and "high" in r]
    head = title[:1].upper() + title[1:]
    first, last = rows[0], rows[-1]
    summary = (
        f"{head} from {first['value']:.3g} ({first['from']:,} to {first['to']:,} edges) to {last['value']:.3g} ({last['from']:,} to {last['to']:,}), "
        "with 95 % intervals."
    )
    x = Axis("edges that the model sees, from", labels=[str(r["from"]) for r in rows])
    return [blocks.chart(f"{head} by the edges of a node", Chart("dots", x, Axis(title, zero=True), [Series(points, ranges=ranges)], summary))]


def _pairs(title: str, said: str, pairs: list[dict] | None) -> list[Block]:
    if not pairs:
        return []
    texts = any(p.get("source_text") or p.get("target_text") for p in pairs)
    columns = [Column("Source"), Column("Target"), Column("Probability"), *[Column("What the nodes are")] * texts]
    rows = []
    for p in pairs:
        both = " → ".join(filter(None, (p.get("source_text"), p.get("target_text"))))
        about = [Cell(both)] * texts
        rows.append([Cell(p["source"]), Cell(p["target"]), Cell(value=p["score"]), *about])
    return [blocks.table(title, columns, rows, text=[said])]


def _files(told: dict) -> list[Block]:
    said = []
    if (new := told.get("predicted_links")) and new["rows"]:
        of = "each node" if new["all_nodes"] else f"the {count(new['nodes'], 'node')} of the highest degree"
        said.append(
            f"predicted_links.csv has the {new['per_node']:,} likeliest new edges of {of}, with their probabilities; it has no edge of the data."
        )
    if vectors := told.get("embeddings"):
        of = count(vectors["rows"], "node")
        if vectors["delivered"]:
            said.append(f"embeddings.parquet has the vectors of {of}, {vectors['width']:,} numbers each ({size_in_words(vectors['bytes'])}).")
        else:
            said.append(f"The vectors of {of} ({size_in_words(vectors['bytes'])}) are not delivered. {vectors.get('why', '')}".strip())
    if (kept := told.get("stored")) and not kept["delivered"]:
        said.append(
            f"The graph beside the model ({size_in_words(kept['bytes'])}) stays with the registered version, because it is large: "
            "model.zip has only what was learnt. ncsa.ray.predict reads both, and an export by ncsa.ray.runs has both."
        )
    return [blocks.text(*said)] if said else []
