"""Measures what a split of a scene promises: python scene_splits.py [--seeds 5] [--side 1536] [--epochs 12] [--folder FOLDER].

For each seed a scene is made whose light changes slowly from place to place, so that near pixels are alike. It is learnt from twice: as one
scene, whose parts are blocks of place with a gap, and as windows in files of their own, which are divided at random. Both models then answer for
another scene, which nobody has seen. The line of a seed has mean IoU on the test part and on the other scene, each way.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from scenes import ROOT, run_folder
from scipy.ndimage import gaussian_filter

BANDS, WINDOW = 3, 128
LIGHT, FORMS = 160, 10  # pixels over which the light changes, and of a form
STEPS = {"light": 500, "form": 260, "noise": 120}  # standard deviations in the unit of the bands


def ground(seed: int, side: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Bands (height x width x bands, uint16) and classes (height x width, uint8) of a scene."""
    chance = numpy.random.default_rng(seed)

    def soft(pixels: int) -> numpy.ndarray:
        field = gaussian_filter(chance.normal(size=(side, side)).astype(numpy.float32), pixels, mode="reflect")
        return (field - field.mean()) / field.std()

    form = soft(FORMS)
    bands = [3000 + STEPS["light"] * soft(LIGHT) + STEPS["form"] * form + STEPS["noise"] * chance.normal(size=form.shape) for _ in range(BANDS)]
    return numpy.stack(bands, axis=-1).clip(1, 65535).astype(numpy.uint16), (form > 0.5).astype(numpy.uint8)


def written(folder: Path, name: str, values: numpy.ndarray) -> Path:
    """A GeoTIFF of a part of a scene; bands are the last axis."""
    import rasterio

    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    bands = values[None] if values.ndim == 2 else numpy.moveaxis(values, -1, 0)
    profile = {"driver": "GTiff", "width": values.shape[1], "height": values.shape[0], "count": len(bands), "dtype": values.dtype}
    where = {"crs": "EPSG:3413", "transform": rasterio.Affine(0.5, 0, -2_000_000, 0, -0.5, 500_000)} if name.startswith("scene") else {}
    with rasterio.open(file, "w", **profile, **where, photometric="minisblack", compress="DEFLATE") as to:
        to.write(bands)
    return file


def _scene(folder: Path, bands: numpy.ndarray, classes: numpy.ndarray) -> dict[str, Path]:
    return {name: written(folder, name, values) for name, values in (("scene.tif", bands), ("scene-mask.tif", classes))}


def windows(folder: Path, bands: numpy.ndarray, classes: numpy.ndarray) -> dict[str, Path]:
    found = {}
    for top in range(0, len(bands), WINDOW):
        for left in range(0, len(bands), WINDOW):
            place = slice(top, top + WINDOW), slice(left, left + WINDOW)
            for kind, values in (("images", bands), ("masks", classes)):
                found[f"{kind}/{top}-{left}.tif"] = written(folder, f"{kind}/{top}-{left}.tif", values[place])
    return found


def mean_iou(folder: Path, name: str, dataset: dict[str, Path], kind: str, more: dict) -> float:
    """Run a training or a prediction, and give its mean IoU on test rows or on what is right for the new scene."""
    spec = run_folder(folder, name, dataset, kind, more)
    done = subprocess.run([sys.executable, "-m", "trainer", "run", "--launcher", "local", str(spec)], cwd=ROOT, stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{name} failed: {(spec.parent / 'error.json').read_text()}")
    result = json.loads((spec.parent / "result.json").read_text())
    scores = result["metrics"]["test"] if kind == "train" else result["prediction"]["scores"]
    return scores["mean_iou"]["value"]


def both(folder: Path, seed: int, side: int, epochs: int) -> dict[str, tuple[float, float]]:
    bands, classes = ground(seed, side)
    other = _scene(folder / "new", *ground(seed + 1000, side))
    ways = {"blocks": _scene(folder, bands, classes), "random": windows(folder, bands, classes)}
    found = {}
    for way, dataset in ways.items():
        parameters = {"epochs": str(epochs), "task": "image-segmentation", "seed": str(seed)}
        test = mean_iou(folder, f"train-{way}", dataset, "train", {"parameters": parameters, "defaults": {"max_minutes": 30}})
        model = {"path": f"../train-{way}/out/model", "run": f"train-{way}", "name": "m", "version": 1}
        found[way] = test, mean_iou(folder, f"predict-{way}", other, "predict", {"model": model})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--side", type=int, default=1536)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    apart: dict[str, list[float]] = {}
    print("| seed | split | test | another scene | difference |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="bench") as temporary:
        for seed in range(1, args.seeds + 1):
            for way, (test, new) in both((args.folder or Path(temporary)) / str(seed), seed, args.side, args.epochs).items():
                apart.setdefault(way, []).append(test - new)
                print(f"| {seed} | {way} | {test:.3f} | {new:.3f} | {test - new:+.3f} |", flush=True)
    for way, values in apart.items():
        print(f"{way}: the test part promises {numpy.mean(values):+.3f} more than another scene gives (at most {max(values, key=abs):+.3f})")


if __name__ == "__main__":
    main()
