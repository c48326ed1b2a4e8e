"""Decides how the rows of tables are split: at random, by time, or by place, with the reason."""

from dataclasses import dataclass, field, replace

import numpy

from trainer.data import ordered, series
from trainer.data.columns import choices, clocks, joined_clocks
from trainer.data.columns.clocks import Clock
from trainer.data.formats.table import Table
from trainer.data.ordered import Rule
from trainer.data.series import Series
from trainer.errors import UserError, some
from trainer.kinds.rows.belonging import Belonging, codes
from trainer.kinds.rows.roles import Roles

NONE = "none"  # as time_column: there is no time
_MAX_KEYS = 12  # columns that are tried as what tells series apart


@dataclass
class Marks:
    """What a split goes by, for each row: its time, or the block of the map that it lies in. By the identity of the table; empty for nothing."""

    times: dict[int, list[float]] = field(default_factory=dict)
    blocks: dict[int, list[str]] = field(default_factory=dict)


def choose(rows: Belonging, settings, where: str) -> tuple[Rule, Marks]:
    """The rule for ``rows``, and what it goes by. Raises UserError where the user asks for a split that their tables do not allow."""
    roles = rows.roles
    if settings.split == ordered.GROUP and not roles.group and not settings.datasets.strip():
        groups = [n for n, p in rows.seen.items() if n != roles.label and 3 <= p.distinct <= p.cells // 2]
        raise UserError(
            "no_group",
            f"data.split is group, but no column of {where} is named whose rows belong together.",
            f"Set group_column{f', for example to {some(groups, 4)}' if groups else ' to the column with the group of each row'}.",
        )
    if settings.split == ordered.PLACE:
        return _by_place(rows, where)
    if not roles.label or roles.writes:
        return _refuse_time(Rule(), settings, where), Marks()
    found = _series(rows, settings, where)
    if found is None:
        rule = Rule(flatters=rows.warning())
        return _refuse_time(rule, settings, where), Marks()
    clock, how = found
    rule = _of_series(clock, how, roles, settings)
    if rule == Rule():
        rule = Rule(flatters=rows.warning(), unlike=_unlike(clock, how, roles))
    return rule, Marks(times=_by_table(rows.tables, clock.times.tolist()))


def _unlike(clock: Clock, how: Series | None, roles: Roles) -> str:
    """Why rows with times are split at random although nobody asked for it."""
    if how is None:
        return f"Too few rows tell whether those near each other in {clock.column} are alike. For later rows, set data.split to time."
    if how.alike:
        return f"Times in {clock.column} repeat without order, so they may be a property of the rows. For later rows, set data.split to time."
    return f"Rows near each other in {clock.column} are not much more alike in {roles.label} than others, so they need not be split by time."


def _by_table(tables: list[Table], marks: list) -> dict[int, list]:
    cut, at = {}, 0
    for t in tables:
        cut[id(t)] = marks[at : at + len(t.rows)]
        at += len(t.rows)
    return cut


def _refuse_time(rule: Rule, settings, where: str) -> Rule:
    """Raise UserError if the rows are to be split by time and have none."""
    if settings.split == ordered.TIME:
        raise no_times(where)
    return rule


def no_times(where: str) -> UserError:
    return UserError(
        "no_times",
        f"data.split is time, but {where} has no column that tells when its rows were recorded.",
        "Set time_column to a column with dates or with numbers that grow with time, or set data.split to random.",
    )


def _of_series(clock: Clock, how: Series | None, roles: Roles, settings) -> Rule:
    alike = how is not None and how.alike
    each = f" for each {how.key}" if how is not None and how.key else ""
    neighbours = f"Rows that follow each other in {clock.column}{each} are much more alike in {roles.label} than others" if alike else ""
    flatters = (
        f"{neighbours}: in a random split each test row has neighbours in training, so the metrics are better than for later rows." if alike else ""
    )
    said = Rule(neighbours=neighbours, flatters=flatters)
    if settings.split in (ordered.RANDOM, ordered.GROUP) or (roles.group and settings.split == "auto" and not settings.time_column.strip()):
        return said
    if settings.split == ordered.TIME or settings.time_column.strip():
        return replace(said, by=ordered.TIME, why=f"The rows are split by {clock.column}, as requested.", asked=True)
    if how is None or not alike:
        return Rule()
    if how.ordered:
        other = " To forecast its next steps from earlier ones, set task to forecast." if roles.regression else ""
        return replace(said, by=ordered.TIME, why=f"{neighbours}, so the table is a series and is split by time.{other}")
    if how.once or clock.dates:  # numbers that repeat, such as years, may be a property of the rows
        return replace(said, flatters=f"{flatters} If later rows are to be predicted, set data.split to time.")
    return Rule()


def _series(rows: Belonging, settings, where: str) -> tuple[Clock, Series | None] | None:
    """The clock of the rows and how they lie in time: the column that the user names, else the one in whose order neighbours are most alike."""
    asked = settings.time_column.strip()
    if asked.lower() == NONE:
        return None
    found = [_named(rows, asked, where)] if asked else _clocks(rows)
    if not found:
        return None
    target, known, classes = rows.target
    keys = _keys(rows)
    looked = []
    for clock in found:
        labelled = replace(clock, times=numpy.where(known, clock.times, numpy.nan))
        how = series.look(labelled, target, classes, {n: k for n, k in keys.items() if n not in clock.parts})
        if how is not None:
            looked.append((clock, how))
    if not looked:
        return found[0], None
    return min(looked, key=lambda pair: (not pair[1].ordered, pair[1].ratio))


def _named(rows: Belonging, asked: str, where: str) -> Clock:
    """The column that the user calls a clock. Raises UserError if it is none."""
    name = choices.resolve(asked, rows.seen, "time_column", where)
    clock = clocks.asked(name, rows.cells(name))
    if clock is None:
        raise UserError(
            "no_times", f"The column {name} of {where} has neither dates nor numbers, so it tells no times.",
            "Set time_column to a column with dates or with numbers that grow with time, or leave it empty.",
        )  # fmt: skip
    return clock


def _clocks(rows: Belonging) -> list[Clock]:
    """The columns that tell when a row was recorded, alone or several together."""
    roles = rows.roles
    sides = (roles.label, roles.id, roles.split, roles.group)
    joined = joined_clocks.of({n: p.dates for n, p in rows.seen.items() if n not in sides}, rows.cells)
    found = [joined] if joined is not None else []
    others = {n: p for n, p in rows.seen.items() if n not in (*sides, *(joined.parts if joined is not None else ()))}
    for name, p in others.items():
        if clocks.may_be(name, p.dates, p.numeric, rows.tables[0].each(name)) and (clock := clocks.of(name, rows.cells(name))) is not None:
            found.append(clock)
    return found


def _keys(rows: Belonging) -> dict[str, numpy.ndarray]:
    """The columns of few values that repeat, and the files, as codes: one of them may tell series apart."""
    sizes = [len(t.rows) for t in rows.tables]
    most = sum(sizes) // series.MIN_LENGTH
    fitting = [n for n, p in rows.seen.items() if n != rows.roles.label and 2 <= p.distinct <= most and not p.is_free_text]
    keys = {n: codes(rows.cells(n)) for n in fitting[:_MAX_KEYS]}
    if 1 < len(sizes) <= most:
        keys.setdefault("file", numpy.repeat(numpy.arange(len(sizes)), sizes))
    return keys


def _by_place(rows: Belonging, where: str) -> tuple[Rule, Marks]:
    if group := rows.roles.group:
        raise UserError(
            "two_splits", f"data.split is place, but group_column is set to {group}, and rows cannot be kept together by both.",
            "Leave group_column empty, or set data.split to group.",
        )  # fmt: skip
    blocks = rows.blocks(asked=True)
    if blocks is None:
        raise UserError(
            "no_places", f"data.split is place, but {where} has no two columns with numbers called latitude and longitude (in degrees), easting and "
            "northing, or x and y, that tell several places.",
            "Name the columns latitude and longitude, or set data.split to random.",
        )  # fmt: skip
    count = len(set(blocks) - {""})
    return Rule(whole=f"the rows of each of {count} blocks of the map", new="parts of the map"), Marks(blocks=_by_table(rows.tables, blocks))
