"""Runs of texts with default settings: an estimator in the driver, without workers, and beside a network."""

import csv
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, events_of, small_reviews
from result_checks import artifact_hashes, check_files, check_success, codes, error_of, predictions, result_of, setting
from small_datasets import prices, table

from trainer.run import run
from trainer.run_folder import stop

CHINESE = ["饭菜很好吃服务热情下次还来", "味道很差送餐太慢不会再来", "房间干净位置方便非常满意", "房间很脏隔音太差非常失望"]
ARABIC = ["الخدمة ممتازة والطعام لذيذ", "الخدمة سيئة والطعام بارد", "المكان نظيف والسعر مناسب", "المكان قذر والسعر مرتفع"]
GERMAN = [
    "Ausgezeichnete Wohnungsverwaltung, freundlich",
    "Fürchterliche Wohnungsverwaltung, unfreundlich",
    "Sehr schönes Zimmer",
    "Sehr hässliches Zimmer",
]


def in_script(texts: list[str], rows: int = 80) -> str:
    return table(["text", "label"], [[f"{texts[i % 4]}{'！' * (i % 3)} {i}", ["good", "bad"][i % 2]] for i in range(rows)])


def chosen(result: dict) -> dict:
    return next(c for c in result["candidates"] if c["chosen"])


def test_the_default_for_texts_is_fitted_in_the_driver_and_beats_the_bag_of_words(make_run, reviews, schemas):
    spec = make_run(reviews)
    assert run(str(spec), "ray") == 0  # no Ray is started
    result = check_success(spec.parent, schemas)
    linear = next(b for b in result["metrics"]["baselines"] if b["name"] == "linear")
    assert result["metrics"]["test"]["accuracy"]["value"] >= linear["test"]["accuracy"]["value"] - 0.01
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85
    assert (result["model"]["base"], result["model"]["from_scratch"]) == ("words", True)
    assert setting(result, "model") == ("words", "chosen")
    assert "from_scratch" not in codes(result)
    assert chosen(result)["sort"] == "estimator"
    assert [c["name"] for c in result["candidates"]] == ["words", "bert-tiny"]
    assert "Set model to bert-tiny" in result["candidates"][1]["why"]
    assert result["training"]["workers"] == 1
    assert not (spec.parent / "out" / "baseline").exists()
    assert {"python", "scikit-learn", "numpy", "safetensors", "ray"} <= set(result["versions"])
    assert "torch" not in result["versions"]


