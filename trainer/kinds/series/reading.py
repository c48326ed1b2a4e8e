"""From tables to series: the claim, the panel on its steps, and the three splits."""

import hashlib
import re

import numpy

from trainer.config.settings import CHOSEN
from trainer.core import drawn
from trainer.core.example import Dataset
from trainer.core.kind import Kind
from trainer.data import names, ordered
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.columns import across, dates, profiles, side_by_side
from trainer.data.columns.clocks import NAMES
from trainer.data.columns.features import NUMBER
from trainer.data.columns.fills import KEEP
from trainer.data.cut import Cut
from trainer.data.formats.table import Table
from trainer.errors import UserError, count, some
from trainer.gc_pause import paused
from trainer.kinds.rows import from_tables
from trainer.kinds.series import columns, gathered, judging, seasons, steps as examples_of
from trainer.kinds.series.calendar import Calendar
from trainer.kinds.series.columns import Found
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.layouts import apart, spreading, turning
from trainer.kinds.series.panel import Panel

_CLEAR = 0.7  # how sure a claim is that nobody asked for
_FEWEST = 12  # rows of a table that is a series without being asked for
_LOOK = 4096  # bytes at the beginning of a file
_MOST_COLUMNS = 6
_LARGEST = 20 << 20  # bytes of a file that is no text, which is read to look whether it is a series
_AS_THEY_ARE = "To train on its rows as they are, set label_column."
_LINES = 40  # that are looked at
_BODY, _HEADS = 8, 30  # of these, the last ones are rows of the table, and its head is among the first ones
_LONGEST_HEAD = 1 << 18  # bytes at the beginning of a file whose columns may be times
_BLANKS = re.compile(r"\s+")
_SEPARATED = re.compile(r"[,;\t|]")


@paused()
def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """A claim of tables that are series: as asked by the task, or where nothing else can be meant."""
    asked = settings.task in kind.tasks or spreading.asked(settings)
    if not asked and not (settings.task == "auto" and _may_be(files.sources.tables, settings)):
        return None
    try:
        tables = from_tables.read(files.sources.tables, files.sources.ignored, settings, files.checks.events)
        tables = _alike(turning.turn(tables, settings, files.sources.ignored, asked), files, asked)
        where = some([t.name for t in tables], 3)
        tables = spreading.spread(tables, settings, where)
        seen = profiles.of(tables, settings.fill_values if settings.repairs else KEEP)
        found = columns.find(tables, seen, settings, where, only=not asked)
        rows = sum(len(t.rows) for t in tables)
        if not asked and rows < _FEWEST:
            return None
    except UserError as e:
        if asked:
            raise
        alone = e.code == apart.TWO_AT_ONCE and len(tables[0].columns) == 2 and not settings.label_column
        alone |= e.code == apart.SEVERAL_STEPS
        return Claim(kind, FORM, sum(len(t.rows) for t in tables), "series", None, fault=e) if alone else None
    return Claim(kind, FORM if asked else _CLEAR, rows, f"series of {rows} steps", (tables, found), frozenset(t.name for t in tables))


def _may_be(sources, settings) -> bool:
    """Whether a quick look at the files allows a series that nobody asked for."""
    other = (settings.text_column, settings.text_pair_column, settings.group_column, settings.split_column, settings.label_from, settings.id_column)
    if any(o.strip() for o in other) or settings.split not in ("auto", ordered.TIME) or settings.time_column.strip().lower() == apart.NONE:
        return False
    if settings.validation_file or settings.test_file or any(names.chosen_as(s.name) for s in sources):
        return False
    if any(names.split_of(s.name) not in (None, "train") for s in sources) and not any(
        across.are_steps(cells) for s in sources for cells in _first_lines(s)
    ):
        return False
    return bool(sources) and (all(map(_looks, sources)) or any(map(_names_series, sources)))


def _names_series(source) -> bool:
    """Whether the first lines of a file name times as columns, steps of which rows have not all, or series beside a column of times."""
    lines = _first_lines(source)
    if any(map(across.are_times, lines)) or (any(map(across.are_steps, lines)) and any(not any(cells[-2:]) for cells in lines)):
        return True
    timed = any(dates.is_date(c) or dates.is_period(c) or dates.is_compact(c) or c.lower() in NAMES for cells in lines for c in cells[:_MOST_COLUMNS])
    return timed and any(side_by_side.may_be(cells, _MOST_COLUMNS) for cells in lines)


