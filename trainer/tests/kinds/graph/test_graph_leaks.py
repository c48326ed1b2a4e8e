"""What would let a model of edges look held-out edges up."""

from types import SimpleNamespace

import numpy
import pytest
from test_graph_splits import SETTINGS, graph, of

from trainer.kinds.graph import leaks, splits


def checked(g):
    found = []
    checks = SimpleNamespace(ok=lambda code, text: found.append((code, "ok")), warning=lambda code, text: found.append((code, "warning")))
    leaks.check(g, splits.links(g, SETTINGS), checks)
    return dict(found)


def test_a_split_by_hash_has_no_held_out_pair_in_training():
    assert checked(graph(directed=True)) == {"held_out_pair": "ok"}


def test_a_given_split_that_parts_the_directions_of_a_pair_is_reported():
    g = of([[0, 1], [1, 0], [1, 2], [2, 3]], 4, directed=True, given={"train": [0, 2], "validation": [3], "test": [1]})
    assert checked(g) == {"held_out_pair": "warning"}


@pytest.mark.parametrize(
    ("feature", "code"),
    [
        pytest.param(lambda d, r: 3 * d + 7, "warning", id="number of edges in another unit"),
        pytest.param(lambda d, r: -numpy.log1p(d), "warning", id="logarithm of the number of edges"),
        pytest.param(lambda d, r: d + r.normal(0, 3, len(d)), None, id="a number that is near it"),
        pytest.param(lambda d, r: numpy.ones(len(d)), None, id="a constant"),
    ],
)
def test_features_that_count_edges(feature, code):
    g = graph()
    degrees = numpy.bincount(g.source, minlength=200) + numpy.bincount(g.target, minlength=200)
    random = numpy.random.default_rng(0)
    x = numpy.stack([random.normal(0, 1, 200), feature(degrees, random)], axis=1).astype(numpy.float32)
    assert checked(graph(x=x, columns=("a", "b"))).get("feature_counts_edges") == code
