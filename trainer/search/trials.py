"""The trials of a search: the settings of each, and what is known about each so far, in search.json on the volume."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainer.run_folder import files
from trainer.run_folder.lease import Lease
from trainer.search import schedule

if TYPE_CHECKING:  # the plan names this module
    from trainer.core.plan import Plan

FILE = "search.json"
FILE_BYTES = 16 << 20
WAITING, BEGUN, KEPT, DROPPED, DIVERGED = "waiting", "begun", "kept", "dropped", "diverged"
DEFAULT_WORDS = "the default settings"


@dataclass(frozen=True)
class Trial:
    """``values`` are the options in which the trial differs from the default; trial 0 has none. ``plan`` is for another base model."""

    number: int
    values: dict
    plan: "Plan | None" = None

    def words(self) -> str:
        """The settings in words: "learning_rate 0.002, batch_size 64"."""
        named = {"model": self.plan.base.name, **self.values} if self.plan is not None else self.values
        return ", ".join(f"{name} {str(value).lower() if isinstance(value, bool) else value}" for name, value in named.items()) or DEFAULT_WORDS

    def planned(self, default: "Plan", end: float) -> "Plan":
        """The plan of this trial, which ends after ``end`` epochs and is evaluated often enough for every rung."""
        if self.number == 0:
            return default
        plan = self.plan or default
        own = plan.settings.evals_per_epoch
        often = schedule.evaluations_per_epoch(own, end)
        patience = math.ceil(plan.settings.early_stopping_patience * often / own)
        values = {**self.values, "evals_per_epoch": often, "early_stopping_patience": min(100, patience)}
        if end < plan.settings.epochs:
            values["stop_after"] = round(end, 4)
        seal = hashlib.sha256(json.dumps([plan.digest, values], sort_keys=True).encode()).hexdigest()
        return replace(plan, settings=plan.settings.with_chosen(**values), digest=seal, search=None)


@dataclass(frozen=True)
class Search:
    """The trials in their order, and the time after which the search ends, in minutes; 0 for no other limit than max_minutes. The trials
    that ``repeats`` another search are those that it began, so all of them are begun."""

    trials: tuple[Trial, ...]
    minutes: float = 0
    repeats: bool = False

    @property
    def digest(self) -> str:
        listed = [[t.number, t.values, t.plan.digest if t.plan else ""] for t in self.trials]
        return hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()


@dataclass
class Record:
    """What is known about one trial. ``losses`` are its validation losses at the end of each rung, None where it diverged; ``history`` has
    epoch, step, training loss and validation metrics of each evaluation."""

    state: str = WAITING
    losses: list[float | None] = field(default_factory=list)
    value: float | None = None
    epochs: float = 0.0
    seconds: float = 0.0
    stopped: str = ""
    history: list[dict] = field(default_factory=list)

    @property
    def loss(self) -> float:
        """The newest loss; infinite before the first and after a divergence."""
        return self.loss_at(len(self.losses))

    def loss_at(self, rung: int) -> float:
        """The loss at the end of a rung, counted from 1; infinite where there is none."""
        loss = self.losses[rung - 1] if 0 < rung <= len(self.losses) else None
        return math.inf if loss is None else loss


@dataclass
class State:
    """The state of a search. ``length`` is the number of epochs of the default training, 0 while it is not known. ``closed`` says that no
    trial is begun any more, ``ended`` why the search ended early, ``spent`` the seconds so far, ``estimate`` the seconds that were
    expected, and ``resumed`` how often the search went on after a restart."""

    records: dict[int, Record]
    length: float = 0.0
    closed: bool = False
    ended: str = ""
    spent: float = 0.0
    estimate: float = 0.0
    resumed: int = 0

    def save(self, folder: Path, digest: str, lease: Lease) -> None:
        lease.write_json(folder / FILE, {"digest": digest, **asdict(self)})


def table(search: Search, state: State) -> list[dict]:
    """The trials as in result.json."""
    rows = []
    for trial in search.trials:
        record = state.records[trial.number]
        row = {
            "number": trial.number, "settings": trial.values, "state": record.state, "rungs": len(record.losses), "epochs": record.epochs,
            "seconds": record.seconds, "default": trial.number == 0,
        }  # fmt: skip
        if trial.plan is not None:
            row["model"] = trial.plan.base.name
        if math.isfinite(record.loss):
            row |= {"loss": record.loss, "value": record.value}
        rows.append(row)
    return rows


def load(folder: Path, search: Search, digest: str) -> State:
    """The state of the search in ``folder``; a new one if there is none, or if it is of other trials or data or cannot be read."""
    fresh = State({t.number: Record() for t in search.trials})
    try:
        found = files.read_json(folder / FILE, FILE_BYTES)
        if found.pop("digest") != digest:
            return fresh
        records = {int(n): Record(**r) for n, r in found.pop("records").items()}
        if records.keys() != fresh.records.keys():
            return fresh
        state = State(records, **found)
        state.resumed += 1
        return state
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return fresh
