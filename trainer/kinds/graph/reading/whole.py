"""The last steps of the reading: roles of the columns of nodes, labels, features, and the graph with everything that is told of it."""

from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute

from trainer.core.example import SPLITS
from trainer.data.checks import Checks
from trainer.data.columns import values
from trainer.errors import UserError, count, some
from trainer.kinds.graph import features, words
from trainer.kinds.graph.graph import CLASSES, LINKS, NUMBERS, Graph
from trainer.kinds.graph.reading import assemble, columns as columns_of, leaks, node_roles, refusals
from trainer.kinds.graph.reading.assemble import Edges
from trainer.kinds.graph.reading.loading import split_codes
from trainer.kinds.graph.reading.node_roles import NodeRoles
from trainer.kinds.graph.reading.raw import Nodes, Raw
from trainer.kinds.graph.reading_progress import ReadingProgress
from trainer.models.catalogue import Base

LONGEST_TEXT = 200  # characters of a node's text in the report


def graph(raw: Raw, settings, checks: Checks, work: Path, encoder: Base | None = None, progress: ReadingProgress | None = None) -> Graph:
    """The graph. ``encoder`` reads the texts of nodes and tells ``progress``. Raises UserError for a graph that nothing can be learnt from."""
    roles = node_roles.choose(raw.nodes, settings)
    edges = assemble.edges(raw, settings, checks)
    places = [columns_of.places(n.ids, edges.ids) for n in raw.nodes]
    labels = _labels(raw, roles, places, len(edges.ids), checks)
    described = _columns(raw, roles, places, len(edges.ids))
    if encoder is not None and not described.texts:
        raise UserError("no_texts", f"No column of the nodes has texts that {encoder.name} could read.", "Set model and text_encoder to nothing.")
    made = features.learn(described, roles.task == LINKS, settings.seed, work, encoder, progress)
    assemble.check(edges, roles.task, made.x is not None, checks)
    leaks.check(raw, roles, labels, edges, checks)
    _decide(raw, roles, edges, made, checks)
    given = assemble.given_splits(edges) if roles.task == LINKS else _given_nodes(raw, roles, places, labels, len(edges.ids))
    if edges.given is not None and given is None and roles.task == LINKS:
        checks.events.decision("split", "ignored", "The splits of the edges are ignored: no edge would be left for training.")
    files = (*raw.files, *(n.file for n in raw.nodes if n.file not in raw.files))
    return Graph(
        edges.ids, edges.source, edges.target, roles.task, edges.directed, edges.weight, edges.time, made.x, labels,
        _texts(raw, roles, places, len(edges.ids)), edges.left, given, ends=raw.ends, prefixes=raw.prefixes, columns=made.columns,
        label_column=roles.label[1] if roles.label else "", files=files, encoder=made.described, arrays=made.arrays, told=edges.told,
    )  # fmt: skip


def spread(cells: pyarrow.Array, places: numpy.ndarray, nodes: int) -> list[str]:
    """One cell for each node; empty where the table has no row for it."""
    known = places >= 0
    row_of = numpy.full(nodes, len(cells), numpy.int64)
    row_of[places[known]] = numpy.flatnonzero(known)
    padded = pyarrow.concat_arrays([cells.cast(pyarrow.large_string()), pyarrow.array([""], pyarrow.large_string())])
    return padded.take(pyarrow.array(row_of)).to_pylist()


def _labels(raw: Raw, roles: NodeRoles, places: list[numpy.ndarray], nodes: int, checks: Checks) -> tuple[str, ...] | None:
    if roles.label is None:
        return None
    table, column = roles.label
    cells = spread(raw.nodes[table].cells[column], places[table], nodes)
    if roles.task == NUMBERS:
        comma = values.uses_comma(cells[: values.SAMPLE])
        found = tuple("" if (n := values.number(c, comma)) is None else repr(n) for c in cells)
    else:
        found = tuple(map(values.label, cells))
    known = sum(map(bool, found))
    if roles.task != LINKS and known < refusals.MIN_LABELLED:
        raise refusals.few_labels(column, known, nodes)
    if roles.task == CLASSES and len(set(found) - {""}) < 2:
        raise UserError("one_class", f"All nodes have the same label in {column}, so there is nothing to predict.", "Choose another label_column.")
    if roles.task != LINKS and known < nodes:
        text = f"{count(nodes - known, 'node')} without a label: the model reads them as neighbours, and predicts their labels."
        checks.ok("unlabelled_nodes", text)
    return found


