"""Questions to models of graphs: pairs, links of nodes, labels of nodes, and nodes that came after the training."""

import contextlib
import csv
import io
import itertools
import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
import torch
from conftest import ROOT, events_of
from result_checks import asked_of, check_files, error_of
from safetensors import safe_open
from safetensors.numpy import save_file
from test_graph_delivery import communities

from trainer.core.input import Input
from trainer.kinds.graph.asking import answering, questions
from trainer.kinds.graph.comparison import choice
from trainer.kinds.graph.delivery import scorers, stored
from trainer.kinds.graph.sage import Sage
from trainer.run import run

OPTIONS = "hidden: 16"


def edge_rows(graph=None) -> str:
    g = graph or communities()
    return "source,target\n" + "".join(f"n{a},n{b}\n" for a, b in zip(g.source.tolist(), g.target.tolist()))


def node_rows(numbers, name="n", label=True) -> str:
    r = numpy.random.default_rng(0)
    lines = ["id,a,b,c" + ",kind" * label]
    for i in numbers:
        x = 0.5 * r.standard_normal(3) + 2 * numpy.eye(3)[i % 3]
        lines.append(",".join([f"{name}{i}", *(f"{v:.3f}" for v in x), *["rgb"[i % 3]] * label]))
    return "\n".join(lines) + "\n"


