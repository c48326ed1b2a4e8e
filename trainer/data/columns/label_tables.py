"""Labels in a table of their own: its rows name the rows of another table by a column that both have, and its label is added there."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.data import names
from trainer.data.columns import keyed, profiles, values
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

MIN_ROWS = 20  # of a table of labels
FIRST = 3  # columns of a table of which one may name its rows
RARE = 0.05  # of the names of rows are found, where both tables are about other ones
FOUND = 0.9  # of the rows of the other table must be in it


@dataclass(frozen=True)
class Pair:
    """A table of labels, and the tables whose rows it names by ``key``: each with the place of the label of each row, -1 for none."""

    labels: Table
    others: list[tuple[Table, numpy.ndarray]]
    key: str
    one_to_one: bool

    @property
    def rows(self) -> int:
        """How many rows the other tables have."""
        return sum(len(at) for _, at in self.others)

    @property
    def known(self) -> int:
        """How many of them are named."""
        return sum(int((at >= 0).sum()) for _, at in self.others)

    @property
    def columns(self) -> list[str]:
        """The columns of the table of labels besides the key."""
        return [c for c in self.labels.columns if c.lower() != self.key.lower()]

    @property
    def says_labels(self) -> bool:
        """Whether the name of the file says that it has labels."""
        return bool(names.LABEL_FILES & names.words(self.labels.name.rpartition("/")[2]))


def add(found: list[Table], asked: str, folder: Path) -> tuple[str, str]:
    """Add the label of a table of labels to the tables whose rows it names, and take that table out of ``found``. Labels of large tables go to files
    on the volume of ``folder``.

    ``asked`` is the column that the user wants to predict, if any. Returns the column that was added and why; empty ones where no table is one of
    labels. Raises UserError where a table may be one, and only the user can say which of its columns is the label.
    """
    _name_keys_alike(found)
    chosen = _chosen([(pair, column) for pair in _pairs(found, asked.strip().lower()) if (column := _label(pair, asked.strip().lower()))])
    for pair, column in chosen:
        for table, at in pair.others:
            keyed.add(table, column, pair.labels, at, folder)
            table.joined.append(pair.labels.name)
        found.remove(pair.labels)
    if not chosen:
        return "", ""
    pair, column = chosen[0]
    more = [c for c in pair.columns if c != column]
    known, rows_of_all = (sum(counts) for counts in zip(*((p.known, p.rows) for p, _ in chosen), strict=True))
    return column, (
        f'Column "{column}" of {some([p.labels.name for p, _ in chosen], 3)} is used as the label: its rows name those of '
        f"{some([t.name for p, _ in chosen for t, _ in p.others], 3)} by {pair.key}, and {known:,} of {rows_of_all:,} are found there."
        + (f" {some(more, 6)} of {pair.labels.name} {'are' if len(more) > 1 else 'is'} not read." if more else "")
    )


def _name_keys_alike(found: list[Table]) -> None:
    """Give the column that names the rows of a table the name that it has in a table of fewer columns, where both name the same rows under other
    names: SampleID and #SampleID."""
    for labels, table in itertools.permutations((t for t in found if len(t.rows) >= MIN_ROWS and not isinstance(t, ArrowTable)), 2):
        common = {c.lower() for c in labels.columns} & {c.lower() for c in table.columns}
        if common or len(labels.columns) > len(table.columns) or len(labels.rows) > 2 * len(table.rows):
            continue
        for own, other in itertools.product(labels.columns[:FIRST], table.columns[:FIRST]):
            cells = {c.strip() for c in labels.different(own)} - {""}
            is_key = len(cells) == len(labels.rows) and not any(map(_names_no_row, cells))
            if is_key and len(cells & {c.strip() for c in table.different(other)}) >= FOUND * len(cells):
                table.columns[table.place(other)] = own
                break


def _chosen(candidates: list[tuple[Pair, str]]) -> list[tuple[Pair, str]]:
    """The table whose name or column says that it has labels, else the only one; several where each has those of other rows. Raises UserError where
    any of them may be the one."""
    told = [(pair, column) for pair, column in candidates if column.lower() in names.LABELS or pair.says_labels]
    candidates = told or candidates
    others = [t.name for pair, _ in candidates for t, _ in pair.others]
    of_other_rows = len({(column, pair.key) for pair, column in candidates}) == 1 and len(set(others)) == len(others)
    if len(candidates) > 1 and not of_other_rows:
        offers = some([f"{column} of {pair.labels.name}" for pair, column in candidates])
        raise UserError(
            "labels_in_another_table",
            f"Several tables name the rows of each other by {candidates[0][0].key}, and each may have the label: {offers}.",
            "Set label_column to the column to predict. It is then added to the rows of the other table.",
        )
    return candidates


