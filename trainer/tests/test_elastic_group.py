"""When a group of workers begins, and when it lets others join, with a fake Ray."""

import pytest
from conftest import events_of

from trainer.launch import elastic_group
from trainer.launch.capacity import WorkerRequest
from trainer.launch.elastic_group import ElasticGroupLauncher
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease


class Machines:
    """Stands for the module ray and for its actors: worker ``rank`` is ready at the second that ``ready`` says."""

    def __init__(self, ready: list[float]):
        self.ready, self.now = ready, 0.0

    def start(self, _, rank: int):
        return rank

    def call(self, actor: int, *_):
        return f"device of {actor}"

    def wait(self, references: list[str], num_returns: int = 1, timeout: float = 0.0):
        self.now += timeout
        there = [r for r in references if self.ready[int(r[-1])] <= self.now][:num_returns]
        return there, [r for r in references if r not in there]


@pytest.fixture
def group(tmp_path, monkeypatch):
    """group(ready, fewest) is a launcher whose workers have been requested, and the machines."""

    def of(ready: list[float], fewest: int):
        machines = Machines(ready)
        monkeypatch.setattr(elastic_group, "ray", machines)
        monkeypatch.setattr(elastic_group, "actors", machines)
        monkeypatch.setattr(elastic_group.time, "monotonic", lambda: machines.now)
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "lease.json").write_text("{}")
        events = Events(tmp_path / "events.jsonl", 1, Lease(tmp_path / "work"))
        launcher = ElasticGroupLauncher(WorkerRequest(len(ready), 1, False, "text", 60, events), fewest)
        launcher.token = ""
        launcher._start_workers()
        return launcher, machines

    return of


@pytest.mark.parametrize(
    ("ready", "fewest", "begins", "after"),
    [
        pytest.param([1, 1, 1], 1, 3, 1, id="all are there"),
        pytest.param([1, 3, 99], 1, 2, 11, id="the last one is not waited for"),
        pytest.param([1, 30, 99], 2, 2, 40, id="the fewest are waited for"),
        pytest.param([1, 5, 9], 1, 3, 9, id="one that comes soon is"),
    ],
)
def test_a_group_begins_with_the_machines_that_are_there(group, tmp_path, ready, fewest, begins, after):
    launcher, machines = group(ready, fewest)
    assert len(launcher._ready()) == launcher.workers == begins
    assert machines.now == after
    told = next(e["why"] for e in events_of(tmp_path) if e["kind"] == "decision")
    assert told.startswith(f"{begins} worker")
    assert ("Others join" in told) == (begins < len(ready))


def test_others_join_once_the_group_has_trained_for_a_while(group, tmp_path):
    launcher, machines = group([1, 20], 1)
    launcher.members = launcher._ready()
    for now, joins in ((15, False), (30, False), (80, True)):
        machines.now = now
        launcher._look()
        assert stop.is_regrouping(tmp_path / "work") == joins
    launcher._start_workers()
    assert not stop.is_regrouping(tmp_path / "work")


def test_a_group_that_is_whole_asks_for_nobody(group, tmp_path):
    launcher, machines = group([1, 1], 1)
    launcher.members = launcher._ready()
    machines.now = 1000
    launcher._look()
    assert not stop.is_regrouping(tmp_path / "work")