FILES = {
    "links": ({"edges.csv": edge_rows(), "nodes.csv": node_rows(range(120), label=False)}, {}),
    "network of links": ({"edges.csv": edge_rows(), "nodes.csv": node_rows(range(120), label=False)}, {"decoder": "dot"}),
    "cosines of links": ({"edges.csv": edge_rows(), "nodes.csv": node_rows(range(120), label=False)}, {"decoder": "cosine", "aggregation": "max"}),
    "network of nodes": ({"edges.csv": edge_rows(), "nodes.csv": node_rows(range(120))}, {"aggregation": "add"}),
    "nodes": ({"edges.csv": edge_rows(), "nodes.csv": node_rows(range(120))}, {}),
    "edges alone": ({"edges.csv": edge_rows()}, {}),
    "users and items": (
        {"likes.csv": "user,item\n" + "".join(f"{u},{i}\n" for u, i in itertools.product(range(40), range(60)) if u % 4 == i % 4)},
        {},
    ),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """trained(what, make_run) is the folder of the model of a finished training."""
    known = {}

    def of(what: str, make_run):
        if what not in known:
            files, more = FILES[what]
            options = "\n".join([OPTIONS, *(f"{name}: {value}" for name, value in more.items())])
            spec = make_run(files, run="ft-earlier", epochs=2, more_options=options)
            with pytest.MonkeyPatch.context() as patched:
                if what.startswith("network"):
                    patched.setattr(choice, "best", lambda found, *_: (found[0], ""))
                assert run(str(spec), "local") == 0, events_of(spec.parent)[-1]
            known[what] = tmp_path_factory.mktemp("model") / "model"
            shutil.copytree(spec.parent / "out" / "model", known[what])
        return known[what]

    return of


@pytest.fixture
def ask(trained, make_run, schemas, tmp_path):
    """ask(what, files, **parameters) gives the rows of predictions.csv and the prediction of result.json, or the error."""
    numbers = itertools.count(1)

    def asked(what: str, files: dict, code: int = 0, change=None, **parameters):
        place = tmp_path / "shared" / "registry" / "model"
        shutil.copytree(trained(what, make_run), place, dirs_exist_ok=True)
        if change:
            change(place)
        more = {"model": {"path": "../../registry/model", "run": "ft-earlier", "name": "model", "version": 1}}
        spec = make_run(files, run=f"pr-{next(numbers)}", kind="predict", more=more, **parameters)
        assert run(str(spec), "local") == code, events_of(spec.parent)[-1]
        if code:
            return error_of(spec.parent)
        result = check_files(spec.parent, schemas)
        with open(spec.parent / "out" / "predictions.csv", newline="") as f:
            return list(csv.DictReader(f)), result["prediction"]

    return asked


@pytest.mark.parametrize("what", ["links", "network of links", "edges alone"])
def test_pairs_within_a_community_are_likelier_than_others(ask, what):
    pairs = [(f"n{i}", f"n{i + 3}") for i in range(60)] + [(f"n{i}", f"n{i + 4}") for i in range(60)]
    rows, said = ask(what, {"pairs.csv": "source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs)})
    assert [(r["source"], r["target"]) for r in rows] == pairs
    assert asked_of(said)["Question"].startswith("whether two nodes have an edge: yes from")
    chance = [float(r["probability"]) for r in rows]
    assert numpy.mean(chance[:60]) > numpy.mean(chance[60:])
    graph = communities()
    edges = {frozenset((f"n{a}", f"n{b}")) for a, b in zip(graph.source.tolist(), graph.target.tolist())}
    assert all((r["known"] == "yes") == (frozenset((r["source"], r["target"])) in edges) for r in rows)
    sides = {said: [p for p, r in zip(chance, rows, strict=True) if r["predicted"] == said] for said in ("yes", "no")}
    assert min(sides["yes"]) >= max(sides["no"])


@pytest.mark.parametrize(("column", "words"), [("edge", ("no", "yes")), ("label", ("0", "1")), ("truth", ("False", "True"))])
def test_pairs_with_a_column_that_says_which_are_edges_are_compared_with_it(ask, column, words):
    pairs = [(f"n{i}", f"n{i + 3}", words[1]) for i in range(60)] + [(f"n{i}", f"n{i + 4}", words[0]) for i in range(30)] + [("n7", "n8", "")]
    more = {"label_column": column} if column == "truth" else {}
    rows, said = ask("links", {"pairs.csv": f"source,target,{column}\n" + "".join(",".join(p) + "\n" for p in pairs)}, **more)
    assert said["label_column"] == column and {s["n"] for s in said["scores"].values()} == {90}
    assert [r["label"] for r in rows] == ["yes"] * 60 + ["no"] * 30 + [""]
    right = [(r["predicted"] == "yes") == (r["label"] == "yes") for r in rows[:90]]
    assert said["scores"]["accuracy"]["value"] == pytest.approx(numpy.mean(right))
    assert said["scores"]["auc"]["value"] > 0.8 and said["scores"]["average_precision"]["value"] > 0.8
    assert said["scores"].keys() <= said["trained_scores"].keys()


def test_pairs_with_a_column_of_other_words_are_answered_without_a_comparison(ask):
    rows, said = ask("links", {"pairs.csv": "source,target,label\nn0,n3,red\nn0,n4,blue\n"})
    assert "scores" not in said and "label" not in rows[0]


def test_users_and_items_are_asked_about_as_the_files_number_them(ask):
    rows, said = ask("users and items", {"pairs.csv": "user,item\n3,7\n3,54\n41,7\n"})
    assert [(r["source"], r["target"], r["known"]) for r in rows] == [("3", "7", "yes"), ("3", "54", "no")]
    assert said["unit"] == "pair" and float(rows[0]["probability"]) > float(rows[1]["probability"])


def test_the_likeliest_links_of_nodes_are_new(ask):
    rows, said = ask("links", {"who.csv": "id\nn5\nn7\n"}, top_k=4)
    assert [(r["source"], r["rank"]) for r in rows] == [(n, str(k)) for n in ("n5", "n7") for k in (1, 2, 3, 4)]
    graph = communities()
    edges = {frozenset((f"n{a}", f"n{b}")) for a, b in zip(graph.source.tolist(), graph.target.tolist())}
    assert not any(frozenset((r["source"], r["target"])) in edges for r in rows)
    assert asked_of(said) == {"Question": "the 4 likeliest new edges of each node", "Known nodes": "2 of the trained graph, 0 new nodes"}
    assert said["samples"][0]["predicted"].startswith(rows[0]["target"])


def test_new_nodes_get_links_by_their_features_and_edges(ask):
    new = [120, 121, 122, 123]
    edges = "source,target\n" + "".join(f"new{i},n{i - 120 + 3 * k}\n" for i in new[:3] for k in range(5))
    rows, said = ask("links", {"new_nodes.csv": node_rows(new, "new", label=False), "new_edges.csv": edges}, top_k=5)
    told = asked_of(said)
    assert "4 new nodes" in told["Known nodes"] and told["Without an edge"].startswith("1 new node") and told["Edges of new nodes"] == "15"
    right = [int(r["target"][1:]) % 3 == int(r["source"][3:]) % 3 for r in rows]
    assert len(rows) == 20 and sum(right) > 13
    assert not any(r["source"] == r["target"] or r["target"].startswith("new") for r in rows)


def test_new_nodes_can_be_asked_about_as_pairs(ask):
    files = {
        "nodes.csv": node_rows([120], "new", label=False),
        "edges.csv": "source,target\nnew120,n3\nnew120,n6\n",
        "pairs.csv": "source,target\nnew120,n9\nnew120,n8\n",
    }
    rows, said = ask("links", files, edges_file="edges.csv")
    assert [r["target"] for r in rows] == ["n9", "n8"] and "1 new node" in asked_of(said)["Known nodes"]
    assert asked_of(said)["Edges of new nodes"] == "2"
    assert float(rows[0]["probability"]) > float(rows[1]["probability"])


@pytest.mark.parametrize("name", ["n", "new"], ids=["known nodes", "new nodes"])
def test_nodes_get_labels_and_scores(ask, name):
    new = range(30) if name == "n" else range(120, 150)
    edges = "source,target\n" + "".join(f"{name}{i},n{(i + 3 * k) % 120}\n" for i in new for k in range(1, 5))
    rows, said = ask("nodes", {"who.csv": node_rows(new, name), "more_edges.csv": edges})
    assert [r["id"] for r in rows] == [f"{name}{i}" for i in new]
    assert sum(r["predicted"] == r["label"] for r in rows) > 25
    assert said["scores"]["accuracy"]["n"] == 30 and said["unit"] == "node"
    assert f"{0 if name == 'n' else 30} new nodes" in asked_of(said)["Known nodes"]


def test_rows_with_unknown_ids_are_left_out(ask):
    rows, said = ask("links", {"pairs.csv": "source,target\nn1,n2\nn1,N2\nn3,nobody\n"})
    assert len(rows) == 1 and said["skipped"] == 2 and asked_of(said)["Left out"].startswith("2 rows")


@pytest.mark.parametrize(
    ("what", "files", "code", "says"),
    [
        ("links", {"pairs.csv": "source,target\nx1,x2\n"}, "unknown_nodes", "x1"),
        ("links", {"text.csv": "word,length\nhello,5\n"}, "no_data", "two ids"),
        ("nodes", {"text.csv": "word,length\nhello,5\n"}, "no_data", "id of a node"),
        ("edges alone", {"new.csv": "id\nnew1\n", "e.csv": "source,target\nnew1,n2\n"}, "new_nodes", "reads no features"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_sentence(ask, what, files, code, says):
    error = ask(what, files, code=2)
    assert error["code"] == code and says in error["what"] + error["do"] + (error.get("detail") or "")


def _without_graph(place):
    (place / "graph.safetensors").unlink()


def _of_other_sides(place):
    described = json.loads((place / "trainer.json").read_text())
    described["graph"]["left"] = 1_000_000
    (place / "trainer.json").write_text(json.dumps(described))


def _of_unknown_scores(place):
    (place / "fusion.json").write_text('{"columns": ["secret"], "weights": [1], "classes": 3}')


def _of_another_form(place):
    (place / "fusion.json").write_text('{"columns": 5}')


@pytest.mark.parametrize("what", ["network of links", "nodes"])
@pytest.mark.parametrize(
    ("change", "code"),
    [(_without_graph, "no_graph"), (_of_other_sides, "model_file"), (_of_unknown_scores, "model_file"), (_of_another_form, "model_file")],
)
def test_a_damaged_model_is_refused(ask, what, change, code):
    files = {"who.csv": "id\nn1\n"} if what == "nodes" else {"pairs.csv": "source,target\nn1,n2\n"}
    assert ask(what, files, code=2, change=change)["code"] == code


def test_a_column_that_the_model_reads_is_no_column_of_ids(tmp_path):
    """Zeros and ones are ids of a graph whose nodes are numbered."""
    graph = replace(communities(), ids=pyarrow.array([str(i) for i in range(120)]))
    stored.write(tmp_path / stored.NAME, graph)
    parts = [{"kind": "flags", "column": "w0 … w1", "vocabulary": ["w0", "w1"]}]
    described = {"task": "link-prediction", "label_column": "", "graph": {"encoder": {"parts": parts}}}
    (tmp_path / "new.csv").write_text("w0,w1,node,w2\n" + "".join(f"{i % 2},1,new{i},{i % 2}\n" for i in range(9)))
    size = (tmp_path / "new.csv").stat().st_size
    options = SimpleNamespace(delimiter="", encoding="", source_column="", target_column="", id_column="", label_column="", edges_file="")
    source = Input("new.csv", tmp_path / "new.csv", size, "")
    asked = questions.read([source], options, described, stored.load(tmp_path / stored.NAME), None)
    assert asked.nodes[0].ids == [f"new{i}" for i in range(9)]


SNIPPETS = ROOT / "trainer" / "kinds" / "graph" / "snippets"


def snippet(name: str, folder, monkeypatch) -> tuple[dict, list[str]]:
    """The names and the printed lines of the lines of Python that users get."""
    monkeypatch.chdir(folder)
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile((SNIPPETS / f"{name}.py").read_text(), name, "exec"), names)
    return names, printed.getvalue().splitlines()


FUSED = ("common_neighbours", "adamic_adar", "resource_allocation", "three_steps", "preferential_attachment", "cosine", "spread_cosine", "model")


@pytest.mark.parametrize("what", ["links", "network of links", "cosines of links", "edges alone", "users and items"])
@pytest.mark.parametrize("fused", [None, FUSED], ids=["as delivered", "of all columns"])
def test_the_lines_of_python_score_links_as_what_is_delivered_does(trained, make_run, tmp_path, monkeypatch, what, fused):
    place = tmp_path / "model"
    shutil.copytree(trained(what, make_run), place)
    network = (place / "model.safetensors").exists()
    if fused:
        columns = [c for c in fused if network or c != "model"]
        (place / "fusion.json").write_text(json.dumps({"columns": columns, "weights": [1.0 + i for i in range(len(columns))]}))
    names, printed = snippet("graph", place.parent, monkeypatch)
    assert len(printed) == 1 and "may be joined with" in printed[0]
    question = answering.Pairs(place, place / "graph.safetensors", tmp_path, numpy.arange(1), numpy.arange(1))
    table = question.table(Sage.load(place), torch.device("cpu")) if network else None
    every = numpy.arange(question.store.nodes)
    wanted = scorers.load(place, table, question.store).scores(every[:1], every[None])[0]
    assert numpy.allclose(names["scores"](0)[1:], wanted[1:], atol=1e-3)  # a node has no edge to itself


@pytest.mark.parametrize("what", ["nodes", "network of nodes"])
def test_the_lines_of_python_say_the_labels_that_a_prediction_says(trained, make_run, ask, monkeypatch, what):
    _, printed = snippet("graph_nodes", trained(what, make_run).parent, monkeypatch)
    rows, _ = ask(what, {"who.csv": "id\n" + "".join(f"n{i}\n" for i in range(20))})
    assert printed == [f"{r['id']} {r['predicted']}" for r in rows]


def test_the_lines_of_python_read_words_that_count_alike(trained, make_run, ask, tmp_path, monkeypatch):
    def alike(place):
        for path in (place / "spread.safetensors", place / "linear.safetensors"):
            if path.exists():
                with safe_open(path, framework="numpy") as file:
                    tensors, told = {name: file.get_tensor(name) for name in ("weights", "bias")}, file.metadata()
                save_file({**tensors, "columns": numpy.array([0.2, 3.0, 1.0], numpy.float32)}, path, metadata=told)

    place = tmp_path / "model"
    shutil.copytree(trained("nodes", make_run), place)
    alike(place)
    assert (place / "spread.safetensors").exists()
    _, printed = snippet("graph_nodes", tmp_path, monkeypatch)
    rows, _ = ask("nodes", {"who.csv": "id\n" + "".join(f"n{i}\n" for i in range(20))}, change=alike)
    assert printed == [f"{r['id']} {r['predicted']}" for r in rows]
