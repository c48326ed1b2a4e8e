"""Single answers: the forecast of one step of a series that the model knows, by the moment of the step as the model writes moments.

A question has the ids of the series, the moment and the covariates that are known ahead. Without a moment it is the next step. What continues the
series is a dataset's business: a single answer goes on from what the model holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy

from trainer.answer import rows
from trainer.answer.rows import Column, Refused
from trainer.core.example import Example
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.errors import some
from trainer.kinds.series.calendar import Calendar
from trainer.kinds.series.panel import Panel
from trainer.kinds.series.steps import Steps

_SUGGESTED = 1000  # ids or moments that a form offers
_BETWEEN = " "  # of the parts of a moment, in the name of their input and in its text


@dataclass(frozen=True)
class Question:
    """``ids`` of a series, the ``moment`` (empty for the next step), and the ``known`` covariates there (NaN where none was given)."""

    ids: tuple[str, ...]
    moment: str
    known: tuple[float, ...]


def inputs(columns: Sequence[str], config: dict, lasts: numpy.ndarray) -> tuple[Column, ...]:
    """The inputs of a model that reads ``columns``: ids, the parts of the time, covariates. ``config`` is its config.json, and ``lasts`` are the
    numbers of the last steps of its series: where all end together, the moments are known."""
    ids, covariates, number = config["series"], config["covariates"], len(config["series"][0])
    calendar, most = Calendar.restored(config["calendar"]), len(config["widths"][0])
    together = len(numpy.unique(lasts)) == 1 and most <= _SUGGESTED
    moments = tuple(calendar.text(int(lasts[0]) + ahead) for ahead in range(1, most + 1)) if together else ()
    named = []
    for at, name in enumerate(columns[:number]):
        there = sorted({i[at] for i in ids})
        named.append(Column(name, CATEGORY, tuple(there) if len(there) <= _SUGGESTED else ()))
    moment = Column(_BETWEEN.join(columns[number : len(columns) - len(covariates)]), CATEGORY, moments)
    return (*named, moment, *(Column(name, NUMBER) for name in covariates))


def contents(cells: dict[str, list], columns: tuple[Column, ...]) -> list[Question]:
    """The questions of a request. Raises Refused."""
    count = len(next(iter(cells.values())))
    whole = {c.name: cells.get(c.name, [None] * count) for c in columns}
    covariates = [c for c in columns if c.type == NUMBER]
    for column in (c for c in columns[: len(columns) - len(covariates) - 1] if c.categories and "" not in c.categories):
        if not all(rows.text_of(cell).strip() for cell in whole[column.name]):
            raise Refused(f"{column.name} is empty. It says which series is asked for: {some(column.categories, 3)}.")
    texts = [[rows.text_of(cell).strip() for cell in whole[c.name]] for c in columns if c.type != NUMBER]
    numbers = [[float(n) if n else numpy.nan for n in rows.numbers(whole[c.name], c.name)] for c in covariates]
    return [Question(tuple(row[:-1]), row[-1], known) for row, known in zip(zip(*texts), zip(*numbers) if numbers else [()] * count)]


def steps(questions: Sequence[Example], history: Panel, calendar: Calendar, most: int) -> Steps:
    """The steps behind ``history`` that the ``questions`` ask for. Raises Refused for an unknown series and other steps than the next ``most``."""
    asked: list[Question] = [e.content for e in questions]
    places = {ids: s for s, ids in enumerate(history.ids)}
    if strange := [_BETWEEN.join(q.ids) for q in asked if q.ids not in places]:
        raise Refused(f"The model does not know the series {some(strange, 3)}. Let it answer for a dataset with earlier rows of it.")
    series = numpy.array([places[q.ids] for q in asked])
    aheads = numpy.array([_ahead(q, int(history.firsts[s]) + len(history.values[s]) - 1, calendar, most) for q, s in zip(asked, series)])
    if history.known:
        history = replace(history, known=_known(asked, series, aheads, history, most))
    return Steps(history, calendar, series, history.lengths[series], aheads)


def _ahead(question: Question, last: int, calendar: Calendar, most: int) -> int:
    """How many steps behind the ``last`` one the moment is."""
    if not question.moment:
        return 1
    asked = question.moment.upper()
    for ahead in range(1, most + 1):
        moment = calendar.text(last + ahead).upper()
        if asked in (moment, moment.replace(" ", "T")):
            return ahead
    first, end = calendar.text(last + 1), calendar.text(last + most)
    name = f" of {some([_BETWEEN.join(question.ids)])}" if question.ids else ""
    raise Refused(f"{some([question.moment])} is not a step that the model forecasts{name}: these are {first} to {end}, written like these.")


def _known(asked: list[Question], series: numpy.ndarray, aheads: numpy.ndarray, history: Panel, most: int) -> tuple[numpy.ndarray, ...]:
    """The covariates of each series and of the ``most`` steps behind it: those that are asked with, and before each of them the last known ones."""
    found = list(history.known)
    for s in numpy.unique(series):
        ahead = numpy.full((most, history.covariates), numpy.nan)
        for q, at in ((q, a) for q, mine, a in zip(asked, series, aheads) if mine == s):
            ahead[at - 1] = q.known
        whole = numpy.concatenate([history.known[s][: len(history.values[s])], ahead])
        places = numpy.where(numpy.isnan(whole), 0, numpy.arange(len(whole))[:, None])
        found[s] = numpy.take_along_axis(whole, numpy.maximum.accumulate(places, axis=0), axis=0)
    return tuple(found)
