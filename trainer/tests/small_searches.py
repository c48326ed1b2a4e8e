"""Plans of searches that train nothing."""

from types import SimpleNamespace

import numpy
from graph_files import RecordedEvents

from trainer.config.options import options
from trainer.config.settings import DEFAULT, FORM, Settings
from trainer.core import registry
from trainer.core.plan import Plan, Rows
from trainer.models.catalogue import Base
from trainer.search.trials import Search, Trial
from trainer.targets.classes import Classes

ROWS, BATCH, EPOCHS = 90, 10, 9
TARGET = Classes(("a", "b"))


class Lease:
    """A lease that is always held. It keeps what was removed."""

    def __init__(self):
        self.removed: list[str] = []

    def write_json(self, path, document) -> None:
        from trainer.run_folder import files

        files.write_json(path, document)

    def remove(self, folder) -> None:
        self.removed.append(folder.name)


class Recorder(RecordedEvents):
    """Events of a search, kept by their kind."""

    def __init__(self):
        super().__init__()
        self.lease, self.trials, self.evaluations = Lease(), [], []
        self.chosen: dict = {}

    def decision(self, what, choice, why) -> None:
        super().decision(what, choice, why)
        self.chosen[what] = choice

    def trial(self, number, trials, state, fraction, **more) -> None:
        self.trials.append({"number": number, "of": trials, "state": state, "fraction": fraction, **more})

    def eval(self, epoch, step, split, metrics) -> None:
        self.evaluations.append((epoch, step, split, metrics))


def settings(sources: dict | None = None, **given) -> Settings:
    """Settings in which nobody has set anything but ``given``."""
    table = options("train")
    values = {n: o.default for n, o in table.items()} | {"epochs": EPOCHS, "batch_size": BATCH, "evals_per_epoch": 1, "max_minutes": 60} | given
    return Settings(values, dict.fromkeys(table, DEFAULT) | dict.fromkeys(given, FORM) | (sources or {}))


def rows(count: int, lengths=None) -> Rows:
    lengths = numpy.ones(count, numpy.int64) if lengths is None else numpy.asarray(lengths)
    return Rows(SimpleNamespace(lengths=lengths), numpy.zeros(len(lengths), numpy.int64))


def plan(folder="/", search: Search | None = None, name: str = "network", **more) -> Plan:
    """A plan of 90 rows in nine batches, and ten validation rows."""
    found = {
        "run": "ft-1", "attempt": 1, "folder": str(folder), "work": str(folder), "kind": registry.of("text"), "task": "text-classification",
        "target": TARGET, "base": Base(name, "text"), "shape": {},
        "splits": {"train": rows(ROWS), "validation": rows(10), "test": rows(10)}, "weights": None,
        "metric": "accuracy", "settings": settings(), "digest": f"digest of {name}", "search": search,
    }  # fmt: skip
    return Plan(**found | more)


def searching(folder, others: int = 9, minutes: float = 0, repeats: bool = False, **more) -> Plan:
    """The plan of a search with so many trials beside the default one, which differ in the learning rate."""
    trials = (Trial(0, {}), *(Trial(i, {"learning_rate": i / 1000}) for i in range(1, others + 1)))
    return plan(folder, Search(trials, minutes, repeats), **more)
