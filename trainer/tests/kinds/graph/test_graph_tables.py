"""What a training on a graph hands over as tables and figures, and which models fit a stored graph."""

import csv
import io
import json
from dataclasses import replace

import numpy
import pyarrow
import pytest
from pyarrow import parquet
from safetensors.numpy import load_file, save_file
from test_graph_delivery import answers, communities, graph

from trainer.kinds.graph.delivery import chances, encoders, figures, picture, scorers, stored, tables, vectors
from trainer.kinds.graph.delivery.chances import Chance
from trainer.kinds.graph.delivery.likeliest import Links
from trainer.kinds.graph.graph import CLASSES, NUMBERS
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.negatives import Negatives
from trainer.kinds.graph.splits import LinkSplits
from trainer.measure.predictions import Predictions
from trainer.targets.classes import Classes
from trainer.targets.number import Number

FROM_EDGES = {"from_edges": True, "feature_source": "Edges."}
EVEN = Chance(1.0, 0.0)  # a score of 0 is a probability of one half


def read(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


def negatives(source, target, pairs) -> Negatives:
    n = len(source)
    return Negatives(
        numpy.arange(n), numpy.asarray(source), numpy.asarray(target), numpy.asarray(pairs).reshape(n, 2), numpy.zeros((n, 3), numpy.int32)
    )


def named(ids, pairs=((0, 1),), **more):
    return replace(graph(list(pairs), len(ids), **more), ids=pyarrow.array(ids))


def test_each_test_edge_stands_above_its_random_pair():
    g = named(["a,b", "=1+1", "ü", "035"])
    found = LinkAnswers(numpy.array([2.0, -1.0]), numpy.array([-2.0, 0.5]), numpy.array([1.5, 3.0]), numpy.array([0, 1]), 3)
    rows = read(tables.of_links(g, negatives([0, 1], [1, 2], [[2, 3], [0, 3]]), found, EVEN, 0.5))
    assert [(r["source"], r["target"], r["edge"]) for r in rows] == [
        ("a,b", "'=1+1", "yes"), ("ü", "035", "no"), ("'=1+1", "ü", "yes"), ("a,b", "035", "no"),
    ]  # fmt: skip
    assert [r["probability"] for r in rows] == ["0.8808", "0.1192", "0.2689", "0.6225"]
    assert [r["predicted"] for r in rows] == ["yes", "no", "no", "yes"]  # a score at the threshold is an edge
    assert [(r["rank"], r["candidates"]) for r in rows] == [("1.5", "3"), ("", ""), ("3", "3"), ("", "")]


def test_without_test_edges_there_is_a_head_alone():
    none = negatives([], [], [])
    text = tables.of_links(graph([[0, 1]]), none, answers([], []), EVEN, 0.5)
    assert text == "source,target,edge,probability,predicted,rank,candidates\n"
    assert tables.surprising(graph([[0, 1]]), none, answers([], []), EVEN) == []


def test_nodes_have_a_line_each_with_what_the_model_is_sure_of():
    g = named(["x", "y", "z"], labels=("a", "b", ""), task=CLASSES, texts=("one\ntwo", "", "w " * 300))
    found = Predictions(numpy.array([0, 1]), numpy.array([1, 1]), numpy.array([0.75, 1.0]), numpy.array([0.25, 1.0]))
    rows = read(tables.of_nodes(g, numpy.array([0, 1]), Classes(("a", "b")), found))
    assert rows == [
        {"id": "x", "text": "one two", "label": "a", "predicted": "b", "confidence": "0.7500", "probability of label": "0.2500"},
        {"id": "y", "text": "", "label": "b", "predicted": "b", "confidence": "1.0000", "probability of label": "1.0000"},
    ]


def test_numbers_of_nodes_have_no_confidence():
    g = named(["x", "y"], labels=("1.5", "2"), task=NUMBERS)
    rows = read(tables.of_nodes(g, numpy.array([1]), Number(1.0, 2.0), Predictions(numpy.array([2.0]), numpy.array([1234567.891]))))
    assert rows == [{"id": "y", "label": "2", "predicted": "1.23457e+06"}]


def links(targets, scores) -> Links:
    return Links(numpy.arange(len(targets)), numpy.asarray(targets), numpy.asarray(scores, float))


@pytest.mark.parametrize("texts", [None, ("", "two", "three")], ids=["no texts", "texts"])
def test_the_likeliest_links_end_where_a_node_has_no_more(texts):
    g = named(["p", "q", "r"], texts=texts)
    rows = read(tables.of_new_links(g, links([[2, -1], [2, 0], [-1, -1]], [[0, -numpy.inf], [1, 0], [-numpy.inf] * 2]), EVEN))
    assert [(r["source"], r["target"], r["rank"], r["probability"]) for r in rows] == [
        ("p", "r", "1", "0.5000"), ("q", "r", "1", "0.7311"), ("q", "p", "2", "0.5000"),
    ]  # fmt: skip
    assert [(r.get("source text"), r.get("target text")) for r in rows][1] == (("two", "three") if texts else (None, None))


def test_a_report_shows_the_test_edges_with_the_lowest_scores():
    g = named([f"n{i}" for i in range(12)], texts=("first", *[""] * 11))
    scores = [5.0, *[1.0] * 3, *range(2, 10)]
    found = tables.surprising(g, negatives(range(12), [0] * 12, [[0, 1]] * 12), answers(scores, [0.0] * 12), EVEN)
    assert [p["source"] for p in found] == ["n1", "n2", "n3", "n4", "n5", "n6", "n0", "n7", "n8", "n9"]  # of equal scores the first
    assert found[0] == {"source": "n1", "target": "n0", "score": 0.731059, "target_text": "first"}


def test_a_report_shows_each_likely_pair_once():
    g = named(["a", "b", "c", "d"])
    found = tables.likely(g, links([[1, 2], [0, 3], [0, -1], [-1, -1]], [[3, 1], [3, 2], [1, -numpy.inf], [-numpy.inf] * 2]), EVEN)
    assert [(p["source"], p["target"]) for p in found] == [("a", "b"), ("b", "d"), ("a", "c")]
    many = links(numpy.arange(1, 41)[:, None] + numpy.arange(5), numpy.zeros((40, 5)))
    assert len(tables.likely(named([f"n{i}" for i in range(50)]), many, EVEN)) == tables.SHOWN
    assert tables.likely(g, links(numpy.zeros((0, 2), int), numpy.zeros((0, 2))), EVEN) == []


@pytest.mark.parametrize(("texts", "name"), [(None, "p"), (("", ""), "p"), (("A paper", ""), "p: A paper")])
def test_a_node_is_named_with_its_text(texts, name):
    assert tables.name(named(["p", "q"], texts=texts), numpy.int64(0)) == name


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_vectors_of_both_sides_say_their_side_whatever_is_written_at_once(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(vectors, "_AT_ONCE", at_once)
    g = named(["1", "2", "1", "2", "3"], [[0, 2]], left=2)
    values = numpy.arange(10.0).reshape(5, 2)
    found = vectors.write(tmp_path / "embeddings.parquet", g, values)
    table = parquet.read_table(tmp_path / "embeddings.parquet")
    assert table.column_names == ["id", "side", "vector"] and found["rows"] == 5
    assert table.column("side").to_pylist() == ["source"] * 2 + ["target"] * 3
    assert table.column("vector").to_pylist() == values.tolist() and table.column("id").to_pylist() == ["1", "2", "1", "2", "3"]


def splits(train, validation, test, way="random") -> LinkSplits:
    return LinkSplits(*(numpy.asarray(part, numpy.int64) for part in (train, validation, test)), way, "")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param({"x": numpy.zeros((4, 7))}, {"features": 7, "weighted": False}, id="features"),
        pytest.param({"x": numpy.zeros((4, 7)), "told": FROM_EDGES}, {"features": 0, "feature_source": "Edges."}, id="made of the edges"),
        pytest.param({"weight": numpy.ones(3)}, {"weighted": True, "features": 0}, id="weights"),
        pytest.param({"left": 1}, {"bipartite": {"sources": 1, "targets": 3}}, id="two sides"),
        pytest.param({"told": {"unknown_nodes": 5, "isolated": 2, "reciprocity": 0.5}}, {"unknown": 5, "isolated": 2, "loops": 0}, id="counts"),
        pytest.param({"directed": True, "told": {"reciprocity": 0.5}}, {"directed": True, "reciprocity": 0.5}, id="directed"),
        pytest.param({"labels": ("a", "a", "b", "b"), "task": CLASSES}, {"homophily": 0.6667}, id="labels"),
    ],
)  # fmt: skip
def test_the_section_of_a_graph_has_what_there_is(more, told):
    found = figures.shape(graph([[0, 1], [1, 2], [2, 3]], 4, **more), splits([0], [1], [2]))
    assert told.items() <= found.items() and found["split"] == {
        "by": "random", "supervision": 1, "messages": 1, "validation": 1, "test": 1, "unseen_nodes": 0,
    }  # fmt: skip
    assert ("bipartite" in found) == ("left" in more) and ("reciprocity" in found) == ("directed" in more) and "time" not in found


