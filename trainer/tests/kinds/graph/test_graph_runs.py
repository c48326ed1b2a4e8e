"""Whole runs on graphs: what is delivered, kills, several workers, and a person who stops them."""

import csv
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from conftest import DEFAULTS, ROOT, events_of, resumed_at
from process_faults import KILLED, run_apart, start_apart, undisturbed  # noqa: F401 - fixtures
from pyarrow import parquet
from result_checks import check_files, error_of, facts_of, result_of, setting, weights
from several_workers import together  # noqa: F401 - a fixture
from small_graphs import groups

from trainer.kinds.graph import prepare
from trainer.run import run

# With a decoder of its own, the network is delivered whatever is better.
STEPS = "keep_checkpoints: 2\nearly_stopping_patience: 0\nbatch_size: 64\ndecoder: cosine"
LINKS = {"epochs": 3, "more_options": STEPS}


def mrr(result: dict, split: str = "test") -> float:
    return result["metrics"][split]["mrr"]["value"]


def test_an_edge_list_and_a_table_of_nodes_are_enough(make_run, schemas):
    spec = make_run(groups(), epochs=10)
    assert run(str(spec), "local") == 0
    result = check_files(spec.parent, schemas)
    assert (result["task"], result["model"]["kind"], result["metric"]) == ("link-prediction", "graph", "mrr")
    assert result["metrics"]["test"]["auc"]["value"] > 0.7
    assert "memory" in {c["code"] for c in result["checks"]}
    assert setting(result, "learning_rate") == (0.003, "chosen")


def test_a_column_of_few_values_of_the_nodes_is_what_a_model_learns(make_run, schemas):
    spec = make_run(groups(labels=True), epochs=20)
    assert run(str(spec), "local") == 0
    result = check_files(spec.parent, schemas)
    assert result["task"] == "node-classification"
    assert result["metrics"]["test"]["accuracy"]["value"] > 0.8


def test_ids_with_commas_and_quotes_are_the_same_in_all_results(make_run, schemas):
    files = {name: re.sub(r"\bn(\d+)\b", r'"Smith, ""Ann"" \1"', text) for name, text in groups().items()}
    spec = make_run(files, epochs=1)
    assert run(str(spec), "local") == 0
    check_files(spec.parent, schemas)
    out = spec.parent / "out"
    for name, columns in (("predictions.csv", ("source", "target")), ("predicted_links.csv", ("source", "target"))):
        with open(out / name, newline="") as f:
            rows = list(csv.DictReader(f))
        assert rows and all(re.fullmatch(r'Smith, "Ann" \d+', row[c]) for row in rows for c in columns), rows[0]
    ids = parquet.read_table(out / "embeddings.parquet")["id"].to_pylist()
    assert len(ids) == 120 and all(re.fullmatch(r'Smith, "Ann" \d+', i) for i in ids)


def test_edges_alone_are_enough(make_run, schemas):
    spec = make_run(groups(features=False), epochs=5)
    assert run(str(spec), "local") == 0
    assert check_files(spec.parent, schemas)["metrics"]["test"]["auc"]["value"] > 0.6


def test_the_same_graph_in_another_order_gives_the_same_model(make_run):
    files, undirected = groups(), {**LINKS, "more_options": f"{STEPS}\ndirected: no"}
    spec = make_run(files, **undirected)
    assert run(str(spec), "local") == 0
    head, *rows = files["edges.csv"].splitlines()
    turned = {"edges.csv": "\n".join([head, *[",".join(reversed(r.split(","))) for r in reversed(rows)]]) + "\n", "nodes.csv": files["nodes.csv"]}
    other = make_run(turned, run="ft-other", **undirected)
    assert run(str(other), "local") == 0
    assert weights(spec.parent) == weights(other.parent)


def as_form(result: dict) -> dict:
    """The settings of a run as the parameters of one that repeats it: what the form has no field for stands in more_options."""
    values = {s["name"]: s["value"] for s in result["settings"] if s["value"] is not None}
    more = "\n".join(f"{n}: {json.dumps(v) if isinstance(v, bool) else v}" for n, v in values.items() if n not in DEFAULTS and v != "")
    return {**{n: v for n, v in values.items() if n in DEFAULTS}, "more_options": more}


@pytest.mark.parametrize("labels", [False, True])
def test_a_run_with_the_settings_in_a_manifest_repeats_every_bit(make_run, schemas, labels):
    spec = make_run(groups(labels=labels), epochs=3, seed=7)
    assert run(str(spec), "local") == 0
    first = check_files(spec.parent, schemas)
    again = make_run(groups(labels=labels), run="ft-again", **as_form(first))
    assert run(str(again), "local") == 0
    second = check_files(again.parent, schemas)
    assert second["settings"] == [{**s, "source": t["source"]} for s, t in zip(first["settings"], second["settings"])]
    assert second["model"] == first["model"] and second["metrics"]["test"] == first["metrics"]["test"]
    assert [(c["name"], c["test"], c["why"]) for c in second["candidates"]] == [(c["name"], c["test"], c["why"]) for c in first["candidates"]]
    for made in sorted(p for p in (spec.parent / "out" / "model").iterdir() if p.name != "trainer.json"):  # which names the run
        assert (again.parent / "out" / "model" / made.name).read_bytes() == made.read_bytes(), made.name


def test_a_training_of_nodes_killed_twice_ends_with_the_same_bits(make_run, run_apart, undisturbed, schemas):  # noqa: F811
    spec = make_run(groups(labels=True), **LINKS)
    for step in (1, 4):
        assert run_apart(spec, "step", step) == KILLED
    assert run_apart(spec) == 0
    check_files(spec.parent, schemas)
    assert weights(spec.parent) == undisturbed(spec)
    assert resumed_at(spec.parent)


