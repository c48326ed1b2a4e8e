"""Whether a model of a table reads its free texts with an installed text model, too: which one, what that takes, and whether the held-out loss is
smaller with its vectors."""

from dataclasses import replace

from trainer.config.settings import OF_USERS, Settings
from trainer.core import columnar, registry
from trainer.core.example import Dataset
from trainer.core.kind import Kind
from trainer.data.columns.features import TEXT
from trainer.errors import UserError, count, some
from trainer.kinds.derived.part import Part
from trainer.kinds.derived.vectors import MOST_TEXTS, ROWS, TextVectors, different
from trainer.kinds.table import admission
from trainer.models import catalogue, text_vectors
from trainer.models.catalogue import Base
from trainer.models.text_vectors import Reader
from trainer.models.weights import Unusable
from trainer.run_folder import stop
from trainer.search import space
from trainer.training import candidates
from trainer.training.carry_out import Run

NONE = "none"
MOST_SECONDS = 300.0  # of one core for all texts, beyond which nobody waits for a model that was not asked for
_SHARE = 0.1  # of the time that the run may take
_JUDGED = 1_500  # rows that are read to judge


class Trial:
    """The installed model whose vectors are tried in a training. ``used`` says whether a column is read with it; None before this is known."""

    def __init__(self, run: Run, kind: Kind, base: Base):
        self._run, self._kind, self._base = run, kind, base
        self._asked = run.settings.source("text_vectors") in OF_USERS and run.settings.text_vectors == base.name
        self.used: bool | None = None

    def settings(self) -> Settings:
        """The settings of a repeated run that reads the same."""
        if self.used is None:
            return self._run.settings
        return self._run.settings.with_chosen(text_vectors=self._base.name if self.used else NONE)

    def __call__(self, data: Dataset, known: dict[str, Part], used: tuple[str, ...]) -> dict[str, Part]:
        """The parts of ``known`` that are ``used``, with the vectors of those texts where these make the loss smaller. Raises UserError where the
        user asked for the model and it cannot be used, or stops the run."""
        found = {n: known[n] for n in known if n in used}
        groups = [g.names for g in admission.groups(data, known) if g.sort == TEXT]
        if not groups:
            return found
        try:
            reader = self._reader(data, [n for names in groups for n in names])
        except Unusable as e:
            if self._asked:
                raise UserError(
                    "model_unusable", f"The installed model {self._base.name} {e}.", "Choose another model, or set text_vectors to none."
                ) from e
            self._run.events.decision("text_vectors", NONE, f"The vectors of texts by the installed model {self._base.name} are not tried: it {e}.")
            self.used = False
            return found
        if not self._run.settings.dry_run:
            found |= self._judged(data, groups, found, used, reader)
            self.used = any(isinstance(p, TextVectors) for p in found.values())
        return {n: found[n] for n in known if n in found}

    def _reader(self, data: Dataset, names: list[str]) -> Reader:
        """Raises Unusable where the model cannot read the texts, or not in the time."""
        run = self._run
        if space.is_wanted(run.settings) or candidates.choose(run.spec.models, run.settings, self._kind, data.task, run.begun).network is not None:
            raise Unusable("is for linear models, trees and their ensemble, and a network is trained here")
        reader = text_vectors.read(self._base)
        reader.watch = lambda: stop.check(run.spec.folder)
        texts = different([c for n in names for rows in data.splits.values() for c in columnar.texts(rows, data.columns.index(n))])
        if len(texts) > MOST_TEXTS:
            raise Unusable(f"would read {len(texts):,} different texts, and {MOST_TEXTS:,} are the most")
        seconds, most = reader.seconds(texts), min(MOST_SECONDS, _SHARE * 60 * run.settings.max_minutes)
        if seconds > most and not self._asked:
            raise Unusable(f"would take about {_time(seconds)} for {len(texts):,} texts; set text_vectors to {self._base.name} to wait for it")
        judged = min(1.0, (_JUDGED + ROWS) * len(names) / max(1, len(texts)))
        text = f"The installed model {self._base.name} reads the free texts as it is, and its vectors are tried beside their words: "
        text += f"about {_time(seconds * judged)} of one core to judge them, and {_time(seconds)} for all {len(texts):,} texts if they are used."
        run.events.decision("text_vectors", self._base.name, text)
        return reader

    def _judged(self, data: Dataset, groups: list, found: dict[str, Part], used: tuple[str, ...], reader: Reader) -> dict[str, Part]:
        """The columns of ``groups`` whose vectors help beside the parts ``found`` and the columns ``used``: they are added one after another."""
        bench = admission.Bench(self._kind, data, self._run.settings, _JUDGED)
        if not bench.can_judge:
            return {}
        views = [bench.view(n, found.get(n)) for n in dict.fromkeys((*bench.plain, *used))]
        before = bench.losses(views)
        read: dict[str, Part] = {}
        for names in groups:
            cells = {n: columnar.texts(data.splits["train"], data.columns.index(n)) for n in names}
            learnt = {n: v for n in names if (v := TextVectors.learn(reader, cells[n])) is not None}
            if not learnt:
                continue
            more = [bench.view(n, v) for n, v in learnt.items()]
            after = bench.losses([*views, *more])
            helps = bench.better(before, after)
            title = f"The vectors by {self._base.name} of the text column{'s' * (len(learnt) > 1)} {some(learnt, 6)} are"
            why = admission.why(title, "them", helps, before, after, bench.classes)
            self._run.events.decision("columns_by_loss", list(learnt) if helps else [], why)
            if helps:
                before, views = after, [*views, *more]
                read |= {n: replace(v, words=found.get(n)) for n, v in learnt.items()}
        return read


def trial(run: Run, kind: Kind) -> Trial | None:
    """The installed model whose vectors are tried; None where none is installed or wanted. Raises UserError for a name that is not installed."""
    wanted = run.settings.text_vectors
    if wanted == NONE or run.settings.start_from == "scratch":
        return None
    base = catalogue.choose(run.spec.models, wanted, registry.of(text_vectors.LEANING.kind))
    return None if base.folder is None else Trial(run, kind, base)


def _time(seconds: float) -> str:
    return count(max(1, round(seconds)), "second") if seconds < 100 else count(round(seconds / 60), "minute")
