"""Graphs as networkx and D3 write them to JSON: an object with a list of nodes and a list of links."""

import json

from trainer.core.input import Input
from trainer.data.formats import tables
from trainer.data.formats.decode import NotText, decode
from trainer.kinds.graph.reading import markup, refusals
from trainer.kinds.graph.reading.raw import Raw

_LINKS = ("links", "edges")
_HEAD = 1 << 16


def may_be(source: Input) -> bool:
    """Whether the beginning of a JSON object names nodes or links, or says whether a graph is directed."""
    try:
        with open(source.file, "rb") as f:
            head = f.read(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    keys = (b'"nodes"', b'"links"', b'"edges"')
    found = sum(k in head for k in keys) > 1 or (any(k in head for k in keys) and (b'"directed"' in head or len(head) + 3 >= _HEAD))
    return head.startswith(b"{") and found


def node_link(source: Input, settings, checks, work) -> Raw:
    """Links name their ends by id, or where no id is, by the place of the node."""
    try:
        value = json.loads(decode(tables.content(source), settings.encoding)[0])
    except (ValueError, RecursionError, NotText) as e:
        raise refusals.unreadable(source.name, "JSON", "is not well formed") from e
    value = value.get("graph", value) if isinstance(value, dict) and "nodes" not in value else value
    links = next((value[k] for k in _LINKS if isinstance(value.get(k), list)), None) if isinstance(value, dict) else None
    nodes = value.get("nodes") if isinstance(value, dict) else None
    if links is None or not isinstance(nodes, list):
        raise refusals.unreadable(source.name, "JSON", "has no list of nodes and no list of links")
    if len(links) > markup.MAX_EDGES:
        raise refusals.too_large(source.name, len(links), markup.MAX_EDGES, "JSON")
    named = [_node(n, i) for i, n in enumerate(nodes)]
    known = {n for n, _ in named}
    edges = [one for link in links if (one := _link(link, named, known)) is not None]
    found = markup.from_objects(source.name, named, edges, value.get("directed") is True, "JSON", settings)
    found.bad = len(links) - len(edges)
    if "directed" not in value:
        found.directed = None
    return found


def _node(node, place: int) -> tuple[str, dict]:
    if not isinstance(node, dict):
        return _text(node), {}
    key = next((k for k in ("id", "key", "name") if k in node), None)
    rest = {k: v for k, v in node.items() if k != key}
    attributes = rest.pop("attributes", {})
    return (str(place) if key is None else _text(node[key])), {**rest, **(attributes if isinstance(attributes, dict) else {})}


def _text(value) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _link(link, nodes: list[tuple[str, dict]], known: set[str]) -> tuple[str, str, dict] | None:
    if isinstance(link, list) and len(link) in (2, 3):
        link = dict(zip(("source", "target", "weight"), link))
    if not isinstance(link, dict) or "source" not in link or "target" not in link:
        return None
    ends = []
    for value in (link["source"], link["target"]):
        value = value.get("id") if isinstance(value, dict) else value
        text = _text(value)
        if text not in known and isinstance(value, int) and 0 <= value < len(nodes):
            text = nodes[value][0]
        ends.append(text)
    return ends[0], ends[1], {k: v for k, v in link.items() if k not in ("source", "target")}
