"""Measures how many labels a model needs where the list of a prediction says which: make bench-next [SETS='digits'] [SEEDS=5].

A person labels 40 rows chosen by chance and trains. Then the model answers all rows without a label, and 40 more get the label that they have
in truth: those of next-labels.csv, or 40 by chance. Both go on like this, from the same first model. Printed is the score on the same held-out
third after each step, as the mean of the seeds: accuracy of classes, R2 of numbers, F1 of several labels. Then by how much the list is better, with
the standard error of that mean over the seeds. The sets that are made are others for each seed.

With --texts FILE, a CSV with the columns text and label is a further set, of which 3,000 rows are drawn.
"""

import argparse
import csv
import io
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import runs

STEP, STEPS = 40, 8
LARGEST = 3000
ASKED = {"label_column": "target", "more_options": "data.id_column: id\n"}

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


@dataclass(frozen=True)
class Way:
    """A set whose rows come from ``make`` by a seed, and how a model of it is trained and scored."""

    make: Callable[[int], Rows]
    model: str
    score: str

    def trained(self, folder: Path, rows: Rows, known: list[int], test: list[int]) -> float:
        """The score of a model that learns from the rows ``known``, in ``folder``."""
        more = {"task": "multi-label-classification"} if self.score == F1 else {}
        runs.result(folder / "train", sheet(rows, known, set(known)), {"model": self.model, **ASKED, **more})
        scored = runs.result(folder / "score", sheet(rows, test, set(test)), {}, "predict", str(folder / "train" / "out" / "model"))
        return scored["prediction"]["scores"][self.score]["value"]


def listed(folder: Path, rows: Rows, known: list[int], rest: list[int]) -> list[int]:
    """The numbers of the rows that the list of the model in ``folder`` names of ``rest``."""
    asked = [*known, *rest]
    runs.result(folder / "ask", sheet(rows, asked, set(known)), {}, "predict", str(folder / "train" / "out" / "model"))
    found = list(csv.DictReader(io.StringIO((folder / "ask" / "out" / "next-labels.csv").read_text())))
    return [asked[int(line["in row"]) - 2] for line in found]


def curves(way: Way, seed: int, steps: int) -> tuple[list[float], list[float]]:
    """The scores after 40, 80, 120 labels and so on, of rows by chance and of those of the list."""
    chance, rows = numpy.random.default_rng(seed), way.make(seed)
    order = chance.permutation(len(rows)).tolist()
    test, pool = order[: len(rows) // 3], order[len(rows) // 3 :]
    steps = min(steps, len(pool) // STEP)
    by_chance: list[float] = []
    by_list: list[float] = []
    known = pool[:STEP]
    for number in range(1, steps + 1):
        rest = [i for i in pool if i not in set(known)]
        with tempfile.TemporaryDirectory(prefix="next-") as folder:
            by_list.append(way.trained(Path(folder), rows, known, test))
            known = known + (listed(Path(folder), rows, known, rest)[:STEP] if number < steps else [])
        with tempfile.TemporaryDirectory(prefix="next-") as folder:
            by_chance.append(by_list[0] if number == 1 else way.trained(Path(folder), rows, pool[: number * STEP], test))
    return by_chance, by_list


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
        way = Way(*sets[name])
        found = numpy.asarray([curves(way, seed, args.steps) for seed in range(args.seeds)])
        better = found[:, 1] - found[:, 0]
        errors = better.std(axis=0, ddof=1) / args.seeds**0.5 if args.seeds > 1 else numpy.zeros(better.shape[1])
        for how, scores in (("by chance", found[:, 0]), ("listed", found[:, 1])):
            print(f"| {name} | {way.score} | {how} | {' | '.join(f'{m:.3f}' for m in scores.mean(axis=0))} |")
        said = (f"{m:+.3f} ({e:.3f})" for m, e in zip(better.mean(axis=0), errors, strict=True))
        print(f"| {name} | {way.score} | better by | {' | '.join(said)} |", flush=True)


if __name__ == "__main__":
    main()
