"""The parts of a graph's training beside plain references: times, components, scores, chances, weights and memory."""

from types import SimpleNamespace

import networkx
import numpy
import pyarrow
import pytest
from graph_files import RecordedChecks
from scipy import optimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity

from trainer import memory as machine
from trainer.errors import UserError
from trainer.kinds.graph import memory, score
from trainer.kinds.graph.comparison import fusion, neighbours
from trainer.kinds.graph.comparison.fusion import Columns, Fusion
from trainer.kinds.graph.delivery import chances, scorers
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.memory import Needs
from trainer.kinds.graph.reading import shape, times


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (["1970-01-02", "1970-01-01 00:00:05", "1970-01-01T01:01"], [86400, 5, 3660]),
        (["31/01/1970", "01.02.1970", ""], [30 * 86400, 31 * 86400, None]),
        (["01/31/1970", "02/01/1970"], [30 * 86400, 31 * 86400]),
        (["1970-02-30", "1970-01-01", "1970-01-01", "1970-01-01", "1970-01-01", "1970-01-01"], [None, 0, 0, 0, 0, 0]),
        (["01.01.70", "31.12.01"], [0, 1009756800]),  # two digits up to 68 are of this century
        (["5", "x", "", "7.5"], [5, None, None, 7.5]),
        (["100000000001", "200000000000"], [100000000.001, 200000000]),
        (["100000000000", "200000000000"], [1e11, 2e11]),
        (["5", "200000000000"], [5, 2e11]),
    ],
    ids=["ISO", "day first", "month first", "no such day", "two digits", "numbers", "milliseconds", "at the limit", "not all milliseconds"],
)
def test_times_are_seconds(cells, seconds):
    found = times.of(pyarrow.array(cells, pyarrow.string()))
    assert found == pytest.approx([numpy.nan if s is None else s for s in seconds], nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_components_and_reciprocity_are_those_of_networkx(seed):
    graph = networkx.gnp_random_graph(60, 0.03, seed, directed=True)
    ends = numpy.array(sorted(graph.edges)).reshape(-1, 2)
    parts = list(networkx.weakly_connected_components(graph))
    assert shape.components(ends[:, 0], ends[:, 1], 60) == (len(parts), max(map(len, parts)))
    assert shape.reciprocity(ends[:, 0] * 60 + ends[:, 1], 60) == pytest.approx(networkx.overall_reciprocity(graph))


def test_figures_of_an_empty_graph():
    none = numpy.zeros(0, numpy.int64)
    assert shape.components(none, none, 0) == (0, 0) and shape.components(none, none, 3) == (3, 1)
    assert shape.reciprocity(none, 3) == 0
    assert shape.distinct(numpy.array([3, 1, 3, 2, 1])).tolist() == [1, 2, 3] and shape.distinct(none).tolist() == []


@pytest.mark.parametrize("block", [1, 7, 4_000_000])
def test_scores_of_pairs_are_products_and_what_each_end_adds(block, monkeypatch):
    monkeypatch.setattr(score, "_BLOCK", block)
    table = numpy.random.default_rng(1).standard_normal((9, 5)).astype(numpy.float32)
    source, targets = numpy.array([0, 4, 8]), numpy.array([[1, 2], [4, 0], [3, 8]])
    wanted = [[table[s, :3] @ table[t, :3] + table[s, 3] + table[t, 4] for t in row] for s, row in zip(source, targets)]
    assert score.candidates(table, source, targets) == pytest.approx(numpy.array(wanted), rel=1e-5)
    assert score.pairs(table, source, targets[:, 0]) == pytest.approx([row[0] for row in wanted], rel=1e-5)
    assert score.pairs(table, source[:0], source[:0]).shape == (0,)


def test_a_table_of_features_scores_by_their_cosine():
    x = numpy.random.default_rng(2).standard_normal((6, 4)).astype(numpy.float32)
    x[5] = 0
    table = scorers.by_features(x)
    every = numpy.arange(6)
    found = scorers.ByTable(table).scores(every, numpy.tile(every, (6, 1)))
    assert found == pytest.approx(cosine_similarity(x), abs=1e-6)
    assert neighbours.cosines(x, every, numpy.tile(every, (6, 1)), numpy.linalg.norm(x, axis=1)) == pytest.approx(cosine_similarity(x), abs=1e-6)


@pytest.mark.parametrize(
    ("start", "length", "found"), [([], [], []), ([5], [0], []), ([5, 1, 9], [2, 0, 3], [5, 6, 9, 10, 11]), ([0, 0], [2, 1], [0, 1, 0])]
)
def test_ranges_one_after_the_other(start, length, found):
    assert neighbours.ranges(numpy.array(start, int), numpy.array(length, int)).tolist() == found


def answers(positive, negative) -> LinkAnswers:
    n = len(positive)
    return LinkAnswers(numpy.array(positive, float), numpy.array(negative, float), numpy.ones(n), numpy.arange(n), 10)


def test_probabilities_are_the_curve_of_a_logistic_regression():
    r = numpy.random.default_rng(3)
    found = chances.fitted(answers(5 + 3 * r.standard_normal(400), 2 + 3 * r.standard_normal(400)))
    r = numpy.random.default_rng(3)
    x = numpy.concatenate([5 + 3 * r.standard_normal(400), 2 + 3 * r.standard_normal(400)])
    theirs = LogisticRegression(C=1e6).fit(x[:, None], numpy.repeat([1, 0], 400))
    assert found.of(x) == pytest.approx(theirs.predict_proba(x[:, None])[:, 1], abs=0.01)
    assert chances.restored(found.described()) == found


@pytest.mark.parametrize(
    ("positive", "negative"), [([], []), ([1.0], [1.0]), ([0.0, 0.0], [9.0, 9.0]), ([1e9], [-1e9])], ids=["none", "one score", "wrong", "far apart"]
)
def test_probabilities_never_fall_with_the_score_and_are_never_certain(positive, negative):
    found = chances.fitted(answers(positive, negative))
    values = found.of(numpy.array([-1e12, -1.0, 0.0, 1.0, 1e12]))
    assert found.slope > 0 and (numpy.diff(values) >= 0).all()
    assert (values > 0).all() and numpy.isfinite(values).all()


@pytest.mark.parametrize("described", [{}, {"slope": 1}, {"slope": "x", "shift": 0}, {"slope": None, "shift": 0}, {"slope": numpy.inf, "shift": 0}])
def test_a_damaged_curve_is_refused(described):
    with pytest.raises((KeyError, TypeError, ValueError)):
        chances.restored(described)


def test_the_slope_of_the_ranked_loss_is_its_derivative():
    r = numpy.random.default_rng(4)
    ahead = r.standard_normal((6, 5, 3)).astype(numpy.float32)
    weights = r.standard_normal(3)
    value, slope = fusion._ranked(ahead, weights)
    scores = ahead.astype(float) @ weights
    assert value == pytest.approx(numpy.log1p(numpy.exp(scores).sum(axis=1)).sum(), rel=1e-5)
    assert slope == pytest.approx(
        optimize.approx_fprime(weights, lambda w: numpy.log1p(numpy.exp(ahead.astype(float) @ w).sum(axis=1)).sum()), rel=1e-3
    )
    assert numpy.isfinite(fusion._ranked(1000 * ahead, weights)[0])


def columns(n: int = 40, k: int = 8) -> Columns:
    r = numpy.random.default_rng(5)
    noise = [r.standard_normal(size).astype(numpy.float32) for size in ((n, 3), (n, 3), (n, k, 3))]
    noise[0][:, 0] += 2  # the first column tells edges
    for part in noise:
        part[..., 2] = 7  # the last one tells nothing
    return Columns(("a", "b", "c"), *noise)


def test_weights_favour_what_tells_edges_whatever_its_unit():
    known = columns()
    found = fusion.fit(known, ("a", "b", "c"), 1)
    assert found.weights[0] > 3 * abs(found.weights[1]) and found.weights[2] == pytest.approx(0, abs=1e-6)
    large = Columns(known.names, 100 * known.edges, 100 * known.pairs, 100 * known.candidates)
    assert fusion.fit(large, known.names, 1).weights[0] == pytest.approx(found.weights[0] / 100, rel=0.01)
    assert fusion.fit(known, ("b", "a"), 1).columns == ("b", "a")
    turned = fusion.fit(known, ("b", "a"), 1).weights
    assert turned == pytest.approx(fusion.fit(known, ("a", "b"), 1).weights[::-1], rel=1e-3, abs=1e-4)


def test_a_sum_of_some_columns():
    known, weights = columns(3, 2), (2.0, -1.0)
    found = Fusion(("c", "a"), weights).answers(known, numpy.array([4, 5, 6]))
    assert found.positive == pytest.approx(2 * 7 - known.edges[:, 0])
    assert found.negative == pytest.approx(14 - known.pairs[:, 0])
    others = 14 - known.candidates[:, :, 0]
    assert found.ranks == pytest.approx(1 + (others > found.positive[:, None]).sum(axis=1))
    assert (found.candidates, found.sources.tolist()) == (2, [4, 5, 6])


@pytest.mark.parametrize(
    "described",
    [{}, {"columns": ["a"], "weights": []}, {"columns": ["a"], "weights": [numpy.nan]}, {"columns": ["a"], "weights": ["x"]}, {"columns": 1}],
)
def test_damaged_weights_are_refused(described):
    with pytest.raises((KeyError, TypeError, ValueError)):
        fusion.restored(described)
    assert fusion.restored(Fusion(("a",), (0.5,)).described()) == Fusion(("a",), (0.5,))


NEEDS = Needs(nodes=1000, edges=4000, features=10, hidden=20, layers=2, seeds=50, fanout=(4, 10))


def test_the_memory_of_a_training_by_its_parts():
    assert NEEDS.files == 4 * 10 * 1000 + 8 * 1000 + 8 * 4000
    assert NEEDS.table == 8 * 1000 * 20
    reached = 50 * (1 + min(4, 8))
    assert NEEDS.worker == 900_000_000 + 12 * reached * (2 * 10 + 2 * 20 * 2) + 5 * 1000
    few = Needs(1000, 1000, 10, 20, 2, 50, (30, 10))  # a node has two neighbours
    assert few.worker == 900_000_000 + 12 * 150 * 100 + 5000
    whole = Needs(1000, 40_000, 10, 20, 2, 900, (30, 10))  # more than all nodes are never reached
    assert whole.worker == 900_000_000 + 12 * 1000 * 100 + 5000


@pytest.mark.parametrize(
    ("short", "level", "more"), [(0, "ok", ""), (1, "warning", " Parts of the files are read again and again, so the training is slower.")]
)
def test_memory_that_just_suffices_is_told(short, level, more):
    told = RecordedChecks()
    whole = 2 * NEEDS.worker + NEEDS.files + NEEDS.table
    assert memory.check(NEEDS, 2, whole - short, told) == whole
    text = (
        "The training needs about 1.8 GB of memory on a machine: 0.0 GB for the graph, 0.0 GB for the embeddings and 1.8 GB for 2 workers. "
        "1.8 GB is available."
    )
    assert told.entries == [(level, "memory", text + more)]


@pytest.mark.parametrize(("workers", "more"), [(1, ""), (2, ", or fewer workers")])
def test_workers_that_do_not_fit_are_refused(workers, more):
    own = workers * NEEDS.worker
    memory.check(NEEDS, workers, own, RecordedChecks())
    with pytest.raises(UserError) as refused:
        memory.check(NEEDS, workers, own - 1, RecordedChecks())
    assert refused.value.code == "graph_too_large"
    assert f"Choose a smaller batch_size, graph.fanout or graph.hidden{more}, or ask for more memory." in str(refused.value)


@pytest.mark.parametrize(
    ("content", "free"),
    [("MemTotal: 9 kB\nMemAvailable:   5 kB\n", 5120), ("MemTotal: 9 kB\n", 10**9), ("MemAvailable: x kB", 10**9), (None, 10**9),
     ("MemAvailable: 999999999 kB", 10**9)],
)  # fmt: skip
def test_the_free_memory_is_within_the_limit_of_the_container(content, free, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: 10**9)
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    if content is not None:
        (tmp_path / "meminfo").write_text(content)
    assert machine.available() == free


def test_a_column_of_times_that_was_asked_for_must_have_some():
    times.check(SimpleNamespace(time_column=""), None, "a.csv", ["t"])
    times.check(SimpleNamespace(time_column="none"), None, "a.csv", ["t"])
    times.check(SimpleNamespace(time_column="t"), numpy.zeros(1), "a.csv", ["t"])
    with pytest.raises(UserError):
        times.check(SimpleNamespace(time_column="T"), None, "a.csv", ["t"])