def _pairs(found: list[Table], asked: str) -> list[Pair]:
    """The tables that may have labels."""
    pairs = []
    for labels in found:
        columns = {c.lower() for c in labels.columns}
        others = [t for t in found if len(t.columns) >= len(columns) and len(columns & {c.lower() for c in t.columns}) == 1 and t is not labels]
        if len(labels.rows) < MIN_ROWS or not others:
            continue
        main = max(others, key=lambda t: len(t.rows))
        own = {c.lower() for c in main.columns}
        taken = {c.lower() for t in found for c in t.columns if {c.lower() for c in t.columns} != columns}
        if (asked in taken) if asked else (own & {*names.LABELS}):
            continue
        alike = [t for t in others if {c.lower() for c in t.columns} == own]
        if split := names.split_of(labels.name):  # y_test.csv has none of the rows of X_train.csv, whose numbers may be the same
            alike = [t for t in alike if names.split_of(t.name) == split] or alike
        pair = _fitting(labels, alike, next(c for c in labels.columns if c.lower() in own))
        if pair is None:
            _check_found(labels, alike, asked)
        elif not taken & {c.lower() for c in pair.columns}:
            pairs.append(pair)
    told = [p for p in pairs if p.says_labels]
    return told or sorted(pairs, key=lambda p: len(p.columns))


def _fitting(labels: Table, others: list[Table], key: str) -> Pair | None:
    """The pair, if ``key`` names rows, and no images: each once in the table of labels, which has nearly all of those of some of the others."""
    if any(map(_names_no_row, keyed.dotted(labels, key))) or (places := keyed.places(labels, others, key)) is None:
        return None
    fitting = [(table, at) for table, at in zip(others, places, strict=True) if (at >= 0).sum() >= FOUND * max(1, len(at))]
    if not fitting:
        return None
    uses = numpy.bincount(numpy.concatenate([at[at >= 0] for _, at in fitting]), minlength=1)
    are_once = uses.max() < 2 and (uses > 0).sum() >= FOUND * len(labels.rows)
    one_to_one = bool(are_once) and keyed.are_different(((table, numpy.flatnonzero(at < 0)) for table, at in fitting), key)
    return Pair(labels, fitting, key, one_to_one)


def _check_found(labels: Table, others: list[Table], asked: str) -> None:
    """Raise UserError where a table has nothing but a label and names of rows, of which the others have almost none: of ids with many digits a
    spreadsheet keeps the first ones."""
    columns = {c.lower() for c in labels.columns}
    key = next((c for c in labels.columns if all(not t.lacks([c]) for t in others)), "")
    label = next((c for c in columns - {key.lower()} if c in (asked, *names.LABELS)), "")
    if len(columns) != 2 or not label or not names.is_identifier(key) or any(isinstance(t, ArrowTable) for t in (labels, *others)):
        return
    cells = {c.strip() for c in labels.different(key)} - {""}
    known = {c.strip() for t in others for c in t.different(key)}
    if len(cells & known) < RARE * len(cells) and not any(names.extension(c) in names.IMAGES for c in cells):
        raise UserError(
            "labels_of_other_rows",
            f"{labels.name} names rows by {key}, and {len(cells & known)} of {len(cells)} are found in {some([t.name for t in others], 3)}: "
            f"it has, for example, {min(cells, default='none')}, and the rows have {min(known, default='none')}.",
            f"Write {key} in both files alike. A spreadsheet rounds numbers of more than 15 digits: import that column as text.",
        )


def _names_no_row(cell: str) -> bool:
    return values.number(cell) is not None or names.extension(cell) in names.IMAGES


def _label(pair: Pair, asked: str) -> str:
    """The column of the table of labels that is the label; empty where the table describes the rows otherwise.

    Raises UserError where two tables have the same rows with several columns each, and nothing says which has the label.
    """
    columns = pair.columns
    fitting = [c for c in columns if (p := profiles.one(c, [pair.labels])).is_class or p.is_measure]
    named = [c for c in fitting if c.lower() in names.LABELS]
    sure = pair.says_labels or len(columns) == 1 or len(named) == 1
    if asked:
        return next((c for c in columns if c.lower() == asked), "") if sure or pair.one_to_one else ""
    if len(named) == 1:
        return named[0]
    if len(columns) == 1 and fitting and (pair.says_labels or pair.one_to_one):
        return columns[0]
    if pair.says_labels and fitting:
        raise UserError(
            "labels_in_another_table",
            f"{pair.labels.name} names the rows of {_names(pair)} by {pair.key}, and any of its columns may be the label: {some(columns, 6)}.",
            f"Set label_column to one of them, which is then added to {_names(pair)}.",
        )
    if pair.one_to_one and fitting:
        raise UserError(
            "labels_in_another_table",
            f"{pair.labels.name} and {_names(pair)} have the same rows, by {pair.key}, and other columns.",
            "Put them into one table and set label_column to the column to predict, or set data_file to use one of them.",
        )
    return ""


def _names(pair: Pair) -> str:
    return some([t.name for t, _ in pair.others], 3)
