"""Runs, checkpoints and models that an earlier version left on the shared volume are read by this one."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, events_of
from result_checks import check_files, check_success, predictions, result_of
from safetensors.numpy import load_file

from trainer.run import run

STORED = ROOT / "test" / "stored" / "runs"


@pytest.fixture
def stored(tmp_path):
    """stored(name) puts a copy of a stored run folder on this test's shared volume and returns its spec.json."""

    def copied(name: str) -> Path:
        folder = tmp_path / "shared" / "runs" / name
        shutil.copytree(STORED / name, folder)
        return folder / "spec.json"

    return copied


def test_a_finished_run_of_an_earlier_version_is_not_trained_again(stored, capsys):
    spec = stored("ft-done")
    before = result_of(spec.parent)
    assert before["schema"] == 2
    assert run(str(spec), "local") == 0
    assert "already done" in capsys.readouterr().out
    assert result_of(spec.parent) == before


def test_a_training_that_was_cut_off_goes_on_from_its_checkpoint(stored, schemas):
    spec = stored("ft-cut")
    cut = len(events_of(spec.parent))
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["training"]["steps"] == 6
    assert result["training"]["resumed"] == 1
    assert not [e for e in events_of(spec.parent)[cut:] if e["kind"] == "eval" and e["epoch"] < 3], "an epoch was trained twice"
    weights, expected = (load_file(folder / "out" / "model" / "model.safetensors") for folder in (spec.parent, STORED / "ft-done"))
    assert weights.keys() == expected.keys()
    for name, values in expected.items():
        assert weights[name] == pytest.approx(values, abs=1e-4), name


def test_a_stored_model_predicts_what_it_predicted_before(make_run, schemas, tmp_path):
    shutil.copytree(STORED / "ft-done" / "out" / "model", tmp_path / "shared" / "registry" / "flowers")
    data = STORED / "ft-done" / "inputs" / "flowers.csv"
    spec = make_run({"flowers.csv": data}, kind="predict", more={"model": {"path": "../../registry/flowers", "run": "ft-done"}})
    assert run(str(spec), "local") == 0
    check_files(spec.parent, schemas)
    now = {row["row"]: row["predicted"] for row in predictions(spec.parent)}
    before = predictions(STORED / "ft-done")
    assert before
    assert {row["row"]: now[row["row"]] for row in before} == {row["row"]: row["predicted"] for row in before}


def test_the_events_of_a_stored_run_are_valid(schemas):
    lines = (STORED / "ft-cut" / "events.jsonl").read_text().splitlines()
    for line in lines:
        schemas["event"].validate(json.loads(line))
    assert len(lines) > 10
