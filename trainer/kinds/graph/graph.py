"""One graph in memory: what the reading gives, and what everything else starts from."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow

LINKS, CLASSES, NUMBERS = TASKS = ("link-prediction", "node-classification", "node-regression")


@dataclass(frozen=True)
class Graph:
    """A graph whose nodes are numbered from 0. The number of a node is its position in ``ids``.

    Nodes are in the natural order of their ids, those of a bipartite graph first all sources and then all targets, so that the same
    data gives the same numbers whatever the order of its rows. Each edge is there once; edges are ordered by source and target. A graph
    has no loops. Where it is undirected, ``source < target`` holds for each edge. Messages flow in both directions in any case:
    ``directed`` only decides what a pair of nodes means.
    """

    ids: "pyarrow.Array"  # strings, each once
    source: np.ndarray  # int32, one entry for each edge
    target: np.ndarray  # int32
    task: str = LINKS  # one of TASKS
    directed: bool = False
    weight: np.ndarray | None = None  # float32, positive, one for each edge
    time: np.ndarray | None = None  # float64, one for each edge: seconds since 1970 for dates, else the numbers of the file
    x: np.ndarray | None = None  # float32 (nodes, features), perhaps a mapped file; None where nodes have no features
    labels: tuple[str, ...] | None = None  # one for each node, empty where it has none; for regression a number that float reads
    texts: tuple[str, ...] | None = None  # one for each node, shortened: shown to people, not read by the model
    left: int = 0  # of a bipartite graph the number of sources, which are the first nodes; 0 for any other graph
    given: dict[str, np.ndarray] | None = None  # split to numbers of edges, for LINKS, else to numbers of nodes, where the data has splits
    ends: tuple[str, str] = ("source", "target")  # the columns of both ends of the edges
    prefixes: tuple[str, str] = ("", "")  # what stands before the ids of each side of a bipartite graph whose files use some ids on both sides
    columns: tuple[str, ...] = ()  # the columns that ``x`` is made of
    label_column: str = ""
    files: tuple[str, ...] = ()
    encoder: dict = field(default_factory=dict)  # JSON: how ``x`` is made of the columns of a new node; see trainer/kinds/graph/features.py
    arrays: dict[str, np.ndarray] = field(default_factory=dict)  # what ``encoder`` refers to by name
    # JSON, for the report: the counts read, loops, duplicates, reversed, unknown_nodes, negative, isolated, components and
    # largest_component; reciprocity (0 to 1), feature_source (a sentence), and time: {column, from, to} or None.
    told: dict = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        return len(self.ids)

    @property
    def edges(self) -> int:
        return len(self.source)
