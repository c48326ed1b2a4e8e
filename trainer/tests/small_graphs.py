"""Small graphs, as the files of a dataset."""

import csv
import io

import numpy


def groups(nodes: int = 120, count: int = 3, degree: int = 8, labels: bool = False, features: bool = True, seed: int = 0) -> dict[str, str]:
    """edges.csv and nodes.csv: nine of ten edges join nodes of one group, whose features are near to each other. ``labels`` names the group."""
    random = numpy.random.default_rng(seed)
    group = numpy.arange(nodes) % count
    source = random.integers(0, nodes, nodes * degree // 2)
    near = (random.integers(0, nodes // count, len(source)) * count + group[source]) % nodes
    target = numpy.where(random.random(len(source)) < 0.9, near, random.integers(0, nodes, len(source)))
    ends = numpy.unique(numpy.sort(numpy.stack([source, target], axis=1)[source != target], axis=1), axis=0)
    files = {"edges.csv": _table(["source", "target"], [[f"n{a}", f"n{b}"] for a, b in ends])}
    if features or labels:
        x = random.standard_normal((count, 4))[group] + 0.6 * random.standard_normal((nodes, 4))
        head = ["id", *[f"f{i}" for i in range(4)] * features, *["kind"] * labels]
        rows = [[f"n{i}", *[f"{v:.4f}" for v in x[i]] * features, *["red green blue black".split()[group[i]]] * labels] for i in range(nodes)]
        files["nodes.csv"] = _table(head, rows)
    return files


def _table(head: list[str], rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    return text.getvalue()
