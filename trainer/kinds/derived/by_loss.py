"""Decides by held-out loss whether rows with texts, and with numbers or categories beside them, are read as texts or as a table with texts."""

from dataclasses import dataclass

import numpy

from trainer import threads
from trainer.core import drawn
from trainer.data.columns import choices, features, sequences, values
from trainer.data.columns.features import DATE, LIST, NAME, NUMBER, PICTURE, TEXT
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError
from trainer.kinds.derived import candidates, judge as judges, part as parts
from trainer.kinds.derived.judge import Judge, View
from trainer.measure import linear
from trainer.measure.tfidf import TfIdf

MOST = 2_000  # rows that are looked at
_FEWEST = 60
_FOLDS = 3
_CUT = 2_000  # characters of a text
_TERMS = 20_000
_STRENGTHS, _SECONDS = (3.0, 1.0, 0.3, 0.1), 0.5  # of the linear model on words; for the fits of one fold
_MOST_CLASSES = 100
_ERRORS = 2.0  # standard errors by which a table must be better where the words say that the rows are texts


@dataclass(frozen=True)
class Choice:
    """Whether the rows are read as ``table`` or as texts, and the sentence why."""

    table: bool
    why: str


def choose(tables: list[Table], rest: dict[str, Profile], label: Profile, settings, close: bool) -> Choice | None:
    """The reading with the smaller loss on held-out rows. ``close`` says that the words leave it open; else they say that the rows are texts, and
    a table must be better by more than chance. None where there are too few rows to tell."""
    wanted, classes = _targets(tables, label)
    judge, places = _judge(wanted, classes, settings.seed)
    if judge is None:
        return None
    columns = {n: _chosen([c for t in tables for c in t.cells(n)], places) for n in rest}
    texts = _texts(rest, label.name, settings)
    if not texts:
        return None
    plain = _plain(tables, rest, columns, texts)
    of_text = [judges.of_part(part, columns[n]) for n in texts if (part := parts.learn(TEXT, columns[n])) is not None]
    table = judge.losses(judges.joined(plain, len(places)))
    every = judge.losses(judges.joined([*plain, *of_text], len(places)))
    spread = [[sequences.words(c[:_CUT], letters) for c in columns[n]] for n in texts for letters in (sequences.step(columns[n]),)]
    joined = [" ".join(row) for row in zip(*spread, strict=True)]
    alone = min(_words(judge, joined), judge.losses(judges.joined(of_text, len(places))), key=lambda losses: float(losses.mean()))
    best = every if every.mean() < table.mean() else table
    wins = best.mean() < alone.mean() if close else judges.better(alone, best, _ERRORS)
    losses = [judges.shown(found, judge.classes) for found in (every, table, alone)]
    said = f"the loss on held-out rows is {losses[0]} with all columns, {losses[1]} without the texts, and {losses[2]} with the texts alone"
    chance = " A table would have to be better by more than chance." if not wins and best.mean() < alone.mean() else ""
    return Choice(wins, f"The rows are read as {'a table' if wins else 'texts'}: {said}.{chance}")


def of_columns(tables: list[Table], others: dict[str, Profile], label: Profile, settings) -> str:
    """What the loss on held-out rows says of ``others``, columns that a model of pictures does not read, as a part of a sentence; empty where it is
    no smaller than without any column by more than chance, or there are too few rows to tell."""
    wanted, classes = _targets(tables, label)
    judge, places = _judge(wanted, classes, settings.seed)
    if judge is None:
        return ""
    columns = {n: _chosen([c for t in tables for c in t.cells(n)], places) for n in others}
    told = judge.losses(judges.joined(_plain(tables, others, columns, ()), len(places)))
    guessed = judge.losses(judges.joined([], len(places)))
    if not judges.better(guessed, told, _ERRORS):
        return ""
    return f"the loss on held-out rows is {judges.shown(told, judge.classes)} with them alone, and {judges.shown(guessed, judge.classes)} by guessing"


def _targets(tables: list[Table], label: Profile) -> tuple[list[str], bool]:
    """The label of each row, empty where it is unknown, and whether it is a class."""
    cells = [c for t in tables for c in t.cells(label.name)]
    if label.is_measure:
        return values.as_numbers(cells, label.style), False
    return values.classes(cells, label.style), True


def _judge(wanted: list[str], classes: bool, seed: int) -> tuple[Judge | None, numpy.ndarray]:
    """What judges on some of the rows with a label, and their places; None where there are too few of them, or too many classes."""
    known = drawn.rows(numpy.asarray([i for i, w in enumerate(wanted) if w], numpy.int64), MOST, seed)
    if classes and len(known):
        _, codes, counts = numpy.unique([wanted[i] for i in known], return_inverse=True, return_counts=True)
        known = known[counts[codes] >= _FOLDS]
        labels, codes = numpy.unique([wanted[i] for i in known], return_inverse=True)
        targets, count = codes.astype(numpy.int64), len(labels)
    else:
        targets, count = numpy.asarray([float(wanted[i]) for i in known]), 0
    if len(known) < _FEWEST or (classes and not 2 <= count <= _MOST_CLASSES):
        return None, known
    draw = numpy.random.default_rng(seed).permutation(len(known))
    fold = numpy.empty(len(known), numpy.int64)
    fold[draw[numpy.argsort(targets[draw], kind="stable")]] = numpy.arange(len(known)) % _FOLDS
    return Judge(targets, count, tuple((numpy.flatnonzero(fold != i), numpy.flatnonzero(fold == i)) for i in range(_FOLDS)), seed), known


def _chosen(cells: list[str], places: numpy.ndarray) -> list[str]:
    return ["" if values.is_missing(cells[i]) else cells[i].strip() for i in places]


def _texts(rest: dict[str, Profile], label: str, settings) -> tuple[str, ...]:
    """The columns that a model of texts would read; all free texts where that is not clear."""
    try:
        return choices.text(rest, settings.text_column, label, "").columns
    except UserError:
        return tuple(n for n, p in rest.items() if p.is_free_text)


def _plain(tables: list[Table], rest: dict[str, Profile], columns: dict[str, list[str]], texts: tuple[str, ...]) -> list[View]:
    """The columns besides texts, as a table would have them."""
    perhaps = candidates.of(tables, rest)
    types, _ = features.choose({n: p for n, p in rest.items() if n not in texts}, "", dict.fromkeys(perhaps, ""))
    found: list[View] = []
    for name, sort in {**types, **perhaps}.items():
        if name in texts:
            continue
        if sort in (DATE, LIST, NAME):
            if (part := parts.learn(sort, columns[name])) is not None:
                found.append(judges.of_part(part, columns[name]))
        elif sort not in (PICTURE, TEXT):
            cells = values.as_numbers(columns[name], rest[name].style) if sort == NUMBER else columns[name]
            found.append(judges.of_column(sort, cells))
    return found


def _words(judge: Judge, texts: list[str]) -> numpy.ndarray:
    """The losses of a linear model on the words of ``texts``, with the best strength of its penalty."""
    terms = TfIdf.learn(texts, _TERMS).features(texts)
    paths = []
    with threads.one_of_blas():
        for kept, out in judge.folds:
            models = linear.path(terms[kept], judge.targets[kept], judge.classes, judge.seed, _SECONDS, None, _STRENGTHS)
            paths.append([judge.answers(terms[out] @ m.weights + m.bias) for m in models])
    found = [judge.of(numpy.concatenate(of_strength)) for of_strength in zip(*paths, strict=False)]
    return min(found, key=lambda losses: float(losses.mean()))
