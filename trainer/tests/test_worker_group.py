"""Workers that train together, with a fake Ray: which errors replace them, and which end the run."""

from types import SimpleNamespace

import pytest
import ray
from conftest import events_of

from trainer.errors import MachineLeaving, Paused, UserError
from trainer.launch import worker_group
from trainer.launch.capacity import MAX_LOST_WORKERS, WorkerRequest
from trainer.launch.worker_group import WorkerGroupLauncher
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease

OUTCOME = object()
LOST = ray.exceptions.RayActorError(error_msg="The actor died because its node has died.")
ALONE = RuntimeError("Connection closed by peer")
CREATION = ray.exceptions.RayActorError(error_msg="The actor died because of an error raised in its creation task")
WRONG = UserError("model_unusable", "The model cannot be used.", "Choose another one.")
HANGS = "hangs"


class FakeRay:
    """Stands for the module ray: groups of two workers, each of which answers what ``attempts`` says, attempt after attempt."""

    exceptions = ray.exceptions

    def __init__(self, attempts: list[tuple]):
        self.attempts, self.groups, self.killed = iter(attempts), 0, []

    def start(self, request, rank: int, scheduling_strategy):
        return self._actor(rank)

    def call(self, actor, name: str, *arguments, **_):
        return actor.answers[name]

    def share(self, value):
        return [value]

    def _actor(self, rank: int):
        if rank == 0:
            self.groups, self.answers = self.groups + 1, next(self.attempts)
        answer = self.answers[rank]
        answers = {"warm_up": "cpu", "meeting_place": ("host", 1), "train_together": answer}
        return SimpleNamespace(rank=rank, answers=answers, is_alive=SimpleNamespace(remote=lambda: HANGS if answer == HANGS else True))

    def wait(self, references, num_returns=1, timeout=None):
        there = [r for r in references if r != HANGS or (self.killed and timeout)]
        return there[:num_returns], [r for r in references if r not in there[:num_returns]] if len(there) <= num_returns else references[num_returns:]

    def get(self, reference):
        if reference == HANGS:
            raise LOST
        if isinstance(reference, Exception):
            raise reference
        return reference

    def kill(self, actor):
        self.killed.append(actor.rank)


@pytest.fixture
def train(tmp_path, monkeypatch):
    """train(attempts) is what the launcher gives, the fake Ray, and the codes of the warnings."""

    def of(attempts: list[tuple]):
        fake = FakeRay(attempts)
        monkeypatch.setattr(worker_group, "ray", fake)
        monkeypatch.setattr(worker_group, "actors", fake)
        monkeypatch.setattr(worker_group, "placement_group", lambda *_, **__: "group")
        monkeypatch.setattr(worker_group, "remove_placement_group", lambda _: None)
        monkeypatch.setattr(worker_group, "PlacementGroupSchedulingStrategy", lambda *_, **__: None)
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "lease.json").write_text("{}")
        events = Events(tmp_path / "events.jsonl", 1, Lease(tmp_path / "work"))
        launcher = WorkerGroupLauncher(WorkerRequest(2, 1, False, "text", 60, events))
        launcher.start()
        try:
            return launcher.train(plan=None), fake, warned(tmp_path)  # type: ignore[arg-type]
        except Exception as e:
            return e, fake, warned(tmp_path)

    def warned(folder) -> list[str]:
        return [e["text"] for e in events_of(folder)] if (folder / "events.jsonl").exists() else []

    return of


GONE = "A worker was lost (its machine is gone); new ones take over."
ENDED = "A worker was lost (its process ended); new ones take over."


@pytest.mark.parametrize(
    ("attempts", "found", "groups", "warnings"),
    [
        pytest.param([(OUTCOME, None)], OUTCOME, 1, [], id="nothing happens"),
        pytest.param([(ALONE, LOST), (OUTCOME, None)], OUTCOME, 2, [GONE], id="the loss of a worker says more than that another is left alone"),
        pytest.param([(ALONE, ALONE), (OUTCOME, None)], OUTCOME, 2, [ENDED], id="workers that lose each other are replaced"),
        pytest.param([(MachineLeaving(), MachineLeaving())] * 9 + [(OUTCOME, None)], OUTCOME, 10, [], id="machines that shut down are not counted"),
        pytest.param([(LOST, ALONE)] * 9, LOST, 1 + MAX_LOST_WORKERS, [GONE] * MAX_LOST_WORKERS, id="too many losses fail the run"),
        pytest.param([(ALONE, WRONG)], WRONG, 1, [], id="what a person must correct is told at once"),
        pytest.param([(Paused(), Paused())], Paused, 1, [], id="a pause ends the run"),
        pytest.param([(CREATION, CREATION)], CREATION, 1, [], id="a worker that cannot be created is not tried again"),
        pytest.param([(TypeError("a bug"), TypeError("a bug"))], TypeError, 1, [], id="an error of the program is not tried again"),
        pytest.param([(OUTCOME, LOST)], OUTCOME, 1, [], id="a loss after the outcome changes nothing"),
    ],
)
def test_the_end_of_an_attempt(train, attempts, found, groups, warnings):
    ended, fake, told = train(attempts)
    assert ended is found or isinstance(ended, found if isinstance(found, type) else type(found))
    assert (fake.groups, told) == (groups, warnings)


def test_a_worker_that_does_not_answer_is_ended_and_replaced(train, monkeypatch):
    now = iter(range(0, 10_000, 20))
    monkeypatch.setattr(worker_group.time, "monotonic", lambda: float(next(now)))
    ended, fake, told = train([(HANGS, HANGS), (OUTCOME, None)])
    assert ended is OUTCOME
    assert (fake.groups, told) == (2, [GONE])
    assert fake.killed[0] in (0, 1)
