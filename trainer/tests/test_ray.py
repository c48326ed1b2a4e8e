"""Whole runs on a real Ray, which the tests start and stop."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import pytest
from conftest import ROOT, events_of, small_reviews
from judge import artifact_hashes, check_success

from trainer.run import run

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def ray_address():
    """A Ray of this test's own on two CPUs, as the address that a driver connects to."""
    import ray

    # Ray's sockets lie in there, and the path of a socket may have 107 characters only: too few for pytest's own folders.
    folder = tempfile.mkdtemp(prefix="ray")
    ray.init(address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False, _temp_dir=folder)
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def train_on_ray(tmp_path, ray_address):
    """train_on_ray(spec) runs the program in a process of its own and returns the finished process."""

    def train(spec):
        env = {**os.environ, "RAY_ADDRESS": ray_address, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "trainer", "run", str(spec)]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    return train


def test_one_worker_on_ray_equals_the_same_run_without(make_run, train_on_ray, schemas):
    spec = make_run({"all.csv": small_reviews(200)}, run="ft-ray", epochs=2)
    done = train_on_ray(spec)
    assert done.returncode == 0, done.stdout + done.stderr
    result = check_success(spec.parent, schemas)
    assert result["training"]["workers"] == 1
    assert "[rank 0] Epoch 2, validation" in (spec.parent / "logs" / "rank-0.txt").read_text()
    assert "Epoch 2, test" in (spec.parent / "log.txt").read_text()
    plain = make_run({"all.csv": small_reviews(200)}, run="ft-plain", epochs=2)
    assert run(str(plain), "local") == 0
    on_ray, without = artifact_hashes(spec.parent), artifact_hashes(plain.parent)
    for name in ("out/model/model.safetensors", "out/predictions.csv", "out/metrics.json"):
        assert on_ray[name] == without[name], name


def test_two_workers_share_the_work(make_run, train_on_ray, reviews, schemas):
    spec = make_run(reviews, run="ft-two", num_workers=2)
    done = train_on_ray(spec)
    assert done.returncode == 0, done.stdout + done.stderr
    result = check_success(spec.parent, schemas)
    assert result["training"]["workers"] == 2
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85
    assert [e["split"] for e in events_of(spec.parent) if e["kind"] == "eval"].count("validation") == result["training"]["epochs"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_reaches_the_user(make_run, train_on_ray, schemas, workers):
    spec = make_run({"all.csv": small_reviews(600)}, model="org/odd", num_workers=workers)
    folder = spec.parent.parent.parent / "models" / "org" / "odd"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    done = train_on_ray(spec)
    assert done.returncode == 2, done.stdout + done.stderr
    error = json.loads((spec.parent / "error.json").read_text())
    schemas["error"].validate(error)
    assert (error["code"], error["user"]) == ("model_unusable", True)
    assert error["what"] in done.stderr


def test_bad_data_ends_the_run_while_workers_are_starting(make_run, train_on_ray):
    spec = make_run({"a.csv": "text,label\n" + "some words here,same\n" * 50})
    done = train_on_ray(spec)
    assert done.returncode == 2, done.stdout + done.stderr
    assert json.loads((spec.parent / "error.json").read_text())["code"] == "one_class"
