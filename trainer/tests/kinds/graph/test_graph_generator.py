"""The generated graphs hold what the text of their generator promises."""

import json
import subprocess
import sys

import numpy
import pyarrow.csv
import pyarrow.parquet
import pytest
from conftest import REVIEWS
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(REVIEWS.parent))
import graph

GENERATOR = REVIEWS.parent / "graph.py"


def generate(folder, *args) -> dict:
    made = subprocess.run([sys.executable, GENERATOR, folder, *args], check=True, capture_output=True, text=True)
    return json.loads(made.stdout)


def test_the_same_arguments_make_the_same_files(tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        generate(tmp_path / name, "--nodes", "200", "--features", "3", "--labels", "4", "--seed", seed)
    for file in ("edges.csv", "nodes.csv"):
        a, b, c = ((tmp_path / name / file).read_bytes() for name in "abc")
        assert a == b
        assert a != c


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_tables_have_the_columns_that_were_asked_for(tmp_path, kind):
    said = generate(tmp_path, "--shape", "citations", "--nodes", "300", "--features", "2", "--labels", "4", "--times", "--format", kind)
    read = pyarrow.csv.read_csv if kind == "csv" else pyarrow.parquet.read_table
    edges, nodes = read(tmp_path / f"edges.{kind}"), read(tmp_path / f"nodes.{kind}")
    assert edges.column_names == ["source", "target", "time"]
    assert edges.num_rows == said["edges"]
    assert nodes.column_names == ["id", "f0", "f1", "group"]
    assert nodes["id"].to_pylist() == list(range(300))
    assert len(set(nodes["group"].to_pylist())) == 4


@pytest.mark.parametrize("inside", [0.3, 0.9])
def test_no_scorer_of_communities_beats_the_bound(inside):
    random = numpy.random.default_rng(3)
    made = graph.communities(4000, 40_000, 10, inside, random)
    others = random.integers(0, made.nodes, (2, len(made.source)))
    same = [made.community[a] == made.community[b] for a, b in ((made.source, made.target), others)]
    truth = numpy.repeat([1, 0], [len(made.source), others.shape[1]])
    assert roc_auc_score(truth, numpy.concatenate(same)) == pytest.approx(made.known.auc, abs=0.01)
    assert (same[0].mean() + 1 - same[1].mean()) / 2 == pytest.approx(made.known.accuracy, abs=0.01)


def test_each_pair_of_nodes_has_one_edge_and_no_node_has_one_to_itself():
    for made in (
        graph.communities(500, 3000, 5, 0.9, numpy.random.default_rng(1)),
        graph.citations(500, 3000, 5, 0.8, 0.3, numpy.random.default_rng(1)),
    ):
        pairs = numpy.stack([numpy.minimum(made.source, made.target), numpy.maximum(made.source, made.target)], 1)
        assert len(numpy.unique(pairs, axis=0)) == len(pairs)
        assert (made.source != made.target).all()


def test_citations_go_back_in_time_and_a_few_nodes_get_most_of_them():
    made = graph.citations(20_000, 200_000, 50, 0.8, 0.3, numpy.random.default_rng(1))
    assert (made.target < made.source).all()
    assert len(made.source) == pytest.approx(200_000, rel=0.2)  # a pair that is drawn again counts once
    cited = numpy.sort(numpy.bincount(made.target, minlength=made.nodes))[::-1]
    assert cited[:200].sum() > 0.1 * cited.sum()
    same = (made.community[made.source] == made.community[made.target]).mean()
    assert 0.6 < same < 0.9


def test_features_have_one_size_and_tell_communities_apart():
    made = graph.communities(2000, 4000, 4, 0.9, numpy.random.default_rng(1))
    x = numpy.concatenate(list(graph.features(made, 16, 1.0, 1)))
    assert x.shape == (2000, 16)
    assert x.std() == pytest.approx(1, abs=0.2)
    centres = numpy.stack([x[made.community == c].mean(0) for c in range(4)])
    nearest = ((x[:, None] - centres) ** 2).sum(2).argmin(1)
    assert (nearest == made.community).mean() > 0.9
