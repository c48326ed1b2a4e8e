"""Times of edges, of graphs with a direction and without: reading, the split by time, and what the newest edges are measured against."""

import json
from types import SimpleNamespace

import networkx
import numpy
import pytest
from conftest import events_of
from graph_files import NODES, lines, pairs, read
from result_checks import check_files, facts_of
from test_graph_runs import groups
from test_graph_splits import of

from trainer.errors import UserError
from trainer.kinds.graph import negatives, splits
from trainer.run import run

PAIRS = pairs()
SETTINGS = SimpleNamespace(seed=1, split="auto", validation_fraction=0.1, test_fraction=0.1)
HEADS = {"directed": "citing,cited", "undirected": "node_1,node_2"}


def timed(times, head="node_1,node_2", column="when") -> dict:
    return {"edges.csv": lines([(a, b, t) for (a, b), t in zip(PAIRS, times)], head=f"{head},{column}")}


def drawing(write) -> bytes:
    graph = networkx.Graph()
    for i, (a, b) in enumerate(PAIRS):
        graph.add_edge(f"n{a}", f"n{b}", time=1990 + i % 30)
    return "\n".join(write(graph)).encode()


@pytest.mark.parametrize("kind", HEADS)
def test_the_newest_edges_are_held_out_with_and_without_a_direction(tmp_path, kind):
    graph, told = read(tmp_path, timed(range(1000, 1000 + len(PAIRS)), HEADS[kind], "time"))
    assert graph.directed == (kind == "directed") and "the newest are held out" in told.sentences["time"]
    found = splits.links(graph, SETTINGS)
    assert found.way == "time" and found.counts == {"train": 192, "validation": 24, "test": 24}
    assert graph.time[found.train].max() < graph.time[found.validation].min() < graph.time[found.validation].max() < graph.time[found.test].min()


def test_an_undirected_pair_that_stands_in_both_directions_has_its_earliest_time(tmp_path):
    rows = [(a, b, 2000 + i) for i, (a, b) in enumerate(PAIRS)]
    files = {"edges.csv": lines([*rows, (PAIRS[-1][1], PAIRS[-1][0], 1900)], head="node_1,node_2,year")}
    graph, _ = read(tmp_path, files)
    assert graph.edges == len(PAIRS) and graph.time.min() == 1900 and (graph.source < graph.target).all()
    assert (graph.time == 2000 + len(PAIRS) - 1).sum() == 0, "the pair is old, so it is not held out as a new one"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.graphml", lambda: drawing(networkx.generate_graphml)),
        ("g.gml", lambda: drawing(networkx.generate_gml)),
        ("g.json", lambda: json.dumps({"nodes": [{"id": i} for i in range(NODES)], "directed": False,
                                       "links": [{"source": a, "target": b, "date": f"20{i % 20:02}-01-02"} for i, (a, b) in enumerate(PAIRS)]})),
    ],
)  # fmt: skip
def test_times_in_graph_files_are_read(tmp_path, name, content):
    graph, told = read(tmp_path, {name: content()})
    assert not graph.directed and graph.told["time"]["column"] in ("time", "date") and "newest" in told.sentences["time"]
    assert splits.links(graph, SETTINGS).way == "time"
    assert read(tmp_path / "none", {name: content()}, time_column="none")[0].time is None


def test_the_end_that_joined_later_is_the_source_of_an_undirected_edge():
    rows = sorted({(min(a, b), max(a, b)) for a, b in numpy.random.default_rng(0).integers(0, 200, (900, 2)).tolist() if a != b})
    graph = of(rows, 200, time=numpy.array([float(b) for _, b in rows]))  # the greater number joins later
    found = splits.links(graph, SETTINGS)
    joined = splits.joined(graph, found)
    drawn = negatives.draw(graph, found.test, 0, 50, joined=joined)
    assert (joined[drawn.source] >= joined[drawn.target]).all() and (joined[drawn.source] > joined[drawn.target]).mean() > 0.9
    assert (drawn.pairs[:, 0] == drawn.source).all() and not negatives.Known(graph).illegal(*drawn.pairs.T).any()


def test_without_times_the_nodes_of_training_edges_joined_earlier():
    given = {"train": numpy.arange(3), "validation": numpy.array([3]), "test": numpy.array([4, 5])}
    graph = of([[0, 1], [0, 2], [1, 2], [1, 3], [2, 4], [2, 5]], 6, given=given)
    found = splits.links(graph, SETTINGS)
    assert splits.joined(graph, found).tolist() == [0, 0, 0, 1, 1, 1]
    assert negatives.draw(graph, found.test, 0, 3, joined=splits.joined(graph, found)).source.tolist() == [4, 5]
    assert splits.joined(graph, splits.LinkSplits(found.train, found.validation, found.test, "random", "")) is None


@pytest.mark.parametrize(
    ("times", "given", "code", "named"),
    [
        (["soon", "later"] * 120, {"time_column": "when"}, "no_times", "The column when of edges.csv"),
        ([""] * 240, {"time_column": "when"}, "no_times", "when"),
        (range(240), {"time_column": "clock"}, "unknown_column", "There is no column clock in edges.csv"),
        (range(240), {"time_column": "node_1"}, "no_times", "beside the two ends"),
    ],
)
def test_a_column_without_times_is_refused_where_it_was_asked_for(tmp_path, times, given, code, named):
    with pytest.raises(UserError) as error:
        read(tmp_path, timed(times), **given)
    assert error.value.code == code and named in f"{error.value.what} {error.value.do}"


def test_edges_without_a_time_count_as_old_and_are_told(tmp_path):
    graph, told = read(tmp_path, timed(["" if i % 40 == 0 else f"2020-01-{1 + i % 28:02}" for i in range(240)]), time_column="when")
    assert told.warnings["missing_times"] == "6 edges without a time in when count as the oldest ones."
    assert not numpy.isnan(graph.time).any() and (graph.time == graph.time.min()).sum() >= 6


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([i % 5 for i in range(240)], "fewer than 10 different times"),
        ([i if i < 15 else 99 for i in range(240)], "the newest are held out"),
    ],
)
def test_times_that_cannot_cut_the_edges_leave_a_random_split(tmp_path, times, said):
    graph, told = read(tmp_path, timed(times, column="time"))
    assert said in told.sentences["time"]
    found = splits.links(graph, SETTINGS)
    assert found.way == "random" and ("most of them have one of the latest times" in found.why) == (graph.time is not None)


@pytest.mark.parametrize("kind", HEADS)
def test_a_graph_with_times_trains_and_says_from_when_edges_are_held_out(make_run, schemas, kind):
    files = groups()
    _, *rows = files["edges.csv"].splitlines()
    files["edges.csv"] = "\n".join([f"{HEADS[kind]},date", *[f"{row},20{i % 20:02}-03-0{1 + i % 9}" for i, row in enumerate(rows)]]) + "\n"
    spec = make_run(files, epochs=1)
    assert run(str(spec), "local") == 0, events_of(spec.parent)[-1]
    told = facts_of(check_files(spec.parent, schemas), "Graph")
    assert ", by time;" in told["Held out"] and ("with a direction" in told["Edges"]) == (kind == "directed")
    assert "validation before" in told["Time"]
