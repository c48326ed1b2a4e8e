"""Measures how many labels a model needs where the list of a prediction says which: make bench-next [SETS='digits'] [SEEDS=5].

A person labels 40 rows chosen by chance and trains. Then the model answers all rows without a label, and 40 more get the label that they have
in truth: those of next-labels.csv, or 40 by chance. Both go on like this. Printed is the score on the same held-out third after each step, as the
mean of the seeds: accuracy of classes, R2 of numbers, F1 of several labels. The sets that are made are others for each seed.

With --texts FILE, a CSV with the columns text and label is a further set, of which 3,000 rows are drawn.
"""

import argparse
import csv
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import runs

STEP, STEPS = 40, 8
LARGEST = 3000

Rows = list[tuple[list[str], str]]  # the cells, and the label
ACCURACY, R2, F1 = "accuracy", "r2", "f1_micro"


def table_of(load) -> Rows:
    found = load()
    return [([f"{float(v):.6g}" for v in x], f"class {y}") for x, y in zip(found.data, found.target, strict=True)]


def numbers(x, y) -> Rows:
    return [([f"{v:.6g}" for v in cells], f"{number:.6g}") for cells, number in zip(x.tolist(), y.tolist(), strict=True)]


def diabetes(seed: int) -> Rows:
    return numbers(*datasets.load_diabetes(return_X_y=True))


def friedman(seed: int) -> Rows:
    return numbers(*datasets.make_friedman1(1500, 10, noise=1.0, random_state=seed))


def stands(seed: int) -> Rows:
    """A number of rows that come from twelve places, of which some have many rows and some few."""
    chance = numpy.random.default_rng(seed)
    middles, of_places = chance.normal(size=(12, 5)) * 3, chance.dirichlet(numpy.full(12, 0.5))
    x = middles[chance.choice(12, 1500, p=of_places)] + chance.normal(size=(1500, 5)) * 0.7
    y = 2 * numpy.sin(x[:, 0]) + 0.3 * x[:, 1] * x[:, 2] + numpy.abs(x[:, 3]) + chance.normal(size=1500) * 0.2
    return numbers(x, y)


def topics(seed: int) -> Rows:
    """Texts of one to three of twelve topics, of which some are rare, with words of each and words of none."""
    chance = numpy.random.default_rng(seed)
    often = numpy.geomspace(1, 0.1, 12) / numpy.geomspace(1, 0.1, 12).sum()
    rows = []
    for _ in range(1500):
        labels = sorted(chance.choice(12, chance.integers(1, 4), replace=False, p=often).tolist())
        words = [f"word{t}x{int(40 * chance.random() ** 2)}" for t in labels for _ in range(chance.integers(2, 5))]
        words += [f"common{int(200 * chance.random() ** 2)}" for _ in range(chance.integers(5, 15))]
        rows.append(([" ".join(chance.permutation(words))], "; ".join(f"topic {t}" for t in labels)))
    return rows


# What makes the rows of a seed, the model, and the score that is printed.
SETS: dict[str, tuple[Callable[[int], Rows], str, str]] = {
    "digits": (lambda seed: table_of(datasets.load_digits), "linear", ACCURACY),
    "breast-cancer": (lambda seed: table_of(datasets.load_breast_cancer), "linear", ACCURACY),
    "diabetes": (diabetes, "linear", R2),
    "friedman": (friedman, "trees", R2),
    "stands": (stands, "trees", R2),
    "topics": (topics, "words", F1),
}


def texts(path: str) -> Rows:
    with open(path, newline="", encoding="utf-8") as file:
        rows = [([row["text"]], f"class {row['label']}") for row in csv.DictReader(file)]
    chosen = numpy.random.default_rng(0).permutation(len(rows))[:LARGEST]
    return [rows[i] for i in sorted(chosen.tolist())]


def sheet(rows: Rows, numbers, labelled) -> dict[str, bytes]:
    """A table of the rows with these numbers; those among ``labelled`` have their label."""
    lines = io.StringIO()
    width = len(rows[0][0])
    names = ["text"] if width == 1 else [f"x{i}" for i in range(width)]
    body = [[i, *rows[i][0], rows[i][1] if i in labelled else ""] for i in numbers]
    csv.writer(lines, lineterminator="\n").writerows([["id", *names, "target"], *body])
    return {"rows.csv": lines.getvalue().encode()}


def step(folder: Path, rows: Rows, known: list[int], rest: list[int], test: list[int], model: str, score: str) -> tuple[float, list[int]]:
    """The score of a model that learnt from the rows ``known``, and the numbers of the rows that its list names of ``rest``."""
    ids = {"label_column": "target", "more_options": "data.id_column: id\n"}
    ids |= {"task": "multi-label-classification"} if score == F1 else {}
    runs.result(folder / "train", sheet(rows, known, set(known)), {"model": model, **ids})
    trained = str(folder / "train" / "out" / "model")
    scored = runs.result(folder / "score", sheet(rows, test, set(test)), {}, "predict", trained)
    asked = [*known, *rest]
    runs.result(folder / "ask", sheet(rows, asked, set(known)), {}, "predict", trained)
    listed = list(csv.DictReader(io.StringIO((folder / "ask" / "out" / "next-labels.csv").read_text())))
    return scored["prediction"]["scores"][score]["value"], [asked[int(line["in row"]) - 2] for line in listed]


def curve(of: tuple[Callable[[int], Rows], str, str], seed: int, by_list: bool, steps: int) -> list[float]:
    """The scores after 40, 80, 120 labels and so on."""
    make, model, metric = of
    chance, rows = numpy.random.default_rng(seed), make(seed)
    order = chance.permutation(len(rows)).tolist()
    test, pool = order[: len(rows) // 3], order[len(rows) // 3 :]
    known, scores = pool[:STEP], []
    for _ in range(steps):
        rest = [i for i in pool if i not in set(known)]
        with tempfile.TemporaryDirectory(prefix="next-") as folder:
            score, listed = step(Path(folder), rows, known, rest, test, model, metric)
        scores.append(score)
        known = known + (listed[:STEP] if by_list else rest[:STEP])
        if len(known) >= len(pool):
            break
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--texts", default="")
    args = parser.parse_args()
    sets = {**SETS, **({"texts": (lambda seed: texts(args.texts), "words", ACCURACY)} if args.texts else {})}
    print(f"| set | score | labels | {' | '.join(str(STEP * (i + 1)) for i in range(args.steps))} |\n|---|---|---|{'---|' * args.steps}")
    for name in args.sets or sets:
        for by_list in (False, True):
            means = numpy.mean([curve(sets[name], seed, by_list, args.steps) for seed in range(args.seeds)], axis=0)
            how = "listed" if by_list else "by chance"
            print(f"| {name} | {sets[name][2]} | {how} | {' | '.join(f'{m:.3f}' for m in means)} |", flush=True)


if __name__ == "__main__":
    main()
