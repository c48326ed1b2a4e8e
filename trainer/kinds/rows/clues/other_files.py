"""Files beside a table that say what it is about: sounds or scans that its rows name, and labels of its rows that no key joins."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from trainer.data import foreign, names
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

_LEAST = 5  # files that rows name
_MOST = 0.5  # of the rows name such a file, and none of another sort
_MIN_ROWS = 20


def check_named(group: list[Table], seen: dict[str, Profile], unread: Iterable[str], where: str) -> None:
    """Raise UserError where the rows name files of the dataset that are not read, such as sounds: what is to be predicted shows in these."""
    by_name: dict[str, str] = {}
    for file in unread:
        if why := foreign.by_ending(names.extension(file)):
            base = PurePosixPath(file).name.lower()
            by_name[base] = by_name[base.partition(".")[0]] = why
    for name in seen if len(by_name) >= _LEAST else ():
        cells = {PurePosixPath(c.strip().lower()).name for t in group for c in t.different(name) if c.strip()}
        found = [c for c in cells if c in by_name and not c.isdigit()]
        if len(found) >= max(_LEAST, _MOST * len(cells)):
            what, _, remedy = by_name[found[0]].partition(": ")
            raise UserError(
                "rows_of_other_files",
                f"The column {name} of {where} names {len(found)} files of the dataset that are not read (each is {what}).",
                f"{remedy[:1].upper()}{remedy[1:]}. To train on the columns of {where} alone, set label_column." if remedy else
                f"To train on the columns of {where} alone, set label_column.",
            )  # fmt: skip


def check_labels(group: list[Table], found: list[Table], label: str) -> None:
    """Raise UserError where ``label`` is a guess, and a table that is left out is called like one of labels and has as many rows."""
    for table in found:
        apart = table not in group and names.LABEL_FILES & names.words(table.name.rpartition("/")[2]) and len(table.rows) >= _MIN_ROWS
        other = next((t for t in group if abs(len(t.rows) - len(table.rows)) <= 1 and not names.LABEL_FILES & names.words(t.name)), None)
        if apart and other is not None:
            raise UserError(
                "labels_without_key",
                f"{table.name} is called like the labels of the rows of {other.name}, but it has {len(table.columns)} columns "
                f"({some(table.columns, 3)}), and none of them names these rows.",
                f"Write one label into each line of {table.name}, or add the label as a column of {other.name}. To predict a column of "
                f"{other.name}, for example {label}, set label_column.",
            )
