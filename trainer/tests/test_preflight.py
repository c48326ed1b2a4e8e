"""What a worker checks before a training, how many CPUs it gets, and what is prepared on a cluster, without Ray."""

import json
import os
from types import SimpleNamespace

import numpy
import pytest
import torch
from conftest import events_of
from safetensors.numpy import save_file

from trainer import launch
from trainer.core.plan import Rows
from trainer.errors import UserError
from trainer.launch import connection, growth, preflight, ray_launcher, work
from trainer.models import saved_model
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events


@pytest.fixture
def events(tmp_path):
    return Events(tmp_path / "events.jsonl", 1)


def test_a_worker_that_sees_the_token_of_the_driver_shares_its_folder(tmp_path, capsys):
    token = preflight.announce(tmp_path)
    preflight.shared(tmp_path, token, timeout=0)
    assert capsys.readouterr().out == ""
    assert preflight.announce(tmp_path) != token  # every start has its own


@pytest.mark.parametrize("there", [None, "", "another token", "a folder"])
def test_a_worker_that_does_not_see_the_token_is_refused_without_a_path(tmp_path, there):
    if there == "a folder":
        (tmp_path / preflight.TOKEN).mkdir()
    elif there is not None:
        (tmp_path / preflight.TOKEN).write_text(there)
    with pytest.raises(UserError) as refused:
        preflight.shared(tmp_path, "token", timeout=0)
    assert refused.value.code == "not_shared"
    assert "ReadWriteMany" in refused.value.do
    assert str(tmp_path) not in str(refused.value)


def test_a_token_that_appears_late_is_waited_for(tmp_path, monkeypatch):
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            (tmp_path / preflight.TOKEN).write_text("token")

    monkeypatch.setattr(preflight.time, "sleep", sleep)
    preflight.shared(tmp_path, "token", timeout=60)
    assert len(waits) == 3


def test_other_versions_of_packages_are_named_in_the_log_and_refuse_nothing(tmp_path, capsys):
    token = preflight.announce(tmp_path)
    first, *rest = token.splitlines()
    other = "\n".join([first, "ray 0.1", *rest[1:]])
    (tmp_path / preflight.TOKEN).write_text(other)
    preflight.shared(tmp_path, other, timeout=0)
    assert capsys.readouterr().out == f"Warning: {os.uname().nodename} has {rest[0]}, the driver has ray 0.1.\n"


def test_a_reserved_gpu_that_torch_cannot_use_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match="A GPU was reserved for this worker, but torch cannot use it") as refused:
        preflight.gpu()
    assert "Set use_gpu to no" in refused.value.do


NODES = [{"CPU": 4.0}, {"CPU": 2.0}, {"CPU": 1.5, "GPU": 1.0}]


@pytest.mark.parametrize(("workers", "threads", "cpus"), [(1, 8, 4), (1, 3, 3), (2, 8, 2), (3, 8, 2), (4, 8, 1), (7, 8, 1), (99, 8, 1), (1, 1, 1)])
def test_every_worker_gets_as_many_cpus_as_all_can_have(workers, threads, cpus):
    assert ray_launcher.cpus_each(NODES, workers, threads) == cpus


def test_without_nodes_a_worker_asks_for_one_cpu():
    assert ray_launcher.cpus_each([], 1, 8) == 1
    assert ray_launcher.cpus_each([{}], 2, 8) == 1


EACH = {"CPU": 1, "GPU": 0, "memory": 2}


@pytest.mark.parametrize(
    ("present", "workers", "added"),
    [([{"CPU": 0.0}], 3, 3), ([{}], 3, 3), ([{"CPU": 0.0}, {"CPU": 1.0}], 3, 2), ([{"CPU": 1.0}] * 4, 3, 0)],
    ids=["a head alone", "a head that names no CPUs", "one worker", "more than it is said to grow to"],
)
def test_machines_that_an_autoscaler_can_add_count(present, workers, added):
    told = json.dumps({"workers": workers, "each": EACH})
    assert growth.grown(present, told) == present + [EACH] * added
    assert growth.grown(present, "") == present


@pytest.mark.parametrize(
    ("wanted", "workers", "gpu", "code", "text"),
    [
        ("auto", 1, True, "decision", "Training on GPU: the cluster has 1 GPU."),
        ("auto", 2, False, "decision", "Training on CPU: the cluster has 1 GPU."),
        ("yes", 1, True, "", ""),
        ("yes", 3, True, "warning", "The cluster has 1 GPUs now, but 3 are needed. The run waits for them."),
        ("no", 1, False, "", ""),
    ],
)
def test_gpus_are_used_if_there_is_one_for_every_worker_or_if_they_are_asked_for(events, tmp_path, wanted, workers, gpu, code, text):
    assert ray_launcher._use_gpu(wanted, NODES, workers, events) is gpu
    found = events_of(tmp_path) if events.path.exists() else []
    assert [e["kind"] for e in found] == ([code] if code else [])
    assert not text or text.removesuffix(".") in found[0].get("why", found[0].get("text", ""))


