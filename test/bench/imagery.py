"""Measures a class for each pixel on pictures with polygons of VIA (two folders: to train on, and to test on), as a user's training does.

python test/bench/imagery.py --train FOLDER --test FOLDER [--minutes 20] [--seed 0]

Polygons become masks, later ones over earlier ones; the first class is the background. Printed are the metrics of the network, the pixel forest and
the most frequent class on the same test pictures, the overlap of all classes together against the background, and the time. Nothing is kept.
"""

import argparse
import csv
import hashlib
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).parents[2]))

FEWEST_POINTS = 3


def regions(folder: Path) -> dict[str, list[tuple[str, list[tuple[float, float]]]]]:
    """The polygons of each picture, with their classes."""
    found: dict[str, list[tuple[str, list[tuple[float, float]]]]] = {}
    for file in folder.glob("*.json"):
        document = json.loads(file.read_text())
        for entry in document.get("_via_img_metadata", document).values():
            listed = entry["regions"].values() if isinstance(entry["regions"], dict) else entry["regions"]
            shapes = [(next(iter(r["region_attributes"].values())), r["shape_attributes"]) for r in listed]
            polygons = [(label, list(zip(s["all_points_x"], s["all_points_y"]))) for label, s in shapes if s["name"] == "polygon"]
            found[entry["filename"]] = [(label, points) for label, points in polygons if len(points) >= FEWEST_POINTS]
    return found


def make(source: Path, to: Path, labels: list[str]) -> None:
    """Write pictures and masks below ``to``. ``labels`` grows by the classes that are met."""
    (to / "images").mkdir(parents=True)
    (to / "masks").mkdir()
    for name, polygons in sorted(regions(source).items()):
        shutil.copy(source / name, to / "images" / name)
        with Image.open(source / name) as picture:
            mask = Image.new("L", picture.size, 0)
        for label, points in polygons:
            if label not in labels:
                labels.append(label)
            ImageDraw.Draw(mask).polygon(points, fill=labels.index(label))
        mask.save(to / "masks" / f"{Path(name).stem}.png")


def spec(data: Path, run_folder: Path, parameters: dict) -> Path:
    """The description of a run on the files below ``data``."""
    inputs = []
    for i, file in enumerate(sorted(f for f in data.rglob("*") if f.is_file())):
        name = file.relative_to(data).as_posix()
        place = run_folder / "inputs" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        inputs.append({"id": f"f{i}", "name": name, "path": name, "size": file.stat().st_size, "sha256": digest})
    head = {"schema": 2, "run": run_folder.name, "attempt": 1, "dataset": {"id": "d", "name": "bench"}, "inputs": inputs}
    written = {**head, "kind": "train", "parameters": parameters, "defaults": {"max_minutes": 60}}
    (run_folder / "spec.json").write_text(json.dumps(written))
    return run_folder / "spec.json"


def against_background(folder: Path, labels: list[str]) -> float:
    """The overlap of all other classes together against the first one, from the matrix of the report."""
    result = json.loads((folder / "result.json").read_text())
    matrix = next(b["matrix"] for s in result["sections"] for b in s["blocks"] if b["type"] == "matrix")
    counts = numpy.asarray(matrix["counts"])
    return float(counts[1:, 1:].sum() / (counts.sum() - counts[0, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=0)
    chosen = parser.parse_args()

    from trainer.run import run

    with tempfile.TemporaryDirectory() as place:
        data, folder, labels = Path(place) / "data", Path(place) / "run", ["background"]
        make(chosen.train, data / "train", labels)
        make(chosen.test, data / "test", labels)
        (data / "classes.txt").write_text("\n".join(labels) + "\n")
        folder.mkdir()
        parameters = {"seed": str(chosen.seed), "more_options": f"max_minutes: {chosen.minutes}"}
        if chosen.epochs:
            parameters["epochs"] = str(chosen.epochs)
        began = time.monotonic()
        if run(str(spec(data, folder, parameters)), "local") != 0:
            sys.exit("the training failed")
        seconds = time.monotonic() - began
        metrics = json.loads((folder / "result.json").read_text())["metrics"]
        rows = [("network", metrics["test"]), *((b["title"], b["test"]) for b in metrics["baselines"])]
        written = csv.writer(sys.stdout)
        written.writerow(["model", "mean IoU", "low", "high", "pixel accuracy"])
        for title, scores in rows:
            iou = scores["mean_iou"]
            written.writerow([title, *(f"{iou[n]:.3f}" for n in ("value", "low", "high")), f"{scores['pixel_accuracy']['value']:.3f}"])
        print(f"all classes against {labels[0]}: {against_background(folder, labels):.3f}; {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
