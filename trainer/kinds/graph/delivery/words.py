"""A graph and how it was split, in words for the report."""

from trainer.errors import count, size_in_words
from trainer.kinds.graph.graph import LINKS

_ALIKE, _DIFFERENT = 0.7, 0.3  # shares of edges within a label from which neighbours tell much, and up to which they tell little
_DROPPED = {
    "loops": "from a node to itself",
    "duplicates": "given twice",
    "reversed": "given in both directions",
    "unknown": "of nodes that the file of nodes does not have",
}
_WAYS = {"random": "at random", "time": "by time", "given": "as the data says"}


def facts(told: dict, task: str, dropped_apart: bool) -> dict[str, str]:
    """What the graph of ``told`` is (see trainer.kinds.graph.delivery.figures). ``dropped_apart`` says that the report has the dropped edges."""
    return {
        "Nodes": _nodes(told),
        "Edges": _edges(told),
        "Parts": _parts(told),
        "Dropped": "" if dropped_apart else "; ".join(f"{count(told[n], 'edge')} {how}" for n, how in _DROPPED.items() if told.get(n)),
        "Features": _features(told),
        "Labels of neighbours": _homophily(told),
        "Held out": _split(told["split"], task),
        "Time": _time(told),
        "Memory": _memory(told.get("memory") or {}),
    }


def _have(number: int) -> str:
    return " has " if number == 1 else " have "


def _nodes(told: dict) -> str:
    words = f"{told['nodes']:,}"
    if sides := told.get("bipartite"):
        words += f" of two sorts: {sides['sources']:,} (sources) and {sides['targets']:,} (targets)"
    if told["isolated"]:
        words += f", of which {told['isolated']:,}{_have(told['isolated'])}no edge"
    return words


def _edges(told: dict) -> str:
    words = f"{told['edges']:,} with{'' if told['directed'] else 'out'} a direction" + ", with weights" * told["weighted"]
    if told["directed"] and "reciprocity" in told:
        words += f"; {100 * told['reciprocity']:.0f} % are there in the other direction, too"
    return words


def _parts(told: dict) -> str:
    if not told["components"]:
        return ""
    share = 100 * told["largest_component"] / max(1, told["nodes"])
    return f"{count(told['components'], 'connected part')}; the largest has {share:.0f} % of the nodes"


def _features(told: dict) -> str:
    source = told.get("feature_source", "")
    if not told["features"]:
        return source or "none: the edges alone tell nodes apart"
    return source or f"{told['features']:,} for each node"


def _homophily(told: dict) -> str:
    if "homophily" not in told:
        return ""
    share = told["homophily"]
    words = f"{100 * share:.0f} % of the edges join nodes with the same label"
    if share >= _ALIKE:
        return words + ": neighbours say much about a label"
    return words + (": neighbours say little about a label" if share <= _DIFFERENT else "")


def _split(split: dict, task: str) -> str:
    if not split["supervision"]:
        return ""
    of_links = task == LINKS
    words = f"{count(split['validation'], 'edge' if of_links else 'node')} for validation and {split['test']:,} for the test, {_WAYS[split['by']]}"
    if of_links:
        words += "; no node sees a held-out edge, in either direction. The model looks along " + count(split["messages"], "training edge")
    else:
        words += "; all edges are seen, and the labels of held-out nodes are not"
    if unseen := split.get("unseen_nodes"):
        words += f"; {count(unseen, 'node')} of test edges{_have(unseen)}no training edge"
    return words


def _time(told: dict) -> str:
    if not (time := told.get("time")):
        return ""
    return f"{time['column']}: training before {time['validation_from']}, validation before {time['test_from']}, test up to {time['to']}"


def _memory(memory: dict) -> str:
    parts = {
        "files_bytes": "{} of graph, shared by the workers of a machine",
        "estimate_bytes": "estimated {} in all",
        "peak_bytes": "the largest worker had {}",
    }
    return "; ".join(words.format(size_in_words(memory[name])) for name, words in parts.items() if memory.get(name))


def origin(delivered, shape: dict | None, decoder: str) -> str:
    """What the delivered model is made of. ``delivered`` is a ComparedModel; ``shape`` is the network that it needs, None for none."""
    if shape is None:
        return f"{delivered.title}, fitted to this data alone"
    network = (
        f"{delivered.base or 'a network'} with {count(shape['layers'], 'layer')} of {shape['hidden']:,} units, "
        f"{shape['aggregation']} of the neighbours"
        f"{f', decoder {decoder}' if decoder else ''}, trained from random weights"
    )
    return network if delivered.simple is None else f"{delivered.title}; {network}"


def reads(shape: dict | None, columns: tuple[str, ...], from_edges: bool) -> str:
    """What the model takes."""
    if shape is None:
        return "a graph: nodes with their neighbours"
    what = "a learnt vector for each node; it cannot answer for nodes that it has not seen"
    if shape["width"] and not from_edges:
        named = f", from the columns {', '.join(columns[:30])}" if columns else ""
        what = f"{count(shape['width'], 'number')} for each node{named}"
    return f"a graph: nodes with their neighbours up to {count(shape['layers'], 'step')} away, and {what}"


def limits(task: str, by_time: bool) -> list[str]:
    """What the model card adds for links, which are guesses."""
    if task != LINKS:
        return []
    said = ["A predicted edge is a guess from the pattern of the known edges, not a finding.", "Where nodes are people, it is a claim about persons."]
    return said if by_time else [*said, "The test edges were drawn at random: edges of the future may be harder to predict."]