@pytest.mark.parametrize(("given", "by"), [(None, "random"), ({"train": [0]}, "random"), ({"test": [2]}, "given")])
def test_a_model_of_nodes_sees_all_edges(given, by):
    numbers = {"train": numpy.array([0, 1]), "validation": numpy.array([2]), "test": numpy.array([], int)}
    found = figures.shape(graph([[0, 1], [1, 2]], 3, given=given, labels=("1", "2", "3"), task=NUMBERS), numbers)
    assert found["split"] == {"by": by, "supervision": 2, "messages": 2, "validation": 1, "test": 0} and "homophily" not in found


@pytest.mark.parametrize(
    ("times", "told"),
    [
        pytest.param([1990.0, 2000.5, 2001.0], ("1990", "2001", "2000.5", "2001"), id="years are no dates"),
        pytest.param([1e9, 1.1e9, 1.2e9], ("2001-09-09 01:46:40", "2008-01-10 21:20:00", "2004-11-09 11:33:20", "2008-01-10 21:20:00"), id="seconds"),
        pytest.param([0.0, 86400.0, 1e9], ("0", "1000000000", "86400", "1000000000"), id="counters from zero"),
        pytest.param([1e9, 1e9, 1e300], ("1000000000", "1e+300", "1000000000", "1e+300"), id="beyond every date"),
    ],
)
def test_times_are_dates_where_they_can_be(times, told):
    g = graph([[0, 1], [1, 2], [2, 3]], time=numpy.array(times))
    found = figures.shape(g, splits([0], [1], [2], "time"))["time"]
    assert (found["from"], found["to"], found["validation_from"], found["test_from"]) == told and found["column"] == ""
    assert figures.shape(g, splits([0, 1, 2], [], [], "time"))["time"]["test_from"] == told[1]


