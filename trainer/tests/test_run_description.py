"""The task of a run as spec.json describes it, the environment of its processes, and the worker behind a launcher."""

import json
import os
import pickle
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from trainer.config import spec as specs
from trainer.config.jail import Limits
from trainer.config.spec import Script, Version
from trainer.core.input import Input
from trainer.environment import ENVIRONMENT
from trainer.errors import UserError
from trainer.launch import connection, local, work, worker, worker_process
from trainer.run_folder import stop
from trainer.warm import client, wire

PLAIN = {
    "schema": 3, "kind": "train", "run": "ft-1", "attempt": 2, "dataset": {"id": "d"}, "settings": {"epochs": 3}, "sources": {}, "inputs": [],
}  # fmt: skip


@pytest.fixture
def load(tmp_path):
    """load(**changed) reads a spec.json with these fields on a shared volume."""

    def of(**changed) -> specs.Spec:
        folder = tmp_path / "shared" / "runs" / "ft-1"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "spec.json").write_text(json.dumps({**PLAIN, **changed}))
        return specs.load(folder / "spec.json")

    return of


def test_a_plain_description_has_no_models_and_no_script(load, tmp_path):
    spec = load()
    assert (spec.kind, spec.run, spec.attempt, spec.dataset, spec.settings) == ("train", "ft-1", 2, "", {"epochs": 3})
    assert (spec.model, spec.champion, spec.script, spec.inputs) == (None, None, None, ())
    assert (spec.work, spec.models) == (spec.folder / "work", tmp_path / "shared" / "models")


def test_inputs_keep_the_names_of_the_user_and_have_places_in_the_run(load):
    given = {"name": "Ä/b c.csv", "path": "raw/1.csv", "size": 3, "sha256": "ab"}
    spec = load(inputs=[given, {**given, "path": "2", "id": "f2", "label": "cat"}])
    inputs = spec.folder / "inputs"
    assert spec.inputs == (Input("Ä/b c.csv", inputs / "raw" / "1.csv", 3, "ab"), Input("Ä/b c.csv", inputs / "2", 3, "ab", "f2", "cat"))


@pytest.mark.parametrize("schema", [1, 4, "3", None])
def test_a_description_for_another_trainer_is_refused(load, schema):
    with pytest.raises(ValueError, match=f"has schema {schema!r}; this trainer reads schema 3"):
        load(schema=schema)


@pytest.mark.parametrize("field", ["kind", "run", "attempt", "dataset", "settings", "sources", "inputs"])
def test_a_description_that_lacks_a_field_is_refused(tmp_path, field):
    (tmp_path / "spec.json").write_text(json.dumps({name: value for name, value in PLAIN.items() if name != field}))
    with pytest.raises(KeyError, match=field):
        specs.load(tmp_path / "spec.json")


def test_a_model_of_the_registry_is_found_on_the_volume(load, tmp_path):
    model = {"path": "../../registry/m/model", "run": "ft-0", "name": "m", "version": 4}
    spec = load(model=model, champion={"path": "../ft-0/out/model"})
    assert spec.model == Version(tmp_path / "shared" / "registry" / "m" / "model", "ft-0", "m", 4)
    assert spec.champion == Version(tmp_path / "shared" / "runs" / "ft-0" / "out" / "model")


@pytest.mark.parametrize("path", ["../../../elsewhere", "/etc", "../../../shared-other/model", "link"])
@pytest.mark.parametrize("field", ["model", "champion"])
def test_a_model_outside_of_the_volume_is_refused(load, tmp_path, field, path):
    load()
    (tmp_path / "shared" / "runs" / "ft-1" / "link").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="leads out of the shared volume"):
        load(**{field: {"path": path}})


def test_a_script_has_the_limits_that_the_service_gives_and_else_the_defaults(load, tmp_path):
    assert load(kind="script").script == Script()
    given = {
        "sandbox": "pod", "network": True, "limits": {"memory_bytes": 5, "seconds": 9.0}, "overlay": "packages/abc",
        "requirements": ["a==1"], "resolved": True, "checkpoint_seconds": 5,
    }  # fmt: skip
    script = load(kind="script", script=given).script
    assert script.limits == Limits(memory_bytes=5, seconds=9.0)
    assert (script.sandbox, script.check, script.network, script.resolved) == ("pod", "report", True, True)
    assert (script.overlay, script.requirements) == (tmp_path / "shared" / "packages" / "abc", ("a==1",))
    assert load(kind="train", script=given).script is None


def test_packages_outside_of_the_volume_are_refused(load):
    with pytest.raises(ValueError, match=r"overlay path '\.\./x' leads out of the shared volume"):
        load(kind="script", script={"overlay": "../x"})


@pytest.mark.parametrize(
    ("job", "wanted"),
    [
        (None, {}),
        ({}, {}),
        ({"runtime_env": None}, {}),
        ({"runtime_env": {"env_vars": {"AWS_REGION": "ignored", "NOT_SET": "x"}}}, {"AWS_REGION": "north"}),
    ],
)
def test_a_worker_has_what_the_service_has_set_and_what_the_libraries_need(monkeypatch, job, wanted):
    monkeypatch.delenv(connection.JOB, raising=False)
    monkeypatch.delenv("NOT_SET", raising=False)
    monkeypatch.setenv("AWS_REGION", "north")
    monkeypatch.setenv("OTHER", "of this machine")
    if job is not None:
        monkeypatch.setenv(connection.JOB, json.dumps(job))
    assert connection.environment() == wanted | ENVIRONMENT


