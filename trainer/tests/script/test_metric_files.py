"""The final numbers of a script: which files count, and which number stands for the run."""

import json
import math

import pytest

from trainer.script import metric_files


def write(folder, name: str, value) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        pytest.param({"accuracy": 0.9}, {"accuracy": 0.9}, id="a number"),
        pytest.param({"n": 3}, {"n": 3.0}, id="a whole number"),
        pytest.param({"test": {"f1": 0.5}}, {"test_f1": 0.5}, id="a number one level below"),
        pytest.param({"a": {"b": {"c": 1}}}, {}, id="a number two levels below"),
        pytest.param({"ok": True, "no": False}, {}, id="truth is no number"),
        pytest.param({"a": "0.9", "b": None, "c": [1]}, {}, id="texts and lists are no numbers"),
        pytest.param('{"a": NaN, "b": Infinity, "c": 1}', {"a": None, "b": None, "c": 1.0}, id="what is not finite"),
        pytest.param({"a": 1e300, "b": 9e299, "c": -1e301}, {"a": None, "b": 9e299, "c": None}, id="absurd numbers"),
        pytest.param({"x" * 300: 1}, {"x" * 200: 1.0}, id="a long name is cut"),
        pytest.param([1, 2], {}, id="a list"),
        pytest.param("no JSON", {}, id="no JSON"),
        pytest.param("", {}, id="an empty file"),
        pytest.param({"a": 10**400}, {"a": None}, id="a whole number beyond all floats"),
    ],
)
def test_the_numbers_of_a_file(tmp_path, value, numbers):
    write(tmp_path, "metrics.json", value if not isinstance(value, dict) else json.dumps(value))
    found = metric_files.read([(tmp_path, "")])
    assert {name: None if math.isnan(number) else number for name, (number, _) in found.items()} == numbers


def test_a_measure_that_is_no_number_at_the_end_is_named():
    numbers = {"val_loss": (math.nan, "log"), "accuracy": (0.5, "log"), "temperature": (math.inf, "metrics.json"), "mine": (math.nan, "log")}
    assert metric_files.finite(numbers) == ({"accuracy": (0.5, "log")}, ["val_loss"])
    assert metric_files.finite(numbers, "mine")[1] == ["val_loss", "mine"]


def test_only_files_of_known_names_count_and_the_earlier_folder_wins(tmp_path):
    write(tmp_path / "out", "metrics.json", {"a": 1})
    write(tmp_path / "out", "results.json", {"a": 2, "b": 2})
    write(tmp_path / "out", "other.json", {"c": 3})
    write(tmp_path, "metrics.json", {"a": 4, "d": 4})
    found = metric_files.read([(tmp_path, "out"), (tmp_path, "")])
    assert found == {"a": (1.0, "out/metrics.json"), "b": (2.0, "out/results.json"), "d": (4.0, "metrics.json")}


def test_a_file_over_a_megabyte_and_a_link_are_left_out(tmp_path):
    write(tmp_path, "metrics.json", json.dumps({"a": 1}) + " " * (1 << 20))
    write(tmp_path, "secret", {"b": 2})
    (tmp_path / "results.json").symlink_to(tmp_path / "secret")
    assert metric_files.read([(tmp_path, "")]) == {}


def test_at_most_two_hundred_numbers_and_twenty_files_are_read(tmp_path):
    write(tmp_path, "metrics.json", {f"n{i}": i for i in range(300)})
    assert len(metric_files.read([(tmp_path, "")])) == 200
    for i in range(30):
        write(tmp_path / str(i), "metrics.json", {f"m{i}": i})
    assert len(metric_files.read([(tmp_path, str(i)) for i in range(30)])) == 20


@pytest.mark.parametrize(
    ("names", "wanted", "chosen"),
    [
        pytest.param(["loss", "accuracy"], "", "accuracy", id="an accuracy before a loss"),
        pytest.param(["accuracy", "val_f1"], "", "val_f1", id="a held-out value before one of the training"),
        pytest.param(["val_accuracy", "eval_accuracy", "test_f1"], "", "test_f1", id="a test before an evaluation"),
        pytest.param(["val_accuracy", "eval_f1"], "", "eval_f1", id="an evaluation before a validation"),
        pytest.param(["f1", "accuracy"], "", "accuracy", id="accuracy before F1"),
        pytest.param(["Valid Acc", "loss"], "", "Valid Acc", id="another spelling"),
        pytest.param(["validation/accuracy", "test.loss"], "", "validation/accuracy", id="slashes and points"),
        pytest.param(["Mean IoU"], "", "Mean IoU", id="a mean"),
        pytest.param(["dev-avg-loss", "loss"], "", "dev-avg-loss", id="losses by their split"),
        pytest.param(["train_loss"], "", "train_loss", id="any other loss"),
        pytest.param(["seconds"], "", None, id="nothing measured"),
        pytest.param([], "", None, id="nothing"),
        pytest.param(["accuracy", "speed"], "speed", "speed", id="what the user wants"),
        pytest.param(["Val Acc", "accuracy"], "validation_accuracy", "Val Acc", id="what the user wants in another spelling"),
        pytest.param(["accuracy"], "f1", None, id="what the user wants and is not there"),
    ],
)
def test_the_number_that_stands_for_the_run(names, wanted, chosen):
    found = metric_files.choose({name: (float(i), "f") for i, name in enumerate(names)}, wanted)
    assert (found[0] if found else None) == chosen
    assert found is None or found == (chosen, float(names.index(chosen)), "f")
