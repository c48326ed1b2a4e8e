"""Runs of tables with default settings: trees, a linear model, a perceptron and their ensemble in the driver, and what users do with them."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, events_of
from result_checks import check_success, predictions, result_of, setting
from small_datasets import buyers, flowers, magnitudes, table, yields

from trainer.run import run

SNIPPETS = ROOT / "trainer" / "kinds" / "table" / "snippets"
NAMES = ["linear", "trees", "perceptron", "ensemble"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The finished runs of ``trained``, by their tables and models."""
    return {}, tmp_path_factory


@pytest.fixture
def trained(make_run, kept):
    """trained(text, name) is the spec of a run of this test's own that has trained that model on that table. Each is trained once."""

    def of(text: str, name: str) -> Path:
        known, folders = kept
        spec = make_run({"rows.csv": text}, model=name)
        if (text, name) in known:
            shutil.copytree(known[text, name], spec.parent, dirs_exist_ok=True)
        else:
            assert run(str(spec), "local") == 0
            known[text, name] = folders.mktemp(name) / "run"
            shutil.copytree(spec.parent, known[text, name])
        return spec

    return of


def chosen(result: dict) -> dict:
    return next(c for c in result["candidates"] if c["chosen"])


def rows_of(spec) -> list[dict]:
    """The test rows with their cells."""
    found = predictions(spec.parent)
    for row in found:
        with open(spec.parent / "inputs" / row["file"], newline="") as f:
            row["cells"] = list(csv.DictReader(f))[int(row["row"]) - 2]
    return found


def test_the_default_for_tables_is_the_best_of_four_and_has_the_same_bits_again(make_run, schemas):
    spec = make_run({"flowers.csv": flowers()})
    assert run(str(spec), "ray") == 0  # no Ray is started
    result = check_success(spec.parent, schemas)
    assert {c["name"] for c in result["candidates"]} == {*NAMES, "mlp"}
    best = chosen(result)
    assert best["sort"] == "estimator"
    assert result["model"]["base"] == best["name"]
    assert setting(result, "model") == (best["name"], "chosen")
    assert "held out in turn" in best["why"]
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.9
    assert result["model"]["columns"] == ["length", "width", "colour"]
    assert any(e.get("what") == "candidates" for e in events_of(spec.parent))
    assert best["name"] == "ensemble", "with shares by the rows by which all are judged, none has a smaller loss on these"
    shown = next(s for s in result["sections"] if s["title"] == "Models in the ensemble")["blocks"][0]["rows"]
    assert [row[0]["text"] for row in shown][-1] == "all together" and len(shown) == 6
    assert sum(row[1].get("value", 0) for row in shown[:-1]) == pytest.approx(1)
    assert shown[-1][2]["value"] <= min(row[2]["value"] for row in shown[:-1])
    again = make_run({"flowers.csv": flowers()}, run="ft-again")
    assert run(str(again), "ray") == 0
    first, second = ({f.name: f.read_bytes() for f in (s.parent / "out" / "model").iterdir() if f.name != "trainer.json"} for s in (spec, again))
    assert first == second


def test_a_run_of_tables_imports_neither_torch_nor_ray(make_run):
    spec = make_run({"fields.csv": yields()})
    program = (
        "import sys; from trainer.run import run; code = run(sys.argv[1], 'ray'); "
        "print('loaded:', sorted({'torch', 'transformers', 'ray'} & set(sys.modules))); sys.exit(code)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program, str(spec)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "loaded: []" in done.stdout


TEXTS = {"classes": flowers(), "numbers": yields(), "rare": buyers()}
BY_LINES = [pytest.param(n, text, id=f"{n}-{of}") for n in NAMES for of, text in TEXTS.items()]


@pytest.mark.parametrize(("name", "text"), [*BY_LINES, pytest.param("ensemble", magnitudes(), id="ensemble-orders of magnitude")])
def test_each_is_used_by_its_lines_of_python_and_by_a_prediction(trained, schemas, name, text):
    regression, rare = "harvest" in text or "price" in text, "bought" in text
    spec = trained(text, name)
    result = check_success(spec.parent, schemas)
    assert [c["name"] for c in result["candidates"]] == [name]
    assert result["model"]["base"] == name
    out = spec.parent / "out"
    assert {f.suffix for f in (out / "model").iterdir()} == {".json", ".safetensors"}
    (out / "a table of yours.csv").write_text(text)
    # Without this project's code, and without torch and scikit-learn.
    guard = "import sys; sys.modules.update(dict.fromkeys(('torch', 'sklearn', 'trainer', 'transformers'))); "
    program = guard + f"exec(open({str(SNIPPETS / f'{name}.py')!r}).read())"
    lines = subprocess.run([sys.executable, "-I", "-c", program], cwd=out, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == text.count("\n") - 1
    said = [lines[int(r["row"]) - 2] for r in rows_of(spec)]
    answers = [r["predicted"] for r in predictions(spec.parent)]
    if regression:
        assert [float(s) for s in said] == pytest.approx([float(a) for a in answers], rel=1e-4)
    else:
        assert said == answers
    if "price" in text:
        config = json.loads((out / "model" / "config.json").read_text())
        assert any("scale" in m for m in config["members"]) and result["metrics"]["test"]["r2"]["value"] > 0.5
    if rare:
        assert answers.count("yes") > 5
        assert any("yes is answered from a probability of" in e.get("why", "") for e in events_of(spec.parent))


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_predicts_a_table_and_is_a_champion(make_run, trained, schemas, name):
    spec = trained(flowers(), name)
    version = {"path": f"../{spec.parent.name}/out/model", "run": "r1", "name": "flowers", "version": 1}
    later = make_run({"flowers.csv": flowers(90)}, run="later", kind="predict", more={"model": version})
    assert run(str(later), "ray") == 0
    result = result_of(later.parent)
    assert result["prediction"]["rows"] == 90
    assert result["prediction"]["scores"]["accuracy"]["value"] > 0.9
    third = make_run({"flowers.csv": flowers()}, run="third", model="linear", more={"champion": version})
    assert run(str(third), "ray") == 0
    assert check_success(third.parent, schemas)["champion"]["comparable"]


def test_a_damaged_model_file_is_refused(make_run, trained):
    spec = trained(flowers(), "linear")
    model = spec.parent / "out" / "model"
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "columns": config["columns"][:1]}))
    later = make_run({"flowers.csv": flowers(90)}, run="later", kind="predict", more={"model": {"path": f"../{spec.parent.name}/out/model"}})
    assert run(str(later), "ray") == 2
    assert json.loads((later.parent / "error.json").read_text())["user"]


def test_trees_have_the_largest_share_where_columns_act_together(make_run):
    import numpy

    chance = numpy.random.default_rng(4)
    cells = chance.uniform(-1, 1, (900, 6)).round(4)
    lines = [[*row, "yes" if (row[0] > 0) != (row[1] > 0.2) else "no"] for row in cells.tolist()]
    spec = make_run({"t.csv": table(["a", "b", "c", "d", "e", "f", "label"], lines)})
    assert run(str(spec), "ray") == 0
    result = result_of(spec.parent)
    config = json.loads((spec.parent / "out" / "model" / "config.json").read_text())
    assert max(config["members"], key=lambda m: m["share"])["kind"] == "trees"
    assert result["metrics"]["test"]["accuracy"]["value"] > 0.9
