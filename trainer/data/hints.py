"""Data for tasks that are not offered here: said at once, before a column of it is taken for a label."""

from trainer.data import names, profiles
from trainer.data.profiles import Profile
from trainer.data.table import Table
from trainer.errors import UserError

MIN_NODES = 10
MIN_OVERLAP = 0.3
MIN_ROWS_PER_EDGE_VALUE = 1.2  # rows for each value: nodes of a graph occur more than once


def check(tables: list[Table], seen: dict[str, Profile], where: str) -> None:
    """Raise UserError for pairs of prompt and answer, and for a list of edges."""
    by_name = {n.strip().lower(): n for n in seen}
    labelled = any(by_name[n] for n in names.LABELS if n in by_name and n != "target")
    for pair in names.PAIRS:
        found = [by_name[n] for n in pair if n in by_name]
        if len(found) == 2 and not labelled and all(seen[n].is_free_text for n in found):
            raise UserError(
                "language_model_task",
                f"The columns {found[0]} and {found[1]} of {where} look like questions to a language model and its answers, "
                "a task that is not offered here.",
                "To train a classifier on them nevertheless, name its label in label_column.",
            )
    for a, b in _edges(seen, by_name):
        if profiles.overlap(tables, a, b) >= MIN_OVERLAP:
            raise UserError(
                "graph_task",
                f"The columns {a} and {b} of {where} look like the two ends of the edges of a graph, a task that is not offered here.",
                "If they are something else, name the label in label_column.",
                "Both hold identifiers, and many of them occur in both.",
            )


def _edges(seen: dict[str, Profile], by_name: dict[str, str]):
    """The pairs of columns that may be the ends of edges: by their names, else the only two columns."""
    pairs = [(by_name[a], by_name[b]) for a, b in names.EDGES if a in by_name and b in by_name]
    if not pairs and len(seen) == 2 and all(n.startswith("column ") for n in seen):
        pairs = [tuple(seen)]
    return [p for p in pairs if all(_is_node(seen[n]) for n in p)]


def _is_node(p: Profile) -> bool:
    many = p.distinct >= MIN_NODES and p.cells >= MIN_ROWS_PER_EDGE_VALUE * p.distinct
    return many and p.words < 2 and p.dates < 0.5
