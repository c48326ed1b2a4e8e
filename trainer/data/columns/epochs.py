"""Times that programs write as one number: seconds since 1970 or parts of them, and the days of spreadsheets."""

from dataclasses import replace

import numpy

from trainer.data.columns.clocks import Clock

SERIAL = "days since 1900, as spreadsheets count them"
_FIRST, _LAST = 315_532_800.0, 4_102_444_800.0  # 1980 and 2100, in seconds since 1970
_UNITS = (("seconds", 1.0), ("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))
_DAY = 86400.0
_SERIALS = (25569.0, 73051.0)  # 1970 and 2100
_UNIX = 25569.0  # 1970-01-01, counted by spreadsheets
_OF_DAYS = frozenset("date datetime timestamp datum fecha zeitpunkt".split())  # names of columns of days, of which others count in another way


def dated(clock: Clock) -> tuple[Clock, str]:
    """The clock as seconds since 1970, and what its numbers count; as it is and "" where they are no such numbers."""
    known = clock.times[~numpy.isnan(clock.times)]
    if clock.dates or clock.parts[1:] or not len(known):
        return clock, ""
    low, high = float(known.min()), float(known.max())
    for unit, parts in _UNITS:
        if low / parts >= _FIRST and high / parts <= _LAST:
            return replace(clock, times=numpy.round(clock.times / parts), dates=True), f"{unit} since 1970"
    if clock.column.strip().lower() in _OF_DAYS and _SERIALS[0] <= low and high <= _SERIALS[1] and high > low:
        return replace(clock, times=numpy.round((clock.times - _UNIX) * _DAY), dates=True), SERIAL
    return clock, ""
