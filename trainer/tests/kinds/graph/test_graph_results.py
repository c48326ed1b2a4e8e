"""The results of trainings on graphs, and the answers of their models to questions."""

import csv
import json
import shutil
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from conftest import events_of
from pyarrow import parquet
from result_checks import blocks_of, check_files, facts_of
from test_graph_delivery import communities

from trainer.kinds.graph import reading
from trainer.kinds.graph.comparison import choice
from trainer.run import run


@pytest.fixture
def train(make_run, schemas, monkeypatch):
    """train(graph, **parameters) trains on a graph and gives the folder of the run and its result."""

    def made(graph, run_name="ft-test", more=None, **parameters):
        monkeypatch.setattr(reading, "find", lambda *_: reading.Found(file=SimpleNamespace(name="edges.csv")))
        monkeypatch.setattr(reading, "load", lambda *_: graph, raising=False)
        spec = make_run(
            {"edges.csv": "source,target\na,b\n"},
            run=run_name,
            more=more,
            **{"task": graph.task, "more_options": "hidden: 16", "epochs": 2, **parameters},
        )
        assert run(str(spec), "local") == 0, events_of(spec.parent)[-1]
        return spec.parent, check_files(spec.parent, schemas)

    return made


def featured(**more):
    x = numpy.random.default_rng(0).standard_normal((120, 8)).astype(numpy.float32)
    x[:, :3] += 2 * numpy.eye(3, dtype=numpy.float32)[numpy.arange(120) % 3]
    return communities(x=x, columns=("words",), files=("edges.csv", "nodes.csv"), **more)


def rows(path) -> list[dict]:
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def test_a_link_model_delivers_everything(train):
    graph = featured(texts=tuple(f"text of {i}" for i in range(120)))
    folder, result = train(graph, more_options="hidden: 16\nupload: everything")
    out, told = folder / "out", {b.get("title"): b for b in blocks_of(result, "What the model learnt of the graph")}
    assert result["task"] == "link-prediction" and result["model"]["kind"] == "graph"
    assert result["data"]["counts"] == {"nodes": 120, "edges": graph.edges} and graph.edges == sum(result["data"]["rows"].values())
    said = rows(out / "predictions.csv")
    assert sum(r["edge"] == "yes" for r in said) == sum(r["edge"] == "no" for r in said)
    edges = {(graph.ids[int(a)].as_py(), graph.ids[int(b)].as_py()) for a, b in zip(graph.source, graph.target)}
    new = rows(out / "predicted_links.csv")
    assert new and not any((r["source"], r["target"]) in edges or (r["target"], r["source"]) in edges or r["source"] == r["target"] for r in new)
    assert new[0]["source text"].startswith("text of")
    assert told["Likely new edges"]["rows"] and "text of" in told["Test edges that the model did not expect"]["rows"][0][3]["text"]
    table = parquet.read_table(out / "embeddings.parquet")
    assert table.column("id").to_pylist() == graph.ids.to_pylist() and table.schema.field("vector").type.list_size == 16
    described = json.loads((out / "model" / "trainer.json").read_text())
    assert any((out / "tensorboard").rglob("*tfevents*"))
    assert described["graph"]["delivered"] == result["model"]["base"]
    picture, scores = told["Nodes as the model sees them"]["chart"], told["Scores of edges and of random pairs"]["chart"]
    assert sum(len(s["points"]) for s in picture["series"]) == 120 and len(scores["series"]) == 2
    assert described["use"]["snippet"] == result["usage"]["snippet"] == "graph/graph"
    assert {a["path"] for a in result["artifacts"] if a.get("title")} == {"out/predicted_links.csv", "out/embeddings.parquet"}


def test_a_model_of_nodes_delivers_what_it_says_of_the_test_nodes(train):
    labels = tuple("" if i % 10 == 9 else "abc"[i % 3] for i in range(120))
    folder, result = train(featured(labels=labels, task="node-classification", label_column="kind"))
    said = rows(folder / "out" / "predictions.csv")
    assert len(said) == result["data"]["rows"]["test"] and {r["label"] for r in said} <= set("abc")
    assert (
        "of the edges join nodes with the same label" in facts_of(result, "Graph")["Labels of neighbours"]
        and result["confusion"]
        and result["mistakes"] is not None
    )
    assert not (folder / "out" / "predicted_links.csv").exists()
    assert pyarrow.types.is_float16(parquet.read_schema(folder / "out" / "embeddings.parquet").field("vector").type.value_type)


@pytest.mark.parametrize("delivered", ["the best", "the network"])
@pytest.mark.parametrize("task", ["link-prediction", "node-classification"])
def test_the_champion_has_the_scores_that_it_had_on_the_same_rows(train, tmp_path, task, delivered, monkeypatch):
    labels = tuple("abc"[i % 3] for i in range(120)) if task != "link-prediction" else None
    graph = featured(labels=labels, task=task)
    if delivered == "the network":
        monkeypatch.setattr(choice, "best", lambda found, *_: (found[0], ""))
    folder, earlier = train(graph, "ft-earlier")
    shutil.copytree(folder / "out" / "model", tmp_path / "shared" / "registry" / "model")
    version = {"path": "../../registry/model", "run": "ft-earlier", "name": "mine", "version": 1}
    _, result = train(graph, "ft-later", {"champion": version})
    assert result["champion"]["comparable"], result["champion"]
    for name, score in result["champion"]["test"].items():
        assert score["value"] == pytest.approx(earlier["metrics"]["test"][name]["value"], abs=1e-4), name


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seed": 7}, "measured on the rows of this run if it knows all nodes and was trained with the same seed"),
        ({"graph": {"labels": tuple("ab" * 60), "task": "node-classification"}}, "trained for link-prediction"),
        ({"graph": {"nodes": 130}}, "does not know 10 nodes"),
    ],
)
def test_a_champion_that_cannot_be_compared_says_why(train, tmp_path, change, why):
    folder, _ = train(communities(), "ft-earlier")
    shutil.copytree(folder / "out" / "model", tmp_path / "shared" / "registry" / "model")
    version = {"path": "../../registry/model", "run": "ft-earlier", "name": "mine", "version": 1}
    _, result = train(communities(**change.pop("graph", {})), "ft-later", {"champion": version}, **change)
    assert not result["champion"]["comparable"] and why in result["champion"]["why"]
