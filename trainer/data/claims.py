"""Which kind of data a dataset is: every kind makes a claim, then the surest one wins, and a close call is asked back."""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.kind import Kind
from trainer.data.checks import Checks
from trainer.data.sources import Sources
from trainer.errors import UserError, as_user_error
from trainer.run_folder.events import Events

ROWS, FORM = 0.5, 0.8  # how sure a kind is of files that several kinds may read, and of files in a form that no other kind has
CLOSE, CLOSE_SIZE = 0.05, 0.9  # difference of two claims, and ratio of their sizes, from which a call is close


class Noted(Events):
    """Keeps what a claim decides and warns of, until the claim wins."""

    def __init__(self, events: Events):
        super().__init__(events.path, events.attempt)
        self._noted: list[tuple[str, tuple]] = []

    def phase(self, phase: str, text: str) -> None:
        self._noted.append(("phase", (phase, text)))

    def decision(self, what: str, choice, why: str) -> None:
        self._noted.append(("decision", (what, choice, why)))

    def warning(self, code: str, text: str) -> None:
        self._noted.append(("warning", (code, text)))

    def repeat(self, events: Events) -> None:
        """Write to ``events`` what was kept."""
        for method, values in self._noted:
            getattr(events, method)(*values)


@dataclass
class Files:
    """The files of a dataset as one kind looks at them, and what the look notes. ``shared`` is kept between kinds that read files together."""

    spec: Spec
    sources: Sources
    checks: Checks
    shared: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """The reading of files as one kind.

    ``sure`` is from 0 to 1, ``size`` the number of examples, and ``why`` a noun phrase for a question: "120 images in folders". ``reading`` is what
    the kind needs to read them, ``used`` the names of the files. With a ``fault``, the user must change something first.
    """

    kind: Kind
    sure: float
    size: int
    why: str
    reading: Any
    used: frozenset[str] = frozenset()
    fault: UserError | None = None
    files: Files | None = None


def choose(spec: Spec, found: Sources, settings: Settings, checks: Checks, kinds: Iterable[Kind]) -> Claim:
    """The claim that wins. Its decisions and warnings are written, and its ignored files noted in ``found``.

    Raises UserError if a kind refuses the files, if the winner has a fault, or if two claims are about equally good. A kind whose claim raises
    another error is left out with a warning.
    """
    kinds = list(kinds)
    shared: dict[str, Any] = {}
    for kind in kinds:
        _let_refuse(kind, Files(spec, found, checks, shared), settings)
    claims: list[Claim] = []
    for kind in sorted(kinds, key=lambda k: k.claims_by_whole_files):
        taken = frozenset().union(*(c.used for c in claims if c.sure >= FORM)) if kind.claims_by_whole_files else frozenset()
        files = Files(spec, found.without(taken), Checks(Noted(checks.events)), shared)
        if (claim := _claim(kind, files, settings, checks)) is not None:
            claims.append(claim)
    if not claims:
        raise UserError(
            "no_data",
            "No file of the dataset is of a kind that can be trained on.",
            "Add a CSV, TSV, JSON lines or Parquet file with a label column, or one folder of images or texts for each label.",
        )
    best = max(claims, key=lambda c: (c.sure, c.size))
    if best.fault is not None:
        raise best.fault
    _ask_where_close(best, claims)
    return _won(best, found, checks)


def _let_refuse(kind: Kind, files: Files, settings: Settings) -> None:
    try:
        kind.refuse(files, settings)
    except UserError:
        raise
    except Exception as e:
        if as_user_error(e, str(files.spec.folder)) is not None:
            raise  # it is about the machine, not about the data
        _warn(f"Whether the dataset has annotations that the kind {kind.name} cannot be trained on could not be looked at", files.checks, e)


def _claim(kind: Kind, files: Files, settings: Settings, checks: Checks) -> Claim | None:
    try:
        claim = kind.claim(files, settings)
        return claim and Claim(**{**vars(claim), "files": claim.files or files})
    except UserError as e:
        return Claim(kind, FORM, 0, f"files of the kind {kind.name}", None, fault=e, files=files)
    except Exception as e:
        if as_user_error(e, str(files.spec.folder)) is not None:
            raise  # it is about the machine, not about the data
        _warn(f"The files could not be looked at as {kind.name}, so this kind is left out", checks, e)
        return None


def _warn(what: str, checks: Checks, error: Exception) -> None:
    """Tell of an error that nobody expects: what the files are may have been taken for something else."""
    print(f"{what}:", flush=True)
    traceback.print_exception(error)
    checks.warning("look_failed", f"{what} ({type(error).__name__}). Check that the task and the examples are what you mean.")


def _ask_where_close(best: Claim, claims: list[Claim]) -> None:
    close = [c for c in claims if best.sure - c.sure < CLOSE and c.size >= CLOSE_SIZE * best.size and c.fault is None]
    if len(close) > 1:
        tasks = " or ".join(c.kind.tasks[0] for c in close)
        raise UserError(
            "ambiguous_task",
            f"The dataset could be read in several ways: {' or '.join(c.why for c in close)}.",
            f"Set task, for example to {tasks}, or set data_file to the file to use.",
        )


def _won(best: Claim, found: Sources, checks: Checks) -> Claim:
    assert best.files is not None
    noted, events = best.files.checks, checks.events
    if isinstance(noted.events, Noted):
        noted.events.repeat(events)
    checks.entries += noted.entries
    checks.dropped += noted.dropped
    checks.not_read += noted.not_read
    noted.events = events  # what the reading decides later is written at once
    for name, reason in best.files.sources.ignored.items():
        found.ignored.add(name, reason)
    return best
