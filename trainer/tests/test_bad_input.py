"""Bad input: each row ends as one error.json with a sentence for the user, exit code 2, and nothing that looks like a result."""

import json
from pathlib import Path

import pytest
from conftest import events_of, small_reviews
from result_checks import check_success

from trainer import export
from trainer.run import run
from trainer.run_folder import files

pytestmark = pytest.mark.usefixtures("lone_network")

HEADER = "id,review,sentiment\n"


def _rows(n, label=lambda i: "ab"[i % 2]):
    return HEADER + "".join(f"{i},this is the review number {i},{label(i)}\n" for i in range(n))


@pytest.mark.parametrize(
    ("files", "parameters", "code", "named"),
    [
        pytest.param({}, {}, "empty_dataset", "no files", id="an empty dataset"),
        pytest.param({"a.png": b"\x89PNG\0\0", "README.md": "# x"}, {}, "no_table", "README.md", id="no table by name"),
        pytest.param({"a.txt": "Just prose. No columns.\nSecond line.\n"}, {}, "no_table", "a.txt", id="no table by content"),
        pytest.param({"a.csv": b"\x00\x01\x02" * 100}, {}, "no_table", "a.csv (is not a text file", id="a binary file called csv"),
        pytest.param({"a.csv": ""}, {}, "no_table", "a.csv (is empty)", id="an empty file"),
        pytest.param({"a.csv": HEADER}, {}, "no_table", "a.csv", id="a header without rows"),
        pytest.param({"a.jsonl": "not\njson\n"}, {}, "no_table", "JSON object", id="lines that are no JSON"),
        pytest.param({"a.csv": _rows(60, lambda _: "same")}, {}, "one_class", "sentiment", id="one class only"),
        pytest.param({"a.csv": _rows(60)}, {"label_column": "mood"}, "unknown_column", "id, review and sentiment", id="an unknown label column"),
        pytest.param({"a.csv": _rows(60)}, {"text_column": "words"}, "unknown_column", "id and review", id="an unknown text column"),
        pytest.param({"a.csv": _rows(60)}, {"label_column": "id"}, "label_not_a_class", "60 different values", id="as many labels as rows"),
        pytest.param({"a.csv": _rows(60)}, {"task": "image-classification"}, "no_images", "a.csv", id="a task without its data"),
        pytest.param({"a.csv": _rows(60)}, {"model": "org/none"}, "model_not_installed", "Installed: none", id="a model that is not installed"),
        pytest.param({"a.csv": _rows(60)}, {"model": "../../etc"}, "model_not_installed", "../../etc", id="a model name that leads elsewhere"),
        pytest.param({"a.csv": _rows(60)}, {"data_file": "b.csv"}, "unknown_file", "a.csv", id="an unknown file"),
        pytest.param({"a.csv": _rows(8)}, {}, "too_few_rows", "8", id="absurdly few rows"),
        pytest.param({"a.csv": _rows(60)}, {"use_gpu": "yes"}, "no_gpu", "GPU", id="a GPU where there is none"),
        pytest.param({"a.csv": "a,b\n" + "1,2\n" * 50}, {}, "one_class", "one value", id="numbers only"),
    ],
)
def test_bad_input_ends_as_one_sentence(files, parameters, code, named, make_run, schemas, capsys):
    spec = make_run(files, **parameters)
    assert run(str(spec), "local") == 2
    error = json.loads((spec.parent / "error.json").read_text())
    schemas["error"].validate(error)
    assert (error["code"], error["user"]) == (code, True)
    assert named in " ".join((error["what"], error.get("why", ""), error["do"]))
    for sentence in (error["what"], error["do"]):
        assert sentence.endswith(".")
        assert "\n" not in sentence
    assert error["what"] in capsys.readouterr().err
    assert error["what"] in (spec.parent / "log.txt").read_text()
    for event in events_of(spec.parent):
        schemas["event"].validate(event)
    assert events_of(spec.parent)[-1]["kind"] == "error"
    assert not (spec.parent / "result.json").exists()


def test_a_file_that_vanished_is_named(make_run):
    spec = make_run({"a.csv": _rows(60)})
    (spec.parent / "inputs" / "a.csv").unlink()
    assert run(str(spec), "local") == 2
    error = json.loads((spec.parent / "error.json").read_text())
    assert (error["code"], error["user"]) == ("unreadable_file", True)
    assert "a.csv" in error["what"]


