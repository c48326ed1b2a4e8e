"""What tells the series of a table apart: columns of ids, the files, and that all of them have the same steps."""

import itertools
import math
from pathlib import PurePosixPath

import numpy

from trainer.data.columns import choices
from trainer.data.columns.across import ROW
from trainer.data.columns.clocks import Clock
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some
from trainer.kinds.series import calendar
from trainer.kinds.series.calendar import TIME, Calendar
from trainer.kinds.series.layouts.melted import Melted
from trainer.kinds.series.layouts.turned import Turned

NONE = "none"
TWO_AT_ONCE = "two_at_once"  # the code of what is wrong where rows of one moment belong to no series
SEVERAL_STEPS = "several_steps"  # the code of what is wrong where some series have other steps than others
FILE = "file name"  # the column with the name of the file, where each file is a series
MOST_IDS, _TRIED = 3, 8  # columns that together tell series apart, of the first so many ones
FEW_IDS = 2  # of them where nobody asked for a series
_COMMON = 0.5  # of the rows have a moment that another file has, too, where each file is a series
_TWICE = 0.01  # of the rows of a series may have the moment of another one
_SAME_STEP, _OTHER_STEP = 0.12, 1.5  # ratios of two steps that are the same, as of months, and that are not
_FEWEST_GAPS, _OWN_STEP, _FEW_OTHERS = 8, 0.8, 0.1  # of a series whose step is sure, and of the series that may have another one


def cells_of(tables: list[Table], name: str) -> list[str]:
    return [c for t in tables for c in t.cells(name)]


def keys(tables: list[Table], names: tuple[str, ...]) -> tuple[list[tuple[str, ...]], numpy.ndarray]:
    """The ids of each series in the columns ``names``, and the number of the series of each row."""
    if not names:
        return [()], numpy.zeros(sum(len(t.rows) for t in tables), numpy.int64)
    numbers: dict[tuple[str, ...], int] = {}
    rows = zip(*(map(str.strip, cells_of(tables, n)) for n in names))
    codes = numpy.fromiter((numbers.setdefault(row, len(numbers)) for row in rows), numpy.int64)
    return list(numbers), codes