def test_degrees_count_both_ends_of_the_edges_that_are_asked_for():
    g = graph([[0, 1], [1, 2], [1, 3]], 5)
    assert figures.degrees(g).tolist() == [1, 3, 1, 1, 0]
    assert figures.degrees(g, numpy.array([1])).tolist() == [0, 1, 1, 0, 0]


def test_the_mean_error_of_nodes_by_degree():
    found = figures.nodes_by_degree(
        Predictions(numpy.zeros(41), numpy.r_[[7.0], numpy.ones(20), 2 * numpy.ones(20)]), numpy.r_[[0], [1] * 20, [9] * 20], 0
    )
    assert found["metric"] == "mae" and [(r["from"], r["to"], r["n"], r["value"]) for r in found["rows"]] == [
        (0, 0, 1, 7.0),
        (1, 8, 20, 1),
        (9, 9, 20, 2),
    ]
    assert "low" not in found["rows"][0]  # one node has no interval
    assert found["rows"][1]["low"] == found["rows"][1]["high"] == 1


@pytest.mark.parametrize("threshold", [None, 0.123456789])
def test_probabilities_are_counted_in_twenty_bins(threshold):
    found = figures.score_bins(numpy.array([0.0, 0.05, 1.0]), numpy.array([0.5]), threshold)
    assert len(found["edges"]) == 21 and (found["edges"][0], found["edges"][-1]) == (0, 1)
    assert [i for i, c in enumerate(found["positive"]) if c] == [0, 1, 19] and found["negative"][10] == 1
    assert found.get("threshold") == (threshold and 0.123457)


