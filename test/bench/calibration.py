"""Measures what the temperature of networks gains: make bench-calibration [SETS='digits-table digits'] [SEEDS=5].

Each line is one data set, over several seeds, each with a whole training of its own. Printed are the temperature, and loss and calibration error on
the test rows without and with it, as means over the seeds.
"""

import argparse
import io
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image
from sklearn import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import coverage
import coverage_pictures
import runs

TITLE = "How sure the network is"
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


def marked(pictures: int) -> Set:
    """Made pictures of discs and squares with a class for each pixel."""
    with tempfile.TemporaryDirectory(prefix="made-") as folder:
        files, _ = coverage_pictures.annotated(Path(folder), pictures)
    return files, {"task": "image-segmentation", "epochs": 8, "batch_size": 8}


SETS = {
    "digits-table": lambda: tables(coverage.shipped(datasets.load_digits, 0, False).rows, {"model": "mlp"}),
    "6-classes": lambda: tables(coverage.noisy(3000, 6, None, 0).rows, {"model": "mlp", "epochs": 60}),
    "texts": lambda: tables(coverage.texts(1500, False).rows, {"model": "bert-tiny", "epochs": 20}, ("text", "target")),
    "digits": lambda: digits(1200),
    "pixels": lambda: marked(150),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print("| set | temperature | loss without | with | calibration error without | with |\n|---|---|---|---|---|---|")
    for name in args.sets or SETS:
        files, parameters = SETS[name]()
        found = [trained(files, {**parameters, "seed": seed}) for seed in range(args.seeds)]
        shown = [f"{numpy.mean([f[i] for f in found]):.3f}" if all(i < len(f) for f in found) else "" for i in range(5)]
        print(f"| {name} | {' | '.join(shown)} |", flush=True)


def trained(files: dict[str, bytes], parameters: dict) -> list[float]:
    """The temperature of one training, the loss without and with it, and the calibration errors, as the report has them."""
    with tempfile.TemporaryDirectory(prefix="calibration-") as folder:
        result = runs.result(Path(folder) / "ft-1", files, parameters)
    section = next(s for s in result["sections"] if s["title"] == TITLE)
    facts = [fact["value"] for fact in section["blocks"][0].get("facts", [])]
    if not facts:
        sys.exit(f"there is no temperature: {section['blocks'][0]['text']}")
    pairs = [[float(part.split()[-1]) for part in reversed(value.split("; "))] for value in facts[1:]]
    return [float(facts[0].partition(",")[0]), *(value for pair in pairs for value in pair)]


if __name__ == "__main__":
    main()