@pytest.mark.parametrize(
    ("cpus", "gpu", "workers", "words"),
    [(1, False, 1, "1 CPU"), (2, False, 1, "2 CPUs"), (2, True, 1, "2 CPUs and 1 GPU"), (1, True, 3, "1 CPU and 1 GPU each")],
)
def test_the_resources_of_a_worker_in_words(cpus, gpu, workers, words):
    assert ray_launcher._resources(cpus, gpu, workers) == words


def test_a_ray_job_keeps_its_own_environment_for_scripts_and_a_driver_outside_passes_the_package_on(monkeypatch):
    found = []
    monkeypatch.setattr(connection, "ray", SimpleNamespace(init=lambda runtime_env, **_: found.append(runtime_env)))
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")
    connection.open_for_scripts()
    monkeypatch.delenv("RAY_JOB_CONFIG_JSON_ENV_VAR")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    connection.open_for_scripts()
    assert found[0] is None
    path = found[1]["env_vars"]["PYTHONPATH"].split(os.pathsep)
    assert path[-1] == "/elsewhere"
    assert (os.path.isfile(os.path.join(path[0], "trainer", "run.py"))) is True


@pytest.mark.parametrize(
    ("size", "epochs", "base", "workers"),
    [
        (10_000_000, 1, Base("bert-tiny", "text"), 1),
        (10_000_000, 3, Base("bert-tiny", "text"), 2),
        (1_999_999, 200, Base("org/x", "text", size=400_000_000), 1),
        (2_000_000, 200, Base("org/x", "text", size=400_000_000), 8),
        (3_000_000, 1, Base("org/x", "text", size=40_000_000), 4),
    ],
)
def test_there_is_a_worker_for_every_ten_minutes_up_to_the_limit(size, epochs, base, workers):
    assert launch._worthwhile(size, epochs, base) == workers


def test_a_sample_of_rows_holds_all_pieces_of_an_example_and_is_the_same_again(monkeypatch):
    monkeypatch.setattr(work, "MAX_TRAIN_ROWS", 10)
    owner = numpy.repeat(numpy.arange(50), 3)
    rows = Rows(SimpleNamespace(lengths=numpy.arange(150)), owner * 2, owner)
    found = work._sample(rows, seed=3)
    assert (found.examples, len(found)) == (10, 30)
    assert numpy.array_equal(found.targets, work._sample(rows, seed=3).targets)
    assert not numpy.array_equal(found.targets, work._sample(rows, seed=4).targets)
    few = Rows(SimpleNamespace(lengths=numpy.arange(10)), numpy.arange(10))
    assert work._sample(few, 3) is few


@pytest.fixture
def model(tmp_path):
    described = dict.fromkeys(saved_model._REQUIRED, "") | {"schema": 1, "kind": "text", "types": {}, "columns": ["text"]}
    folder = tmp_path / "model"
    folder.mkdir()
    save_file({"w": numpy.zeros(3, numpy.float32)}, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    (folder / "trainer.json").write_text(json.dumps(described))
    return folder


def test_a_whole_model_has_a_description(model):
    assert saved_model.description(model)["kind"] == "text"


@pytest.mark.parametrize("name", sorted(saved_model._REQUIRED))
def test_a_description_that_lacks_a_field_is_refused(model, name):
    described = json.loads((model / "trainer.json").read_text())
    (model / "trainer.json").write_text(json.dumps({k: v for k, v in described.items() if k != name}))
    with pytest.raises((ValueError, KeyError)):
        saved_model.description(model)


@pytest.mark.parametrize(
    "changed",
    [{"schema": 2}, {"kind": "sound"}, {"types": []}, {"columns": [1]}, {"columns": None}, {"kind": ["text"]}, {"schema": None}],
    ids=repr,
)
def test_a_description_with_another_value_is_refused(model, changed):
    described = json.loads((model / "trainer.json").read_text())
    (model / "trainer.json").write_text(json.dumps({**described, **changed}))
    with pytest.raises((ValueError, TypeError)):
        saved_model.description(model)


@pytest.mark.parametrize("content", [b"", b"{}", b"\x08\0\0\0\0\0\0\0notajson", b"\xff" * 100, b"\x10\0\0\0\0\0\0\0{}"])
def test_weights_that_are_not_safetensors_are_refused(model, content):
    (model / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=r"weights"):
        saved_model.check(model)
