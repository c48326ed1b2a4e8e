"""Scripts on the machines of a fake Ray: what each machine gets, losses, pauses, and which of several errors is told."""

from types import SimpleNamespace

import pytest
import ray
from conftest import events_of

from trainer.errors import Paused, UserError
from trainer.launch.capacity import MAX_LOST_WORKERS, NOTICE_SECONDS
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease
from trainer.script import remote as machines, runner, starts
from trainer.script.command import Nodes
from trainer.script.process import Finished
from trainer.script.remote import OTHERS_SECONDS, PAUSED, OnRay
from trainer.script.runner import Outcome, Task
from trainer.script.sandbox import Ended

LOST = ray.exceptions.RayActorError(error_msg="The actor died because its node has died.")
CREATION = ray.exceptions.RayActorError(error_msg="The actor died because of an error raised in its creation task")
WRONG = UserError("script_failed", "train.py failed.", "Correct it.")
OTHER = UserError("out_of_memory", "The script needs more memory.", "Use smaller batches.")
NEVER = "never"


class FakeRay:
    """Stands for the module ray. ``answers`` are, start after start, what the script on each machine gives: a value, an error or NEVER."""

    exceptions = ray.exceptions

    def __init__(self, answers: list[tuple], nodes: list[dict] = ()):
        self.answers, self.cluster = iter(answers), nodes
        self.current: tuple = ()
        self.options, self.tasks, self.killed, self.connected = [], [], 0, True

    def nodes(self) -> list[dict]:
        return [{"Alive": True, "Resources": n} for n in self.cluster] + [{"Alive": False, "Resources": {"CPU": 99.0, "GPU": 9.0}}]

    def remote(self, _):
        def options(**given):
            self.options.append(given)
            return SimpleNamespace(remote=self._actor)

        return SimpleNamespace(options=options)

    def _actor(self):
        number = len(self.options) - 1

        def execute(task, prepared, events):
            self.tasks.append(task)
            return self.current[task.nodes.rank]

        calls = {"place": lambda *_: (f"10.0.0.{number}", 5000 + number), "prepare": lambda *_: "prepared", "execute": execute}
        return SimpleNamespace(**{name: SimpleNamespace(remote=call) for name, call in calls.items()})

    def begin(self) -> None:
        self.current, self.options = next(self.answers), []

    def wait(self, references, num_returns=1, timeout=None):
        ready = [r for r in references if r is not NEVER]
        return ready[:num_returns], [r for r in references if r is NEVER]

    def get(self, found):
        if isinstance(found, list):
            return [self.get(one) for one in found]
        if isinstance(found, Exception):
            raise found
        return found

    def kill(self, actor) -> None:
        self.killed += 1

    def shutdown(self) -> None:
        self.connected = False


def outcome(error: UserError | None = None, stopped: str | None = None) -> Outcome:
    finished = Finished(Ended(0 if error is None else 1), stopped, 1.0)
    return Outcome(finished, error, [], {}, {}, [], 0, 0, {}, {})


