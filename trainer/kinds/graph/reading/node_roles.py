"""What the columns of the nodes are for: the label, the split, texts, and features."""

from dataclasses import dataclass, field

import pyarrow
import pyarrow.compute

from trainer.data import names
from trainer.data.columns import choices, dates, values
from trainer.errors import UserError, some
from trainer.kinds.graph.graph import CLASSES, LINKS, NUMBERS
from trainer.kinds.graph.reading import refusals
from trainer.kinds.graph.reading.nodes import LABEL_ENDINGS, MASKS
from trainer.kinds.graph.reading.raw import Nodes

CATEGORY, TEXT, LISTS = "category", "text", "words"
FEW_VALUES = 50
FEW_SHARE = 20  # rows for each value, from which more than FEW_VALUES are few
MAX_CATEGORIES = 1000
MIN_IDENTIFIERS = 20  # nodes, for numbers that are all different to mean something
MIN_TEXT_WORDS = 2.0  # on average: names of pages and titles of papers count as texts
_TITLES = ("title", "name")
_SAMPLE = 5000


@dataclass
class NodeRoles:
    """Columns as (number of the table, name). ``types`` says how each column of text is read as a feature."""

    task: str = LINKS
    why: str = ""
    label: tuple[int, str] | None = None
    split: tuple[int, str] | None = None
    masks: dict[tuple[int, str], str] = field(default_factory=dict)
    title: tuple[int, str] | None = None
    types: dict[tuple[int, str], str] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)  # why columns are not read -> their names


def choose(nodes: list[Nodes], settings) -> NodeRoles:
    """The roles of all columns, and the task. Raises UserError where no label can be found for a task that needs one."""
    roles = NodeRoles()
    columns = [(i, c) for i, table in enumerate(nodes) for c in table.cells]
    roles.masks = {(i, c): MASKS[c.strip().lower()] for i, c in columns if c.strip().lower() in MASKS}
    wanted = settings.split_column.strip().lower()
    roles.split = next(((i, c) for i, c in columns if c.strip().lower() in ((wanted,) if wanted else names.SPLIT_COLUMNS)), None)
    rest = [key for key in columns if key not in roles.masks and key != roles.split]
    label, sure = _label(nodes, rest, settings)
    _task(roles, nodes, label, settings)
    roles.label = label
    for key in rest:
        if key == label and (sure or roles.task != LINKS):
            continue  # a column that only looks like classes tells of edges, too
        _feature(roles, key, nodes[key[0]].cells[key[1]])
    roles.title = next((k for end in _TITLES for k in rest if k[1].strip().lower().endswith(end) and k != label), None) or next(
        (k for k, kind in roles.types.items() if kind == TEXT), None
    )
    return roles


def _label(nodes: list[Nodes], rest: list[tuple[int, str]], settings) -> tuple[tuple[int, str] | None, bool]:
    """The column of labels, and whether its name or the settings say so."""
    wanted = settings.label_column.strip()
    if wanted:
        seen = {c: (i, c) for i, c in rest}
        if not nodes:
            raise refusals.no_label(settings.task, [])
        return seen[choices.resolve(wanted, dict.fromkeys(seen), "label_column", some([n.file for n in nodes], 3))], True
    order = {n: i for i, n in enumerate(names.LABELS)}
    named = [k for k in rest if _low(k) in order or _low(k).endswith(LABEL_ENDINGS)]
    if named:
        return min(named, key=lambda k: order.get(_low(k), len(order))), True
    if settings.task == NUMBERS:
        return None, False
    classes = [k for k in rest if _is_class(nodes[k[0]].cells[k[1]])]
    last = [k for k in classes if k[1].startswith("column ") and k[1] == list(nodes[k[0]].cells)[-1]]
    if len(classes) > 1 and not last and settings.task != LINKS:
        raise refusals.ambiguous_classes([c for _, c in classes], nodes[classes[0][0]].file)
    found = last or classes
    return (found[0], bool(last)) if found else (None, False)


def _low(key: tuple[int, str]) -> str:
    return key[1].strip().lower()


def _sample(cells: pyarrow.Array) -> list[str]:
    return [c for c in cells.slice(0, _SAMPLE).to_pylist() if c]


