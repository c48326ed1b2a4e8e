"""Labels in a file of their own, row by row: y_train.csv beside X_train.csv. Its n-th line is the label, or the subject, of the n-th row."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from trainer.core.input import Input
from trainer.data import names
from trainer.data.columns import values
from trainer.data.formats import tables
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.table import Table
from trainer.data.sources import Ignored
from trainer.errors import UserError, some

MIN_ROWS = 20
MOST_BYTES = 64 << 20  # of a file of lines
LABELS = names.LABEL_FILES
GROUPS = frozenset("subject subjects patient patients person persons participant participants group groups".split())
_OTHERS = frozenset("x data dataset feature features input inputs sample samples measurements text texts sentences tweets reviews lines".split())
_TEXT = "text"  # the only column of a table whose rows are the lines of a file
_WORDS = 2.0  # of such a line, on average
_NO_NAME = "0"  # what pandas writes above a column without a name
_LINES = (*names.ANY_CONTENT, "csv", "tsv", "tab", "labels")


@dataclass
class Added:
    """The columns that were added for the label and for the groups, empty for none, and the decisions of a run that uses them."""

    label: str = ""
    group: str = ""
    decisions: list[tuple[str, object, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Lines:
    """A file of one column. ``column`` is the name of the column where the file surely has one. A cell within the file may be empty."""

    file: str
    cells: list[str]
    column: str = ""

    def of(self, table: Table) -> tuple[str, list[str]] | None:
        """The name of the column, empty for none, and the cells, if the file has as many as ``table`` has rows, perhaps below a name. A first number
        is a cell: taken for a name, it would move all others to the rows before them. Only ``_NO_NAME`` is none, if the table has names, too."""
        rows = len(table.rows)
        if len(self.cells) == rows:
            return self.column, self.cells
        first, *rest = self.cells
        if self.column or len(rest) != rows:
            return None
        is_name = first and first not in rest and values.number(first) is None
        return (first, rest) if is_name or (first == _NO_NAME and table.has_header) else None


def add(found: list[Table], sources: Sequence[Input], ignored: Ignored, asked: str) -> Added:
    """Add labels and groups that stand in files of their own to the tables in ``found``, and take these files out of it and out of ``ignored``.

    ``asked`` is the column that the user wants to predict, if any. Raises UserError where the name of a file says that it has the labels of a table,
    and it has more or fewer lines than that has rows.
    """
    wide = [t for t in found if (len(t.columns) > 1 or t.columns == [_TEXT]) and len(t.rows) >= MIN_ROWS]
    lines = _files(found, sources) if wide else []
    added = Added()
    added.label, of_labels, below = _add_all(LABELS, [t for t in wide if not _has_label(t, asked)], lines, asked, found, ignored)
    added.group, of_groups, _ = _add_all(GROUPS, wide, lines, "", found, ignored)
    if added.label:
        added.decisions.append(("label_column", added.label, f"The label of each row is in {some(of_labels, 3)}, line by line.{below}"))
    if added.group:
        why = f"Rows with the same {added.group}, which is in {some(of_groups, 3)}, stay in one split, and the {added.group} is not read."
        added.decisions.append(("group_column", added.group, why))
    return added


def texts(sources: Sequence[Input]) -> list[Table]:
    """The files whose lines are texts with their labels in other files, line by line: train_text.txt beside train_labels.txt."""
    plain = [s for s in sources if names.extension(s.name) in names.ANY_CONTENT and s.size <= MOST_BYTES]
    labels = {names.words(s.name) - LABELS - _OTHERS: s for s in plain if LABELS & names.words(s.name)}
    found = []
    for source in plain if labels else ():
        of_labels = labels.get(names.words(source.name) - _OTHERS)
        if of_labels is None or LABELS & names.words(source.name):
            continue
        cells, file = _lines(source), _Lines(of_labels.name, _lines(of_labels))
        are_texts = sum(len(c.split()) for c in cells) >= _WORDS * len(cells)
        if len(cells) == len(file.cells) >= MIN_ROWS and are_texts and not _is_list(file):
            found.append(Table(source.name, [_TEXT], [(i, [c]) for i, c in enumerate(cells, 1)], False))
    return found


def _add_all(
    role: frozenset[str], wide: list[Table], lines: list[_Lines], asked: str, found: list[Table], ignored: Ignored
) -> tuple[str, list[str], str]:
    """The name of the column that was added to tables, empty for none, the files that hold it, and a sentence where their first line is no label."""
    column = below = ""
    files: list[str] = []
    candidates = [f for f in lines if role & names.words(f.file)]
    for table in wide:
        file = _belonging(table, wide, candidates, role)
        if file is None or _is_list(file):
            continue
        fitting = None if table.bad_rows else file.of(table)
        if fitting is None:
            _refuse(table, file, role)
            continue
        name = fitting[0] if fitting[0] not in ("", _NO_NAME) else min(role & names.words(file.file))
        if table.lacks([name]) and asked in ("", name.lower()):
            _join(table, file, name, fitting[1], found, ignored)
            column, files = name, [*files, file.file]
            if fitting[0] == _NO_NAME:
                below = f" Its first line, {_NO_NAME}, is what pandas writes above a column without a name: there is a line more than rows."
    return column, files, below


def _has_label(table: Table, asked: str) -> bool:
    there = {c.lower() for c in table.columns}
    return asked in there if asked else bool(there.intersection(names.LABELS))


def _belonging(table: Table, wide: list[Table], files: list[_Lines], role: frozenset[str]) -> _Lines | None:
    """The file whose name is that of the table but for what it holds; else the only one for the only table."""
    alike = [f for f in files if names.words(f.file) - role - _OTHERS == names.words(table.name) - role - _OTHERS]
    if not alike and len(wide) == len(files) == 1:
        alike = files
    return alike[0] if len(alike) == 1 else None


def _join(table: Table, file: _Lines, name: str, cells: list[str], found: list[Table], ignored: Ignored) -> None:
    table.add(name, cells)
    table.joined.append(file.file)
    ignored.used(file.file)
    found[:] = [t for t in found if t.name != file.file]


def _is_list(file: _Lines) -> bool:
    """Whether the file may as well list the names of the classes, each once."""
    return len(set(file.cells)) > len(file.cells) / 2 and not all(values.number(c) is not None for c in file.cells[1:])


def _refuse(table: Table, file: _Lines, role: frozenset[str]) -> None:
    """Raise UserError where the labels are those of other rows."""
    left = f" besides {table.bad_rows:,} that are left out" if table.bad_rows else ""
    if role is LABELS and len(file.cells) >= MIN_ROWS:
        raise UserError(
            "labels_of_other_rows",
            f"{file.file} has {len(file.cells):,} lines and {table.name} {len(table.rows):,} rows{left}: no line can be told to be that of a row.",
            "Put the labels into a column of the table, or give both files the same number of rows.",
        )


def _files(found: list[Table], sources: Sequence[Input]) -> list[_Lines]:
    """The files of one column whose names say that they hold labels or groups."""
    files = [_Lines(t.name, [c.strip() for c in t.cells(t.columns[0])], _given(t)) for t in found if len(t.columns) == 1 and t.columns != [_TEXT]]
    read = {t.name for t in found}
    for source in sources:
        told = names.words(source.name) & (LABELS | GROUPS) and names.extension(source.name) in _LINES and source.name not in read
        if told and source.size <= MOST_BYTES and (cells := _lines(source)):
            files.append(_Lines(source.name, cells))
    return files


def _given(table: Table) -> str:
    """The name that the file gives its only column; arrays have none."""
    return "" if table.columns[0].startswith(("column ", "value ")) else table.columns[0]


def _lines(source: Input) -> list[str]:
    try:
        text = decode(tables.content(source))[0]
    except NotText:
        return []
    lines = text.rstrip().split("\n")  # not splitlines, which also cuts where people break a line within a text
    return [line.strip().strip('"') for line in lines] if lines != [""] else []