def test_a_training_that_is_told_to_end_saves_its_step_and_goes_on_from_it(make_run, run_apart, undisturbed, schemas):  # noqa: F811
    spec = make_run(groups(), **LINKS)
    assert run_apart(spec, "step", 5, signal.SIGTERM) == 143
    assert run_apart(spec) == 0
    check_files(spec.parent, schemas)
    assert resumed_at(spec.parent) == [5]
    assert weights(spec.parent) == undisturbed(spec)


def test_two_workers_learn_as_well_as_one_and_twice_the_same(make_run, together, schemas):  # noqa: F811
    found = []
    for name, world in (("one", 1), ("two", 2), ("again", 2)):
        spec = make_run(groups(), run=f"ft-{name}", epochs=8, more_options=STEPS)
        assert together(spec, world) == 0
        result = check_files(spec.parent, schemas)
        found.append((mrr(result, "validation"), weights(spec.parent), result["training"]["workers"], len(result["training"]["per_worker"])))
    (one, _, *first), (two, hashed, *second), (_, again, *_) = found
    assert (first, second) == ([1, 1], [2, 2])
    assert abs(one - two) < 0.1
    assert hashed == again


def test_a_dry_run_says_how_long_it_takes_and_trains_nothing(make_run, schemas):
    spec = make_run(groups(), dry_run=True)
    assert run(str(spec), "local") == 0
    result = result_of(spec.parent)
    schemas["result"].validate(result)
    assert result["kind"] == "check"
    assert result["estimate_seconds"] > 0
    told = facts_of(result, "Graph")
    assert result["data"]["counts"]["nodes"] > 0 and "training edge" in told["Held out"]
    assert "estimated" in told["Memory"] and "the largest worker" not in told["Memory"]
    assert not (spec.parent / "checkpoints").exists()


@pytest.mark.parametrize(
    ("files", "free", "code"),
    [
        pytest.param({"edges.csv": "source,target\na,b\n"}, None, "too_few_edges", id="a graph of one edge"),
        pytest.param({**groups(), "nodes.csv": groups()["nodes.csv"][:2000]}, None, "unknown_nodes", id="ids that no node has"),
        pytest.param({"g.graphml": '<!DOCTYPE g [<!ENTITY a "aa">]><graphml>&a;</graphml>'}, None, "unsafe_xml", id="an entity bomb"),
        pytest.param(groups(), 1 << 20, "graph_too_large", id="memory that does not suffice"),
    ],
)
def test_a_graph_that_is_refused_leaves_a_sentence_and_nothing_half_done(make_run, schemas, monkeypatch, files, free, code):
    if free is not None:
        monkeypatch.setattr(prepare, "available", lambda: free)
    spec = make_run(files)
    assert run(str(spec), "local") == 2
    schemas["error"].validate(error := error_of(spec.parent))
    assert error["code"] == code and error["do"]
    assert not any((spec.parent / name).exists() for name in ("out", "result.json", "checkpoints"))
    assert "train" not in {e.get("phase") for e in events_of(spec.parent)}


def test_a_search_is_refused_before_anything_is_trained(make_run):
    spec = make_run(groups(), more_options="search.trials: 4")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "graph_search"


@pytest.mark.parametrize("model", ["words", "bert-tiny"])
def test_a_model_of_other_data_is_refused(make_run, model):
    spec = make_run(groups(), model=model)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "model_unfit"


def test_a_run_on_a_graph_imports_no_transformers(make_run):
    spec = make_run(groups(), epochs=1)
    program = (
        "import sys; from trainer.run import run; code = run(sys.argv[1], 'local'); "
        "print('loaded:', sorted({'transformers'} & set(sys.modules))); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(spec)], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "loaded: []" in done.stdout


@pytest.mark.parametrize(
    "options",
    [
        "decoder: dot\nlayers: 3\nhidden: 16\naggregation: add\ndirected: yes",
        "test_fraction: 0\naggregation: max\nfanout: 3,2\nnegatives: 1\neval_negatives: 5\nedges_per_epoch: 100",
        "layers: 1\nbatch_size: 1000\ngradient_accumulation: 2\nevals_per_epoch: 2",
    ],
)
def test_every_option_of_the_network_trains(make_run, schemas, options):
    spec = make_run(groups(), epochs=2, more_options=options)
    assert run(str(spec), "local") == 0
    check_files(spec.parent, schemas)


@pytest.mark.parametrize("column", ["weight", "time"])
def test_edges_with_weights_or_times_train(make_run, schemas, column):
    files = groups()
    head, *rows = files["edges.csv"].splitlines()
    files["edges.csv"] = "\n".join([f"{head},{column}", *[f"{row},{1 + i / 3:.3f}" for i, row in enumerate(rows)]]) + "\n"
    spec = make_run(files, epochs=2)
    assert run(str(spec), "local") == 0
    result = check_files(spec.parent, schemas)
    told = facts_of(result, "Graph")
    assert ("with weights" in told["Edges"]) == (column == "weight")
    assert (", by time;" if column == "time" else ", at random;") in told["Held out"]


def test_numbers_of_nodes_are_learnt(make_run, schemas):
    files = groups()
    head, *rows = files["nodes.csv"].splitlines()
    files["nodes.csv"] = "\n".join([f"{head},price", *[f"{row},{100 + 20 * float(row.split(',')[1]):.2f}" for row in rows]]) + "\n"
    spec = make_run(files, task="node-regression", label_column="price", epochs=20)
    assert run(str(spec), "local") == 0
    result = check_files(spec.parent, schemas)
    assert result["metrics"]["test"]["r2"]["value"] > 0.3
