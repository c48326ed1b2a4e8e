"""Measures whether the promise of 90 % holds: make bench-coverage [SETS='diabetes wine'] [SEEDS=20].

Each line is one data set that scikit-learn ships or makes, or of made texts with one or several labels, over several seeds. A seed draws the rows
for a whole training of its own, with the split that it makes. What is not in these rows, or else the test rows of the training, is predicted by the
saved model and compared. Printed are the coverage of the validation rows' promise on these rows as the mean over seeds and its standard deviation,
the smallest mean coverage inside a class with at least 50 held-out rows, the size of an answer, and how often the models were right. Of several
labels the coverage is the share of the labels of all rows.
"""

import argparse
import csv
import io
import json
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import runs

OF_A_CLASS = 50  # held-out rows from which the coverage inside a class is looked at: it has a limit of its own
TEXTS = "the a of in river stone lamp cloud paper green window quiet morning table road winter bread garden light wall".split()


@dataclass(frozen=True)
class Set:
    """``rows`` has the columns and the target as the last one. ``most`` rows are trained on; the others are predicted afterwards."""

    rows: list[list]
    most: int
    numbers: bool
    head: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    several: bool = False  # labels of a row, with "; " between them


@dataclass(frozen=True)
class Measured:
    inside: float
    size: float
    right: float  # the share, or R²
    classes: dict[str, tuple[int, int, float]]  # held-out rows, rows predicted, coverage


def shipped(load, most: int, numbers: bool, **parameters: str) -> Set:
    found = load()
    names = (lambda v: repr(float(v))) if numbers else (lambda v: f"class {v}")
    return Set(
        [[*(repr(float(v)) for v in x), names(y)] for x, y in zip(found.data, found.target)], most, numbers, parameters=tuple(parameters.items())
    )


def made(x, y, most: int, numbers: bool, **parameters: str) -> Set:
    target = [repr(float(v)) for v in y] if numbers else [f"class {v}" for v in y]
    return Set([[*(f"{v:.5g}" for v in row), t] for row, t in zip(x, target)], most, numbers, parameters=tuple(parameters.items()))


def spread(rows: int) -> Set:
    """A number whose scatter grows with it."""
    chance = numpy.random.default_rng(0)
    x = chance.uniform(0, 3, (rows, 4))
    mean = x[:, 0] * 3 + numpy.sin(3 * x[:, 1]) + x[:, 2]
    return made(x, mean + chance.normal(0, 0.2 + x[:, 0], rows), 1500, True)


def noisy(rows: int, classes: int, shares: list[float] | None, most: int, **parameters: str) -> Set:
    """Classes that overlap."""
    x, y = datasets.make_classification(
        rows, 12, n_informative=6, n_classes=classes, weights=shares, class_sep=0.7, flip_y=0.08, n_clusters_per_class=1, random_state=0
    )
    return made(x, y, most, False, **parameters)


def texts(rows: int, numbers: bool, seed: int = 0) -> Set:
    """Texts whose words tell a class or a number only roughly."""
    chance = numpy.random.default_rng(seed)
    lines = []
    for _ in range(rows):
        kind = int(chance.integers(4))
        words = chance.choice(TEXTS, 9, p=numpy.roll(numpy.geomspace(1, 0.15, len(TEXTS)), 5 * kind) / numpy.geomspace(1, 0.15, len(TEXTS)).sum())
        worth = sum(TEXTS.index(w) for w in words) + chance.normal(0, 6)
        lines.append([" ".join(words), f"{worth:.4f}" if numbers else f"class {kind}"])
    return Set(lines, 1000, numbers, ("text", "target"))


def topics(rows: int, shares: list[float], most: int) -> Set:
    """Texts with words of several topics, which come together, and words that tell nothing. ``shares`` are those of the labels."""
    chance = numpy.random.default_rng(0)
    shares = numpy.asarray(shares)
    lines = []
    while len(lines) < rows:
        together = chance.normal()  # rows with many labels, and rows with few
        has = numpy.flatnonzero(numpy.log(shares / (1 - shares)) + together + chance.logistic(size=len(shares)) > 0)
        if len(has):
            own = [f"{TEXTS[topic]}{chance.integers(6)}" for topic in has for _ in range(chance.poisson(1.2))]
            other = [f"{TEXTS[chance.integers(len(shares))]}{chance.integers(6)}" for _ in range(chance.poisson(0.7))]
            words = [*own, *other, *chance.choice(TEXTS, 6)]
            lines.append([" ".join(chance.permutation(words)), "; ".join(f"topic {topic}" for topic in has)])
    return Set(lines, most, False, ("text", "target"), several=True)


