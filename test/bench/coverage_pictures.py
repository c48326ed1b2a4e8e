"""Measures whether the promises for pictures hold: python coverage_pictures.py [counts areas means] [--pictures 450] [--held 50] [--epochs 8].

Counts of objects and areas of classes are those of made pictures of discs and squares, means those of made slopes. One model of each sort is trained
on 100 pictures and answers for all others. A seed draws which of these are held out; the promise that they set is compared with the answers to the
others. Printed are the coverage as the mean over seeds and its standard deviation, the smallest mean coverage of a label or class, and the mean
width of an interval. The models are the same for all seeds, so that this is about the promise and not about trainings.
"""

import argparse
import csv
import io
import json
import sys
import tempfile
from pathlib import Path

import numpy
import tifffile

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import objects
import runs

from trainer.kinds.objects import sure
from trainer.targets import spans

TRAINED = 100
SIDE = 64  # pixels of a slope


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sorts", nargs="*", default=[])
    parser.add_argument("--pictures", type=int, default=450)
    parser.add_argument("--held", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    print("| promise | held out | new | coverage | least of a label | width |\n|---|---|---|---|---|---|")
    for sort in args.sorts or ("counts", "areas", "means"):
        with tempfile.TemporaryDirectory(prefix="coverage-") as temporary:
            true, said = answered(sort, Path(temporary), args.pictures, args.epochs)
        found = [of_seed(sort, true, said, args.held, seed) for seed in range(args.seeds)]
        inside, width = numpy.asarray([i for i, _ in found]), numpy.mean([w for _, w in found])
        every, least = inside.mean(axis=1), inside.mean(axis=0).min()
        print(f"| {sort} | {args.held} | {len(true) - args.held} | {every.mean():.3f} ({every.std():.3f}) | {least:.3f} | {width:.3g} |", flush=True)


def of_seed(sort: str, true: numpy.ndarray, said: numpy.ndarray, held: int, seed: int) -> tuple[numpy.ndarray, float]:
    """The coverage of each value (label or class) on the pictures that are not held out, and the mean width of the intervals."""
    order = numpy.random.default_rng(seed).permutation(len(true))
    mine, new = order[:held], order[held:]
    if sort == "counts":
        made, _ = sure.made(true[mine], said[mine], 0.9)
        (low, high), true = sure.bounds(made, said[new]), sure.with_all(true[new])
    else:
        made, _ = spans.made(numpy.abs(true[mine] - said[mine]), 0.9, "")
        low, high, true = said[new] - made.limits, said[new] + made.limits, true[new]
    return ((low <= true) & (true <= high)).mean(axis=0), float((high - low).mean())


def answered(sort: str, folder: Path, pictures: int, epochs: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """What is right and what the model says of the pictures that it was not trained on (pictures x values)."""
    first, others = slopes(pictures) if sort == "means" else annotated(folder, pictures)
    task = {"counts": "object-detection", "areas": "image-segmentation", "means": "pixel-regression"}[sort]
    runs.result(folder / "ft-1", first, {"task": task, "epochs": epochs, "seed": 0, "batch_size": 8})
    runs.result(folder / "ft-2", others, {}, "predict", str(folder / "ft-1" / "out" / "model"))
    table = "counts.csv" if sort == "counts" else "predictions.csv"
    with open(folder / "ft-2" / "out" / table, newline="") as f:
        rows = list(csv.DictReader(f))
    names = sorted({row["file"] for row in rows})
    if sort == "means":
        return numpy.asarray([[float(r["mean"])] for r in rows]), numpy.asarray([[float(r["mean predicted"])] for r in rows])
    label, true, said = ("label", "annotated", "objects") if sort == "counts" else ("class", "pixels", "predicted pixels")
    labels = sorted({row[label] for row in rows} - {"all"})
    of = numpy.zeros((2, len(names), len(labels)))
    for row in rows:
        if row[label] in labels:
            of[:, names.index(row["file"]), labels.index(row[label])] = float(row[true]), float(row[said])
    return tuple(v.astype(int) if sort == "counts" else v / v.sum(axis=1, keepdims=True) for v in of)


def annotated(folder: Path, pictures: int) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of made pictures with outlines: those to learn from, and the others."""
    made = objects.made(folder / "made", pictures, alike=True)
    document = json.loads((made / "instances.json").read_text())
    parts = []
    for images in (document["images"][:TRAINED], document["images"][TRAINED:]):
        ids = {image["id"] for image in images}
        mine = {**document, "images": images, "annotations": [a for a in document["annotations"] if a["image_id"] in ids]}
        files = {image["file_name"]: (made / image["file_name"]).read_bytes() for image in images}
        parts.append({**files, "instances.json": json.dumps(mine).encode()})
    return parts[0], parts[1]


def slopes(pictures: int) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Pictures of slopes of three bands of 16 bits and the heights of their pixels. Each picture has a light of its own, so its answers are off
    together."""
    chance, parts = numpy.random.default_rng(0), ({}, {})
    for i in range(pictures):
        steep = chance.uniform(2, 15, 2)
        height = numpy.linspace(0, steep[0], SIDE)[None] + numpy.linspace(0, steep[1], SIDE)[:, None]
        light = chance.normal(1, 0.1)
        bands = numpy.stack([light * (1000 + 300 * (b + 1) * height) + chance.normal(0, 300, (SIDE, SIDE)) for b in range(3)], axis=2)
        for name, pixels in (("images", numpy.clip(bands, 0, 65535).astype(numpy.uint16)), ("heights", height.astype(numpy.float32))):
            data = io.BytesIO()
            tifffile.imwrite(data, pixels, photometric="minisblack", **({"planarconfig": "contig"} if pixels.ndim > 2 else {}))
            parts[i >= TRAINED][f"{name}/t{i}.tif"] = data.getvalue()
    return parts


if __name__ == "__main__":
    main()