def test_a_pickled_model_is_refused_with_a_remedy(make_run):
    spec = make_run({"a.csv": _rows(60)}, model="org/old")
    folder = spec.parent.parent.parent / "models" / "org" / "old"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "pytorch_model.bin").write_bytes(b"x")
    assert run(str(spec), "local") == 2
    error = json.loads((spec.parent / "error.json").read_text())
    assert error["code"] == "pickled_model"
    assert "safetensors" in error["do"]


def test_a_training_that_diverges_is_reported_with_its_learning_rate(make_run, monkeypatch):
    from torch.nn import functional

    real = functional.cross_entropy
    monkeypatch.setattr(functional, "cross_entropy", lambda *args, **more: real(*args, **more) * float("nan"))
    spec = make_run({"a.csv": small_reviews(60)}, epochs=1, learning_rate=0.5)
    assert run(str(spec), "local") == 2
    error = json.loads((spec.parent / "error.json").read_text())
    assert error["code"] == "diverged"
    assert "0.5" in error["why"]


def test_a_training_that_diverges_late_keeps_its_best_model(make_run, schemas, monkeypatch):
    from trainer.train import step

    real = step.Stepper.mean_loss
    monkeypatch.setattr(step.Stepper, "mean_loss", lambda self, at: real(self, at) if at.evaluations < 2 else float("nan"))
    spec = make_run({"a.csv": small_reviews(60)}, epochs=5)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert (result["training"]["stopped"], result["training"]["epochs"]) == ("diverged", 3)
    assert result["best_epoch"] in (1, 2)
    told = next(w["text"] for w in result["warnings"] if w["code"] == "diverged")
    assert f"from epoch {result['best_epoch']:g}, is kept" in told
    assert "smaller learning_rate" in told


@pytest.mark.parametrize(("rate", "remedy"), [(0, "More epochs"), (1e-9, "smaller learning_rate")])
def test_a_model_that_predicts_one_class_for_all_rows_is_reported(make_run, schemas, monkeypatch, rate, remedy):
    from trainer.train import optimize

    monkeypatch.setattr(optimize.Optimization, "step", lambda self, _: self.optimizer.zero_grad())
    spec = make_run({"a.csv": small_reviews(60)}, epochs=1, learning_rate=rate, more_options="metric: accuracy")
    assert run(str(spec), "local") == 0
    told = next(w["text"] for w in check_success(spec.parent, schemas)["warnings"] if w["code"] == "one_answer")
    assert "for every row" in told
    assert remedy in told


def test_a_disk_that_is_full_when_a_checkpoint_is_written_is_named(make_run, monkeypatch):
    from safetensors import SafetensorError

    from trainer.train import checkpoint

    def full(_tensors, file):
        Path(file).write_bytes(b"as much as there was room for")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoint, "save_file", full)
    spec = make_run({"a.csv": small_reviews(60)}, epochs=1)
    assert run(str(spec), "local") == 2
    error = json.loads((spec.parent / "error.json").read_text())
    assert (error["code"], error["user"]) == ("disk_full", True)
    assert spec.parent.name in error["what"]
    assert str(spec.parent.parent) not in json.dumps(error)
    assert list((spec.parent / "work").rglob("*.safetensors")) == []  # what was begun leaves its room again


def test_a_full_disk_is_named_and_leaves_no_result(make_run, monkeypatch):
    spec = make_run({"a.csv": small_reviews(60)}, epochs=1)
    real = files.write_bytes

    def full(path, data):
        if path.name == "metrics.json":
            raise OSError(28, "No space left on device", str(path))
        real(path, data)

    monkeypatch.setattr(files, "write_bytes", full)
    assert run(str(spec), "local") == 2
    error = json.loads((spec.parent / "error.json").read_text())
    assert (error["code"], error["user"]) == ("disk_full", True)
    assert "metrics.json" in error["what"]
    assert not (spec.parent / "result.json").exists()
    assert not (spec.parent / "out").exists()


def test_a_fault_of_the_program_is_not_blamed_on_the_user(make_run, monkeypatch, schemas):
    spec = make_run({"a.csv": small_reviews(60)}, epochs=1)

    def broken(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(export, "training", broken)
    assert run(str(spec), "local") == 1
    error = json.loads((spec.parent / "error.json").read_text())
    schemas["error"].validate(error)
    assert (error["code"], error["user"]) == ("internal", False)
    assert "Traceback" not in json.dumps(error)
    assert "Traceback" in (spec.parent / "log.txt").read_text()
