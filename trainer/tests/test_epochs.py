"""Numbers that count times: which are read as times of the calendar, and which stay numbers."""

import numpy
import pytest

from trainer.data.columns import epochs
from trainer.data.columns.clocks import Clock

_JUNE = 1622505600.0  # 2021-06-01 in seconds since 1970
COUNTED = {
    "seconds": ("time", _JUNE, 3600.0, "seconds since 1970"),
    "milliseconds": ("t", _JUNE * 1e3, 3.6e6, "milliseconds since 1970"),
    "microseconds": ("t", _JUNE * 1e6, 3.6e9, "microseconds since 1970"),
    "nanoseconds": ("t", _JUNE * 1e9, 3.6e12, "nanoseconds since 1970"),
    "days of spreadsheets": ("Date", 44348.0, 1 / 24, epochs.SERIAL),
}
NUMBERS = {
    "years": ("year", 1990.0, 1.0),
    "seconds of a run": ("time", 0.0, 3600.0),
    "days of a run": ("time", 44348.0, 1.0),
    "a few seconds before and after 1970": ("timestamp", -3600.0, 3600.0),
    "seconds that reach the year 2200": ("timestamp", _JUNE, 1e9),
}


def clock(name: str, first: float, step: float) -> Clock:
    return Clock(name, numpy.append(first + step * numpy.arange(10), numpy.nan), False, (name,))


@pytest.mark.parametrize("name", COUNTED)
def test_numbers_are_times(name):
    column, first, step, words = COUNTED[name]
    found, said = epochs.dated(clock(column, first, step))
    assert (found.dates, said) == (True, words)
    assert found.times[:10] == pytest.approx(_JUNE + 3600 * numpy.arange(10), abs=0.5)
    assert numpy.isnan(found.times[10])


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_numbers(name):
    given = clock(*NUMBERS[name])
    assert epochs.dated(given) == (given, "")
