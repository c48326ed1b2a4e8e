"""What a training of every kind of data promises: one suite over all kinds, and over one that lives with the tests."""

import base64
import copy
import shutil
from pathlib import Path

import lone_networks
import pytest
import vision_models
from conftest import resumed_at
from process_faults import KILLED, NETWORKS, run_apart, start_apart  # noqa: F401 - fixtures
from result_checks import check_files, check_training, predictions, result_of, shown, weights
from samples import FROM_INSTALLED, INSTALLED, SAMPLES, Sample, toy  # noqa: F401 - a fixture
from several_workers import together  # noqa: F401 - a fixture

from trainer.answer.model import Model
from trainer.answer.rows import Refused
from trainer.core import registry
from trainer.models import saved_model
from trainer.run import run


@pytest.fixture(scope="module", params=SAMPLES | FROM_INSTALLED)
def kind(request) -> str:
    return request.param


@pytest.fixture
def sample(kind) -> Sample:
    return copy.deepcopy((SAMPLES | FROM_INSTALLED)[kind])


@pytest.fixture
def make_run(make_run, sample, tmp_path):
    if sample.base is not None:
        vision_models.install(tmp_path / "shared" / "models" / INSTALLED, sample.base())
    return make_run


@pytest.fixture
def lone(sample, monkeypatch):
    """Nothing is done beside the training of a network that ``process_faults`` lets be alone, too."""
    if sample.options.get("model") in NETWORKS:
        lone_networks.let_be_alone(monkeypatch.setattr)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The finished trainings, by their kinds."""
    return {}, tmp_path_factory


@pytest.fixture
def finished(kind, sample, kept, make_run) -> Path:
    """The folder of a training to which nothing happened."""
    known, folders = kept
    if kind not in known:
        spec = make_run(sample.files, run="ft-finished", **sample.options)
        assert run(str(spec), "local") == 0
        known[kind] = folders.mktemp(kind) / "run"
        shutil.copytree(spec.parent, known[kind])
    return known[kind]


@pytest.fixture
def version(finished, tmp_path) -> dict:
    """The model of that training as a registered version on this test's shared volume."""
    folder = tmp_path / "shared" / "registry" / "model"
    shutil.copytree(finished / "out" / "model", folder)
    return {"path": "../../registry/model", "run": "ft-finished", "name": "model", "version": 1}


def test_a_training_delivers_what_it_lists(finished, schemas, kind, sample):
    result = check_training(finished, schemas)
    name = kind.partition("-")[0]
    assert result["model"]["kind"] == name
    assert result["task"] in registry.of(name).tasks
    assert result["model"]["base"] == (INSTALLED if sample.base else registry.of(name).shape)
    assert predictions(finished)
    assert len(shown(result)) == sample.shows


def test_a_dry_run_estimates_and_trains_nothing(make_run, schemas, sample):
    spec = make_run(sample.files, dry_run=True, **sample.options)
    assert run(str(spec), "local") == 0
    result = result_of(spec.parent)
    schemas["result"].validate(result)
    assert result["kind"] == "check"
    assert result["estimate_seconds"] >= 0
    assert not (spec.parent / "checkpoints").exists()


def test_a_killed_training_ends_with_the_same_bits(make_run, run_apart, finished, schemas, sample):  # noqa: F811
    spec = make_run(sample.files, **sample.options)
    if not sample.steps:
        assert run_apart(spec, "replace", 2) == KILLED
        assert not (spec.parent / "result.json").exists()
        assert run_apart(spec) == 0
        check_training(spec.parent, schemas)
        assert weights(spec.parent) == weights(finished)
        return
    assert run_apart(spec, "step", sample.killed_at) == KILLED
    assert not (spec.parent / "result.json").exists()
    assert run_apart(spec) == 0
    check_training(spec.parent, schemas)
    assert weights(spec.parent) == weights(finished)
    assert resumed_at(spec.parent)


def test_two_workers_train_as_many_steps_as_one(make_run, together, finished, schemas, sample, lone):  # noqa: F811
    if not sample.steps:
        pytest.skip("the driver trains it without workers")
    spec = make_run(sample.files, **sample.options)
    assert together(spec, 2) == 0
    result = check_training(spec.parent, schemas)
    assert [w["rank"] for w in result["training"]["per_worker"]] == [0, 1]
    assert result["training"]["steps"] == result_of(finished)["training"]["steps"]


def test_a_training_that_a_person_stops_keeps_its_best_model(make_run, told_at, schemas, sample, lone):
    if not sample.steps:
        pytest.skip("it has no checkpoint before its end")
    if sample.base is not None:
        pytest.skip("as with the built-in model of its kind")
    spec = make_run(sample.files, **sample.options)
    told_at(spec, 2, "keep")
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert (result["training"]["stopped"], result["training"]["steps"]) == ("stopped by a person", 2)


def test_a_model_is_its_own_equal_as_a_champion(make_run, schemas, sample, version, lone):
    spec = make_run(sample.files, **sample.options, more={"champion": version})
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert (result["champion"]["comparable"], result["champion"]["name"], result["champion"]["version"]) == (True, "model", 1)
    own = result["metrics"]["test"]
    assert {n: s["value"] for n, s in result["champion"]["test"].items()} == pytest.approx({n: own[n]["value"] for n in result["champion"]["test"]})


def test_a_saved_model_answers_a_dataset(make_run, schemas, sample, version):
    spec = make_run(sample.asked, kind="predict", more={"model": version})
    assert run(str(spec), "local") == 0
    result = check_files(spec.parent, schemas)
    assert result["kind"] == "prediction"
    assert result["prediction"]["model"]["name"] == "model"
    assert result["prediction"]["rows"] > 0
    assert len(shown(result)) == sample.shows
    assert predictions(spec.parent)


def test_a_saved_model_answers_the_rows_to_try_as_the_training_did(finished, sample):
    pytest.importorskip("onnxruntime")
    folder = finished / "out" / "model"
    fields = saved_model.description(folder)["use"].get("fields")
    if not sample.answers_rows:
        assert fields is None
        with pytest.raises(Refused):
            Model(folder)
        return
    model = Model(folder)
    assert [(f["name"], f["type"]) for f in fields] == [(c.name, c.type) for c in model.form.columns], "the form of the studio has these fields"
    types = {i["name"]: i["datatype"] for i in model.described()["inputs"]}
    for tried in result_of(finished).get("examples", []):
        tensors = [{"name": n, "datatype": types[n], "shape": [1], "data": [cell]} for n, cell in tried["input"].items()]
        first = model.answer(tensors)[0]
        answer = first["data"][0]
        if "content_type" in first.get("parameters", {}):  # the answer is a picture, beside a description in words in the results
            assert base64.b64decode(answer).startswith(b"\x89PNG")
            continue
        assert (answer if isinstance(answer, str) else model.target.text(answer)) == tried["predicted"]


def test_the_settings_of_a_training_are_searched_or_the_user_is_told_why_not(make_run, schemas, sample, lone):
    if sample.base is not None:
        pytest.skip("as with the built-in model of its kind")
    more = f"{sample.options['more_options']}\nsearch.trials: 2\nsearch.space: learning_rate: 1e-3..1e-2"
    spec = make_run(sample.files, **{**sample.options, "more_options": more})
    if not sample.searches:
        assert run(str(spec), "local") == 2
        return
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    found = result["search"]
    assert len(found["trials"]) == 2
    assert found["comparison"]["rows"] > 1
    assert result["metrics"]["test"] == found["best_test" if found["chosen"] else "default_test"]
