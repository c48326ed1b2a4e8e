"""From tables to examples."""

from __future__ import annotations

import collections
import math
from collections.abc import Sequence
from pathlib import Path

import numpy

from trainer.core import columnar
from trainer.core.example import SPLITS, Example
from trainer.data import names
from trainer.data.checks import Checks
from trainer.data.columns import values
from trainer.data.columns.features import NUMBER
from trainer.data.columns.values import Style
from trainer.data.formats.table import Table
from trainer.data.images import Index
from trainer.errors import UserError, count as count_of, left_out, some
from trainer.kinds.rows import conversations as forms, in_columns
from trainer.kinds.rows.in_columns import LONGEST_LABEL
from trainer.kinds.rows.roles import Roles
from trainer.kinds.rows.split_rules import Marks

PAIR = "pair"
MISSING = "the image they name is not in the dataset"
UNCLEAR = "several images have the name that they tell, and nothing says which one is meant"


class Rows:
    """Makes the examples of tables with ``roles``, and counts the rows that cannot be used by the reason.

    ``styles`` says how the numbers of a column are written; a column that it lacks has plain numbers with any unit.
    """

    def __init__(self, roles: Roles, styles: dict[str, Style], images: Index, prompts: bool = False, marks: Marks | None = None):
        self._roles, self._styles, self._images = roles, styles, images
        self._marks = marks or Marks()
        self._prompts = prompts  # conversations are to be answered, and need no answer of their own
        self.left: collections.Counter[str] = collections.Counter()
        self.unread: in_columns.Unread = {}
        self.read = 0  # rows of conversations, texts or prompts
        self.first: dict[str, int] = {}  # the first row that was left out for a reason, where that helps to find it
        self.missing: list[str] = []  # images that a table names and that are not there

    def examples(self, table: Table) -> list[Example]:
        """The examples of one table, in its order. The target is empty where the table has no label column."""
        roles = self._roles
        contents = self._contents(table)
        targets = self._targets(table)
        name_of = roles.id or (roles.columns[0] if roles.reads_images else "")  # else nobody could tell which image a row is about
        ids, groups = (([c.strip() for c in table.cells(n)] if n else [""] * len(table.rows)) for n in (name_of, roles.group))
        groups = self._marks.blocks.get(id(table), groups)
        times = self._marks.times.get(id(table), [math.nan] * len(table.rows))
        found = []
        for number, content, target, name, group, when in zip(table.row_numbers(), contents, targets, ids, groups, times):
            if content is not None and target is not None:
                found.append(Example(table.name, number, content, target, name, group, None if math.isnan(when) else when))
        return found

    def of_all(self, tables: Sequence[Table]) -> list[Sequence[Example]]:
        """The examples of each table. Those of large ones stay in columns."""
        if in_columns.are_large(tables, self._roles):
            return [*in_columns.examples(tables, self._roles, self._styles, self._marks, self.left, self.unread)]
        return [self.examples(t) for t in tables]

    def by_split(self, table: Table, examples: Sequence[Example]) -> dict[str, Sequence[Example]]:
        """The ``examples`` of one table by the value of its split column; an empty value means train."""
        splits = dict(zip(table.row_numbers(), (c.strip() for c in table.cells(self._roles.split))))
        known = {value: names.split_of_cell(self._roles.split, value) if value else "train" for value in set(splits.values())}
        if strange := sorted(v for v, split in known.items() if split is None):
            raise UserError(
                "split_column",
                f"The split column {self._roles.split} of {table.name} has values that are not the name of a split: {some(strange, 6)}.",
                "Use the values train, validation and test, or leave split_column empty.",
            )
        given = [known[splits[number]] for number in columnar.rows(examples).tolist()]
        return {name: columnar.taken(examples, numpy.asarray([i for i, g in enumerate(given) if g == name], numpy.int64)) for name in SPLITS}

    def report(self, where: str, missing_labels: str, checks: Checks) -> None:
        """Say which rows were left out. Raises UserError for those without a label where the user wants none."""
        unlabelled = self.left["the label is empty"]
        if unlabelled and missing_labels == "fail":
            raise UserError(
                "missing_labels",
                f"{unlabelled} rows of {where} have no label in the column {self._roles.label}.",
                "Fill in the labels, or set missing_labels to drop.",
            )
        if self._roles.writes:
            self._refuse_most(where)
        for reason, count in self.left.items():
            checks.drop(reason, count)
            examples = f" ({some(self.missing, 6)})" if self.missing and reason == MISSING else ""
            examples = f" (the first is row {self.first[reason]})" if reason in self.first else examples
            checks.warning("empty_rows", f"{left_out(count, 'row')} of {where} because {reason}{examples}.")
        if self.unread:
            found = [(column, *self.unread[column]) for column in self._roles.columns if column in self.unread]
            cells = some([f"{count_of(n, 'cell')} of {column} (such as {cell.strip()[:30]})" for column, n, cell in found], 6)
            checks.events.decision("unread_cells", sum(n for _, n, _ in found), f"Cells that are no numbers count as empty: {cells}.")

    def _refuse_most(self, where: str) -> None:
        """Raise UserError where most rows hold nothing to learn."""
        if not self.first or self.left.total() <= self.read / 2:
            return
        reason = self.left.most_common(1)[0][0]
        raise UserError(
            "conversations",
            f"Row {self.first[reason]} of {where}: {reason}.",
            "Give every conversation turns of user and assistant in turn that end with an answer, and every prompt its answer.",
            f"{self.left.total()} of {count_of(self.read, 'row')} cannot be used.",
        )

    def _contents(self, table: Table) -> list:
        if self._roles.writes:
            return self._conversations(table)
        if self._roles.reads_images:
            return self._paths(table)
        found, reason = (self._texts(table), "the text is empty") if self._roles.reads_texts else (self._cells(table), "all their cells are empty")
        if empty := found.count(None):
            self.left[reason] += empty
        return found

    def _texts(self, table: Table) -> list[str | tuple[str, str] | None]:
        first = [c for c in self._roles.columns if self._roles.types.get(c) != PAIR]
        texts = [table.cells(c) for c in first]
        joined = ["\n".join(t for t in map(str.strip, row) if t) for row in zip(*texts)]
        if len(first) == len(self._roles.columns):
            return [text or None for text in joined]
        second = [c.strip() for c in table.cells(self._roles.columns[-1])]
        return [(a, b) if a and b else None for a, b in zip(joined, second)]

    def _conversations(self, table: Table) -> list[forms.Conversation | str | None]:
        parts = self._roles.types
        found = []
        self.read += len(table.rows)
        for number, cells in zip(table.row_numbers(), zip(*(table.cells(name) for name in parts))):
            held = dict(zip(parts.values(), cells))
            content, reason = (forms.prompt(held), "the prompt is empty") if self._prompts else forms.content(held)
            if content is None:
                self.left[reason] += 1
                self.first.setdefault(reason, number)
            found.append(content)
        return found

    def _paths(self, table: Table) -> list[Path | None]:
        cells = table.cells(self._roles.columns[0])
        found, unclear = self._images.match(cells)
        missing = [c.strip() for c, image in zip(cells, found) if image is None and c not in unclear]
        for reason, count in ((MISSING, len(missing)), (UNCLEAR, sum(c in unclear for c in cells))):
            if count:
                self.left[reason] += count
        self.missing += missing
        return [image.file if image else None for image in found]

    def _cells(self, table: Table) -> list[tuple[str, ...] | None]:
        columns = []
        for name in self._roles.columns:
            cells = table.cells(name)
            if self._roles.types[name] == NUMBER:
                style = self._styles.get(name, Style())
                columns.append(values.as_numbers(cells, style))
                if strange := [*values.unread(cells, columns[-1], style)]:
                    count, first = self.unread.get(name, (0, strange[0]))
                    self.unread[name] = count + len(strange), min(first, *strange)
            else:
                category = {c: "" if values.is_missing(c) else c.strip() for c in set(cells)}
                columns.append([category[c] for c in cells])
        return [row if any(row) else None for row in zip(*columns)]

    def _targets(self, table: Table) -> list[str | None]:
        if not self._roles.label or self._roles.writes:
            return [""] * len(table.rows)
        if self._roles.sets is not None:
            found = self._roles.sets.targets(table)
            if empty := found.count(""):
                self.left["the labels are empty"] += empty
            return [target or None for target in found]
        cells = table.cells(self._roles.label)
        style = self._styles.get(self._roles.label, Style())
        if self._roles.regression:
            gaps = {c: "" for c in set(cells) if style.fills and (n := values.fast_number(c, style.comma)) is not None and n in style.fills}
            cells = [gaps.get(c, c.strip()) for c in cells]
        else:
            cells = values.classes(cells, style)
        if empty := cells.count(""):
            self.left["the label is empty"] += empty
        if not self._roles.regression:
            if long := sum(len(c) > LONGEST_LABEL for c in cells):
                self.left[f"the label has more than {LONGEST_LABEL} characters"] += long
            return [c if 0 < len(c) <= LONGEST_LABEL else None for c in cells]
        numbers = [c or None for c in values.as_numbers(cells, style)]
        if strange := numbers.count(None) - empty:
            self.left["the label is not a number"] += strange
        return numbers
