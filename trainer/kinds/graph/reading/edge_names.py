"""Names by which the columns of edges and nodes are recognised."""

import re

from trainer.data import names

# The two ends of an edge. The first group says a direction; the second does not.
_DIRECTED = (
    *names.EDGES[:4], ("source_id", "target_id"), ("source id", "target id"), ("from_id", "to_id"), ("from_node", "to_node"),
    ("fromnodeid", "tonodeid"), ("from_node_id", "to_node_id"), ("citing", "cited"), ("citing_id", "cited_id"), ("citing", "cites"),
    ("follower", "followee"), ("follower", "followed"), ("src_id", "dst_id"), ("source_node", "target_node"), ("tail", "head"),
    ("parent", "child"), ("sender", "receiver"), ("sender", "recipient"), ("origin", "destination"),
    ("source", "destination"), ("subject", "object"), ("caller", "callee"), ("head_id", "tail_id"), ("trustor", "trustee"),
)  # fmt: skip
_SYMMETRIC = (*names.EDGES[4:], ("node_a", "node_b"), ("gene_a", "gene_b"), ("protein_a", "protein_b"))
# id_1 and id_2, node1 and node2, author_a and author_b, node_1_id and node_2_id
_COUNTED_ID = re.compile(r"(.*?(?:node|id|vertex|user|gene|protein|paper|page|author|person|member|entity)s?)[_ ]?(1|2|a|b)([_ ]?id)?")
_ID = re.compile(r"[_ -]?ids?$")  # userId in lower case, too

_WHO = frozenset("user customer client buyer reader viewer listener member person patient visitor account author reviewer student player".split())
_WHAT = frozenset(
    "item product movie film book song track artist album article paper page group event restaurant business game drug disease "
    "gene course recipe venue video show brand tag skill project repository repo".split()
)
WEIGHTS = frozenset("weight weights w count counts n value strength frequency freq times score rating ratings sign num similarity amount".split())
TIMES = frozenset("time times timestamp timestamps date datetime year created created_at t ts unix_time unixtime epoch when day".split())
RELATIONS = frozenset("relation relations rel predicate edge_type edgetype relation_type relationship property".split())
TYPES = frozenset(("type", "edge type", "direction"))
DIRECTIONS = frozenset(("directed", "undirected"))
NODE_FILE = re.compile(r"node|vert(ex|ices)|feature|content|attribute|label|target|user|item|entit", re.IGNORECASE)
EDGE_FILE = re.compile(r"edge|link|cites|relation|rating|interaction|network|graph", re.IGNORECASE)


def pair(columns: list[str]) -> tuple[int, int] | None:
    """The places of the two ends of edges among columns in lower case, by their names; None without such names."""
    place = {name: i for i, name in reversed(list(enumerate(columns)))}
    for a, b in (*_DIRECTED, *_SYMMETRIC):
        if a in place and b in place:
            return place[a], place[b]
    for i, name in enumerate(columns):
        found = _COUNTED_ID.fullmatch(name)
        if found and found[2] in ("1", "a"):
            other = {"1": "2", "a": "b"}[found[2]]
            for j, second in enumerate(columns):
                again = _COUNTED_ID.fullmatch(second)
                if again and (again[1], again[2], again[3]) == (found[1], other, found[3]):
                    return i, j
    return sides(columns)


def plain(name: str) -> str:
    """The name of a column without what says that it holds ids: user for user_id."""
    return _ID.sub("", name.strip().lower()) or name.strip().lower()


def sides(columns: list[str]) -> tuple[int, int] | None:
    """The places of a column that names people and one that names things, such as user and item: the two sides of a bipartite graph."""
    short = [plain(name) for name in columns]
    who = next((i for i, name in enumerate(short) if name in _WHO), None)
    what = next((i for i, name in enumerate(short) if name in _WHAT), None)
    return None if who is None or what is None else (who, what)


def says_direction(a: str, b: str) -> bool | None:
    """Whether the names of the two ends say a direction; None if they tell nothing either way."""
    a, b = a.lower(), b.lower()
    if (a, b) in _SYMMETRIC or _COUNTED_ID.fullmatch(a):
        return False
    return True if (a, b) in _DIRECTED and (a, b) != ("source", "target") else None
