"""Decides by held-out loss which columns beside numbers and categories a model of a table reads: dates, texts, lists, names with many values, and
pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy

from trainer.config.settings import Settings
from trainer.core import columnar, drawn
from trainer.core.example import Dataset, Example
from trainer.core.kind import Kind
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
More = Callable[[Dataset, dict[str, Part], tuple[str, ...]], dict[str, Part]]
WORDS = {_PICTURE: "picture", DATE: "date", LIST: "list", NAME: "name", TEXT: "text"}


@dataclass(frozen=True)
class Group:
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


class Bench:
    """The rows that columns are judged on, at most about ``most``, and the losses of models of some columns."""

    def __init__(self, kind: Kind, data: Dataset, settings: Settings, most: int = judges.MOST):
        self._data = data
        pictures = _pictures(data)
        plain = replace(data, columns=tuple(n for n in data.columns if data.types[n] in (NUMBER, CATEGORY) and n not in pictures))
        target = kind.target(data)
        self._rows, targets, folds = _rows(plain, target, settings, most)
        self.can_judge = sum(len(out) for _, out in folds) >= _FEWEST and len(numpy.unique(targets)) >= 2
        self._judge = Judge(targets, len(target.labels), folds, settings.seed)
        self._later = held_out.by_time(data.splits["train"], data.splits["validation"])
        self.plain = plain.columns

    @property
    def classes(self) -> int:
        return self._judge.classes

    def view(self, name: str, part: Part | None = None) -> View:
        """A column, read by ``part`` where it is neither numbers nor categories."""
        cells = columnar.texts(self._rows, self._data.columns.index(name))
        return judges.of_column(self._data.types[name], cells) if part is None else judges.of_part(part, cells)

    def losses(self, views: Sequence[View]) -> numpy.ndarray:
        return self._judge.losses(judges.joined(views, len(self._rows)))

    def better(self, before: numpy.ndarray, after: numpy.ndarray) -> bool:
        errors = _ERRORS if len(self._rows) >= _FEW and not self._later else _ERRORS_OF_FEW
        return judges.better(before, after, errors, _BLOCKS if self._later else 0)


def admitted(kind: Kind, data: Dataset, settings: Settings, events: Events, more: More | None = None) -> Dataset:
    """``data`` with what was learnt of the columns that make the held-out loss smaller, and without the others. Says why. ``more`` may add to what
    is learnt of the columns: it is asked with ``data``, with the parts that were weighed, and with the names of the columns that are used."""
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
    read = {n: known[n] for n in known if n in used}
    return _only(data, read if more is None else more(data, known, used), pictures - {*used})


def _pictures(data: Dataset) -> frozenset[str]:
    """The columns of numbers that tell what pictures look like."""
    return frozenset(n for names in looks.grouped(data.columns).values() for n in names if data.types[n] == NUMBER)


def _used(kind: Kind, data: Dataset, known: dict[str, Part], settings: Settings, events: Events) -> tuple[str, ...]:
    """The columns of ``known`` that make the loss smaller: they are added one after another, and stay where they do."""
    bench = Bench(kind, data, settings)
    found = groups(data, known)
    if not bench.can_judge:
        if found:
            events.decision("columns_by_loss", [], f"{_not_used(found)} not used: there are too few held-out rows to judge by.")
        return ()
    views = [bench.view(n) for n in bench.plain]
    before = bench.losses(views)
    used: tuple[str, ...] = ()
    for group in found:
        more = [bench.view(n, known.get(n)) for n in group.names]
        after = bench.losses([*views, *more])
        helps = bench.better(before, after)
        events.decision("columns_by_loss", list(group.sources) if helps else [], _why(group, helps, before, after, bench.classes))
        if helps:
            before, used, views = after, (*used, *group.names), [*views, *more]
    return used


def _why(group: Group, helps: bool, before: numpy.ndarray, after: numpy.ndarray, classes: int) -> str:
    """The sentence that says whether a group is used."""
    return why(group.title, "it" if len(group.sources) == 1 else "them", helps, before, after, classes)


def why(title: str, it: str, helps: bool, before: numpy.ndarray, after: numpy.ndarray, classes: int) -> str:
    """The sentence that says whether something is used, with the losses without it and with it. ``title`` is its subject with the verb."""
    without, with_it = (judges.shown(losses, classes) for losses in (before, after))
    chance = "" if helps or after.mean() >= before.mean() else ", which may be chance"
    return f"{title} {'' if helps else 'not '}used: the loss on held-out rows is {with_it} with {it} and {without} without{chance}."


def _not_used(groups: list[Group]) -> str:
    names = [n for g in groups for n in g.sources]
    return f"{some(names, 6)} {'are' if len(names) > 1 else 'is'}"


def groups(data: Dataset, known: dict[str, Part]) -> list[Group]:
    """The columns one by one, or those of each sort together where they are many. What costs least comes first."""
    found = [(sort, tuple(n for n in known if data.types[n] == sort)) for sort in (DATE, LIST, NAME, TEXT)]
    pictures = [Group(_PICTURE, names) for names in looks.grouped(data.columns).values()]
    if len(known) > _SINGLE:
        return [*(Group(sort, names) for sort, names in found if names), *pictures]
    return [*(Group(sort, (name,)) for sort, names in found for name in names), *pictures]


def _rows(data: Dataset, target, settings: Settings, most: int) -> tuple[list[Example], numpy.ndarray, tuple[judges.Fold, ...]]:
    """The rows that columns are judged on, their targets and folds: a part of the rows by which the models will be judged.

    Where rows are split by time, the later ones judge alone, in their order. In folds at random, a date would tell the neighbours of a row.
    """
    held = held_out.rows(data, target, settings)
    draw = numpy.random.default_rng(settings.seed)
    if held.turns is None or held_out.by_time(data.splits["train"], data.splits["validation"]):
        train, out = (held_out.known(data.splits[name], target) for name in ("train", "validation"))
        train, out = drawn.examples(train, most, draw), drawn.examples(out, most // 2, draw)
        out = sorted(out, key=lambda e: e.when or 0.0)
        rows = [*train, *out]
        fold = (numpy.arange(len(train)), numpy.arange(len(train), len(rows)))
        return rows, target.encode([e.target for e in rows]), (fold,)
    kept = drawn.rows(len(held.examples), most, draw)
    place = numpy.full(len(held.examples), -1)
    place[kept] = numpy.arange(len(kept))
    folds = tuple((place[a][place[a] >= 0], place[b][place[b] >= 0]) for a, b in list(held.turns.parts())[:_FOLDS])
    return [held.examples[i] for i in kept], held.targets[kept], tuple(f for f in folds if len(f[0]) and len(f[1]))


def _only(data: Dataset, learnt: dict[str, Part], without: frozenset[str]) -> Dataset:
    """``data`` with its numbers besides those of ``without``, its categories and the columns of ``learnt``."""
    kept = [n for n in data.columns if (data.types[n] in (NUMBER, CATEGORY) and n not in without) or n in learnt]
    if len(kept) == len(data.columns):
        return replace(data, learnt=dict(learnt))
    places = [data.columns.index(n) for n in kept]
    splits = {name: columnar.narrowed(rows, places) for name, rows in data.splits.items()}
    return replace(data, splits=splits, columns=tuple(kept), types={n: data.types[n] for n in kept}, learnt=dict(learnt))
