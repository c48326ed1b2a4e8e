"""One file of the dataset as a table: named columns, and rows of text cells."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainer.data.columns import values
from trainer.data.formats.repairs import Repair


@dataclass
class Table:
    """A row is (its number in the file as a person counts them, its cells). ``fault`` says of bad rows what is wrong with them.

    ``fills`` are the numbers that the file itself names as the value of a gap, ``short`` the lower names of columns under a common name,
    ``units`` the units of columns that a row of units tells.
    ``in_order`` says that the columns have the order that their author gave them, and not the one of the alphabet. ``joined`` are the tables from
    which columns were added. ``absent`` is what every cell of a column holds that other files have and this one has not; None for what nobody knows.
    """

    name: str
    columns: list[str]
    rows: Sequence[tuple[int, list[str]]]
    has_header: bool = True
    bad_rows: int = 0
    notes: list[str] = field(default_factory=list)
    first_bad: int = 0
    fault: str = "have a different number of columns from the others"
    repairs: list[Repair] = field(default_factory=list)
    fills: tuple[str, ...] = ()
    short: dict[str, str] = field(default_factory=dict)
    in_order: bool = True
    joined: list[str] = field(default_factory=list)
    absent: str | None = None
    units: dict[str, str] = field(default_factory=dict)
    _cells: dict[int, list[str]] = field(default_factory=dict, repr=False)

    def lacks(self, columns) -> list[str]:
        """Those of ``columns`` that the table has not, whatever their case."""
        there = {c.lower() for c in self.columns}
        return [c for c in columns if c.lower() not in there]

    def cells(self, column: str) -> list[str]:
        """The cells of a column, which goes by its name whatever the case."""
        i = self.place(column)
        if i not in self._cells:  # every column is asked for several times
            self._cells[i] = [row[i] for _, row in self.rows]
        return self._cells[i]

    def row_numbers(self) -> list[int]:
        """The number of each row in the file."""
        return [number for number, _ in self.rows]

    def sample(self, column: str) -> list[str]:
        """At most ``values.SAMPLE`` cells of a column, from all over."""
        return values.sample(self.cells(column))

    def different(self, column: str) -> set[str]:
        """The cells of a column, each once."""
        return set(self.cells(column))

    def counted(self, column: str) -> Counter[str]:
        """How often each cell of a column is there, in the order of the first of each."""
        return Counter(self.cells(column))

    def each(self, column: str) -> Iterator[str]:
        """The cells of a column, one after another."""
        return iter(self.cells(column))

    def narrowed(self, places: Sequence[int]) -> "Table":
        """A table with the columns at these places alone."""
        rows = [(number, [cells[i] for i in places]) for number, cells in self.rows]
        return replace(self, rows=rows, _cells={}, **self._kept(places))

    def _kept(self, places: Sequence[int]) -> dict[str, Any]:
        """The columns at these places, and what is known of their names."""
        columns = [self.columns[i] for i in places]
        kept = {name: {c: s for c, s in of.items() if c in columns} for name, of in (("short", self.short), ("units", self.units))}
        return {"columns": columns, **kept}

    def append(self, column: str, cell: str) -> None:
        """Add a last column that holds the same cell in every row."""
        self.columns.append(column)
        for _, row in self.rows:
            row.append(cell)

    def add(self, column: str, cells: Sequence[str]) -> None:
        """Add a last column with a cell for each row."""
        self.columns.append(column)
        for (_, row), cell in zip(self.rows, cells, strict=True):
            row.append(cell)

    def place(self, column: str) -> int:
        """The place of a column, which goes by its name whatever the case."""
        i = next((i for i, c in enumerate(self.columns) if c == column), None)
        return [c.lower() for c in self.columns].index(column.lower()) if i is None else i


class NotATable(Exception):
    """The file is not a table. The message is the end of a sentence that starts with "it"."""
