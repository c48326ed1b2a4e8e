"""What the readers of all formats give: edges with identifiers, and tables of nodes. ``assemble`` makes the graph of it."""

from dataclasses import dataclass, field
from typing import Any

import numpy
import pyarrow

from trainer.kinds.graph.reading.columns import Ids


@dataclass
class Nodes:
    """A table of nodes: one row for each, perhaps not for all. All its columns have the rows of ``ids``."""

    file: str
    ids: pyarrow.Array  # strings
    cells: dict[str, pyarrow.Array] = field(default_factory=dict)  # texts; a gap is empty
    numbers: tuple[str, ...] = ()  # the columns of ``dense``
    dense: numpy.ndarray | None = None  # float32 (rows, numbers); NaN is a gap
    words: Any = None  # scipy.sparse.csr_matrix of float32 (rows, vocabulary)
    vocabulary: tuple[str, ...] = ()
    side: int | None = None  # of a bipartite graph, the end that the table describes: 0 or 1; None where it describes both


@dataclass
class Raw:
    """A graph as its files say it, with loops, duplicates, and edges of unknown nodes."""

    files: tuple[str, ...]
    source: Ids
    target: Ids
    ends: tuple[str, str] = ("source", "target")  # the names of both columns
    weight: numpy.ndarray | None = None  # float64; NaN where it is missing
    time: numpy.ndarray | None = None  # float64; NaN where it is missing
    time_column: str = ""
    given: numpy.ndarray | None = None  # int8, the split of each edge as a place in SPLITS; -1 where it has none
    directed: bool | None = None  # None where nothing says so
    direction: str = ""  # why, as the end of a sentence
    bipartite: bool = False
    prefixes: tuple[str, str] = ("", "")  # before the ids of each side, where both have some ids
    nodes: list[Nodes] = field(default_factory=list)
    bad: int = 0  # rows that are not readable
    notes: list[str] = field(default_factory=list)