def _first_lines(source) -> list[list[str]]:
    """The cells of the first lines of a file that is a text."""
    try:
        with open(source.file, "rb") as file:
            text = file.read(_LONGEST_HEAD + 1)
    except OSError:
        return []
    lines = text[:_LONGEST_HEAD].decode("utf-8", "replace").splitlines()
    if len(text) > _LONGEST_HEAD and len(lines) > 1:
        del lines[-1]  # which is cut
    split = ((_SEPARATED if _SEPARATED.search(line) else _BLANKS).split(line.strip("\r\n ")) for line in lines[:_LINES])
    return [[c.strip().strip('"') for c in cells] for cells in split]


def _looks(source) -> bool:
    """Whether the beginning of a file has few columns and times."""
    if names.extension(source.name) not in ("csv", "tsv", "tab", "jsonl", "ndjson", *names.ANY_CONTENT):
        return source.size <= _LARGEST and names.extension(source.name) in (*names.WORKBOOKS, *names.ARRAYS, names.PARQUET, "json")
    try:
        with open(source.file, "rb") as file:
            lines = file.read(_LOOK).decode("utf-8", "replace").splitlines()[:_LINES]
    except OSError:
        return False
    cells = [[c.strip().strip('"') for c in _SEPARATED.split(line)] for line in lines if line.strip()]
    if names.extension(source.name) in ("jsonl", "ndjson"):
        return bool(cells) and len(cells[0]) <= _MOST_COLUMNS
    if len(cells) < 3 or not all(2 <= sum(map(bool, row)) <= _MOST_COLUMNS for row in cells[-_BODY:-1]):
        return False  # what a logger says of itself may stand before the table, and columns of its events are mostly empty
    heads = {"_".join(c.lower().split()) for row in cells[:_HEADS] for c in row}
    body = cells[-_BODY:]
    timed = sum(any(dates.is_date(c) or dates.is_period(c) or dates.is_compact(c) for c in row) for row in body)
    return timed >= 0.8 * (len(body) - 3) or bool(heads & NAMES)


def _alike(tables: list[Table], files: Files, asked: bool) -> list[Table]:
    """The tables that have the columns of the largest one. Raises UserError where others are there and nobody asked for a series."""
    largest = max(tables, key=lambda t: len(t.rows))
    wanted = {c.lower() for c in largest.columns}
    others = [t for t in tables if {c.lower() for c in t.columns} != wanted]
    if others and not asked:
        raise UserError("several_tables", "There are tables with different columns.", "Set data_file to one of them.")
    for table in others:
        files.sources.ignored.add(table.name, f"its columns are not those of {largest.name}")
    return [t for t in tables if t not in others]


@paused()
def load(claimed: Claim, settings, checks: Checks) -> Dataset:
    """The series of a training. Raises UserError for everything that only the user can fix."""
    tables, found = claimed.reading
    assert claimed.files is not None
    shaped = turning.decision(tables, _AS_THEY_ARE) or spreading.decision(tables)
    for decision in (shaped, *found.decisions, *found.gaps):
        if decision is not None:
            checks.events.decision(*decision)
    if shaped is None and settings.task not in claimed.kind.tasks:
        why = f"The table has times and one number for each, so {found.target} is forecast. To predict single rows, set task to tabular-regression."
        checks.events.decision("task", claimed.kind.tasks[0], why)
    checks.ignore(claimed.files.sources.ignored.items())
    where = some([t.name for t in tables], 3)
    if settings.test_file or settings.validation_file:
        checks.warning(
            "test_file", "Forecasts are tested on the last steps of each series: the rows of test_file and validation_file are among these."
        )
    panel = gathered.panel(tables, found, where, checks)
    if not settings.horizon and (ahead := turning.ahead(tables)):
        settings = settings.with_chosen(horizon=ahead)
    season = _season(panel, found.calendar, settings, checks)
    horizon = _horizon(panel, found.calendar.season if found.calendar.season > 1 else season, settings, where, checks)
    lags = Lags(season, found.calendar, len(found.known))
    lengths = panel.lengths
    tested = (lengths >= 3 * horizon) if settings.test_fraction > 0 else numpy.zeros(len(panel), bool)
    ends = numpy.where(tested, lengths - horizon, lengths)
    splits = _splits(panel, found.calendar, lags, ends, horizon, settings.seed)
    splits["train"].details = examples_of.Details(lags, ends, horizon, found.known, of=found.of)
    test = f"The last {count(horizon, 'step')} of each series are the test" if tested.any() else "There is no test"
    _warn_of_constant_ends(panel, horizon, checks)
    origins = len(numpy.unique(numpy.stack([splits["validation"].series, splits["validation"].ends]), axis=1).T)
    checks.cut = Cut(ordered.TIME)
    checks.events.decision("split", "time", f"{test}; {count(origins, 'rolling origin')} before them choose the method and its intervals.")
    return Dataset(
        task=settings.task if settings.task in claimed.kind.tasks else claimed.kind.tasks[0],
        kind=claimed.kind,
        splits=splits,  # sequences that make examples when they are asked for
        files=sorted(t.name for t in tables),
        columns=(*found.ids, *found.clock.parts, *found.known),
        label_column=found.target,
        types=dict.fromkeys(found.known, NUMBER),
        styles={found.target: found.style},
        dropped=checks.dropped,
        not_read=checks.not_read,
        checks=checks.entries,
        split_sha256=_digest(panel, found, season, horizon),
    )


