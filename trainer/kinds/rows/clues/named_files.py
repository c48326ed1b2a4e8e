"""Files of the dataset that the rows of a table name: texts are read as a column of it; of all others the user hears that they are not read."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from trainer.core.input import Input
from trainer.data import folders, foreign, names
from trainer.data.formats.table import Table
from trainer.data.sources import Ignored
from trainer.errors import UserError, some

COLUMN = "text"  # of the texts that rows name
LEAST = 5  # files that rows name
_MOST_ROWS = 200_000
_MOST, _NEARLY_ALL = 0.5, 0.9  # of the different cells name such a file
_INVENTORY = re.compile(r"(file)?_?(size|bytes)|md5|sha\d*|checksum|mimetype", re.IGNORECASE)  # columns of a list of all files


def add_texts(found: Sequence[Table], texts: Sequence[Input], ignored: Ignored, encoding: str, least: int = LEAST) -> list[tuple[str, object, str]]:
    """Give each table whose rows name texts of the dataset, at least so many, a last column with these. Returns the decisions about it."""
    decisions: list[tuple[str, object, str]] = []
    tables = {t.name for t in found}
    by_name = _by_name((t.name for t in texts if t.name not in tables), unique=True)
    source_of = {t.name: t for t in texts}
    for table in (t for t in found if len(by_name) >= least and len(t.rows) <= _MOST_ROWS):
        for column in table.columns:
            cells = table.different(column)
            named = _named(cells, by_name)
            if len(named) < max(least, _NEARLY_ALL * len({c for c in cells if c.strip()})) or COLUMN in map(str.lower, table.columns):
                continue
            content = {cell: folders.text(source_of[file], encoding) for cell, file in named.items()}
            table.add(COLUMN, [content.get(c, "") for c in table.cells(column)])
            for file in named.values():
                ignored.used(file)
            decisions.append(("named_texts", column, f"The rows of {table.name} name {len(named)} texts in {column}, which are read as {COLUMN}."))
            break
    return decisions


def check(found: Sequence[Table], images: Sequence[Input], ignored: Ignored, asked: str) -> None:
    """Raise UserError where the rows of a table name files of the dataset that are not read as theirs, such as sounds, or a table of each spectrum:
    what is to be predicted shows in these. ``asked`` is the column that the user wants to predict: one of the named tables says that their rows are
    meant. Files called like ``images`` are about these.
    """
    about_images = {names.stem(i.name) for i in images}
    unread = {n: foreign.by_ending(names.extension(n)) for n in ignored.names() if names.extension(n) not in names.IMAGES}
    unread = {n: why for n, why in unread.items() if names.stem(n) not in about_images}
    tables = {t.name: t for t in found}
    by_name = _by_name(sorted((*unread, *tables), key=lambda n: not unread.get(n)), unique=False)  # those first that are known
    for table in (t for t in found if len(by_name) > LEAST and len(t.rows) <= _MOST_ROWS):
        if COLUMN in table.columns or any(_INVENTORY.fullmatch(n.strip()) for n in table.columns):
            continue
        for column in table.columns:
            cells = {c for c in table.different(column) if c.strip()}
            files = {f for f in _named(cells, by_name).values() if f != table.name}
            if len(files) < max(LEAST, _MOST * len(cells)):
                continue
            first = next(iter(sorted(files)))
            if asked and first in tables and table.lacks([asked]) and not tables[first].lacks([asked]):
                continue
            what, _, remedy = unread.get(first, "").partition(": ")
            are = "tables of the dataset" if first in tables else "files of the dataset that are not read"
            each = f"each is {what}" if what else some(sorted(files), 3)
            remedy = remedy or "make one table with a row for each of these files: its values in columns, and the column to predict"
            raise UserError(
                "rows_of_other_files",
                f"The column {column} of {table.name} names {len(files)} {are} ({each}).",
                f"{remedy[:1].upper()}{remedy[1:]}. To train on the columns of {table.name} alone, set data_file to it.",
            )


def _by_name(files: Iterable[str], unique: bool) -> dict[str, str]:
    """The files by their names in lower case: with folders, without, and without the ending. Of files with one name the first one, or none where
    names must be ``unique``."""
    found: dict[str, str] = {}
    for file in files:
        base = PurePosixPath(file.lower()).name
        for name in {file.lower(), base, base.rpartition(".")[0] or base, base.partition(".")[0]}:
            found[name] = "" if unique and name in found else found.get(name, file)
    return {name: file for name, file in found.items() if file}


def _named(cells: Iterable[str], by_name: dict[str, str]) -> dict[str, str]:
    """The file that each cell names. Numbers alone may count the rows: they name files where nearly all of both are there."""
    found: dict[str, str] = {}
    for cell in cells:
        name = cell.strip().lower()
        file = by_name.get(name) or by_name.get(PurePosixPath(name).name)
        if file:
            found[cell] = file
    if any(not c.strip().isdigit() for c in found) or len(set(found.values())) >= _NEARLY_ALL * len(set(by_name.values())):
        return found
    return {}