SETS = {
    "diabetes": lambda: shipped(datasets.load_diabetes, 442, True),
    "diabetes-150": lambda: shipped(datasets.load_diabetes, 150, True),
    "friedman": lambda: made(*datasets.make_friedman1(6000, noise=2.0, random_state=0), 1000, True),
    "growing-scatter": lambda: spread(6000),
    "wine": lambda: shipped(datasets.load_wine, 178, False),
    "breast-cancer": lambda: shipped(datasets.load_breast_cancer, 569, False),
    "digits": lambda: shipped(datasets.load_digits, 1200, False, model="linear"),
    "3-classes": lambda: noisy(8000, 3, None, 2000),
    "rare-class": lambda: noisy(16000, 2, [0.9], 6000, model="linear"),
    "6-classes": lambda: noisy(12000, 6, None, 5000, model="linear"),
    "texts": lambda: texts(5000, False),
    "texts-of-numbers": lambda: texts(5000, True),
    "labels": lambda: topics(6000, [0.5, 0.3, 0.3, 0.2, 0.1], 1500),
    "labels-300": lambda: topics(4000, [0.5, 0.3, 0.3, 0.2], 300),
    "many-labels": lambda: topics(9000, [0.4, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.03, 0.02, 0.02], 4000),
    "friedman-network": lambda: made(*datasets.make_friedman1(6000, noise=2.0, random_state=0), 1000, True, model="mlp", epochs="20"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    print("| set | rows | held out | coverage | least in a class | size | right or R² | model |\n|---|---|---|---|---|---|---|---|")
    every = []
    for name in args.sets or SETS:
        data = SETS[name]()
        found = [trained(data, seed) for seed in range(args.seeds)]
        models, held = Counter(model for _, model, _ in found), numpy.mean([rows for _, _, rows in found])
        runs = [m for m, _, _ in found if m is not None]
        if not runs:
            print(f"| {name} | {data.most} | {held:.0f} | nothing is promised | | | | |", flush=True)
            continue
        inside, size, right = ([getattr(m, what) for m in runs] for what in ("inside", "size", "right"))
        every.append(numpy.mean(inside))
        named = ", ".join(f"{m} {n}" for m, n in models.most_common(3))
        shown = f"{numpy.mean(inside):.3f} ({numpy.std(inside):.3f}) | {least_of_classes(runs)} | {numpy.mean(size):.3g} | {numpy.mean(right):.3f}"
        print(f"| {name} | {data.most} | {held:.0f} | {shown} | {named} |", flush=True)
    print(f"\nmean coverage {numpy.mean(every):.3f}, of the smallest set {min(every):.3f}")


def least_of_classes(runs: list[Measured]) -> str:
    of = defaultdict(list)
    for run in runs:
        for name, (held, rows, inside) in run.classes.items():
            if held >= OF_A_CLASS and rows:
                of[name].append(inside)
    return f"{min(numpy.mean(v) for v in of.values()):.3f}" if of else ""


def trained(data: Set, seed: int) -> tuple[Measured | None, str, int]:
    """What one training promised and kept, its model, and its validation rows. Exits where a run fails."""
    order = numpy.random.default_rng(seed).permutation(len(data.rows))
    width = len(data.rows[0]) - 1
    head = list(data.head or [*(f"x{i}" for i in range(width)), "target"])
    with tempfile.TemporaryDirectory(prefix="coverage-") as folder:
        base = Path(folder) / "runs"
        result = run(
            base / "ft-1",
            "train",
            table(head, [data.rows[i] for i in order[: data.most]]),
            {"seed": seed, "label_column": "target", **dict(data.parameters)},
        )
        model, held = result["model"]["base"], result["data"]["rows"]["validation"]
        promise = json.loads((base / "ft-1" / "out" / "model" / "trainer.json").read_text())["target"].get("promise")
        if promise is None:
            return None, model, held
        said = predictions(base / "ft-1")
        others = [data.rows[i] for i in order[data.most :]]
        if others:
            run(base / "ft-2", "predict", table(head, others), {"label_column": "target"}, str(base / "ft-1" / "out" / "model"))
            said = predictions(base / "ft-2")
        share = held / data.most
        return measured(said, data, share), model, held


def measured(said: list[dict[str, str]], data: Set, share: float) -> Measured:
    if data.numbers:
        truth, low, high, answer = (numpy.asarray([float(r[c]) for r in said]) for c in ("label", "low", "high", "predicted"))
        inside = (low <= truth) & (truth <= high)
        return Measured(
            float(inside.mean()), float((high - low).mean()), float(1 - ((truth - answer) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()), {}
        )
    sets, labels = [r["possible"].split("; ") for r in said], [r["label"].split("; ") if data.several else [r["label"]] for r in said]
    inside = [(label, label in s) for of, s in zip(labels, sets) for label in of]
    whole = Counter(label for row in data.rows for label in (str(row[-1]).split("; ") if data.several else [str(row[-1])]))
    classes = {}
    for label, count in whole.items():
        if mine := [found for name, found in inside if name == label]:
            classes[label] = (int(share * data.most * count / len(data.rows)), len(mine), float(numpy.mean(mine)))
    right = numpy.mean([r["label"] == r["predicted"] for r in said])
    covered = float(numpy.mean([found for _, found in inside]))
    return Measured(covered, float(numpy.mean([len(s) for s in sets])), float(right), classes)


def table(head: list[str], rows: list[list]) -> str:
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([head, *rows])
    return lines.getvalue()


def predictions(folder: Path) -> list[dict[str, str]]:
    with open(folder / "out" / "predictions.csv", newline="") as f:
        return list(csv.DictReader(f))


def run(folder: Path, kind: str, content: str, parameters: dict, model: str = "") -> dict:
    """The result of one run."""
    typed = {name: int(value) if isinstance(value, str) and value.isdigit() else value for name, value in parameters.items()}
    return runs.result(folder, {"rows.csv": content.encode()}, typed, kind, model)


if __name__ == "__main__":
    main()