def _splits(panel: Panel, calendar: Calendar, lags: Lags, ends: numpy.ndarray, horizon: int, seed: int) -> dict[str, examples_of.Steps]:
    at = judging.origins(ends, lags.season, horizon, seed)
    tested = drawn.rows(numpy.flatnonzero(ends < panel.lengths), judging.most_series(horizon), seed)
    return {
        "train": examples_of.in_blocks(panel, calendar, ends, 2 * lags.season + 2, horizon),
        "validation": examples_of.behind(panel, calendar, at.series, at.ends, horizon),
        "test": examples_of.behind(panel, calendar, tested, ends[tested], horizon),
    }


def _season(panel: Panel, calendar: Calendar, settings, checks: Checks) -> int:
    """The season, looked for in steps that are no test."""
    if settings.season:
        found, why = settings.season, f"The series repeat themselves after {count(settings.season, 'step')}, as requested."
        if found > 1 and int(numpy.median(panel.lengths)) < 2 * found + 4:
            found, why = 1, f"No season: the series are too short for one of {found} steps, which was requested."
        elif found == 1:
            why = "No season, as requested."
    else:
        ahead = settings.horizon or (_usual_horizon(panel, calendar.season) if calendar.season > 1 else int(numpy.median(panel.lengths)) // 5)
        found, why = seasons.find(panel, numpy.maximum(1, panel.lengths - ahead), calendar)
    checks.events.decision("season", found, why)
    return found


def _warn_of_constant_ends(panel: Panel, horizon: int, checks: Checks) -> None:
    """Warn where the last steps of series do not change, so that they say nothing of a forecast: a sensor may have stopped."""
    ends = [int(len(v) - 1 - max(numpy.flatnonzero(v != v[-1]), default=-1)) for v in panel.values]
    still = [(s, run) for s, run in enumerate(ends) if horizon <= run < len(panel.values[s])]
    if not still:
        return
    s, run = max(still, key=lambda found: found[1])
    of = f"{len(still):,} of {len(panel):,} series do not change in their last {horizon:,} steps or more. " if len(panel) > 1 else ""
    name = f" of {' '.join(panel.ids[s])}" if panel.ids[s] else ""
    what = f"The last {run:,} values{name} are all {panel.values[s][-1]:.6g}, so the scores on the test say little."
    checks.warning("constant_end", f"{of}{what} Check whether they were measured.")


def _usual_horizon(panel: Panel, season: int) -> int:
    return max(1, min(max(season, 4), int(numpy.median(panel.lengths)) // 5))


def _horizon(panel: Panel, season: int, settings, where: str, checks: Checks) -> int:
    length = int(numpy.median(panel.lengths))
    if settings.horizon:
        if length < 3 * settings.horizon:
            raise UserError(
                "short_series", f"The series of {where} have {length} steps, too few to forecast {settings.horizon}.",
                f"Set horizon to at most {length // 3}, or add earlier rows.",
            )  # fmt: skip
        by = "the tables say" if settings.source("horizon") == CHOSEN else "requested"
        checks.events.decision("horizon", settings.horizon, f"{count(settings.horizon, 'step')} are forecast, as {by}.")
        return settings.horizon
    found = _usual_horizon(panel, season)
    checks.events.decision(
        "horizon", found, f"{count(found, 'step')} are forecast: one season of such steps, at least 4 and at most a fifth of the series."
    )
    return found


def _digest(panel: Panel, found: Found, season: int, horizon: int) -> str:
    """The sha256 over all that decides the training and which steps are in which split."""
    sums = hashlib.sha256(repr((panel.ids, found.calendar, season, horizon)).encode())
    for part in (*panel.values, *panel.known, panel.firsts):
        sums.update(numpy.ascontiguousarray(part).tobytes())
    return sums.hexdigest()