def ids_of(
    tables, others: dict[str, Profile], clock: Clock, used: set[str], settings, where: str, content: list[str], most: int
) -> tuple[numpy.ndarray, tuple[str, ...], str]:
    """A number for the series of each row, the columns that tell series apart, at most so many, and why. ``content`` are the cells of the target."""
    asked = settings.series_column.strip()
    if asked and asked.lower() != NONE:
        wanted = [n.strip() for n in asked.split(",") if n.strip()]
        if FILE in wanted and tables[0].lacks([FILE]):
            name_files(tables)
        names = tuple(FILE if n == FILE and n not in others else choices.resolve(n, others, "series_column", where) for n in wanted)
        codes = keys(tables, names)[1]
        return codes, names, f"{some(names)} {tell(names)} series apart, as requested: there are {codes.max() + 1:,}."
    one = numpy.zeros(len(clock.times), int)
    if asked or _once(clock.times, one):
        files = f" No moment is in two of its {len(tables)} files." if len(tables) > 1 and not asked else ""
        return one, (), f"The rows are one series.{files}"
    fitting = [n for n, p in others.items() if n not in used and 2 <= p.distinct <= p.cells // 2]
    sets = [(n,) for n in fitting] + [s for size in range(2, most + 1) for s in itertools.combinations(fitting[:_TRIED], size)]
    for names in sorted(sets, key=lambda s: (len(s), numpy.prod([others[n].distinct for n in s]))):
        codes = keys(tables, names)[1]
        if _once(clock.times, codes):
            return codes, names, f"{some(names)} {tell(names)} {codes.max() + 1:,} series apart: each has one row at a time."
    if _overlap(clock.times, content):
        return one, (), "The rows are one series, of which some are there twice with the same value, as in files that overlap."
    if (codes := _of_files(tables, clock.times)) is not None:
        name_files(tables)
        why = f"Each of the {len(tables)} files is a series: most of their times are the same, and no column tells them apart."
        return codes, (FILE,), f"{why} To read the rows as one series, set series_column to none."
    raise UserError(
        TWO_AT_ONCE, f"Several rows of {where} have the same moment in {clock.column}, and no column tells series apart.",
        "Set series_column to the columns that do, or join the rows of one moment." if len(tables) == 1 else
        f"Set series_column to {FILE} if each file is a series, set data_file to one of them, or join the rows of one moment.",
    )  # fmt: skip


def _of_files(tables: list[Table], times: numpy.ndarray) -> numpy.ndarray | None:
    """The number of the file of each row, where each file has a row at a time and most moments are in several files; else None."""
    codes = numpy.repeat(numpy.arange(len(tables)), [len(t.rows) for t in tables])
    if len(tables) == 1 or not _once(times, codes):
        return None
    known = ~numpy.isnan(times)
    _, at, counts = numpy.unique(times[known], return_inverse=True, return_counts=True)
    return codes if (counts[at] > 1).mean() >= _COMMON else None


def name_files(tables: list[Table]) -> None:
    """Add the column with the name of its file to each table: without its folders and ending, where that is enough."""
    short = [PurePosixPath(t.name).stem for t in tables]
    paths = short if len(set(short)) == len(short) else [str(PurePosixPath(t.name).with_suffix("")) for t in tables]
    for table, name in zip(tables, paths):
        table.append(FILE, name)


def of_rows(tables: list[Table], turned: Turned, clock: Clock, where: str) -> tuple[numpy.ndarray, tuple[str, ...], str]:
    """As ``ids_of``, of tables that were turned: each row is a series."""
    ids = turned.across.ids
    codes = keys(tables, ids)[1]
    if not _once(clock.times, codes):
        raise UserError(
            TWO_AT_ONCE, f"Several cells of {where} have the same time and the same {some(ids)}.",
            "Set series_column to the columns that tell the rows apart, or set data_file to one of the tables.",
        )  # fmt: skip
    by = "The number of a row" if ids == (ROW,) else some(ids)
    return codes, ids, f"{by} {tell(ids)} {codes.max() + 1:,} series apart: each row is one." if ids else "The rows are one series."


def of_columns(
    tables: list[Table], others: dict[str, Profile], melted: Melted, clock: Clock, used: set[str], settings, where: str
) -> tuple[numpy.ndarray, tuple[str, ...], str]:
    """As ``ids_of``, of tables with series side by side: each column is one, or one for each value of another column."""
    asked = settings.series_column.strip()
    if asked and asked.lower() != NONE:
        sets = [(melted.series, *(choices.resolve(n, others, "series_column", where) for n in asked.split(",") if n.strip()))]
    else:
        more = [n for n, p in others.items() if n not in (*used, melted.series) and 2 <= p.distinct <= p.cells // 2]
        sets = [(melted.series,), *((melted.series, n) for n in more)]
    for names in sets:
        codes = keys(tables, names)[1]
        if _once(clock.times, codes):
            each = f" for each {some(names[1:])}" if names[1:] else ""
            return codes, names, f"Each of {len(melted.of):,} columns is a series{each}: there are {codes.max() + 1:,}."
    raise UserError(
        TWO_AT_ONCE, f"Several rows of {where} have the same moment in {clock.column}, and no column tells them apart.",
        "Set series_column to the columns that do, or join the rows of one moment.",
    )  # fmt: skip


def _overlap(times: numpy.ndarray, content: list[str]) -> bool:
    """Whether rows of one moment have the same value, and less than half of the rows are such ones."""
    known = numpy.flatnonzero(~numpy.isnan(times))
    moments = set(times[known].tolist())
    rows = {(times[i], content[i].strip()) for i in known.tolist()}
    return len(moments) > 0.5 * len(known) and len(rows) - len(moments) <= max(1, _TWICE * len(known))


def _once(times: numpy.ndarray, codes: numpy.ndarray) -> bool:
    """Whether nearly each row has a moment of its own in its series."""
    known = ~numpy.isnan(times)
    order = numpy.lexsort((times[known], codes[known]))
    same = (numpy.diff(times[known][order]) == 0) & (numpy.diff(codes[known][order]) == 0)
    return bool(same.sum() <= max(1, _TWICE * known.sum()))


def check_steps(tables: list[Table], ids: tuple[str, ...], clock: Clock, series: numpy.ndarray, where: str) -> None:
    """Raise UserError where several series have steps of their own, such as a sensor for each hour beside one for each day."""
    if not ids:
        return
    order = numpy.lexsort((clock.times, series))
    gaps, of = numpy.diff(clock.times[order]), series[order][1:]
    kept = (numpy.diff(series[order]) == 0) & (gaps > 0)
    gaps, of = gaps[kept], of[kept]
    order = numpy.lexsort((gaps, of))
    gaps, of = gaps[order], of[order]
    named, starts, counts = numpy.unique(of, return_index=True, return_counts=True)
    usual = gaps[starts + counts // 2] if len(named) else gaps
    own = numpy.bincount(numpy.repeat(numpy.arange(len(named)), counts), numpy.abs(gaps / numpy.repeat(usual, counts) - 1) < _SAME_STEP)
    sure = (counts >= _FEWEST_GAPS) & (own >= _OWN_STEP * counts)
    if not sure.any():
        return
    middle = numpy.sort(usual[sure])[(int(sure.sum()) - 1) // 2]
    other = numpy.abs(numpy.log(usual[sure] / middle)) > math.log(_OTHER_STEP)
    if other.sum() > _FEW_OTHERS * len(named):
        names = keys(tables, ids)[0]
        unit = calendar.SECOND if clock.dates else calendar.NUMBER
        far, near = (
            f"{' '.join(names[named[sure][which][0]])} has a row each {Calendar(unit, float(usual[sure][which][0]), 0.0, TIME).words}"
            for which in (other, ~other)
        )
        raise UserError(
            SEVERAL_STEPS, f"The series of {where} have different steps: {far}, and {near}.",
            "Bring them to one step, for example to the mean of each hour, or use a dataset for each step.",
        )  # fmt: skip


def tell(names: tuple[str, ...]) -> str:
    return "tells" if len(names) == 1 else "tell"
