"""Measures what the temperature of networks gains, and what they keep of what they promise: make bench-calibration [SETS='texts tags'] [SEEDS=5].

Each line is one data set, over several seeds, each with a whole training of its own; data that are made are others for each seed. Printed are the
temperature, and loss and calibration error on the test rows without and with it, as means over the seeds. Then, as the reports have it, the share of
the truths of the test rows that the possible classes of the answers hold, where 90 % are promised: the mean over the seeds, with the smallest and the
largest, and how many trainings promised something. Of pixels it is the mean of the classes, and after it that of the class with the smallest mean.
"""

import argparse
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy
from PIL import Image
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import coverage
import objects
import runs

TITLE, SURE, PIXELS = "How sure the network is", "How sure answers are", "How sure answers for single pixels are"
Set = tuple[dict[str, bytes], dict]


def tables(rows: list[list], parameters: dict, head: tuple[str, ...] = ()) -> Set:
    """A table whose last column is the class."""
    head = head or (*(f"x{i}" for i in range(len(rows[0]) - 1)), "target")
    lines = [",".join(head), *(",".join(f'"{cell}"' for cell in row) for row in rows)]
    return {"rows.csv": "\n".join(lines).encode()}, {"label_column": "target", **parameters}


def digits(rows: int) -> Set:
    """Pictures of handwritten digits, in folders."""
    found, files = datasets.load_digits(), {}
    for number, (pixels, digit) in enumerate(zip(found.images[:rows], found.target)):
        data = io.BytesIO()
        Image.fromarray((pixels * 15.9).astype(numpy.uint8)).resize((32, 32)).save(data, "PNG")
        files[f"{digit}/{number}.png"] = data.getvalue()
    return files, {"model": "small-cnn"}


def marked(pictures: int, seed: int) -> Set:
    """Made pictures of discs and squares with a class for each pixel."""
    with tempfile.TemporaryDirectory(prefix="made-") as folder:
        made = objects.made(Path(folder) / "made", pictures, alike=True, seed=seed)
        files = {f.name: f.read_bytes() for f in sorted(made.iterdir())}
    return files, {"task": "image-segmentation", "epochs": 8, "batch_size": 8}


def texts(rows: int, seed: int) -> Set:
    """Made texts of four classes."""
    return tables(coverage.texts(rows, False, seed).rows, {"model": "bert-tiny", "epochs": 20}, ("text", "target"))


def tagged(sentences: int, seed: int) -> Set:
    """Made sentences with a tag for each word. Two fifths of the names are those of people and of places, which the word before them tells in seven
    of ten cases."""
    chance, found = numpy.random.default_rng(seed), []
    own = {"PER": [f"per{i}" for i in range(12)], "LOC": [f"loc{i}" for i in range(12)]}
    before = {"PER": ["met", "asked", "with"], "LOC": ["in", "near", "from"]}
    for _ in range(sentences):
        lines = []
        for _ in range(chance.integers(2, 5)):
            kind, other = ("PER", "LOC") if chance.random() < 0.5 else ("LOC", "PER")
            clear = chance.random() < 0.7
            name = chance.choice([f"both{i}" for i in range(8)]) if chance.random() < 0.4 else chance.choice(own[kind])
            lines += [f"w{chance.integers(60)} O" for _ in range(chance.integers(1, 4))]
            lines += [f"{chance.choice(before[kind if clear else other])} O", f"{name} B-{kind}"]
        found.append("\n".join(lines) + "\n")
    return {"train.conll": "\n".join(found).encode()}, {"model": "bert-tiny", "epochs": 20}


SETS: dict[str, Callable[[int], Set]] = {
    "digits-table": lambda seed: tables(coverage.shipped(datasets.load_digits, 0, False).rows, {"model": "mlp"}),
    "6-classes": lambda seed: tables(coverage.noisy(3000, 6, None, 0).rows, {"model": "mlp", "epochs": 60}),
    "texts": lambda seed: texts(1500, seed),
    "tags": lambda seed: tagged(800, seed),
    "digits": lambda seed: digits(1200),
    "pixels": lambda seed: marked(150, seed),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print("| set | temperature | loss without | with | calibration error without | with | kept of 90 % | trainings that promise |")
    print("|---|---|---|---|---|---|---|---|")
    for name in args.sets or SETS:
        found, kept = [], []
        for seed in range(args.seeds):
            files, parameters = SETS[name](seed)
            result = trained(files, {**parameters, "seed": seed})
            found.append(tempered(result))
            kept.append(promised(result))
        shown = [f"{numpy.mean([f[i] for f in found]):.3f}" if all(i < len(f) for f in found) else "" for i in range(5)]
        promises = [k for k in kept if k]
        print(f"| {name} | {' | '.join(shown)} | {shares(promises)} | {len(promises)} of {args.seeds} |", flush=True)


def shares(kept: list[dict[str, float]]) -> str:
    """The mean over the trainings of the mean of their groups, the smallest and the largest, and the group with the smallest mean."""
    if not kept:
        return ""
    means = [numpy.mean(list(k.values())) for k in kept]
    groups = {name: numpy.mean([k[name] for k in kept if name in k]) for k in kept for name in k}
    least = min(groups, key=lambda name: groups[name])
    of_least = f"; {least} {groups[least]:.3f}" if len(groups) > 1 else ""
    return f"{numpy.mean(means):.3f} ({min(means):.3f} to {max(means):.3f}){of_least}"


def trained(files: dict[str, bytes], parameters: dict) -> dict:
    with tempfile.TemporaryDirectory(prefix="calibration-") as folder:
        return runs.result(Path(folder) / "ft-1", files, parameters)


def tempered(result: dict) -> list[float]:
    """The temperature of one training, the loss without and with it, and the calibration errors, as the report has them."""
    section = next(s for s in result["sections"] if s["title"] == TITLE)
    facts = [fact["value"] for fact in section["blocks"][0].get("facts", [])]
    if not facts:
        sys.exit(f"there is no temperature: {section['blocks'][0]['text']}")
    pairs = [[float(part.split()[-1]) for part in reversed(value.split("; "))] for value in facts[1:]]
    return [float(facts[0].partition(",")[0]), *(value for pair in pairs for value in pair)]


def promised(result: dict) -> dict[str, float]:
    """The share that one training kept of what it promised, by class for pixels; empty where it promised nothing."""
    of = {s["title"]: s["blocks"] for s in result["sections"]}
    if PIXELS in of:
        rows = [row for block in of[PIXELS] for row in block.get("rows", [])]
        return {row[0]["text"]: row[2]["value"] for row in rows if row[2].get("value") is not None}
    facts = [fact for block in of.get(SURE, []) for fact in block.get("facts", [])]
    said = [fact["value"] for fact in facts if fact["name"].startswith("On the test")]
    return {"all": float(said[0].split(" %")[0]) / 100} if said else {}


if __name__ == "__main__":
    main()
