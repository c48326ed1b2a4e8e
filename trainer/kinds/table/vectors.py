"""Whether a model of a table reads its free texts and its pictures with installed models, too: which ones, what that takes, and whether the held-out
loss is smaller with their vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trainer.config.settings import OF_USERS, Settings
from trainer.core import columnar
from trainer.core.example import Dataset
from trainer.core.kind import Kind
from trainer.data.columns.features import PICTURE
from trainer.errors import UserError, count, some
from trainer.kinds.derived.part import NO_VECTORS, Part
from trainer.kinds.derived.vectors import MOST, ROWS, SOURCES, Vectors, different, installed
from trainer.kinds.table import admission
from trainer.models.catalogue import Base
from trainer.models.vectors import Reader, Source
from trainer.models.weights import Unusable
from trainer.run_folder import stop
from trainer.search import space
from trainer.training import candidates
from trainer.training.carry_out import Run

MOST_SECONDS = 300.0  # of one core for all cells, beyond which nobody waits for a model that was not asked for
_SHARE = 0.1  # of the time that the run may take
_JUDGED = 1_500  # rows that are read to judge


@dataclass(frozen=True)
class Tried:
    """An installed model that reads columns of the type ``sort``."""

    sort: str
    source: Source
    base: Base

    @property
    def option(self) -> str:
        return self.source.leaning.option

    def is_asked_for(self, settings: Settings) -> bool:
        return settings.source(self.option) in OF_USERS and getattr(settings, self.option) == self.base.name


class Trial:
    """The installed models whose vectors are tried in a training. ``used`` says by the type of a column whether one is read with its model; it lacks
    those of which this is not known."""

    def __init__(self, run: Run, kind: Kind, tried: Sequence[Tried]):
        self._run, self._kind, self._tried = run, kind, tried
        self.used: dict[str, bool] = {}

    def settings(self) -> Settings:
        """The settings of a repeated run that reads the same."""
        return self._run.settings.with_chosen(
            **{t.option: t.base.name if self.used[t.sort] else NO_VECTORS for t in self._tried if t.sort in self.used}
        )

    def __call__(self, data: Dataset, known: dict[str, Part], used: tuple[str, ...]) -> dict[str, Part]:
        """The parts of ``known`` that are ``used``, with the vectors of those texts and pictures where these make the loss smaller. Raises UserError
        where the user asked for a model and it cannot be used, or stops the run."""
        found = {n: known[n] for n in known if n in used}
        for tried in self._tried:
            found |= self._read(tried, data, known, found, used)
        return {n: found[n] for n in data.columns if n in found}

    def _read(self, tried: Tried, data: Dataset, known: dict[str, Part], found: dict[str, Part], used: tuple[str, ...]) -> dict[str, Part]:
        groups = _groups(tried.sort, data, known)
        if not groups:
            return {}
        try:
            reader = self._reader(tried, data, [n for names in groups for n in names])
        except Unusable as e:
            if tried.is_asked_for(self._run.settings):
                raise UserError(
                    "model_unusable", f"The installed model {tried.base.name} {e}.", f"Choose another model, or set {tried.option} to none."
                ) from e
            why = f"The vectors of {tried.source.thing}s by the installed model {tried.base.name} are not tried: it {e}."
            self._run.events.decision(tried.option, NO_VECTORS, why)
            self.used[tried.sort] = False
            return {}
        if self._run.settings.dry_run:
            return {}
        read = self._judged(tried, data, groups, found, used, reader)
        self.used[tried.sort] = bool(read)
        return read

    def _reader(self, tried: Tried, data: Dataset, names: list[str]) -> Reader:
        """Raises Unusable where the model cannot read the cells, or not in the time."""
        run, source, name = self._run, tried.source, tried.base.name
        if space.is_wanted(run.settings) or candidates.choose(run.spec.models, run.settings, self._kind, data.task, run.begun).network is not None:
            raise Unusable("is for linear models, trees and their ensemble, and a network is trained here")
        reader = source.read(tried.base)
        reader.watch = lambda: stop.check(run.spec.folder)
        cells = [
            *different(reader, [c for n in names for rows in data.splits.values() for c in columnar.texts(rows, data.columns.index(n))]).values()
        ]
        if len(cells) > MOST:
            raise Unusable(f"would read {len(cells):,} different {source.thing}s, and {MOST:,} are the most")
        seconds, most = reader.seconds(cells), min(MOST_SECONDS, _SHARE * 60 * run.settings.max_minutes)
        if seconds > most and not tried.is_asked_for(run.settings):
            raise Unusable(f"would take about {_time(seconds)} for {len(cells):,} {source.thing}s; set {tried.option} to {name} to wait for it")
        judged = min(1.0, (_JUDGED + ROWS) * len(names) / max(1, len(cells)))
        text = f"The installed model {name} reads the {source.things} as it is, and its vectors are tried beside {source.beside}: about "
        text += f"{_time(seconds * judged)} of one core to judge them, and {_time(seconds)} for all {len(cells):,} {source.thing}s if they are used."
        run.events.decision(tried.option, name, text)
        return reader

    def _judged(
        self, tried: Tried, data: Dataset, groups: list[tuple[str, ...]], found: dict[str, Part], used: tuple[str, ...], reader: Reader
    ) -> dict[str, Part]:
        """The columns of ``groups`` whose vectors help beside the parts ``found`` and the columns ``used``: they are added one after another."""
        bench = admission.Bench(self._kind, data, self._run.settings, _JUDGED)
        if not bench.can_judge:
            return {}
        views = [bench.view(n, found.get(n)) for n in dict.fromkeys((*bench.plain, *used, *found))]
        before = bench.losses(views)
        read: dict[str, Part] = {}
        for names in groups:
            cells = {n: columnar.texts(data.splits["train"], data.columns.index(n)) for n in names}
            learnt = {n: v for n in names if (v := Vectors.learn(tried.source, reader, cells[n])) is not None}
            if not learnt:
                continue
            more = [bench.view(n, v) for n, v in learnt.items()]
            after = bench.losses([*views, *more])
            helps = bench.better(before, after)
            title = f"The vectors by {tried.base.name} of the {tried.source.thing} column{'s' * (len(learnt) > 1)} {some(learnt, 6)} are"
            why = admission.why(title, "them", helps, before, after, bench.classes)
            self._run.events.decision("columns_by_loss", list(learnt) if helps else [], why)
            if helps:
                before, views = after, [*views, *more]
                read |= {n: replace(v, words=found.get(n)) for n, v in learnt.items()}
        return read


def _groups(sort: str, data: Dataset, known: dict[str, Part]) -> list[tuple[str, ...]]:
    """The columns of a type that are judged together."""
    if sort == PICTURE:
        return [(n,) for n in data.columns if data.types[n] == PICTURE]
    return [g.names for g in admission.groups(data, known) if g.sort == sort]


def trial(run: Run, kind: Kind) -> Trial | None:
    """The installed models whose vectors are tried; None where none is installed or wanted. Raises UserError for a name that is not installed."""
    found = [Tried(sort, s, base) for sort, s in SOURCES.items() if (base := installed(s, run.spec.models, run.settings)) is not None]
    return Trial(run, kind, found) if found else None


def _time(seconds: float) -> str:
    return count(max(1, round(seconds)), "second") if seconds < 100 else count(round(seconds / 60), "minute")
