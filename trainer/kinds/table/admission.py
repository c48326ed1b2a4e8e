"""Decides by held-out loss which columns beside numbers and categories a model of a table reads: dates, texts, lists, names with many values, and
pictures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy

from trainer.config.settings import Settings
from trainer.core import columnar
from trainer.core.example import Dataset, Example
from trainer.data.columns.features import CATEGORY, DATE, LIST, NAME, NUMBER, TEXT
from trainer.data.pictures import looks
from trainer.errors import some
from trainer.kinds.derived import judge as judges, part as parts
from trainer.kinds.derived.judge import Judge, View
from trainer.kinds.derived.part import Part
from trainer.kinds.table import held_out
from trainer.run_folder.events import Events

_SINGLE = 8  # columns up to which each is judged by itself; more are judged by their sorts
_FOLDS = 3  # of those that judge models
_FEW, _ERRORS_OF_FEW, _ERRORS = 500, 2.0, 1.0  # standard errors by which the loss must fall, with fewer rows than so many and with more
_BLOCKS = 5  # of later rows
_FEWEST = 30  # held-out rows
_PICTURE = "picture"
WORDS = {_PICTURE: "picture", DATE: "date", LIST: "list", NAME: "name", TEXT: "text"}


@dataclass(frozen=True)
class _Group:
    """Columns of one sort that are judged together. ``sources`` are the columns of the table that they come from."""

    sort: str
    names: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return (looks.source(self.names[0]),) if self.sort == _PICTURE else self.names

    @property
    def title(self) -> str:
        what = f"{WORDS[self.sort]} column"
        return f"The {what} {self.sources[0]} is" if len(self.sources) == 1 else f"The {what}s {some(self.sources, 6)} are"


def admitted(kind, data: Dataset, settings: Settings, events: Events) -> Dataset:
    """``data`` with what was learnt of the columns that make the held-out loss smaller, and without the others. Says why."""
    asked = {n: t for n, t in data.types.items() if t not in (NUMBER, CATEGORY)}
    pictures = _pictures(data)
    if not asked and not pictures:
        return data
    places = {n: i for i, n in enumerate(data.columns)}
    learnt = {n: parts.learn(sort, columnar.texts(data.splits["train"], places[n])) for n, sort in asked.items()}
    known: dict[str, Part] = {n: part for n, part in learnt.items() if part is not None}
    used = _used(kind, data, known, settings, events)
    if not used and len(asked) + len(pictures) == len(data.columns):
        used = (*known, *pictures)  # there is nothing else
    return _only(data, {n: known[n] for n in known if n in used}, pictures - {*used})


def _pictures(data: Dataset) -> frozenset[str]:
    """The columns of numbers that tell what pictures look like."""
    return frozenset(n for names in looks.grouped(data.columns).values() for n in names if data.types[n] == NUMBER)


def _used(kind, data: Dataset, known: dict[str, Part], settings: Settings, events: Events) -> tuple[str, ...]:
    """The columns of ``known`` that make the loss smaller: they are added one after another, and stay where they do."""
    target = kind.target(data)
    pictures = _pictures(data)
    plain = replace(data, columns=tuple(n for n in data.columns if data.types[n] in (NUMBER, CATEGORY) and n not in pictures))
    rows, targets, folds = _rows(plain, target, settings)
    held = sum(len(out) for _, out in folds)
    groups = _groups(data, known)
    if held < _FEWEST or len(numpy.unique(targets)) < 2:
        if groups:
            events.decision("columns_by_loss", [], f"{_not_used(groups)} not used: there are too few held-out rows to judge by.")
        return ()
    places = {n: i for i, n in enumerate(data.columns)}
    cells = {n: columnar.texts(rows, places[n]) for n in data.columns if n in plain.columns or n in known or n in pictures}
    views = [judges.of_column(data.types[n], cells[n]) for n in plain.columns]
    judge = Judge(targets, len(target.labels), folds, settings.seed)
    before = judge.losses(judges.joined(views, len(rows)))
    used: tuple[str, ...] = ()
    later = held_out.by_time(data.splits["train"], data.splits["validation"])
    errors = _ERRORS if len(rows) >= _FEW and not later else _ERRORS_OF_FEW
    for group in groups:
        more: list[View] = [judges.of_part(known[n], cells[n]) if n in known else judges.of_column(NUMBER, cells[n]) for n in group.names]
        after = judge.losses(judges.joined([*views, *more], len(rows)))
        helps = judges.better(before, after, errors, _BLOCKS if later else 0)
        events.decision("columns_by_loss", list(group.sources) if helps else [], _why(group, helps, before, after, judge.classes))
        if helps:
            before, used, views = after, (*used, *group.names), [*views, *more]
    return used


def _why(group: _Group, helps: bool, before: numpy.ndarray, after: numpy.ndarray, classes: int) -> str:
    """The sentence that says whether a group is used, with the losses without it and with it."""
    without, with_it = (judges.shown(losses, classes) for losses in (before, after))
    chance = "" if helps or after.mean() >= before.mean() else ", which may be chance"
    it = "it" if len(group.sources) == 1 else "them"
    return f"{group.title} {'' if helps else 'not '}used: the loss on held-out rows is {with_it} with {it} and {without} without{chance}."


def _not_used(groups: list[_Group]) -> str:
    names = [n for g in groups for n in g.sources]
    return f"{some(names, 6)} {'are' if len(names) > 1 else 'is'}"


def _groups(data: Dataset, known: dict[str, Part]) -> list[_Group]:
    """The columns one by one, or those of each sort together where they are many. What costs least comes first."""
    found = [(sort, tuple(n for n in known if data.types[n] == sort)) for sort in (DATE, LIST, NAME, TEXT)]
    pictures = [_Group(_PICTURE, names) for names in looks.grouped(data.columns).values()]
    if len(known) > _SINGLE:
        return [*(_Group(sort, names) for sort, names in found if names), *pictures]
    return [*(_Group(sort, (name,)) for sort, names in found for name in names), *pictures]


def _rows(data: Dataset, target, settings: Settings) -> tuple[list[Example], numpy.ndarray, tuple[judges.Fold, ...]]:
    """The rows that columns are judged on, their targets and folds: a part of the rows by which the models will be judged.

    Where rows are split by time, the later ones judge alone, in their order. In folds at random, a date would tell the neighbours of a row.
    """
    held = held_out.rows(data, target, settings)
    draw = numpy.random.default_rng(settings.seed)
    if held.turns is None or held_out.by_time(data.splits["train"], data.splits["validation"]):
        train, out = (held_out.known(data.splits[name], target) for name in ("train", "validation"))
        train, out = _drawn(train, judges.MOST, draw), _drawn(out, judges.MOST // 2, draw)
        out = sorted(out, key=lambda e: e.when or 0.0)
        rows = [*train, *out]
        fold = (numpy.arange(len(train)), numpy.arange(len(train), len(rows)))
        return rows, target.encode([e.target for e in rows]), (fold,)
    kept = numpy.sort(draw.permutation(len(held.examples))[: judges.MOST])
    place = numpy.full(len(held.examples), -1)
    place[kept] = numpy.arange(len(kept))
    folds = tuple((place[a][place[a] >= 0], place[b][place[b] >= 0]) for a, b in list(held.turns.parts())[:_FOLDS])
    return [held.examples[i] for i in kept], held.targets[kept], tuple(f for f in folds if len(f[0]) and len(f[1]))


def _drawn(examples: Sequence[Example], most: int, draw: numpy.random.Generator) -> list[Example]:
    if len(examples) <= most:
        return list(examples)
    return list(columnar.taken(examples, numpy.sort(draw.permutation(len(examples))[:most])))


def _only(data: Dataset, learnt: dict[str, Part], without: frozenset[str]) -> Dataset:
    """``data`` with its numbers besides those of ``without``, its categories and the columns of ``learnt``."""
    kept = [n for n in data.columns if (data.types[n] in (NUMBER, CATEGORY) and n not in without) or n in learnt]
    if len(kept) == len(data.columns):
        return replace(data, learnt=dict(learnt))
    places = [data.columns.index(n) for n in kept]
    splits = {name: columnar.narrowed(rows, places) for name, rows in data.splits.items()}
    return replace(data, splits=splits, columns=tuple(kept), types={n: data.types[n] for n in kept}, learnt=dict(learnt))
