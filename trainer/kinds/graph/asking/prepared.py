"""From questions to numbers of nodes: those of the trained graph, and new ones with their features and edges."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy

from trainer.config.spec import Spec
from trainer.errors import UserError, count, some
from trainer.kinds.graph.asking import extended
from trainer.kinds.graph.asking.questions import Nodes, Pairs, Questions
from trainer.kinds.graph.delivery import encoders
from trainer.kinds.graph.delivery.stored import Stored
from trainer.kinds.graph.reading_progress import ReadingProgress


@dataclass(frozen=True)
class Prepared:
    """``source`` and ``target`` are the numbers of the ends of the pairs, or ``source`` those of the nodes; ``kept`` are the rows of the
    tables that can be answered. ``graph`` is the file with the stored graph and the new nodes."""

    graph: Path
    source: numpy.ndarray
    target: numpy.ndarray | None
    kept: list[numpy.ndarray]  # of each table
    known: int
    new: int
    alone: int
    edges: int
    unknown: int


def make(asked: Questions, known: Stored, file: Path, model: Path, described: dict, work: Path, events, spec: Spec) -> Prepared:
    """The numbers of all nodes that are asked about. Raises UserError if nothing can be answered."""
    left = int(described["graph"]["left"])
    asked = _with_prefixes(asked, known, described["graph"].get("prefixes"))
    ids, cells = _new_nodes(asked.nodes, known)
    added = _Added(known, ids, left)
    if ids and not described["graph"]["encoder"].get("parts"):
        added = _Added(known, [], left)
        text = f"{count(len(ids), 'node')} {'is' if len(ids) == 1 else 'are'} new."
        text += " The model reads no features and knows nodes by their edges in the training,"
        if len(ids) == len({i for n in asked.nodes for i in n.ids}):
            raise UserError(
                "new_nodes", f"{text} so it cannot answer for other nodes.", "Ask about nodes of the training data, or train a model with features."
            )
        events.warning("new_nodes", f"{text} so these are left out.")
    ends = [(added.numbers(p.source, 0), added.numbers(p.target, 1)) for p in asked.edges]
    edges = numpy.concatenate([numpy.stack(e) for e in ends], axis=1) if ends else numpy.zeros((2, 0), numpy.int64)
    edges = edges[:, (edges >= 0).all(axis=0) & ((edges >= known.nodes).any(axis=0))]
    where = file
    if added.ids:
        x = encoders.features(
            model, described["graph"]["encoder"], cells, len(added.ids), spec.models, ReadingProgress(events, spec.folder, spec.work)
        )
        where = work / "graph.safetensors"
        extended.write(where, known, added.ids, x, edges[0], edges[1])
    joined = numpy.zeros(len(added.ids), bool)
    joined[edges[edges >= known.nodes] - known.nodes] = True
    tables: list[Pairs] | list[Nodes] = asked.pairs or asked.nodes
    found = [(added.numbers(t.source, 0), added.numbers(t.target, 1)) if isinstance(t, Pairs) else (added.numbers(t.ids, 0),) for t in tables]
    kept = [numpy.flatnonzero(numpy.all([n >= 0 for n in numbers], axis=0)) for numbers in found]
    columns = [numpy.concatenate([numbers[i][rows] for numbers, rows in zip(found, kept)]) for i in range(len(found[0]))]
    unknown = sum(len(numbers[0]) - len(rows) for numbers, rows in zip(found, kept))
    _check(unknown, sum(map(len, kept)), tables, kept, events)
    seen = numpy.unique(numpy.concatenate(columns))
    return Prepared(
        where, columns[0], columns[1] if len(columns) > 1 else None, kept, int((seen < known.nodes).sum()), int((seen >= known.nodes).sum()),
        int((~joined).sum()), edges.shape[1], unknown,
    )  # fmt: skip


def _with_prefixes(asked: Questions, known: Stored, prefixes) -> Questions:
    """The same questions with the ids of a bipartite graph as the model knows them: files write user 7 and item 7 both as 7."""
    if not (isinstance(prefixes, list) and len(prefixes) == 2 and all(isinstance(p, str) and p for p in prefixes)):
        return asked

    def named(ids: list[str], side: int) -> list[str]:
        longer = [prefixes[side] + i for i in ids]
        return [new if there else old for old, new, there in zip(ids, longer, known.numbers(longer) >= 0)]

    def pairs(tables: list[Pairs]) -> list[Pairs]:
        return [replace(p, source=named(p.source, 0), target=named(p.target, 1)) for p in tables]

    return replace(asked, pairs=pairs(asked.pairs), edges=pairs(asked.edges), nodes=[replace(n, ids=named(n.ids, 0)) for n in asked.nodes])


class _Added:
    """The numbers of nodes by their ids: those of the trained graph, and then new ones."""

    def __init__(self, known: Stored, ids: list[str], left: int):
        self.known, self.ids, self.left = known, ids, left
        self._places = {text: known.nodes + i for i, text in enumerate(ids)}

    def numbers(self, ids: list[str], side: int) -> numpy.ndarray:
        """The number of each id, -1 for an unknown one. In a bipartite graph, ids of both sides may be the same."""
        found = self.known.numbers(ids, *((0, self.left), (self.left, None))[side]) if self.left else self.known.numbers(ids)
        for i in numpy.flatnonzero(found < 0):
            found[i] = self._places.get(ids[i], -1)
        return found


def _new_nodes(tables: list[Nodes], known: Stored) -> tuple[list[str], dict[str, list[str]]]:
    """The ids of the tables that the trained graph lacks, each once, and their columns; a column that a table lacks is empty."""
    ids: dict[str, tuple[int, int]] = {}
    for number, table in enumerate(tables):
        missing = numpy.flatnonzero(known.numbers(table.ids) < 0)
        for row in missing.tolist():
            ids.setdefault(table.ids[row], (number, row))
    names = dict.fromkeys(name for table in tables for name in table.cells)
    cells = {
        name: [tables[number].cells[name][row].as_py() if name in tables[number].cells else "" for number, row in ids.values()] for name in names
    }
    return list(ids), cells


def _check(unknown: int, answered: int, tables, kept: list[numpy.ndarray], events) -> None:
    """Tell the rows with ids that nothing is known of. Raises UserError if these are all rows."""
    if not unknown:
        return
    table, rows = next((t, r) for t, r in zip(tables, kept) if len(r) < len(t.rows))
    first = int(numpy.setdiff1d(numpy.arange(len(table.rows)), rows)[0])
    texts = [table.source[first], table.target[first]] if isinstance(table, Pairs) else [table.ids[first]]
    what = f"{count(unknown, 'row')} {'has' if unknown == 1 else 'have'} ids that the trained graph does not have, for example {some(texts)}."
    if not answered:
        raise UserError(
            "unknown_nodes", f"No row can be answered: {what}", "Write the ids as in the training data, with their zeros at the beginning. "
            "Describe new nodes in a table with their features, and add their edges.",
        )  # fmt: skip
    events.warning("unknown_nodes", f"{what} These rows are left out.")
