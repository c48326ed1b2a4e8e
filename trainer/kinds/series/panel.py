"""Series on a regular grid of steps: one, or a panel of several with ids."""

from dataclasses import dataclass

import numpy

LONGEST = 1000  # steps of a history that a model reads, where two and a half seasons are not longer
RECENT = 48  # steps, or two seasons, whose spread says how far forecasts may be off
_LEAST_SPREAD = 0.1  # of the unit of MASE
CELLS = 4_000_000  # numbers that are computed with at once: 32 MB


@dataclass(frozen=True)
class Panel:
    """``values`` are the steps of each series (float64): steps without a value are filled, and ``observed`` says which are not.

    ``firsts`` is the number of the first step of each series in the calendar, ``rows`` the row of the table of each step (0 for none), ``files``
    the file of each series. ``known`` are covariates (steps x covariates) of each series, which reach further where the future is known.
    """

    ids: tuple[tuple[str, ...], ...]
    values: tuple[numpy.ndarray, ...]
    observed: tuple[numpy.ndarray, ...]
    firsts: numpy.ndarray
    rows: tuple[numpy.ndarray, ...] = ()
    files: tuple[str, ...] = ()
    known: tuple[numpy.ndarray, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.array([len(v) for v in self.values], numpy.int64)

    @property
    def covariates(self) -> int:
        return self.known[0].shape[1] if self.known else 0

    def histories(self, series: numpy.ndarray, ends: numpy.ndarray, length: int, ahead: int) -> "Histories":
        """The last ``length`` steps of ``series`` before ``ends`` (positions in each of them), with the covariates of ``ahead`` steps more."""
        found = numpy.full((len(series), length), numpy.nan)
        known = numpy.full((len(series), length + ahead, self.covariates), numpy.nan) if self.known else None
        for i, (s, end) in enumerate(zip(series, ends)):
            part = self.values[s][max(0, end - length) : end]
            found[i, length - len(part) :] = part
            if known is not None:
                there = self.known[s][max(0, end - length) : end + ahead]
                known[i, length - len(part) : length - len(part) + len(there)] = there
        return Histories(found, self.firsts[series] + ends - 1, known)


@dataclass(frozen=True)
class Histories:
    """Parts of series that end at a step from which on is forecast. ``values`` (histories x steps) end in the last column; NaN is before the first.

    ``last`` is the number of the last step in the calendar. ``known`` (histories x steps and those ahead x covariates) are covariates.
    """

    values: numpy.ndarray
    last: numpy.ndarray
    known: numpy.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def chosen(self, part: slice | numpy.ndarray) -> "Histories":
        return Histories(self.values[part], self.last[part], None if self.known is None else self.known[part])

    @property
    def lengths(self) -> numpy.ndarray:
        return (~numpy.isnan(self.values)).sum(axis=1)


def length_read(season: int) -> int:
    """The steps of a history that models read."""
    return max(LONGEST, season * 5 // 2)


def filled(values: numpy.ndarray) -> numpy.ndarray:
    """``values`` of one series with a straight line over its gaps (NaN)."""
    known = numpy.flatnonzero(~numpy.isnan(values))
    return values if len(known) == len(values) else numpy.interp(numpy.arange(len(values)), known, values[known])


def scales(values: numpy.ndarray, season: int) -> numpy.ndarray:
    """The mean absolute error of the seasonal naive forecast in each row of ``values`` (histories x steps): the unit of MASE.

    Where a season says nothing, neighbours are compared. A constant series has the unit 1.
    """
    found = numpy.zeros(len(values))
    for step in dict.fromkeys((season, 1)):
        if step < values.shape[1]:
            apart = numpy.abs(values[:, step:] - values[:, :-step])
            there = ~numpy.isnan(apart)
            mean = numpy.where(there, apart, 0.0).sum(axis=1) / numpy.maximum(1, there.sum(axis=1))
            found = numpy.where((found > 0) | (there.sum(axis=1) == 0), found, mean)
    size = numpy.nanmax(numpy.abs(values), axis=1)
    return numpy.where(found > 1e-12 * size, found, 1.0)


def spreads(values: numpy.ndarray, season: int) -> numpy.ndarray:
    """The unit of intervals: the mean absolute error of the seasonal naive forecast over the last steps of each row.

    Series that grow or become restless are farther off than the mean over their whole history says.
    """
    recent = scales(values[:, -(max(RECENT, 2 * season) + season) :], season)
    whole = scales(values, season)
    return numpy.where(recent == 1.0, whole, numpy.maximum(recent, _LEAST_SPREAD * whole))
