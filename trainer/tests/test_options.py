"""Options that must show an effect, each by what it changes."""

import csv

import numpy
import pytest
from conftest import events_of, small_reviews
from result_checks import check_success, codes, error_of, predictions, setting, weights
from small_datasets import flowers, table

from trainer.run import run

pytestmark = pytest.mark.usefixtures("lone_network")


@pytest.fixture
def train(make_run, schemas):
    """train(files, **parameters) trains and returns the run folder and result.json; ``more`` are lines of more_options."""

    def trained(files: dict | str, more: str = "", **parameters):
        files = {"all.csv": files} if isinstance(files, str) else files
        trained.count = getattr(trained, "count", 0) + 1
        spec = make_run(files, run=f"ft-{trained.count}", **{"epochs": 1, **parameters}, **({"more_options": more} if more else {}))
        assert run(str(spec), "local") == 0
        return spec.parent, check_success(spec.parent, schemas)

    return trained


def long_texts(rows: int = 60) -> str:
    """Texts of 40 words whose last one says the label."""
    return table(["text", "label"], [["filler " * 39 + ["good", "bad"][i % 2] + f" {i}", ["yes", "no"][i % 2]] for i in range(rows)])


def test_long_texts_are_cut_at_the_chosen_side(train):
    sides = {}
    for side in ("right", "left"):
        _, result = train(long_texts(120), f"truncation_side: {side}\nearly_stopping_patience: 0", max_length=8, epochs=6)
        sides[side] = result["metrics"]["test"]["accuracy"]["value"]
        assert result["data"]["truncated_share"] == 1
        assert "truncation" in codes(result)
    assert sides["left"] == 1  # there alone the word that decides is read
    assert sides["right"] < 0.9


def test_a_sliding_window_reads_long_texts_to_their_end(train):
    folder, result = train(long_texts(120), "long_text: sliding_window\nstride: 4\nearly_stopping_patience: 0", max_length=16, epochs=6)
    assert result["metrics"]["test"]["accuracy"]["value"] == 1
    assert len(predictions(folder)) == result["data"]["rows"]["test"]  # pieces become one answer again
    assert "truncation" not in codes(result)


def test_long_texts_can_be_left_out_of_training(train):
    rows = small_reviews(100) + "".join(f'{900 + i},"{"word " * 200}","{["negative", "positive"][i % 2]}"\n' for i in range(20))
    folder, result = train(rows, "long_text: drop", max_length=64)
    left = next(d["rows"] for d in result["data"]["dropped"] if "longer" in d["reason"])
    assert 0 < left <= 20
    assert f"Training on {result['data']['rows']['train'] - left} texts for up to" in (folder / "log.txt").read_text()
    assert len(predictions(folder)) == result["data"]["rows"]["test"]


def test_leaving_out_all_texts_is_refused(make_run):
    spec = make_run({"all.csv": small_reviews()}, max_length=8, more_options="long_text: drop")
    assert run(str(spec), "local") == 2
    error = error_of(spec.parent)
    assert error["code"] == "all_too_long"
    assert "max_length" in error["do"]


def test_padding_does_not_change_the_answers(train):
    answers = []
    for padding in ("longest", "max_length"):
        folder, _ = train(small_reviews(), f"padding: {padding}", learning_rate=1e-9)  # dropout has other places to fall on
        answers.append([(r["predicted"], float(r["confidence"])) for r in predictions(folder)])
    assert [a for a, _ in answers[0]] == [a for a, _ in answers[1]]
    assert [c for _, c in answers[0]] == pytest.approx([c for _, c in answers[1]], abs=2e-4)


def test_two_texts_are_read_as_a_pair(train):
    words = ["river", "stone", "lamp", "cloud"]
    rows = [[f"the {words[i % 4]} {i}", f"a {words[i % 4 if i % 8 < 4 else (i + 1) % 4]} again", ["same", "other"][i % 8 >= 4]] for i in range(120)]
    _, result = train(table(["first", "second", "label"], rows), "text_pair_column: second", text_column="first")
    assert result["data"]["input_columns"] == ["first", "second"]


def test_class_weights_help_a_rare_class(train):
    lines = list(csv.reader(flowers(300).splitlines()))
    uneven = table(lines[0], [row for i, row in enumerate(lines[1:]) if row[3] != "c" or i % 24 == 2])
    _, auto = train({"t.csv": uneven}, "model: mlp")
    assert setting(auto, "class_weights") == ("balanced", "chosen")
    _, none = train({"t.csv": uneven}, "model: mlp\nclass_weights: none")
    assert weights_differ(auto, none)
    _, even = train({"t.csv": flowers()}, "model: mlp")
    assert setting(even, "class_weights") == ("none", "chosen")


