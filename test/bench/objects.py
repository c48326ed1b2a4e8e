"""Scores of trainings on annotated pictures that you have, as one table: python objects.py FOLDER... [--seeds 0,1,2] [--param epochs=25].

Each FOLDER is a dataset with annotations in a format that docs/objects.md names. Each line is a whole training by the command of the trainer:
the scores on the test pictures with their 95 % intervals, those of the best simple model, the minutes, and those that processors were busy.
With --made 200 a further line is of so many made pictures of 256 x 256 pixels, with outlines.
"""

import argparse
import hashlib
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter

ROOT = Path(__file__).resolve().parents[2]
_SIDE = 256  # pixels of a made picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--made", type=int, default=0)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--param", action="append", default=[])
    args = parser.parse_args()
    print("| set | seed | AP50 | AP50:95 | count error | best simple AP50 | minutes | busy |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="objects-") as temporary:
        folders = [*args.folders, *([made(Path(temporary) / f"{args.made} made pictures", args.made)] if args.made else [])]
        for folder in folders:
            for seed in (int(s) for s in args.seeds.split(",")):
                before = busy()
                result = trained(folder, seed, dict(p.split("=", 1) for p in args.param))
                print(line(folder, seed, result, busy() - before), flush=True)


def busy() -> float:
    """The processor seconds of the trainings so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def made(folder: Path, number: int, alike: bool = False, seed: int = 0) -> Path:
    """Pictures of blurred discs and squares on a spotted ground, some of which touch, with their outlines in COCO's form. ``alike`` gives both one
    colour, so that only their shapes tell them apart."""
    chance, images, entries = random.Random(seed), [], []
    folder.mkdir()
    for i in range(number):
        image = Image.effect_noise((_SIDE, _SIDE), 60).convert("RGB")
        pen = ImageDraw.Draw(image)
        for _ in range(chance.randint(4, 14)):
            half, x, y = chance.uniform(10, 26), chance.uniform(20, _SIDE - 20), chance.uniform(20, _SIDE - 20)
            sides, label = chance.choice(((24, 0), (4, 1)))
            ring = [(x + half * math.cos(2 * math.pi * k / sides + 0.8), y + half * math.sin(2 * math.pi * k / sides + 0.8)) for k in range(sides)]
            pen.polygon(ring, fill=((190, 90, 80), (90, 110, 190))[0 if alike else label], outline=(40, 40, 40))
            xs, ys = zip(*ring)
            entries.append({
                "id": len(entries), "image_id": i, "category_id": label, "iscrowd": 0, "segmentation": [[c for point in ring for c in point]],
                "bbox": [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)],
            })  # fmt: skip
        image.filter(ImageFilter.GaussianBlur(1)).save(folder / f"{i:04}.png")
        images.append({"id": i, "file_name": f"{i:04}.png", "width": _SIDE, "height": _SIDE})
    categories = [{"id": 0, "name": "disc"}, {"id": 1, "name": "square"}]
    (folder / "instances.json").write_text(json.dumps({"images": images, "annotations": entries, "categories": categories}))
    return folder


def line(folder: Path, seed: int, result: dict, seconds: float) -> str:
    test = result["metrics"]["test"]
    cells = [f"{test[n]['value']:.3f} ({test[n]['low']:.3f} to {test[n]['high']:.3f})" for n in ("ap50", "ap", "count_error")]
    simple = max(b["test"]["ap50"]["value"] for b in result["metrics"]["baselines"])
    return f"| {folder.name} | {seed} | {' | '.join(cells)} | {simple:.3f} | {result['seconds'] / 60:.1f} | {seconds / 60:.1f} |"


def trained(folder: Path, seed: int, parameters: dict[str, str], before: Callable[[Path], None] | None = None) -> dict:
    """The result of one training. ``before`` gets the folder of the installed models. Raises subprocess.CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="objects-") as temporary:
        run = Path(temporary) / "runs" / "ft-bench"
        if before is not None:
            before(Path(temporary) / "models")
        (run / "inputs").mkdir(parents=True)
        inputs = []
        for number, file in enumerate(sorted(f for f in folder.rglob("*") if f.is_file())):
            name, kept = file.relative_to(folder).as_posix(), f"{number}-{file.name}"
            os.symlink(file.resolve(), run / "inputs" / kept)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            inputs.append({"id": str(number), "name": name, "path": kept, "size": file.stat().st_size, "sha256": digest})
        typed = {name: int(value) if value.isdigit() else value for name, value in parameters.items()}
        spec = {
            "schema": 2, "run": run.name, "attempt": 1, "kind": "train", "dataset": {"id": "d", "name": folder.name}, "inputs": inputs,
            "parameters": {"seed": seed, **typed}, "defaults": {"max_minutes": 60},
        }  # fmt: skip
        (run / "spec.json").write_text(json.dumps(spec))
        command = [sys.executable, "-m", "trainer", "run", "--launcher", "local", str(run / "spec.json")]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
        return json.loads((run / "result.json").read_text())


if __name__ == "__main__":
    main()