def test_a_picture_of_few_points_and_many_labels():
    few = communities(30, labels=tuple(f"label {i % 15}" if i else "" for i in range(30)), task=CLASSES)
    found = picture.picture(numpy.random.default_rng(0).standard_normal((30, 4)), few, 0)
    assert len(found["groups"]) == picture.GROUPS and found["grouped_by"] == "label"
    assert found["points"][0][2] == -1 and {p[2] for p in found["points"]} == set(range(-1, picture.GROUPS))
    assert found["groups"] == sorted(found["groups"], key=lambda n: (n == "label 0", n))[:9]  # the largest first, then by name


def test_a_picture_shows_a_part_of_many_nodes(monkeypatch):
    monkeypatch.setattr(picture, "POINTS", 10)
    monkeypatch.setattr(picture, "_FITTED", 20)
    found = picture.picture(numpy.random.default_rng(0).standard_normal((120, 3)), communities(), 0)
    assert len(found["points"]) == 10


def test_a_graph_without_edges_or_with_too_many_has_no_communities(monkeypatch):
    none = graph(numpy.zeros((0, 2)), 5)
    assert picture.groups(none, 0)[2] == "none" and picture.groups(none, 0)[1].tolist() == [-1] * 5
    monkeypatch.setattr(picture, "_MOST_EDGES", 10)
    assert picture.groups(communities(), 0)[2] == "none"


def test_the_label_groups_of_numbers_are_communities():
    numbers = communities(labels=tuple(str(i) for i in range(120)), task=NUMBERS)
    assert picture.groups(numbers, 0)[2] == "community"


def test_without_validation_edges_a_score_is_its_own_log_odds():
    assert chances.fitted(answers([], [])) == EVEN
    assert EVEN.of(numpy.array([-1e30, 0, 1e30])) == pytest.approx([0, 0.5, 1])


# Which model fits a stored graph.


@pytest.fixture
def place(tmp_path):
    """place(width) is a stored graph whose nodes have so many features, in a folder for a model."""

    def made(width: int = 3):
        x = numpy.ones((4, width), numpy.float32) if width else None
        stored.write(tmp_path / stored.NAME, graph([[0, 1], [1, 2]], 4, x=x))
        return stored.load(tmp_path / stored.NAME)

    return made


def network(folder, width: int, outputs: int) -> None:
    (folder / "config.json").write_text(json.dumps({"width": width, "outputs": outputs}))


def linear(folder, width: int, classes: int) -> None:
    tensors = {"weights": numpy.zeros((width, max(1, classes)), numpy.float32), "bias": numpy.zeros(max(1, classes), numpy.float32)}
    save_file(tensors, folder / "linear.safetensors", metadata={"classes": str(classes), "steps": "0"})
    (folder / "fusion.json").write_text(json.dumps({"columns": ["linear"], "weights": [1.0], "classes": classes}))


def pairs_of(folder, *columns: str) -> None:
    (folder / "fusion.json").write_text(json.dumps({"columns": columns, "weights": [1.0] * len(columns)}))


