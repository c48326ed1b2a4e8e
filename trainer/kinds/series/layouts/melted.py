"""A table with series side by side in its columns, as one row for each series and row of the table."""

from collections.abc import Sequence

import numpy

from trainer.data.formats.table import Table
from trainer.data.formats.tables import unique
from trainer.kinds.series.layouts.turned import Rows

SERIES, VALUE = "series", "value"


class Melted(Table):
    """The table ``wide`` with a column that names the series, those of its columns that are no series, and the value.

    ``of`` are the columns that are series, and ``why`` says how that is known. Empty cells are left out. No cell is copied.
    """

    def __init__(self, wide: Table, of: Sequence[str], why: str = ""):
        kept = [n for n in wide.columns if n not in of]
        columns = unique([SERIES, *kept, VALUE])
        filled = [numpy.flatnonzero([bool(cell.strip()) for cell in wide.cells(n)]) for n in of]
        places = numpy.concatenate(filled)
        listed = places.tolist()
        content = [[n for n, rows in zip(of, filled) for _ in rows]]
        content += [[cells[i] for i in listed] for cells in map(wide.cells, kept)]
        content.append([cells[i] for cells, rows in zip(map(wide.cells, of), filled) for i in rows.tolist()])
        rows = Rows(content, numpy.asarray(wide.row_numbers(), numpy.int64)[places])
        super().__init__(wide.name, columns, rows, fills=wide.fills, joined=wide.joined)
        self.of, self.why = tuple(of), why
        self._content, self._numbers = content, rows.numbers

    @property
    def series(self) -> str:
        return self.columns[0]

    @property
    def value(self) -> str:
        return self.columns[-1]

    def cells(self, column: str) -> list[str]:
        return self._content[self.place(column)]

    def row_numbers(self) -> list[int]:
        return self._numbers.tolist()
