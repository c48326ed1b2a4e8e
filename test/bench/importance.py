"""Measures whether the columns that a report names first are those that count: make bench-importance [SETS='diabetes friedman'] [SEEDS=3].

A training names the columns that its model relies on. Printed are the scores on the test rows of a training with all columns, of one without
the first three, and the mean of three trainings without three columns at random. All have the same test rows.
"""

import argparse
import csv
import io
import random
import sys
import tempfile
from pathlib import Path

import numpy
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parent))

from labels import run

TITLE, OUT, DRAWS = "What the model relies on", 3, 3
Table = tuple[list[str], list[list[str]]]  # the names of the columns, and rows with the target at the end


def of(x, y, number: bool) -> Table:
    return [f"x{i}" for i in range(x.shape[1])], [[*(f"{v:.6g}" for v in row), repr(float(t)) if number else f"class {t}"] for row, t in zip(x, y)]


def shipped(load, number: bool) -> Table:
    found = load()
    return of(found.data, found.target, number)


def classes() -> Table:
    return of(*datasets.make_classification(2000, 15, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0), False)


SETS = {
    "diabetes": lambda: shipped(datasets.load_diabetes, True),
    "friedman": lambda: of(*datasets.make_friedman1(1500, noise=1.0, random_state=0), True),
    "breast-cancer": lambda: shipped(datasets.load_breast_cancer, False),
    "wine": lambda: shipped(datasets.load_wine, False),
    "4-of-15": classes,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    print("| set | first three columns | score | all columns | without the first three | without three at random |\n|---|---|---|---|---|---|")
    for name in args.sets or SETS:
        names, rows = SETS[name]()
        for seed in range(args.seeds):
            metric, whole, first = trained(names, rows, (), seed)
            if not first:
                print(f"| {name} | there are too few test rows | | | | |", flush=True)
                break
            _, without, _ = trained(names, rows, first[:OUT], seed)
            chance = random.Random(seed)
            others = [trained(names, rows, chance.sample(names, OUT), seed)[1] for _ in range(DRAWS)]
            print(f"| {name} | {', '.join(first[:OUT])} | {metric} | {whole:.3f} | {without:.3f} | {numpy.mean(others):.3f} |", flush=True)


def trained(names: list[str], rows: list[list[str]], out, seed: int) -> tuple[str, float, list[str]]:
    """The metric of a training without the columns ``out``, its score on the test rows, and the columns in the order of the report."""
    kept = [i for i, name in enumerate(names) if name not in out]
    split = ["test" if i % 4 == seed % 4 else "validation" if i % 10 == 9 else "train" for i in range(len(rows))]
    lines = io.StringIO()
    head = ["id", *(names[i] for i in kept), "split", "target"]
    csv.writer(lines, lineterminator="\n").writerows([head, *([n, *(r[i] for i in kept), s, r[-1]] for n, (r, s) in enumerate(zip(rows, split)))])
    with tempfile.TemporaryDirectory(prefix="importance-") as folder:
        result = run(Path(folder) / "ft-1", {"rows.csv": lines.getvalue().encode()}, seed, "data.split_column: split")
    score = result["metrics"]["test"]
    metric = next(m for m in ("r2", "accuracy") if m in score)
    shown = next((s["blocks"] for s in result["sections"] if s["title"] == TITLE), [])
    return metric, score[metric]["value"], [row[0]["text"] for row in shown[-1].get("rows", [])[:-1]] if shown else []


if __name__ == "__main__":
    main()
