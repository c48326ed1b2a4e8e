"""What is decided before workers are started: how many there are to be, with what, and what must be there."""

import io
from types import SimpleNamespace

import pytest
from conftest import events_of, small_reviews

from trainer import launch
from trainer.config import settings, spec as specs
from trainer.core import registry
from trainer.errors import UserError
from trainer.launch import capacity, growth, preflight, ray_launcher, worker_log
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

FRESH = Base("bert-tiny", "text")


@pytest.fixture
def created(make_run, monkeypatch):
    """created(files, base, **parameters) is what would be asked of Ray: the number of workers, and threads of each."""

    asked = []
    monkeypatch.setattr(ray_launcher, "create", lambda workers, threads, *_: asked.append((workers, threads)) or SimpleNamespace(workers=workers))

    def of(files: dict, base: Base = FRESH, **parameters) -> tuple[int, int]:
        spec = specs.load(make_run(files, **parameters))
        events = Events(spec.folder / "events.jsonl", 1)
        launch.create("ray", settings.of(spec, events), base, registry.of(base.kind), spec, events)
        return asked[-1]

    return of


def test_small_data_gets_one_worker(created):
    assert created({"a.csv": small_reviews(200)}) == (1, 1)


def test_the_requested_number_of_workers_is_used_if_each_has_rows(created):
    assert created({"a.csv": small_reviews(1000)}, num_workers=3)[0] == 3
    assert created({"a.csv": small_reviews(60)}, num_workers=8)[0] == 1


def test_a_dry_run_needs_one_worker(created):
    assert created({"a.csv": small_reviews(1000)}, num_workers=3, dry_run=True)[0] == 1


def test_long_trainings_get_more_workers_by_themselves(created):
    large = {"a.csv": b"x" * 3_000_000}
    assert created(large, Base("org/base", "text", size=400_000_000, fresh=False), epochs=10)[0] > 1
    assert created(large, Base("org/base", "image", size=400_000_000, fresh=False), epochs=10)[0] == 1
    assert created(large, Base("mlp", "table"), epochs=200)[0] == 1


def test_large_models_get_more_threads_and_as_many_as_asked(created):
    assert created({"a.csv": small_reviews(60)}, Base("org/base", "text", size=90_000_000, fresh=False))[1] == launch.MAX_THREADS
    assert created({"a.csv": small_reviews(60)}, more_options="cpus_per_worker: 5")[1] == 5


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    preflight.writable(tmp_path, 0)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError) as refused:
        preflight.writable(tmp_path / "gone", 0)
    assert refused.value.code == "not_writable"
    assert str(tmp_path) not in str(refused.value)


def test_the_machine_is_described():
    found = preflight.hardware()
    assert found["cpu"]
    assert found["cores"] >= 1
    assert found["memory_bytes"] > 1 << 28


@pytest.mark.parametrize(("gpu", "code"), [(False, "no_capacity"), (True, "no_gpu")])
def test_waiting_for_a_busy_cluster_is_reported_once_and_ends(tmp_path, monkeypatch, gpu, code):
    clock = iter([0.0, 29.0, 31.0, 59.0, 61.0])
    monkeypatch.setattr(capacity.time, "monotonic", lambda: next(clock))
    events = Events(tmp_path / "events.jsonl", 1)
    wait = capacity.CapacityWait(capacity.WorkerRequest(2, 1, gpu, "text", 1, events), events)
    wait.check()
    assert not events.path.exists()
    wait.check()
    wait.check()
    assert [e["code"] for e in events_of(tmp_path)] == ["waiting"]
    with pytest.raises(UserError) as refused:
        wait.check()
    assert refused.value.code == code


@pytest.mark.parametrize(("dry_run", "minutes"), [(False, 60), (True, ray_launcher.DRY_MINUTES)])
def test_a_dry_run_does_not_wait_for_a_gpu_as_a_training_does(make_run, monkeypatch, dry_run, minutes):
    monkeypatch.setattr(growth, "ray", SimpleNamespace(nodes=lambda: [{"Alive": True, "Resources": {"CPU": 2.0}}]))
    monkeypatch.setattr(ray_launcher, "connection", SimpleNamespace(open=lambda: None))
    spec = specs.load(make_run({"a.csv": small_reviews(60)}, model="bert-tiny", use_gpu="yes", dry_run=dry_run))
    events = Events(spec.folder / "events.jsonl", 1)
    launcher, _ = launch.create("ray", settings.of(spec, events), FRESH, registry.of("text"), spec, events)
    assert (launcher.request.gpu, launcher.request.max_minutes) == (True, minutes)
    warned = next(e["text"] for e in events_of(spec.folder) if e.get("code") == "waiting_for_gpu")
    assert "no GPUs now, but 1 is needed" in warned
    assert "set use_gpu to auto or no" in warned


def test_every_line_of_a_worker_begins_with_its_rank():
    out = io.StringIO()
    stream = worker_log._Prefixed(out, "[rank 3] ")
    for part in ("one\ntwo", " and more\n", "\n", "three"):
        stream.write(part)
    assert out.getvalue() == "[rank 3] one\n[rank 3] two and more\n[rank 3] \n[rank 3] three"
