"""Tables that are in the dataset twice: data (1).csv, data.csv beside data.json, or data_normalized.csv beside data.csv."""

import re
from pathlib import PurePosixPath

from trainer.data import names
from trainer.data.columns import values
from trainer.data.formats.table import Table
from trainer.data.sources import Ignored
from trainer.errors import UserError

_COPY = re.compile(r"^(copy|kopie) (of|von) |[ _-]*(\(\d+\)|(copy|kopie|backup|bak)\b)", re.IGNORECASE)  # in the name of a copy
_FORM = re.compile(
    r"[ _-]*(normali[sz]ed|standardi[sz]ed|scaled|raw|original|orig|clean|cleaned|processed|preprocessed|imputed|encoded|log)(?![a-z])"
)
_FEWEST = 20  # rows, from which equal tables are no chance


def without(found: list[Table], ignored: Ignored) -> list[Table]:
    """The tables without those that hold the same rows as another one of the same split and name, but for what a copy is called. Large tables,
    whose cells stay in files, are not compared."""
    first: dict[tuple, str] = {}
    copies: set[int] = set()
    for table in sorted(found, key=lambda t: (len(t.name), t.name)):  # data.csv comes before data (1).csv
        if type(table) is Table and len(table.rows) >= _FEWEST:
            rows = hash(tuple(tuple(values.label(c) for c in row) for _, row in table.rows))
            name = _COPY.sub("", PurePosixPath(table.name).name.lower().partition(".")[0])
            key = (name, tuple(c.lower() for c in table.columns), names.split_of(table.name), len(table.rows), rows)
            if key in first:
                ignored.add(table.name, f"has the same rows as {first[key]}")
                copies.add(id(table))
            first.setdefault(key, table.name)
    return [t for t in found if id(t) not in copies]


def check_forms(group: list[Table]) -> None:
    """Raise UserError where two tables that are read together are the same rows in two forms, as their names and a column say: each row would be
    among the training rows in one form, and perhaps among the test rows in the other."""
    plain = [t for t in group if type(t) is Table and len(t.rows) >= _FEWEST and names.split_of(t.name) is None]
    first: dict[tuple[str, int], Table] = {}
    for table in plain:
        base = _FORM.sub("", PurePosixPath(table.name).name.lower().partition(".")[0])
        other = first.setdefault((base, len(table.rows)), table)
        says = any(_FORM.search(PurePosixPath(t.name).name.lower().partition(".")[0]) for t in (table, other))
        if other is table or not says or other.lacks(table.columns):
            continue
        same = [c for c in table.columns if table.cells(c) == other.cells(c) and len(table.different(c)) > 1]
        if same and len(same) < len(table.columns):
            raise UserError(
                "same_rows_twice",
                f"{other.name} and {table.name} have the same {same[-1]} in each row and other values beside it: the same rows in two forms.",
                "Set data_file to the one to train on, or remove the other.",
            )
