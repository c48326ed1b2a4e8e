"""Measures how many of the first labels that are doubted are wrong: make bench-labels [SETS='digits texts pictures'] [SEEDS=3].

In each data set 5 % of the labels are replaced by another class, drawn by the seed, and a whole training is run as a user would start it. Printed are
the rows that its list has, the precision among the first 50, the share of the planted rows that are in the list, and whether the training warned. The
same without planted labels shows what clean data gives.

With --cost, printed is instead what the checks of labels, the weights of columns and the words that speak for an answer add to the time.
"""

import argparse
import csv
import importlib
import io
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy
from PIL import Image
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dataset"))

import generate
import runs

FIRST = 50
SHARE = 0.05

Rows = list[tuple[object, str]]  # what a model reads, and the label


def table_of(load) -> Rows:
    found = load()
    return [([repr(float(v)) for v in x], f"class {y}") for x, y in zip(found.data, found.target)]


def made(separation: float) -> Rows:
    x, y = datasets.make_classification(
        2000, 12, n_informative=6, n_classes=3, class_sep=separation, flip_y=0, n_clusters_per_class=1, random_state=0
    )
    return [([f"{v:.5g}" for v in row], f"class {c}") for row, c in zip(x, y)]


def texts() -> Rows:
    """Reviews whose labels are all right."""
    return [(text, label) for text, label in generate.rows(random.Random(0), 1500, 0.0, set())]


def pictures() -> Rows:
    found = datasets.load_digits()
    return [(Image.fromarray((x * 15).astype(numpy.uint8)).resize((32, 32)), f"class {y}") for x, y in zip(found.images, found.target)]


SETS = {
    "digits": lambda: table_of(datasets.load_digits),
    "breast-cancer": lambda: table_of(datasets.load_breast_cancer),
    "wine": lambda: table_of(datasets.load_wine),
    "overlapping": lambda: made(0.6),
    "apart": lambda: made(1.5),
    "texts": texts,
    "pictures": pictures,
}


LARGE = {
    "large-table": lambda: many(20_000, 50),
    "large-texts": lambda: [(text, label) for text, label in generate.rows(random.Random(0), 20_000, 0.0, set())],
}
PARTS = (("trainer.training.unseen", "rows"), ("trainer.training.weighed", "sections"), ("trainer.export.doubted", "training"))
PARTS_OF_TEXTS = (("trainer.kinds.text.speaking", "sections"),)


def many(rows: int, columns: int) -> Rows:
    x, y = datasets.make_classification(rows, columns, n_informative=10, n_classes=3, random_state=0)
    return [([f"{v:.5g}" for v in row], f"class {c}") for row, c in zip(x, y)]


def costs(names: list[str], seeds: int) -> None:
    """The time of the parts beside that of the whole training, for each set."""
    spent: list[float] = []
    for module, name in (*PARTS, *PARTS_OF_TEXTS):
        place = importlib.import_module(module)
        setattr(place, name, timed(getattr(place, name), spent))
    print("| set | rows | seconds | of these for labels, columns and words | with them against without |\n|---|---|---|---|---|")
    for name in names:
        rows = {**SETS, **LARGE}[name]()
        for seed in range(seeds):
            spent.clear()
            with tempfile.TemporaryDirectory(prefix="labels-") as folder:
                began = time.monotonic()
                run(Path(folder) / "ft-1", files(rows, [label for _, label in rows]), seed)
                seconds = time.monotonic() - began
            print(f"| {name} | {len(rows)} | {seconds:.1f} | {sum(spent):.2f} | {seconds / (seconds - sum(spent)):.3f} |", flush=True)


def timed(function, spent: list[float]):
    def measured(*args, **more):
        began = time.monotonic()
        try:
            return function(*args, **more)
        finally:
            spent.append(time.monotonic() - began)

    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cost", action="store_true")
    args = parser.parse_args()
    if args.cost:
        costs(args.sets or [*SETS, *LARGE], args.seeds)
        return
    print("| set | rows | planted | listed | precision of the first 50 | planted rows found | warned | model | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in args.sets or SETS:
        rows = SETS[name]()
        for share in (0.0, SHARE):
            for seed in range(args.seeds):
                print(f"| {name} | {len(rows)} | {measured(rows, share, seed)} |", flush=True)


def measured(rows: Rows, share: float, seed: int) -> str:
    chance = numpy.random.default_rng(seed)
    labels = sorted({label for _, label in rows})
    wrong = set(chance.permutation(len(rows))[: int(share * len(rows))].tolist())
    given = [labels[(labels.index(y) + int(chance.integers(1, len(labels)))) % len(labels)] if i in wrong else y for i, (_, y) in enumerate(rows)]
    with tempfile.TemporaryDirectory(prefix="labels-") as folder:
        began = time.monotonic()
        result = run(Path(folder) / "ft-1", files(rows, given), seed)
        seconds = time.monotonic() - began
        listed = Path(folder) / "ft-1" / "out" / "label-errors.csv"
        found = list(csv.DictReader(io.StringIO(listed.read_text()))) if listed.is_file() else []
    numbers = [int(f["id"]) if f.get("id") else int(Path(f["file"]).stem) for f in found]
    first = numbers[:FIRST]
    precision = f"{numpy.mean([n in wrong for n in first]):.2f}" if first and wrong else ""
    recall = f"{len(wrong & set(numbers)) / len(wrong):.2f}" if wrong else ""
    warned = "yes" if any(w["code"] == "label_errors" for w in result["warnings"]) else "no"
    return f"{len(wrong)} | {len(found)} | {precision} | {recall} | {warned} | {result['model']['base']} | {seconds:.1f}"


def files(rows: Rows, given: list[str]) -> dict[str, bytes]:
    """The files of a dataset: pictures in folders, or one table with the number of each row as its id."""
    if isinstance(rows[0][0], Image.Image):
        found = {}
        for i, ((picture, _), label) in enumerate(zip(rows, given)):
            picture.save(png := io.BytesIO(), "PNG")
            found[f"{label}/{i}.png"] = png.getvalue()
        return found
    lines = io.StringIO()
    width = len(rows[0][0]) if isinstance(rows[0][0], list) else 0
    head = ["id", *([f"x{i}" for i in range(width)] or ["text"]), "target"]
    csv.writer(lines, lineterminator="\n").writerows([head, *([i, *(x if width else [x]), y] for i, ((x, _), y) in enumerate(zip(rows, given)))])
    return {"rows.csv": lines.getvalue().encode()}


def run(folder: Path, contents: dict[str, bytes], seed: int, more: str = "") -> dict:
    """The result of one run. ``more`` are further options."""
    columns = {"label_column": "target", "more_options": f"data.id_column: id\n{more}"} if "rows.csv" in contents else {}
    return runs.result(folder, contents, {"seed": seed, **columns})


if __name__ == "__main__":
    main()