@pytest.mark.parametrize("fails", [False, True])
def test_the_environment_of_a_job_is_hidden_from_ray_for_the_connection_only(monkeypatch, fails):
    given, seen = {"runtime_env": {"env_vars": {"A": "1"}}, "metadata": {"b": "2"}}, []

    def init(**_):
        seen.append(json.loads(os.environ[connection.JOB]))
        if fails:
            raise ConnectionError

    monkeypatch.setattr(connection, "ray", SimpleNamespace(init=init))
    monkeypatch.setenv(connection.JOB, json.dumps(given))
    try:
        connection.open()
    except ConnectionError:
        assert fails
    assert seen == [{"runtime_env": {}, "metadata": {"b": "2"}}]
    assert json.loads(os.environ[connection.JOB]) == given


@pytest.mark.parametrize("fails", [False, True])
def test_ray_is_left_also_where_no_warm_process_can_be_requested(monkeypatch, capsys, fails):
    left = []

    def renew(environment):
        if fails:
            raise RuntimeError("no\nroom")

    monkeypatch.setattr(connection, "pool", SimpleNamespace(renew=renew))
    monkeypatch.setattr(connection, "ray", SimpleNamespace(shutdown=lambda: left.append(True)))
    connection.close()
    assert left == [True]
    assert ("No warm process could be requested: no room\n" in capsys.readouterr().out) is fails


@pytest.fixture
def own_worker(monkeypatch, tmp_path):
    """A worker in this process whose output stays where it is."""
    monkeypatch.setattr(worker.worker_log, "redirect", lambda folder, rank: None)
    monkeypatch.setattr(worker.files, "share", lambda: None)
    return worker.Worker(str(tmp_path), str(tmp_path / "work"), 1, "text", "10.0.0.1")


def test_a_worker_does_what_a_message_names(own_worker, monkeypatch):
    done = []
    monkeypatch.setattr(work, "estimate", lambda plan, device: done.append((plan, device)) or {"seconds": 5})
    message = [pickle.dumps(("estimate", "cpu")), *wire.pack({"plan": [1, 2]})]
    assert wire.unpack(own_worker.call(message)) == {"seconds": 5}
    assert done == [({"plan": [1, 2]}, "cpu")]
    assert not own_worker.leaving.is_set()
    own_worker.leave()
    assert own_worker.leaving.is_set()


@pytest.mark.parametrize(("rank", "reports"), [(0, True), (1, False)])
def test_only_the_first_worker_reports_the_progress_of_a_prediction(own_worker, monkeypatch, rank, reports):
    own_worker.rank = rank
    monkeypatch.setattr(work, "predict", lambda saved, events, device, reports: reports)
    assert own_worker.predict("cpu", None, None) is reports


@pytest.mark.parametrize("warm", [True, False])
def test_a_worker_without_a_warm_process_starts_cold(monkeypatch, capsys, warm):
    dismissed = []

    def unavailable(*_):
        raise client.Unavailable("it is of another version")

    monkeypatch.setattr(client, "start", unavailable)
    monkeypatch.setattr(client, "dismiss", dismissed.append)
    monkeypatch.setattr(worker, "Worker", lambda **given: SimpleNamespace(call=lambda parts: [given["rank"], *parts], leave=lambda: None))
    made = worker_process.create("10.0.0.1:6379", warm, {"rank": 3})
    assert isinstance(made, worker_process.Own) and made.is_alive()
    assert made.call(["a"]) == [3, "a"]
    assert ("Worker 3 starts cold: it is of another version." in capsys.readouterr().out) is warm
    assert dismissed == ([] if warm else ["10.0.0.1:6379"])


def test_a_training_without_ray_is_paused_by_a_signal_and_the_handler_comes_back(monkeypatch, tmp_path):
    before = signal.getsignal(signal.SIGTERM)

    def train(plan, **how):
        os.kill(os.getpid(), signal.SIGTERM)
        return how | {"paused": stop.is_paused(Path(plan.work))}

    monkeypatch.setattr(work, "train", train)
    launcher = local.LocalLauncher("auto", 10**6, "text", None)
    monkeypatch.setattr(launcher, "_device", lambda: "cpu")
    cores = len(os.sched_getaffinity(0))
    assert launcher.train(SimpleNamespace(work=str(tmp_path))) == {"rank": 0, "world": 1, "device": "cpu", "threads": cores, "paused": True}
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("wanted", "there", "device"), [("auto", True, "cuda"), ("auto", False, "cpu"), ("no", True, "cpu"), ("yes", True, "cuda")])
def test_without_ray_the_gpu_of_this_machine_is_used_where_it_may_be(monkeypatch, tmp_path, wanted, there, device):
    import torch

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(work, "warm_up", lambda folder, rank, threads, gpu, kind: "cuda" if gpu else "cpu")
    events = SimpleNamespace(lease=SimpleNamespace(folder=tmp_path))
    assert local.LocalLauncher(wanted, 1, "text", events)._device() == device


def test_a_gpu_that_is_asked_for_and_not_there_is_refused(monkeypatch):
    import torch

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError) as refused:
        local.LocalLauncher("yes", 1, "text", None)._device()
    assert refused.value.code == "no_gpu" and "auto or no" in refused.value.do
