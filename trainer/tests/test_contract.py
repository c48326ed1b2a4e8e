"""The golden files: valid by the schemas, read and written by this program. The service's tests read the same files."""

import json

import pytest
from conftest import GOLDEN, SCHEMAS, events_of

from trainer.config import settings, spec as specs
from trainer.errors import UserError, as_user_error
from trainer.measure import intervals
from trainer.run_folder.events import Events


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda f: f.stem)
def test_golden_files_are_valid(file, schemas):
    schemas[file.stem.partition("-")[0]].validate(json.loads(file.read_text()))


def test_golden_events_are_valid_and_show_every_kind(schemas):
    events = [json.loads(line) for line in (GOLDEN / "events.jsonl").read_text().splitlines()]
    for event in events:
        schemas["event"].validate(event)
    kinds = json.loads((SCHEMAS / "event.schema.json").read_text())["properties"]["kind"]["enum"]
    assert {e["kind"] for e in events} == set(kinds)


def test_the_golden_events_are_what_events_writes(tmp_path):
    golden = [json.loads(line) for line in (GOLDEN / "events.jsonl").read_text().splitlines()]
    events = Events(tmp_path / "events.jsonl", 1)
    for e in golden:
        given = {k: v for k, v in e.items() if k not in ("time", "attempt", "kind")}
        if e["kind"] == "error":
            events.error(UserError(**given))
        else:
            if e["kind"] == "progress":
                given.pop("fraction")
            getattr(events, e["kind"])(**given)
    for wrote, e in zip(events_of(tmp_path), golden, strict=True):
        assert {**wrote, "time": ""} == {**e, "time": ""}
        assert len(wrote["time"]) == len(e["time"])


def test_the_golden_spec_is_read(tmp_path):
    document = json.loads((GOLDEN / "spec.json").read_text())
    folder = tmp_path / "shared" / "runs" / document["run"]
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps(document))
    spec = specs.load(folder / "spec.json")
    assert (spec.run, spec.attempt, spec.folder) == (document["run"], 1, folder)
    resolved = settings.of(spec, Events(folder / "events.jsonl", 1))
    assert (resolved.label_column, resolved.epochs, resolved.max_minutes) == ("sentiment", 3, 30)
    assert {s["name"]: s["source"] for s in resolved.listed() if s["source"] != "default"} == {"label_column": "form", "max_minutes": "administrator"}
    assert spec.models == tmp_path / "shared" / "models"
    assert spec.champion.folder == tmp_path / "shared" / "registry" / document["champion"]["run"] / "model"
    assert spec.inputs[1].file == folder / "inputs" / "raw" / "train.csv"


def test_the_golden_intervals_are_ours():
    for split in ("train", "validation", "test"):
        share = json.loads((GOLDEN / "metrics.json").read_text())[split]["accuracy"]
        assert intervals.wilson(share["value"], share["n"]) == pytest.approx((share["low"], share["high"]))


def test_the_golden_prediction_is_read(tmp_path):
    document = json.loads((GOLDEN / "spec-predict.json").read_text())
    folder = tmp_path / "shared" / "runs" / document["run"]
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps(document))
    spec = specs.load(folder / "spec.json")
    assert spec.kind == "predict"
    resolved = settings.of(spec, Events(folder / "events.jsonl", 1))
    assert {s["name"]: s["value"] for s in resolved.listed()}.items() >= document["settings"].items()


@pytest.mark.parametrize("path", ["../a.csv", "/etc/passwd", "a/../../b", "", "a//b", "./a", "a\\b"])
def test_an_input_that_leads_out_of_the_folder_is_refused(path, tmp_path):
    document = json.loads((GOLDEN / "spec.json").read_text())
    document["inputs"][0]["path"] = path
    (tmp_path / "spec.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="leads out"):
        specs.load(tmp_path / "spec.json")


def test_numbers_that_json_cannot_hold_are_left_out_of_events(tmp_path, schemas):
    events = Events(tmp_path / "events.jsonl", 1)
    events.progress(1, 2, 3, 4, loss=float("nan"), learning_rate=1e-3, eta_seconds=float("inf"))
    events.eval(1, 1, "train", {"loss": float("inf")})
    for event in events_of(tmp_path):
        schemas["event"].validate(event)
    assert "loss" not in events_of(tmp_path)[0]


def test_a_full_disk_is_the_users_error_wherever_it_was_met():
    full = OSError(28, "No space left on device", "/shared/runs/ft-1/out/x")
    wrapped = RuntimeError("worker failed")
    wrapped.__cause__ = full
    for error in (full, wrapped):
        found = as_user_error(error, "/shared/runs/ft-1")
        assert found.code == "disk_full"
        assert "full: ft-1/out/x could not be written" in found.what
        assert "/shared" not in str(found)
    assert as_user_error(ValueError("x"), "") is None


def test_a_package_that_the_cluster_lacks_is_named():
    found = as_user_error(ModuleNotFoundError("No module named 'torch'", name="torch"), "")
    assert found.code == "missing_package"
    assert "torch" in found.what
    assert as_user_error(ModuleNotFoundError("No module named 'trainer.gone'", name="trainer.gone"), "") is None
