"""Reads a row of the zoo as the product does before it trains, and compares what came out with the row."""

import traceback
from dataclasses import dataclass, field
from pathlib import Path

import numpy

from trainer.archive.budget import Budget
from trainer.config.options import options
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.example import SPLITS, Dataset
from trainer.core.input import Input
from trainer.data import claims, sources
from trainer.data.checks import Checks
from trainer.errors import UserError
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events
from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row


@dataclass
class Outcome:
    """What became of a row. ``said`` maps decisions, warnings and checks to their sentences; ``crash`` is an error that no user should see."""

    kind: str = ""
    data: Dataset | None = None
    error: UserError | None = None
    crash: str = ""
    said: dict[str, str] = field(default_factory=dict)
    encoder: dict = field(default_factory=dict)

    def __str__(self) -> str:
        if self.crash:
            return f"CRASH {self.crash}"
        if self.error is not None:
            return f"refused as {self.error.code}: {self.error}"
        if self.data is None:
            return f"read as {self.kind}"
        size = sum(map(len, self.data.splits.values()))
        return f"{self.data.task}; {size} examples; label {self.data.label_column or '-'}; classes {', '.join(self.data.labels) or '-'}"


def read(row: Row, folder: Path) -> Outcome:
    """Make the files of ``row`` below ``folder`` and read them: claim, examples, checks, and the encoder where the row asks for it."""
    made, run = folder / "made", folder / "runs" / "zoo"
    for place in (made, run):
        place.mkdir(parents=True)
    row.make(made)
    files = sorted(f for f in made.rglob("*") if f.is_file())
    named = [(f.relative_to(made).as_posix(), f) for f in files]
    inputs = tuple(Input(name, f, f.stat().st_size, "", f"id{i}", row.labels.get(name, "")) for i, (name, f) in enumerate(named))
    spec = Spec("train", "zoo", 1, run, run / "work", row.name, {}, {}, (), inputs, budget=Budget())
    table = options("train")
    settings = Settings({n: o.default for n, o in table.items()} | row.settings, {n: "form" if n in row.settings else "default" for n in table})
    events = Events(run / "events.jsonl", 1)
    checks = Checks(events)
    outcome = Outcome()
    try:
        _read(outcome, spec, settings, events, checks, _encodes(row))
    except UserError as e:
        outcome.error = e
    except Exception as e:
        outcome.crash = f"{type(e).__name__}: {e}"
        traceback.print_exc()
    outcome.said = _said(events, checks)
    return outcome


def _encodes(row: Row) -> bool:
    """A row that is refused may be refused by its encoder."""
    return isinstance(row.outcome, Refused) or (isinstance(row.outcome, Reads) and row.outcome.encoder is not None)


def _read(outcome: Outcome, spec: Spec, settings: Settings, events: Events, checks: Checks, encodes: bool) -> None:
    claim = claims.choose(spec, sources.find(spec, settings.data_file, events), settings, checks, registry.kinds().values())
    outcome.kind = claim.kind.name
    if type(claim.kind).read is registry.Kind.read:
        return  # a kind that reads in its training, such as a graph
    outcome.data = data = claim.kind.read(claim, settings, checks)
    if encodes and claim.kind.encodes_always:
        encoder, _ = claim.kind.encoder(spec, settings, data, Base(claim.kind.shape, claim.kind.name), events)
        for name in SPLITS:
            encoder.encode(data.splits[name], numpy.zeros(len(data.splits[name])), name, training=name == "train")
        outcome.encoder = encoder.described()["encoder"]


def _said(events: Events, checks: Checks) -> dict[str, str]:
    pairs = [(d["what"], d["why"]) for d in events.decisions] + [(w["code"], w["text"]) for w in events.warnings]
    pairs += [(e["code"], e["text"]) for e in checks.entries if e["level"] == "warning"]
    said: dict[str, str] = {}
    for code, text in pairs:
        said[code] = f"{said[code]} {text}" if code in said else text
    return said


def differences(row: Row, outcome: Outcome) -> list[str]:
    """The facts of ``row`` that did not come out, one sentence each."""
    if outcome.crash:
        return [f"it crashed: {outcome.crash}"]
    if isinstance(row.outcome, Refused):
        return _refusal(row.outcome, outcome)
    if isinstance(row.outcome, NotRefused):
        refused = outcome.error is not None and outcome.error.code == row.outcome.code
        return [f"it was refused: {outcome.error}"] if refused else []
    if outcome.error is not None:
        return [f"it was refused as {outcome.error.code}: {outcome.error}"]
    return [f"{what} is {seen!r}, not {fact!r}" for what, fact, seen in _facts(row.outcome, outcome) if fact is not None and fact != seen] + _spoken(
        row.outcome, outcome
    )


def _refusal(expected: Refused, outcome: Outcome) -> list[str]:
    if outcome.error is None:
        return [f"it was not refused: {outcome}"]
    if outcome.error.code != expected.code:
        return [f"it was refused as {outcome.error.code}, not {expected.code}: {outcome.error}"]
    return [f"the error lacks {part!r}: {outcome.error}" for part in expected.says if part not in str(outcome.error)]


def _facts(expected: Reads, outcome: Outcome):
    yield "kind", expected.kind, outcome.kind
    data = outcome.data
    if data is None:
        return
    counts = tuple(len(data.splits[name]) for name in SPLITS)
    yield "task", expected.task, data.task
    yield "rows", expected.rows, sum(counts)
    yield "classes", expected.classes, tuple(data.labels)
    yield "columns", expected.columns, tuple(data.columns)
    yield "label", expected.label, data.label_column
    yield "splits", expected.splits, counts
    for name, value in (expected.encoder or {}).items():
        yield f"encoder {name}", value, outcome.encoder.get(name)


def _spoken(expected: Reads, outcome: Outcome) -> list[str]:
    said = outcome.said
    lacking = [f"{code} does not say {part!r}: {said.get(code)}" for code, part in expected.says.items() if part not in said.get(code, "")]
    return lacking + [f"{code} was said: {said[code]}" for code in expected.silent if code in said]
