"""Measures a class for each pixel on pictures with masks or annotated outlines (two folders: to train on, and to test on), as a user's training does.

python test/bench/imagery.py --train FOLDER --test FOLDER [--minutes 20] [--seed 0] [--param NAME=VALUE] [--keep FOLDER]
python test/bench/imagery.py --made 200 [...]

With --made so many pictures of 256 x 256 pixels with masks are made, of which the training holds some out. Printed are the metrics of the network,
the pixel forest and the most frequent class on the same test pictures, the overlap of all classes together against the first one, and the time: of
the clock, and of processors, which tells more on a busy machine. The run folder is kept where a folder is named for it.
"""

import argparse
import csv
import hashlib
import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2]))

_SIDE = 256  # pixels of a made picture
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


def write_made(folder: Path, number: int) -> None:
    """Pictures of noise with discs and squares, and masks of three classes. The noise of a disc differs from that of a square in its colour alone."""
    random = numpy.random.default_rng(0)
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True)
    rows, columns = numpy.mgrid[:_SIDE, :_SIDE]
    for i in range(number):
        pixels, mask = random.normal(110, 25, (_SIDE, _SIDE, 3)), numpy.zeros((_SIDE, _SIDE), numpy.uint8)
        for _ in range(random.integers(1, 7)):
            kind, size, (y, x) = random.integers(1, 3), random.integers(10, 40), random.integers(0, _SIDE, 2)
            apart = numpy.abs(rows - y), numpy.abs(columns - x)
            mask[numpy.hypot(*apart) < size if kind == 1 else numpy.maximum(*apart) < size] = kind
        for kind, shift in ((1, (30, -10, 0)), (2, (-10, 30, 0))):
            pixels[mask == kind] += shift
        Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8)).save(folder / "images" / f"{i:04}.png")
        Image.fromarray(mask).save(folder / "masks" / f"{i:04}.png")


def processors() -> float:
    """Seconds of processors that this process and its children have used."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def against_first(result: dict) -> tuple[float, str]:
    """The overlap of all other classes together against the first one, from the matrix of the report, and the name of the first one."""
    matrix = next(b["matrix"] for s in result["sections"] for b in s["blocks"] if b["type"] == "matrix")
    counts = numpy.asarray(matrix["counts"])
    return float(counts[1:, 1:].sum() / (counts.sum() - counts[0, 0])), matrix["row_labels"][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--made", type=int, default=0)
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    if not chosen.made and not (chosen.train and chosen.test):
        parser.error("name the folders --train and --test, or a number with --made")

    from trainer.run import run

    with tempfile.TemporaryDirectory() as place:
        data, folder = Path(place) / "data", (chosen.keep or Path(place)) / "run"
        if chosen.made:
            write_made(data, chosen.made)
        else:
            make(chosen.train, data / "train")
            make(chosen.test, data / "test")
        folder.mkdir(parents=True)
        options = dict(p.partition("=")[::2] for p in chosen.param)
        parameters = {"seed": str(chosen.seed), "task": "image-segmentation", "more_options": f"max_minutes: {chosen.minutes}", **options}
        began, used = time.monotonic(), processors()
        if run(str(spec(data, folder, parameters)), "local") != 0:
            sys.exit("the training failed")
        seconds, used = time.monotonic() - began, processors() - used
        result = json.loads((folder / "result.json").read_text())
        metrics = result["metrics"]
        rows = [("network", metrics["test"]), *((b["title"], b["test"]) for b in metrics["baselines"])]
        written = csv.writer(sys.stdout)
        written.writerow(["model", "mean IoU", "low", "high", "pixel accuracy"])
        for title, scores in rows:
            iou = scores["mean_iou"]
            written.writerow([title, *(f"{iou[n]:.3f}" for n in ("value", "low", "high")), f"{scores['pixel_accuracy']['value']:.3f}"])
        overlap, first = against_first(result)
        print(f"all other classes against {first}: {overlap:.3f}; {seconds / 60:.1f} minutes, {used / 60:.1f} of processors")
        print(f"{result['training']['epochs']} epochs of {result['training']['steps']} steps in {result['training']['seconds'] / 60:.1f} minutes")


if __name__ == "__main__":
    main()