def _columns(raw: Raw, roles: NodeRoles, places: list[numpy.ndarray], nodes: int) -> features.Columns:
    """The columns of all tables, with an entry for each node."""
    found = features.Columns(nodes)
    for i, table in enumerate(raw.nodes):
        useless = node_roles.useless_numbers(table)
        for name, why in useless.items():
            roles.left.setdefault(why, []).append(name)
        if table.dense is not None and len(useless) < len(table.numbers):
            kept = [j for j, n in enumerate(table.numbers) if n not in useless]
            found.numbers.append((tuple(table.numbers[j] for j in kept), _rows(table, kept, places[i], nodes)))
        for (number, name), kind in roles.types.items():
            if number != i:
                continue
            cells = spread(table.cells[name], places[i], nodes)
            if kind == node_roles.CATEGORY:
                found.categories[name] = [c.strip() for c in cells]
            elif kind == node_roles.TEXT:
                found.texts[name] = cells
            else:
                vocabulary = sorted({w for c in cells for w in words.listed(c)})
                found.bags[name] = (words.of_lists(cells, vocabulary), tuple(vocabulary))
        if table.words is not None:
            found.bags[_word_name(table)] = (_word_rows(table, places[i], nodes), table.vocabulary)
    return found


def _word_name(table: Nodes) -> str:
    return table.file.rsplit("/", 1)[-1].split(".", 1)[0]


def _rows(table: Nodes, kept: list[int], places: numpy.ndarray, nodes: int) -> numpy.ndarray:
    """The numbers of all nodes; NaN where the table has no row. The array itself where its rows are the nodes."""
    dense = table.dense if len(kept) == table.dense.shape[1] else table.dense[:, kept]
    if len(places) == nodes and (places == numpy.arange(nodes)).all():
        return dense
    whole = numpy.full((nodes, len(kept)), numpy.nan, numpy.float32)
    known = places >= 0
    whole[places[known]] = dense[known]
    return whole


def _word_rows(table: Nodes, places: numpy.ndarray, nodes: int):
    from scipy import sparse

    known = numpy.flatnonzero(places >= 0)
    chosen = sparse.csr_matrix((numpy.ones(len(known), numpy.float32), (places[known], known)), (nodes, len(places)))
    return (chosen @ table.words).tocsr()


def _texts(raw: Raw, roles: NodeRoles, places: list[numpy.ndarray], nodes: int) -> tuple[str, ...] | None:
    if roles.title is None:
        return None
    table, column = roles.title
    return tuple(" ".join(t[: 4 * LONGEST_TEXT].split())[:LONGEST_TEXT] for t in spread(raw.nodes[table].cells[column], places[table], nodes))


def _given_nodes(raw: Raw, roles: NodeRoles, places: list[numpy.ndarray], labels, nodes: int) -> dict[str, numpy.ndarray] | None:
    """The numbers of the nodes of each split: by a column, or by columns of masks."""
    codes = numpy.full(nodes, -1, numpy.int8)
    if roles.split is not None:
        table, column = roles.split
        known = places[table] >= 0
        codes[places[table][known]] = split_codes(raw.nodes[table].cells[column])[known]
    for (table, column), split in roles.masks.items():
        said = numpy.array([c.strip().lower() in ("true", "1", "1.0", "yes") for c in raw.nodes[table].cells[column].to_pylist()])
        codes[places[table][said & (places[table] >= 0)]] = SPLITS.index(split)
    codes[numpy.array([not label for label in labels])] = -1
    if not (codes == 0).any():
        return None
    return {name: numpy.flatnonzero(codes == i) for i, name in enumerate(SPLITS) if (codes == i).any()}


def _decide(raw: Raw, roles: NodeRoles, edges: Edges, made: features.Features, checks: Checks) -> None:
    """Say what the data is taken for."""
    decide = checks.events.decision
    what = {LINKS: "link prediction", CLASSES: "node classification", NUMBERS: "node regression"}[roles.task]
    decide("task", roles.task, f"The task is {what}: {roles.why}.")
    decide("directed", edges.directed, f"The edges have {'a' if edges.directed else 'no'} direction: {edges.why}. Messages flow both ways.")
    if edges.told["time"]:
        use = "the newest are held out" if roles.task == LINKS else "nodes are predicted, so they are not used"
        decide("time", raw.time_column, f"The edges have times in {raw.time_column}: {use}.")
    left = "; ".join(f"{some(columns)} ({reason})" for reason, columns in roles.left.items())
    unread = f"; left out: {left}" if left else ""
    if made.x is None:
        source = "no features: the model learns from the edges alone"
        decide("columns", [], f"The nodes have {source}{unread}.")
    else:
        source = f"{count(made.x.shape[1], 'feature')} from {some(made.columns, 6)}"
        decide("columns", list(made.columns[:100]), f"The model reads {source}{unread}.")
    edges.told["feature_source"] = source
    for sentence in made.sentences:
        checks.ok("features", sentence)
