"""Measures a class for each pixel on pictures with masks or annotated outlines (two folders: to train on, and to test on), as a user's training does.

python test/bench/imagery.py --train FOLDER --test FOLDER [--minutes 20] [--seed 0] [--param NAME=VALUE] [--keep FOLDER]

Printed are the metrics of the network, the pixel forest and the most frequent class on the same test pictures, the overlap of all classes together
against the first one, and the time. The run folder is kept where a folder is named for it.
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

sys.path.insert(0, str(Path(__file__).parents[2]))

FILES = (".json", ".csv", ".txt", ".xml", ".yaml", ".names", ".npy", ".png", ".jpg", ".jpeg", ".tif", ".tiff")


def make(source: Path, to: Path) -> None:
    """Copy the pictures and what is beside them below ``to``."""
    for file in sorted(f for f in source.rglob("*") if f.suffix.lower() in FILES):
        place = to / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)


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


def against_first(result: dict) -> tuple[float, str]:
    """The overlap of all other classes together against the first one, from the matrix of the report, and the name of the first one."""
    matrix = next(b["matrix"] for s in result["sections"] for b in s["blocks"] if b["type"] == "matrix")
    counts = numpy.asarray(matrix["counts"])
    return float(counts[1:, 1:].sum() / (counts.sum() - counts[0, 0])), matrix["row_labels"][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()

    from trainer.run import run

    with tempfile.TemporaryDirectory() as place:
        data, folder = Path(place) / "data", (chosen.keep or Path(place)) / "run"
        make(chosen.train, data / "train")
        make(chosen.test, data / "test")
        folder.mkdir(parents=True)
        options = dict(p.partition("=")[::2] for p in chosen.param)
        parameters = {"seed": str(chosen.seed), "task": "image-segmentation", "more_options": f"max_minutes: {chosen.minutes}", **options}
        began = time.monotonic()
        if run(str(spec(data, folder, parameters)), "local") != 0:
            sys.exit("the training failed")
        seconds = time.monotonic() - began
        result = json.loads((folder / "result.json").read_text())
        metrics = result["metrics"]
        rows = [("network", metrics["test"]), *((b["title"], b["test"]) for b in metrics["baselines"])]
        written = csv.writer(sys.stdout)
        written.writerow(["model", "mean IoU", "low", "high", "pixel accuracy"])
        for title, scores in rows:
            iou = scores["mean_iou"]
            written.writerow([title, *(f"{iou[n]:.3f}" for n in ("value", "low", "high")), f"{scores['pixel_accuracy']['value']:.3f}"])
        overlap, first = against_first(result)
        print(f"all other classes against {first}: {overlap:.3f}; {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
