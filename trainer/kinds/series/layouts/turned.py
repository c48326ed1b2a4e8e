"""A table whose columns are times, turned: one row for each series and time that has a value."""

from collections.abc import Iterator, Mapping, Sequence

import numpy

from trainer.data.columns.across import ROW, Across
from trainer.data.formats.table import Table
from trainer.data.formats.tables import unique

TIME, STEP, VALUE = "time", "step", "value"


class Turned(Table):
    """The table ``wide`` with the columns of ``across.ids``, the time and the value; these two are named ``time`` and ``value``.

    Where the columns are steps, ``after`` says how many steps of each series, by its ids, are in other tables before these. Empty cells are left out;
    ``empty`` is the number of rows of ``wide`` that have no other. The cells are those of ``wide``, and none is copied.
    """

    def __init__(self, wide: Table, across: Across, time: str = "", value: str = VALUE, after: Mapping[tuple[str, ...], int] | None = None):
        columns = unique([*across.ids, time or (STEP if across.steps else TIME), value])
        content, of_row = _content(wide, across, after or {})
        rows = Rows(content, numpy.asarray(wide.row_numbers(), numpy.int64)[of_row])
        super().__init__(wide.name, columns, rows, fills=wide.fills, joined=wide.joined)
        self.wide, self.across, self.empty = wide, across, len(wide.rows) - len(numpy.unique(of_row))
        self._content, self._numbers = content, rows.numbers

    @property
    def time(self) -> str:
        return self.columns[-2]

    @property
    def value(self) -> str:
        return self.columns[-1]

    def lengths(self) -> dict[tuple[str, ...], int]:
        """The number of the last step of each series, where the columns are steps."""
        found: dict[tuple[str, ...], int] = {}
        for *ids, step, _ in zip(*self._content):
            found[tuple(ids)] = max(int(step), found.get(tuple(ids), 0))
        return found

    def cells(self, column: str) -> list[str]:
        return self._content[self.place(column)]

    def row_numbers(self) -> list[int]:
        return self._numbers.tolist()


class Rows(Sequence):
    """The rows of a turned table as ``Table.rows`` has them: the number of the row that was read, and a list of cells."""

    def __init__(self, content: list[list[str]], numbers: numpy.ndarray):
        self.content, self.numbers = content, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return int(self.numbers[place]), [part[place] for part in self.content]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return ((number, list(cells)) for number, *cells in zip(self.numbers.tolist(), *self.content))


def _content(wide: Table, across: Across, after: Mapping[tuple[str, ...], int]) -> tuple[list[list[str]], numpy.ndarray]:
    """The cells of each column of the turned table, and the place of the row in ``wide`` of each of its rows."""
    read = [wide.cells(n) for n in across.times]
    there = [[bool(cell.strip()) for cell in row] for row in zip(*read)]
    of_row = numpy.repeat(numpy.arange(len(there)), [sum(row) for row in there])
    ids = [wide.cells(n) if n != ROW else [str(n) for n in range(1, len(there) + 1)] for n in across.ids]
    times = across.texts(wide.cells(across.year)) if across.year else None
    of_time = [i for row in there for i, known in enumerate(row) if known]
    places = of_row.tolist()
    count = len(across.times)
    told = [across.named[i] for i in of_time] if times is None else [times[count * row + i] for row, i in zip(places, of_time)]
    if after:
        before = [after.get(key, 0) for key in zip(*ids)]
        told = [str(int(step) + before[row]) for step, row in zip(told, places)]
    return [*([column[row] for row in places] for column in ids), told, [read[i][row] for row, i in zip(places, of_time)]], of_row
