"""Tables that are in the dataset twice: data (1).csv, or data.csv beside data.json."""

import re
from pathlib import PurePosixPath

from trainer.data import names
from trainer.data.columns import values
from trainer.data.formats.table import Table
from trainer.data.sources import Ignored

_COPY = re.compile(r"^(copy|kopie) (of|von) |[ _-]*(\(\d+\)|(copy|kopie|backup|bak)\b)", re.IGNORECASE)  # in the name of a copy
_FEWEST = 20  # rows, from which equal tables are no chance


def without(found: list[Table], ignored: Ignored) -> list[Table]:
    """The tables without those that hold the same rows as another one of the same split and name, but for what a copy is called. Large tables, whose cells stay in files, are not compared."""
    first: dict[tuple, str] = {}
    kept = []
    for table in sorted(found, key=lambda t: (len(t.name), t.name)):  # data.csv comes before data (1).csv
        if type(table) is Table and len(table.rows) >= _FEWEST:
            rows = hash(tuple(tuple(values.label(c) for c in row) for _, row in table.rows))
            name = _COPY.sub("", PurePosixPath(table.name).name.lower().partition(".")[0])
            key = (name, tuple(c.lower() for c in table.columns), names.split_of(table.name), len(table.rows), rows)
            if key in first:
                ignored.add(table.name, f"has the same rows as {first[key]}")
                continue
            first[key] = table.name
        kept.append(table)
    return [t for t in found if any(t is k for k in kept)]