@pytest.fixture
def script(tmp_path, monkeypatch):
    """script(answers, nodes=, cluster=, **settings) is a launcher on a fake Ray, the fake, and a task for it."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "lease.json").write_text("{}")
    events = Events(tmp_path / "events.jsonl", 1, Lease(tmp_path / "work"))

    def of(answers: list[tuple] = (), nodes: int = 1, cluster=({"CPU": 4.0},), gpu: bool = False, **settings):
        fake = FakeRay(list(answers), cluster)
        removed = []
        monkeypatch.setattr(machines, "ray", fake)
        monkeypatch.setattr(machines.connection, "open_for_scripts", lambda: None)
        monkeypatch.setattr(machines.preflight, "announce", lambda work: fake.begin() or "token")
        monkeypatch.setattr(machines, "placement_group", lambda resources, strategy: (resources, strategy))
        monkeypatch.setattr(machines, "remove_placement_group", removed.append)
        monkeypatch.setattr(machines, "PlacementGroupSchedulingStrategy", lambda group, placement_group_bundle_index: placement_group_bundle_index)
        asked = SimpleNamespace(**{"use_gpu": "auto", "processes": 0, "nodes": nodes, "max_minutes": 10, **settings})
        spec = SimpleNamespace(folder=tmp_path, work=tmp_path / "work")
        launcher = OnRay(asked, events)
        return launcher, fake, Task(spec, asked, "train.py", "auto", Nodes(processes=2, nodes=nodes), 3, gpu), removed

    return of


def told(folder) -> list[str]:
    return [e["text"] for e in events_of(folder)] if (folder / "events.jsonl").exists() else []


@pytest.mark.parametrize(
    ("cluster", "settings", "wanted"),
    [
        ([{"CPU": 4.0}], {}, (False, 1, 4)),
        ([{"CPU": 32.0}], {}, (False, 1, 8)),
        ([{"CPU": 32.0}], {"processes": 3}, (False, 3, 24)),
        ([{"CPU": 32.0, "GPU": 2.0}, {"CPU": 8.0}], {}, (True, 2, 16)),
        ([{"CPU": 32.0, "GPU": 2.0}], {"use_gpu": "no"}, (False, 1, 8)),
        ([{"CPU": 32.0, "GPU": 2.0}], {"processes": 1}, (True, 1, 8)),
        ([{"CPU": 4.0}], {"use_gpu": "yes"}, (True, 1, 4)),
        ([], {}, (False, 1, 1)),
    ],
    ids=["a small machine", "a large machine", "processes as asked", "one for each GPU", "GPUs that are not wanted", "fewer processes than GPUs",
         "a GPU that is not there yet", "no machine yet"],
)  # fmt: skip
def test_a_script_gets_what_the_cluster_has(script, cluster, settings, wanted):
    launcher, *_ = script(cluster=cluster, **settings)
    assert (launcher.gpu, launcher.processes, launcher.cpus) == wanted


@pytest.mark.parametrize(("gpu", "gpus"), [(True, 2), (False, 0)])
def test_on_one_machine_an_actor_has_its_cpus_and_gpus(script, gpu, gpus):
    there = outcome()
    launcher, fake, task, removed = script([(there,)], gpu=gpu)
    assert launcher.run(task) is there
    assert fake.options == [{"num_cpus": 3, "num_gpus": gpus, "max_restarts": 0}]
    assert (fake.tasks, fake.killed, removed) == ([task], 1, [])
    launcher.close()
    assert not fake.connected


def test_on_several_machines_all_know_the_first_one_and_their_own_number(script):
    launcher, fake, task, removed = script([(outcome(),) * 3], nodes=3, gpu=True)
    launcher.run(task)
    group = ([{"CPU": 3, "GPU": 2}] * 3, "STRICT_SPREAD")
    assert [o["scheduling_strategy"] for o in fake.options] == [0, 1, 2]
    assert [(t.nodes.rank, t.nodes.address, t.nodes.port, t.nodes.nodes) for t in fake.tasks] == [(n, "10.0.0.0", 5000, 3) for n in range(3)]
    assert (fake.killed, removed) == (3, [group])


@pytest.mark.parametrize("losses", [1, MAX_LOST_WORKERS])
def test_a_script_whose_machine_is_lost_starts_again(script, tmp_path, losses):
    there = outcome()
    launcher, fake, task, _ = script([(LOST,)] * losses + [(there,)])
    assert launcher.run(task) is there
    assert told(tmp_path) == ["The machine or the process that ran the script was lost; the script starts again."] * losses
    assert fake.killed == losses + 1


@pytest.mark.parametrize(
    ("error", "tries"), [(LOST, 1 + MAX_LOST_WORKERS), (CREATION, 1), (WRONG, 1), (TypeError("a bug"), 1)], ids=["lost", "creation", "user", "bug"]
)
def test_an_error_that_would_come_again_ends_the_run(script, error, tries):
    launcher, fake, task, _ = script([(error,)] * 9)
    with pytest.raises(type(error)) as ended:
        launcher.run(task)
    assert ended.value is error and fake.killed == tries


def test_a_pause_of_the_first_machine_is_the_pause_of_the_run(script):
    launcher, fake, task, _ = script([(PAUSED, PAUSED)], nodes=2)
    with pytest.raises(Paused):
        launcher.run(task)
    assert fake.killed == 2


@pytest.mark.parametrize(
    ("first", "others", "told_error"),
    [
        (None, (outcome(), outcome()), None),
        (None, (outcome(), outcome(OTHER)), OTHER),
        (WRONG, (outcome(OTHER), outcome()), OTHER),  # the first one was ended because of the others
        (WRONG, (outcome(), PAUSED), WRONG),
        (WRONG, (NEVER, NEVER), WRONG),
        (None, (NEVER, outcome(OTHER)), OTHER),
    ],
)
def test_the_error_of_another_machine_is_told_first(script, first, others, told_error):
    launcher, _, task, _ = script([(outcome(first), *others)], nodes=3)
    assert launcher.run(task).error is told_error


@pytest.mark.parametrize(("requested", "stopped"), [("", None), ("keep", "user"), ("pause", None)])
def test_a_script_that_ends_because_of_another_machine_was_not_stopped_by_a_person(script, tmp_path, requested, stopped):
    launcher, _, task, _ = script([(outcome(stopped="user"), outcome(OTHER))], nodes=2)
    if requested:
        (tmp_path / stop.STOP).write_text(requested)
    found = launcher.run(task)
    assert (found.error, found.finished.stopped) == (OTHER, stopped)


@pytest.fixture
def clock(monkeypatch):
    """The time as the launcher sees it, in seconds: clock.now."""
    now = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(machines.time, "monotonic", lambda: now.now)
    return now


@pytest.fixture
def group(script):
    """group(**more) is the group of a script that has not started yet."""

    def of(nodes: int = 1, **more):
        launcher, _, task, _ = script([()], nodes=nodes, **more)
        return machines._Group(task, launcher.events)

    return of


@pytest.mark.parametrize("gpu", [True, False])
def test_a_busy_cluster_is_told_once_and_given_up_after_the_time_limit(group, clock, tmp_path, gpu):
    check = group(gpu=gpu)._check_capacity()
    for clock.now in (1000.0, 1000.0 + NOTICE_SECONDS):
        check()
    assert told(tmp_path) == []
    for clock.now in (1001.0 + NOTICE_SECONDS, 1600.0):
        check()
    assert told(tmp_path) == [f"Waiting for a free {'GPU' if gpu else 'CPU'}: the cluster is busy or still starting."]
    clock.now = 1600.1
    with pytest.raises(UserError, match="no free capacity for 10 minutes") as refused:
        check()
    assert refused.value.code == ("no_gpu" if gpu else "no_capacity")


def test_a_script_that_is_stopped_before_its_first_start_has_nothing_to_keep(group, clock, tmp_path):
    check = group()._check_capacity()
    (tmp_path / stop.STOP).write_text(stop.PAUSE)
    check()
    (tmp_path / stop.STOP).write_text(stop.KEEP)
    with pytest.raises(UserError) as refused:
        check()
    assert refused.value.code == "stopped"
    (tmp_path / starts.FILE).write_text("[]")  # an earlier start has left something
    check()


def test_a_machine_that_waits_in_vain_for_another_one_is_ended(group, clock, tmp_path):
    failed, made = tmp_path / "work" / runner.FAILED, group(nodes=2)
    waits, ended, alone = made._check_others([NEVER]), made._check_others([outcome(), NEVER]), made._check_others([])
    for check in (waits, ended, alone):
        check()
    clock.now += OTHERS_SECONDS
    ended()
    clock.now += 1
    waits()
    alone()
    assert not failed.exists()
    ended()
    assert failed.exists()


@pytest.mark.parametrize(("given", "seconds"), [(None, 0.8 * machines.STOP_SECONDS), ("100", 80.0)])
def test_a_machine_that_must_be_left_has_a_share_of_the_time_of_ray(group, clock, tmp_path, monkeypatch, given, seconds):
    monkeypatch.delenv("RAY_JOB_STOP_WAIT_TIME_S", raising=False)
    if given:
        monkeypatch.setenv("RAY_JOB_STOP_WAIT_TIME_S", given)
    made, passed = group(), []

    def check():
        passed.append(clock.now)
        if len(passed) == 2:
            (tmp_path / "work" / stop.PAUSE).touch()
        clock.now += seconds / 9.5

    with pytest.raises(Paused):
        made._wait([NEVER], check)
    assert len(passed) == 2 + 10
