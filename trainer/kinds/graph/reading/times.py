"""Times of edges: dates, seconds or milliseconds since 1970, or any numbers that grow."""

import datetime
import re

import numpy
import pyarrow

from trainer.data.columns import choices, values
from trainer.kinds.graph.reading import columns as columns_of, refusals
from trainer.kinds.graph.reading.edge_roles import NONE

MILLISECONDS = 1e11  # times from here on are not seconds


def check(settings, found: numpy.ndarray | None, file: str, columns) -> None:
    """Raise UserError if a column of times was asked for that is not there, or that has none."""
    wanted = settings.time_column.strip()
    if wanted and wanted.lower() != NONE and found is None:
        raise refusals.no_times(choices.resolve(wanted, dict.fromkeys(columns), "time_column", file), file)


def of(cells: pyarrow.Array) -> numpy.ndarray:
    """Times as seconds since 1970 (float64) for dates and milliseconds, else the numbers themselves; NaN where a cell is neither."""
    coded = cells.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    dates = [t for t in texts[:1000] if t]
    if dates and sum(map(values.is_date, dates)) >= values.MOSTLY * len(dates):
        read = numpy.array([*map(_seconds(dates), texts), numpy.nan])
        return read[numpy.asarray(coded.indices.fill_null(len(texts)))]
    read = columns_of.numbers(cells)
    known = read[~numpy.isnan(read)]
    return read / 1000 if len(known) and known.min() > MILLISECONDS else read


def _seconds(dates: list[str]):
    """A function that reads a date in the order of day, month and year that most of ``dates`` have."""
    form = re.compile(r"(\d+)[-/.](\d+)[-/.](\d+)(?:[T ](\d+):(\d+)(?::(\d+))?)?")
    found = [m for d in dates if (m := form.match(d.strip()))]
    month_first = sum(int(m[2]) > 12 for m in found) > sum(int(m[1]) > 12 for m in found)

    def read(text: str) -> float:
        match = form.match(text.strip())
        if match is None:
            return numpy.nan
        a, b, c = int(match[1]), int(match[2]), int(match[3])
        year, month, day = (a, b, c) if len(match[1]) == 4 else (c if c > 99 else 2000 + c, *((a, b) if month_first else (b, a)))
        try:
            hour, minute, second = (int(p or 0) for p in match.groups()[3:])
            return datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.UTC).timestamp()
        except ValueError:
            return numpy.nan

    return read