def test_an_estimator_learns_rare_classes_without_weights(train):
    rows = [[f"a text of kind {'ab'[i % 10 == 0]} number {i}", "ab"[i % 10 == 0]] for i in range(400)]
    _, result = train(table(["text", "label"], rows), model="words")
    assert (result["model"]["base"], setting(result, "class_weights")) == ("words", ("none", "chosen"))


def weights_differ(*results: dict) -> bool:
    return len({r["model"]["weights_sha256"] for r in results}) == len(results)


def test_options_of_the_optimizer_change_the_weights(train):
    changes = [
        "",
        "optimizer: sgd",
        "scheduler: cosine",
        "scheduler: constant",
        "warmup_ratio: 0.5",
        "weight_decay: 0.9",
        "label_smoothing: 0.3",
        "max_grad_norm: 0.01",
    ]
    results = [train({"t.csv": flowers()}, more, epochs=3)[1] for more in changes]
    assert weights_differ(*results)


def test_label_smoothing_lowers_the_confidence(train):
    sure = []
    for smoothing in (0, 0.4):
        folder, _ = train({"t.csv": flowers()}, f"label_smoothing: {smoothing}", epochs=30)
        sure.append(numpy.mean([float(r["confidence"]) for r in predictions(folder)]))
    assert sure[1] < sure[0] - 0.05


def test_accumulated_gradients_equal_those_of_the_large_batch(train):
    from safetensors.numpy import load_file

    # Dropout draws again for each part of a batch, so that only the weights of a model without it can be the same.
    from trainer.kinds.table import network as perceptron

    before, perceptron.DROPOUT = perceptron.DROPOUT, 0.0
    try:
        folders = [train({"t.csv": flowers()}, f"gradient_accumulation: {n}\noptimizer: sgd", epochs=2)[0] for n in (1, 4)]
    finally:
        perceptron.DROPOUT = before
    large, parts = (load_file(f / "out" / "model" / "model.safetensors") for f in folders)
    for name in large:
        assert numpy.abs(large[name] - parts[name]).max() < 1e-5, name


def test_max_examples_limits_the_examples(train):
    _, result = train(small_reviews(200), "max_examples: 60")
    assert sum(result["data"]["rows"].values()) == 60


def test_a_model_is_measured_several_times_in_an_epoch(train):
    folder, _ = train(small_reviews(200), "evals_per_epoch: 2", epochs=2)
    epochs = [e["epoch"] for e in events_of(folder) if e["kind"] == "eval" and e["split"] == "validation"]
    assert len(epochs) == 4
    assert epochs[1::2] == [1, 2]


def test_upload_everything_includes_the_tensorboard_files(train):
    _, some = train(small_reviews())
    _, everything = train(small_reviews(), "upload: everything")
    assert not [a for a in some["artifacts"] if "tensorboard" in a["path"]]
    assert [a for a in everything["artifacts"] if a["path"].startswith("out/tensorboard/events.out.tfevents")]


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "f1_weighted", "mcc", "roc_auc", "loss"])
def test_the_metric_that_chooses_the_best_model_can_be_named(train, metric):
    folder, result = train({"t.csv": flowers()}, f"metric: {metric}", epochs=3)
    assert result["metric"] == metric
    assert setting(result, "metric") == (metric, "more options")
    measured = {e["step"]: e["metrics"][metric] for e in events_of(folder) if e["kind"] == "eval" and e["split"] == "validation"}
    assert measured[result["best_step"]] == (min if metric == "loss" else max)(measured.values())


def test_a_metric_of_another_task_is_refused(make_run):
    spec = make_run({"t.csv": flowers()}, more_options="metric: rmse")
    assert run(str(spec), "local") == 2
    assert "rmse" in error_of(spec.parent)["what"]


def test_the_same_run_whatever_the_hash_seed(make_run):
    """Nothing may depend on the order of a set. A hash seed holds for a process, so each run has its own."""
    import os
    import subprocess
    import sys

    found = set()
    for seed in ("1", "2"):
        spec = make_run({"all.csv": small_reviews()}, run=f"ft-hash-{seed}", epochs=1)
        command = [sys.executable, "-m", "trainer", "run", str(spec), "--launcher", "local"]
        done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        found.add((weights(spec.parent), (spec.parent / "out" / "predictions.csv").read_bytes()))
    assert len(found) == 1