def test_a_run_of_texts_imports_neither_torch_nor_transformers_nor_ray(make_run):
    spec = make_run({"all.csv": small_reviews(200)})
    program = (
        "import sys; from trainer.run import run; code = run(sys.argv[1], 'ray'); "
        "print('loaded:', sorted({'torch', 'transformers', 'ray', 'tokenizers'} & set(sys.modules))); sys.exit(code)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program, str(spec)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "loaded: []" in done.stdout


@pytest.mark.parametrize("texts", [CHINESE, ARABIC, GERMAN], ids=["Chinese", "Arabic", "German"])
def test_texts_of_other_scripts_are_learned(make_run, schemas, texts):
    spec = make_run({"all.csv": in_script(texts)})
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    linear = next(b for b in result["metrics"]["baselines"] if b["name"] == "linear")
    assert result["metrics"]["test"]["accuracy"]["value"] >= linear["test"]["accuracy"]["value"]
    assert result["metrics"]["test"]["accuracy"]["value"] == 1


def test_numbers_are_predicted_from_texts_and_by_the_lines_of_python(make_run, schemas):
    spec = make_run({"ads.csv": prices()}, label_column="price")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["model"]["base"] == "words"
    assert result["metrics"]["test"]["r2"]["value"] > 0.9
    rows = predictions(spec.parent)
    printed = beside(spec.parent / "out", f"\nprint(json.dumps(predict({[r['content'] for r in rows]!r})))")
    assert json.loads(printed.splitlines()[-1]) == pytest.approx([float(r["predicted"]) for r in rows], rel=1e-4)


def test_pairs_rare_classes_and_few_rows_are_no_trouble(make_run, schemas):
    rows = [[f"question {i}", f"answer {i % 7} {'yes' if i % 9 else 'no'}", "a" if i % 9 else "b"] for i in range(120)]
    spec = make_run({"all.csv": table(["premise", "hypothesis", "label"], rows)}, more_options="class_weights: balanced")
    assert run(str(spec), "local") == 0
    assert check_success(spec.parent, schemas)["model"]["base"] == "words"


def test_the_same_seed_gives_the_same_bytes_and_the_events_say_what_happens(make_run):
    hashes = []
    for name in ("ft-one", "ft-two"):
        spec = make_run({"all.csv": small_reviews(200)}, run=name)
        assert run(str(spec), "local") == 0
        hashes.append({p: h for p, h in artifact_hashes(spec.parent).items() if p != "out/model/trainer.json"})  # it names the run
    assert hashes[0] == hashes[1]
    events = events_of(spec.parent)
    assert [e["phase"] for e in events if e["kind"] == "phase"] == ["start", "prepare", "train", "test", "export"]
    assert next(e for e in events if e.get("what") == "model")["choice"] == "words"
    assert next(e for e in events if e.get("what") == "estimate")["choice"] > 0
    assert {e["split"] for e in events if e["kind"] == "eval"} == {"validation", "test"}


def test_a_dry_run_needs_no_worker(make_run, schemas):
    spec = make_run({"all.csv": small_reviews(200)}, dry_run=True)
    assert run(str(spec), "ray") == 0
    result = check_files(spec.parent, schemas)
    assert (result["kind"], setting(result, "model")) == ("check", ("words", "chosen"))
    assert "needs no worker" in next(c for c in result["checks"] if c["code"] == "worker")["text"]
    assert result["estimate_seconds"] > 0


def test_a_model_named_by_the_user_is_delivered_and_words_is_there_for_comparison(make_run, schemas):
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", epochs=1)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert [(c["name"], c["chosen"]) for c in result["candidates"]] == [("bert-tiny", True), ("words", False)]
    assert chosen(result)["why"] == "The model was set to bert-tiny."
    assert result["candidates"][1]["test"]["accuracy"]["n"] == result["data"]["rows"]["test"]


@pytest.mark.parametrize(("model", "code"), [("words", "model_unfit"), ("word", "model_not_installed")])
def test_an_estimator_that_does_not_fit_is_refused(make_run, model, code):
    files = (
        {"all.csv": table(["a", "b", "label"], [[i, i * 2, "xy"[i % 2]] for i in range(40)])} if model == "words" else {"all.csv": small_reviews(60)}
    )
    spec = make_run(files, model=model)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == code


def test_a_run_that_is_stopped_before_anything_was_fitted_says_so(make_run):
    spec = make_run({"all.csv": small_reviews(60)})
    (spec.parent / stop.STOP).write_text(stop.KEEP)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "stopped"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where ``trained`` keeps its run for the next tests."""
    return tmp_path_factory.mktemp("kept") / "run"


@pytest.fixture
def trained(make_run, kept):
    """The folder of a finished run, which its test may change."""
    spec = make_run({"all.csv": small_reviews(300)}, run="ft-model")
    if kept.exists():
        shutil.copytree(kept, spec.parent, dirs_exist_ok=True)
    else:
        assert run(str(spec), "local") == 0
        shutil.copytree(spec.parent, kept)
    return spec.parent


def test_predictions_are_those_of_the_training(make_run, trained, schemas):
    more = {"model": {"path": "../ft-model/out/model", "run": "ft-model"}}
    spec = make_run({"new.csv": small_reviews(300)}, run="pr-one", kind="predict", more=more)
    assert run(str(spec), "ray") == 0  # no Ray is started
    result = check_files(spec.parent, schemas)
    assert result["prediction"]["rows"] == 300
    again = {r["row"]: r for r in predictions(spec.parent)}
    for row in predictions(trained):
        assert (again[row["row"]]["predicted"], again[row["row"]]["confidence"]) == (row["predicted"], row["confidence"])


SNIPPET = ROOT / "trainer" / "kinds" / "text" / "snippets" / "words.py"


def beside(folder, after: str) -> str:
    """What the lines of Python beside the model print in a process of their own that has neither our code nor torch."""
    loaded = "\nimport sys; assert not {'trainer', 'torch', 'transformers', 'ray'} & set(sys.modules)"
    program = SNIPPET.read_text() + after + loaded
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_lines_of_python_in_the_archive_predict_the_same(trained):
    rows = predictions(trained)
    cells = {str(i): r["review"] for i, r in enumerate(csv.DictReader(small_reviews(300).splitlines()), 2)}
    asked = [cells[r["row"]] for r in rows]
    printed = beside(trained / "out", f"\nprint(json.dumps(predict({asked!r})))")
    assert json.loads(printed.splitlines()[-1]) == [r["predicted"] for r in rows]
    assert len(printed.splitlines()) == 3


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"bag": 3}),
        ("config.json", {"models": ["bag", "nothing"]}),
        ("config.json", {"models": []}),
        ("config.json", {"characters": [1, 500]}),
        ("config.json", {"temperature": 0}),
        ("terms.json", {"words": ["a"]}),
        ("trainer.json", {"target": {"labels": ["one"]}}),
    ],
)
def test_files_that_do_not_fit_together_are_the_users_error(make_run, trained, file, change):
    path = trained / "out" / "model" / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    more = {"model": {"path": "../ft-model/out/model", "run": "ft-model"}}
    spec = make_run({"new.csv": small_reviews(60)}, run="pr-one", kind="predict", more=more)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "model_file"


@pytest.mark.parametrize(("model", "champion"), [("words", "words"), ("words", "bert-tiny"), ("bert-tiny", "words")])
def test_a_champion_is_compared_whatever_it_is(make_run, schemas, model, champion):
    before = make_run({"all.csv": small_reviews(200)}, run="ft-before", model=champion, epochs=1)
    assert run(str(before), "local") == 0
    more = {"champion": {"path": "../ft-before/out/model", "run": "ft-before", "name": "reviews", "version": 1}}
    spec = make_run({"all.csv": small_reviews(200)}, run="ft-after", model=model, epochs=1, more=more)
    assert run(str(spec), "local") == 0
    found = check_success(spec.parent, schemas)["champion"]
    assert found["comparable"], found
    mine = result_of(before.parent)["metrics"]["test"]["accuracy"]["value"]
    assert found["test"]["accuracy"]["value"] == pytest.approx(mine)
