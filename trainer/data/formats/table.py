"""One file of the dataset as a table: named columns, and rows of text cells."""

from dataclasses import dataclass, field

from trainer.data.formats.repairs import Repair


@dataclass
class Table:
    """A row is (its number in the file as a person counts them, its cells). ``fault`` says of bad rows what is wrong with them.

    ``fills`` are the numbers that the file itself names as the value of a gap, ``short`` the lower names of columns under a common name.
    ``in_order`` says that the columns have the order that their author gave them, and not the one of the alphabet.
    """

    name: str
    columns: list[str]
    rows: list[tuple[int, list[str]]]
    has_header: bool = True
    bad_rows: int = 0
    notes: list[str] = field(default_factory=list)
    first_bad: int = 0
    fault: str = "have a different number of columns from the others"
    repairs: list[Repair] = field(default_factory=list)
    fills: tuple[str, ...] = ()
    short: dict[str, str] = field(default_factory=dict)
    in_order: bool = True
    _cells: dict[int, list[str]] = field(default_factory=dict, repr=False)

    def lacks(self, columns) -> list[str]:
        """Those of ``columns`` that the table has not, whatever their case."""
        there = {c.lower() for c in self.columns}
        return [c for c in columns if c.lower() not in there]

    def cells(self, column: str) -> list[str]:
        """The cells of a column, which goes by its name whatever the case."""
        i = next((i for i, c in enumerate(self.columns) if c == column), None)
        i = [c.lower() for c in self.columns].index(column.lower()) if i is None else i
        if i not in self._cells:  # every column is asked for several times
            self._cells[i] = [row[i] for _, row in self.rows]
        return self._cells[i]


class NotATable(Exception):
    """The file is not a table. The message is the end of a sentence that starts with "it"."""
