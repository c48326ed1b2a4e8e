"""Times of edges: dates, seconds or milliseconds since 1970, or any numbers that grow."""

import numpy
import pyarrow

from trainer.data.columns import choices, dates, values
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
    first = [t for t in texts[:1000] if t]
    if first and sum(map(dates.is_date, first)) >= values.MOSTLY * len(first):
        read = numpy.array([*map(dates.seconds(first), (t or "" for t in texts)), numpy.nan])
        return read[numpy.asarray(coded.indices.fill_null(len(texts)))]
    read = columns_of.numbers(cells)
    known = read[~numpy.isnan(read)]
    return read / 1000 if len(known) and known.min() > MILLISECONDS else read