@pytest.mark.parametrize(
    ("files", "there", "labels", "error"),
    [
        pytest.param(lambda f: network(f, 3, 0), True, None, None, id="a network of pairs"),
        pytest.param(lambda f: network(f, 2, 0), True, None, "other inputs or outputs", id="another width"),
        pytest.param(lambda f: network(f, 3, 2), True, None, "other inputs or outputs", id="a network of classes for pairs"),
        pytest.param(lambda f: network(f, 3, 2), True, 2, None, id="a network of classes"),
        pytest.param(lambda f: network(f, 3, 1), True, 0, None, id="a network of numbers"),
        pytest.param(lambda f: network(f, 3, 3), True, 2, "other inputs or outputs", id="other classes"),
        pytest.param(lambda f: None, False, None, "network is missing", id="nothing"),
        pytest.param(lambda f: pairs_of(f, "cosine"), False, None, None, id="a score of pairs"),
        pytest.param(lambda f: pairs_of(f, "cosine", "model"), False, None, "network is missing", id="a score with a network that lacks"),
        pytest.param(lambda f: pairs_of(f, "age"), False, None, "no age", id="an unknown score"),
        pytest.param(lambda f: linear(f, 3, 2), False, 2, None, id="a linear model"),
        pytest.param(lambda f: linear(f, 2, 2), False, 2, "read other features", id="a linear model of other features"),
        pytest.param(lambda f: linear(f, 3, 2), False, 4, "read other features", id="a linear model of other classes"),
    ],
)
def test_a_model_fits_its_graph_or_is_refused(place, tmp_path, files, there, labels, error):
    store = place()
    files(tmp_path)
    if error is None:
        scorers.check(tmp_path, store, there, labels)
    else:
        with pytest.raises(ValueError, match=error):
            scorers.check(tmp_path, store, there, labels)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"width": 3}', '{"width": "x", "outputs": 0}'])
def test_a_damaged_description_of_a_network_is_refused(place, tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises((OSError, ValueError, KeyError, TypeError)):
        scorers.check(tmp_path, place(), True, None)


def test_a_graph_without_features_takes_a_network_of_no_inputs_alone(place, tmp_path):
    network(tmp_path, 0, 0)
    scorers.check(tmp_path, place(0), True, None)
    pairs_of(tmp_path, "cosine")
    with pytest.raises(ValueError, match="no cosine"):
        scorers.check(tmp_path, place(0), True, None)


def test_without_a_fusion_the_table_of_the_network_scores(place, tmp_path):
    table = numpy.array([[1.0, 0, 0.5, 0], [2.0, 0, 0, 0.25], [0, 1, 0, 0], [0, 0, 0, 0]])
    found = scorers.load(tmp_path, table, place())
    assert found.scores(numpy.array([0]), numpy.array([[1, 2, 3]])).tolist() == [[2.75, 0.5, 0.5]]


def test_features_of_new_nodes_need_a_description(tmp_path):
    for described in ({}, {"parts": []}, {"parts": None}):
        with pytest.raises(ValueError, match="does not say how features are made"):
            encoders.features(tmp_path, described, {}, 1, tmp_path)


def test_the_arrays_of_features_are_written_where_there_are_some(tmp_path, monkeypatch):
    import trainer.kinds.graph.features as made

    monkeypatch.setattr(made, "encode", lambda described, arrays, *_: arrays)
    encoders.save(tmp_path, {})
    assert encoders.features(tmp_path, {"parts": [1]}, {}, 1, tmp_path) == {} and not list(tmp_path.iterdir())
    encoders.save(tmp_path, {"mean": numpy.arange(6.0).reshape(2, 3).T})
    assert load_file(tmp_path / encoders.NAME)["mean"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert encoders.features(tmp_path, {"parts": [1]}, {}, 1, tmp_path)["mean"].shape == (3, 2)
    (tmp_path / encoders.NAME).write_bytes(b"{}")
    with pytest.raises(ValueError, match=r"features.safetensors cannot be read"):
        encoders.features(tmp_path, {"parts": [1]}, {}, 1, tmp_path)


def test_a_score_by_features_leaves_out_their_length():
    table = scorers.by_features(numpy.array([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0]]))
    found = scorers.ByTable(table).scores(numpy.array([0, 2]), numpy.array([[1, 2], [0, 1]]))
    assert found.tolist() == pytest.approx(numpy.array([[1, 0], [0, 0]]))