def _is_class(cells: pyarrow.Array) -> bool:
    """Few different short texts that repeat."""
    seen = _sample(cells)
    different = set(seen)
    if sum(c.startswith("[") for c in seen) > 0.5 * len(seen):
        return False
    few = 2 <= len(different) <= max(FEW_VALUES, len(seen) // FEW_SHARE) and len(different) <= len(seen) // 2
    return few and sum(len(c.split()) for c in seen) < 3 * len(seen) and sum(values.number(c) is not None for c in seen) < 0.5 * len(seen)


def _is_measure(cells: pyarrow.Array) -> bool:
    numbers = [n for c in _sample(cells) if (n := values.number(c)) is not None]
    many = len(set(numbers)) > FEW_VALUES or any(n != int(n) for n in numbers)
    return bool(numbers) and len(numbers) >= values.MOSTLY * len(_sample(cells)) and many


def _task(roles: NodeRoles, nodes: list[Nodes], label: tuple[int, str] | None, settings) -> None:
    if settings.task == LINKS:
        roles.task, roles.why = LINKS, "as requested"
        return
    if label is None:
        if settings.task != "auto":
            raise refusals.no_label(settings.task, [n.file for n in nodes])
        roles.task, roles.why = LINKS, "no column of the nodes looks like a label" if nodes else "the dataset has no table of nodes with labels"
        return
    cells = nodes[label[0]].cells[label[1]]
    roles.task = (NUMBERS if _is_measure(cells) else CLASSES) if settings.task == "auto" else settings.task
    _check_label(roles.task, label[1], cells)
    others = ". To predict edges, set task to link-prediction"
    roles.why = "as requested" if settings.task != "auto" else f"the nodes have labels in {label[1]}{others}"


def _check_label(task: str, column: str, cells: pyarrow.Array) -> None:
    seen = _sample(cells)
    known = {values.label(c) for c in pyarrow.compute.unique(cells).to_pylist()} - {""}
    if len(known) == 1:
        raise UserError(
            "one_class", f"All nodes have the label {next(iter(known))} in {column}, so there is nothing to predict.",
            "Choose another label_column, or set task to link-prediction.",
        )  # fmt: skip
    if task == NUMBERS and sum(values.number(c) is not None for c in seen) < 0.5 * len(seen):
        raise UserError(
            "label_not_a_number", f"The label column {column} does not contain numbers, which {task} needs.",
            "Choose a label_column with numbers, or set task to node-classification.",
        )  # fmt: skip
    if task == CLASSES and len(known) > max(2, len([c for c in cells.to_pylist() if c]) // 2) and len(known) > refusals.MIN_LABELLED:
        raise UserError(
            "label_not_a_class", f"The label column {column} has {len(known)} different values, so it does not name classes.",
            "Choose a label_column whose values repeat, or set task to node-regression or link-prediction.",
        )  # fmt: skip


def _feature(roles: NodeRoles, key: tuple[int, str], cells: pyarrow.Array) -> None:
    seen = _sample(cells)
    different = set(seen)
    if not seen:
        reason = "empty"
    elif sum(c[0] + c[-1] == "[]" for c in seen) >= values.MOSTLY * len(seen):
        roles.types[key] = LISTS
        return
    elif sum(map(dates.is_date, seen)) >= values.MOSTLY * len(seen):
        reason = "dates"
    elif len(different) == 1 and len(seen) == min(len(cells), _SAMPLE):
        reason = "the same for every node"
    elif len(different) <= max(FEW_VALUES, len(seen) // FEW_SHARE) and len(pyarrow.compute.unique(cells)) <= MAX_CATEGORIES:
        roles.types[key] = CATEGORY
        return
    elif sum(len(c.split()) for c in seen) >= MIN_TEXT_WORDS * len(seen):
        roles.types[key] = TEXT
        return
    else:
        reason = "too many different values for a category"
    roles.left.setdefault(reason, []).append(key[1])


def useless_numbers(table: Nodes) -> dict[str, str]:
    """The columns of numbers that say nothing: column -> why."""
    found = {}
    for i, name in enumerate(table.numbers):
        if names.is_identifier(name) and len(table.ids) >= MIN_IDENTIFIERS:
            cells = table.dense[:, i]
            if len(set(cells[:_SAMPLE].tolist())) > 0.5 * len(cells[:_SAMPLE]):
                found[name] = "an identifier"
    return found
