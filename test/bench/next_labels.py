"""Measures how many labels a model needs where the list of a prediction says which: make bench-next [SETS='digits'] [SEEDS=5].

A person labels 40 rows chosen by chance and trains. Then the model answers all rows without a label, and 40 more get the label that they have
in truth: those of next-labels.csv, or 40 by chance. Both go on like this. Printed is the accuracy on the same held-out third after each step, as the
mean of the seeds.

With --texts FILE, a CSV with the columns text and label is a further set, of which 3,000 rows are drawn.
"""

import argparse
import csv
import io
import sys
import tempfile
from pathlib import Path

import numpy
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import runs

STEP, STEPS = 40, 8
LARGEST = 3000

Rows = list[tuple[list[str], str]]  # the cells, and the label


def table_of(load) -> Rows:
    found = load()
    return [([f"{float(v):.6g}" for v in x], f"class {y}") for x, y in zip(found.data, found.target, strict=True)]


SETS = {"digits": lambda: table_of(datasets.load_digits), "breast-cancer": lambda: table_of(datasets.load_breast_cancer)}


def texts(path: str) -> Rows:
    with open(path, newline="", encoding="utf-8") as file:
        rows = [([row["text"]], f"class {row['label']}") for row in csv.DictReader(file)]
    chosen = numpy.random.default_rng(0).permutation(len(rows))[:LARGEST]
    return [rows[i] for i in sorted(chosen.tolist())]


def sheet(rows: Rows, numbers, labelled: bool) -> dict[str, bytes]:
    lines = io.StringIO()
    width = len(rows[0][0])
    names = ["text"] if width == 1 else [f"x{i}" for i in range(width)]
    body = [[i, *rows[i][0], rows[i][1] if labelled else ""] for i in numbers]
    csv.writer(lines, lineterminator="\n").writerows([["id", *names, "target"], *body])
    return {"rows.csv": lines.getvalue().encode()}


def step(folder: Path, rows: Rows, known: list[int], rest: list[int], test: list[int], model: str) -> tuple[float, list[int]]:
    """The score of a model that learnt from the rows ``known``, and the numbers of the rows that its list names of ``rest``."""
    ids = {"label_column": "target", "more_options": "data.id_column: id\n"}
    runs.result(folder / "train", sheet(rows, known, True), {"model": model, **ids})
    trained = str(folder / "train" / "out" / "model")
    scored = runs.result(folder / "score", sheet(rows, test, True), {}, "predict", trained)
    runs.result(folder / "ask", sheet(rows, rest, False), {}, "predict", trained)
    listed = list(csv.DictReader(io.StringIO((folder / "ask" / "out" / "next-labels.csv").read_text())))
    return scored["prediction"]["scores"]["accuracy"]["value"], [rest[int(line["in row"]) - 2] for line in listed]


def curve(rows: Rows, seed: int, by_list: bool, model: str) -> list[float]:
    """The scores after 40, 80, 120 labels and so on."""
    chance = numpy.random.default_rng(seed)
    order = chance.permutation(len(rows)).tolist()
    test, pool = order[: len(rows) // 3], order[len(rows) // 3 :]
    known, scores = pool[:STEP], []
    for _ in range(STEPS):
        rest = [i for i in pool if i not in set(known)]
        with tempfile.TemporaryDirectory(prefix="next-") as folder:
            score, listed = step(Path(folder), rows, known, rest, test, model)
        scores.append(score)
        known = known + (listed[:STEP] if by_list else rest[:STEP])
        if len(known) >= len(pool):
            break
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--texts", default="")
    args = parser.parse_args()
    sets = {**SETS, **({"texts": lambda: texts(args.texts)} if args.texts else {})}
    print(f"| set | rows | labels | {' | '.join(str(STEP * (i + 1)) for i in range(STEPS))} |\n|---|---|---|{'---|' * STEPS}")
    for name in args.sets or sets:
        rows = sets[name]()
        model = "words" if name == "texts" else "linear"
        for by_list in (False, True):
            means = numpy.mean([curve(rows, seed, by_list, model) for seed in range(args.seeds)], axis=0)
            print(f"| {name} | {len(rows)} | {'listed' if by_list else 'by chance'} | {' | '.join(f'{m:.3f}' for m in means)} |", flush=True)


if __name__ == "__main__":
    main()
