"""The launchers on Ray with a fake cluster: which workers are requested, and what happens when one is lost."""

from types import SimpleNamespace

import pytest
import ray
from conftest import events_of, small_reviews

from trainer import launch
from trainer.config import settings, spec as specs
from trainer.core import registry
from trainer.launch import growth, ray_actor, ray_launcher
from trainer.launch.capacity import MAX_LOST_WORKERS, Machine, WorkerRequest, fullest
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease

SMALL = {"CPU": 2.0}
LARGE = {"CPU": 16.0, "GPU": 2.0}


@pytest.fixture
def request_workers(make_run, monkeypatch):
    """request_workers(nodes, **parameters) creates the launcher on a cluster of these nodes, and returns it with the events."""

    def on(nodes: list[dict], kind: str = "train", **parameters):
        cluster = [{"Alive": True, "Resources": n} for n in nodes] + [{"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}}]
        monkeypatch.setattr(growth, "ray", SimpleNamespace(nodes=lambda: cluster))
        monkeypatch.setattr(ray_launcher, "connection", SimpleNamespace(open=lambda: None))
        spec = specs.load(make_run({"a.csv": small_reviews(1000)}, kind=kind, **parameters))
        events = Events(spec.folder / "events.jsonl", 1)
        base = Base("org/base", "text", size=90_000_000, fresh=False)
        launcher, _ = launch.create("ray", settings.of(spec, events), base, registry.of(base.kind), spec, events)
        return launcher, events_of(spec.folder)

    return on


@pytest.mark.parametrize(
    ("nodes", "parameters", "kind", "wanted"),
    [
        pytest.param([SMALL], {}, "SingleWorkerLauncher", (1, 2, False), id="one worker takes the CPUs of a small node"),
        pytest.param([LARGE], {"use_gpu": "no"}, "SingleWorkerLauncher", (1, 8, False), id="and at most eight of a large one"),
        pytest.param([LARGE], {}, "SingleWorkerLauncher", (1, 8, True), id="auto uses a GPU of the cluster"),
        pytest.param([SMALL, SMALL], {"num_workers": 2}, "WorkerGroupLauncher", (2, 2, False), id="each of two workers has a node"),
        pytest.param([SMALL], {"num_workers": 2}, "WorkerGroupLauncher", (2, 1, False), id="two workers share a node"),
        pytest.param([SMALL], {"num_workers": 4}, "WorkerGroupLauncher", (2, 1, False), id="no more workers than CPUs"),
        pytest.param([LARGE], {"num_workers": 3}, "WorkerGroupLauncher", (3, 5, False), id="auto uses no GPU if there are too few"),
        pytest.param([], {}, "SingleWorkerLauncher", (1, 1, False), id="a cluster without nodes starts with one CPU"),
    ],
)
def test_the_workers_fit_the_cluster(request_workers, nodes, parameters, kind, wanted):
    launcher, _ = request_workers(nodes, **parameters)
    assert type(launcher).__name__ == kind
    assert (launcher.request.workers, launcher.request.cpus, launcher.request.gpu) == wanted


def test_a_prediction_with_several_workers_is_a_pool(request_workers):
    launcher, _ = request_workers([SMALL], kind="predict", num_workers=2)
    assert type(launcher).__name__ == "WorkerPool"
    assert [member.rank for member in launcher.members] == [0, 1]


GIB = 1 << 30


@pytest.mark.parametrize(
    ("nodes", "workers", "gpu", "wanted"),
    [
        pytest.param([SMALL], 2, False, Machine(2), id="all workers are on the machine of the driver"),
        pytest.param([{"CPU": 0, "memory": GIB}, {"CPU": 4, "memory": 3 * GIB}], 3, False, Machine(3, 3 * GIB), id="the head node takes no worker"),
        pytest.param([{"CPU": 2, "memory": 5 * GIB}, {"CPU": 2, "memory": 4 * GIB}], 4, False, Machine(2, 4 * GIB), id="the smaller of two"),
        pytest.param([{"CPU": 8, "GPU": 1, "memory": GIB}, {"CPU": 8}], 2, True, Machine(1, GIB), id="one worker for each GPU"),
        pytest.param([{"CPU": 2}, {"CPU": 2}], 2, False, Machine(2), id="machines that do not tell their memory"),
        pytest.param([{"CPU": 2, "memory": GIB, "object_store_memory": GIB}, {}], 2, False, Machine(2, 2 * GIB), id="with the object store"),
    ],
)
def test_the_machine_with_the_most_workers_decides_whether_the_memory_suffices(nodes, workers, gpu, wanted):
    assert fullest(nodes, workers, 1, gpu) == wanted


def test_fewer_workers_than_requested_are_reported(request_workers):
    _, events = request_workers([SMALL], num_workers=4)
    assert "2 workers instead of 4: the cluster has no more CPUs." in [e["text"] for e in events if e["kind"] == "warning"]
    assert "Requesting 2 workers from Ray with 1 CPU each." in [e["text"] for e in events if e["kind"] == "phase"]


def test_more_workers_to_begin_with_than_there_will_be_are_reported(request_workers):
    launcher, events = request_workers([SMALL], num_workers=2, more_options="training.min_workers: 3")
    assert type(launcher).__name__ == "WorkerGroupLauncher"
    said = "training.min_workers is 3, more than 2 workers: the run waits for all."
    assert said in [e["text"] for e in events if e["kind"] == "warning"]


@pytest.mark.parametrize(
    ("resources", "sentence"),
    [((1, False, 1), "1 CPU"), ((2, True, 1), "2 CPUs and 1 GPU"), ((2, False, 3), "2 CPUs each"), ((1, True, 2), "1 CPU and 1 GPU each")],
)
def test_the_resources_of_a_worker_as_text(resources, sentence):
    assert ray_launcher._resources(*resources) == sentence


class FakeRay:
    """Stands for the module ray in ray_actor: a worker whose first calls fail with the given errors."""

    exceptions = ray.exceptions

    def __init__(self, errors: list[Exception]):
        self.errors, self.started = iter(errors), 0

    def start(self, *_):
        self.started += 1

    def call(self, actor, name: str, *_, **__):
        return {"warm_up": "cpu", "train": "trained"}[name]

    def share(self, value):
        return [value]

    def wait(self, refs, timeout):
        return refs, []

    def get(self, ref):
        if ref == "trained" and (error := next(self.errors, None)):
            raise error
        return ref


@pytest.fixture
def single_worker(tmp_path, monkeypatch):
    """single_worker(errors) is a started launcher whose worker is lost with these errors, and the fake Ray behind it."""

    def of(errors: list[Exception]):
        fake = FakeRay(errors)
        monkeypatch.setattr(ray_actor, "ray", fake)
        monkeypatch.setattr(ray_actor, "actors", fake)
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "lease.json").write_text("{}")
        events = Events(tmp_path / "events.jsonl", 1, Lease(tmp_path / "work"))
        launcher = ray_actor.SingleWorkerLauncher(WorkerRequest(1, 1, False, "text", 60, events))
        launcher.start()
        return launcher, fake

    return of


def lost(text: str = "The actor died because its node has died.") -> Exception:
    return ray.exceptions.RayActorError(error_msg=text)


def test_a_lost_worker_is_replaced_and_reported(single_worker, tmp_path):
    launcher, fake = single_worker([lost(), lost("The worker was killed due to OOM.")])
    assert launcher.train(plan=None) == "trained"
    assert fake.started == 3
    assert [e["text"] for e in events_of(tmp_path)] == [
        "A worker was lost (its machine is gone); a new one takes over.",
        "A worker was lost (its machine ran out of memory); a new one takes over.",
    ]


def test_a_worker_that_is_lost_too_often_fails_the_run(single_worker, tmp_path):
    launcher, fake = single_worker([lost() for _ in range(10)])
    with pytest.raises(ray.exceptions.RayActorError):
        launcher.train(plan=None)
    assert fake.started == 1 + MAX_LOST_WORKERS
    assert len(events_of(tmp_path)) == MAX_LOST_WORKERS


def test_a_worker_that_cannot_be_created_is_not_tried_again(single_worker, tmp_path):
    launcher, fake = single_worker([lost("The actor died because of an error raised in its creation task")])
    with pytest.raises(ray.exceptions.RayActorError):
        launcher.train(plan=None)
    assert fake.started == 1
    assert not (tmp_path / "events.jsonl").exists()
