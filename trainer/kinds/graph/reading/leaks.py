"""Columns of the nodes that give the label away."""

import numpy
import pyarrow

from trainer.data.checks import Checks
from trainer.kinds.graph.graph import LINKS, NUMBERS
from trainer.kinds.graph.reading import columns as columns_of
from trainer.kinds.graph.reading.assemble import Edges
from trainer.kinds.graph.reading.node_roles import CATEGORY, NodeRoles
from trainer.kinds.graph.reading.raw import Nodes, Raw

SAME = 0.99  # share of the labelled nodes whose label a column says
MIN_NODES = 20
_SAMPLE = 1000


def check(raw: Raw, roles: NodeRoles, labels: tuple[str, ...] | None, edges: Edges, checks: Checks) -> None:
    """Warn of features that are the label under another name."""
    if roles.task == LINKS or labels is None:
        return
    found = []
    for i, table in enumerate(raw.nodes):
        places = columns_of.places(table.ids, edges.ids)
        mine = numpy.array([labels[p] if p >= 0 else "" for p in places.tolist()], object)
        known = mine != ""
        if known.sum() < MIN_NODES:
            continue
        found += _same(table, roles, i, mine, known)
    if found:
        verb = "say" if len(found) > 1 else "says"
        text = f"{', '.join(found[:6])} {verb} nearly the same as the label {roles.label[1]}: if it is not known beforehand, remove it."
        checks.warning("feature_is_label", text)
    else:
        checks.ok("feature_is_label", "No column of the nodes says the same as the label.")


def _same(table: Nodes, roles: NodeRoles, number: int, labels: numpy.ndarray, known: numpy.ndarray) -> list[str]:
    """The columns from whose value the label follows."""
    found = []
    for (i, name), kind in roles.types.items():
        if i == number and kind == CATEGORY:
            cells = table.cells[name].filter(pyarrow.array(known)).dictionary_encode()
            if _follows(numpy.asarray(cells.indices), labels[known]):
                found.append(name)
    classes = len(set(labels[known]))
    for j, name in enumerate(table.numbers):
        column = numpy.asarray(table.dense[:, j])[known]
        if len(set(column[:_SAMPLE].tolist())) < min(classes, _SAMPLE // 2):
            continue  # too few values to tell the labels
        if roles.task == NUMBERS:
            target = labels[known].astype(float)
            same = numpy.isfinite(column).all() and column.std() > 0 and abs(numpy.corrcoef(column, target)[0, 1]) > 0.9999
        else:
            values, codes = numpy.unique(column, return_inverse=True)
            same = 2 <= len(values) <= 4 * classes and _follows(codes, labels[known])
        if same:
            found.append(name)
    return found


def _follows(codes: numpy.ndarray, labels: numpy.ndarray) -> bool:
    """Whether each value stands for one label, and more than one label follows."""
    different, targets = numpy.unique(labels, return_inverse=True)
    counts = numpy.zeros((codes.max() + 1, len(different)), numpy.int64)
    numpy.add.at(counts, (codes, targets), 1)
    said = counts.argmax(axis=1)[counts.sum(axis=1) > 0]
    return counts.max(axis=1).sum() >= SAME * len(labels) and len(set(said.tolist())) == len(different)
