"""Measures the answers for a scene: python scenes.py [whole|workers|windows]... [--side 20000] [--rows 20000] [--tile 512] [--folder FOLDER].

whole     a prediction by the command of the trainer: pixels a second, and a second of processor time, and the peak memory of all of its
          processes together; then the polygons are held against the map: their areas, and whether all are valid
workers   pixels a second of one process with one thread, and of two at a time, on the first rows of the scene
windows   the share of pixels that windows answer as the whole part of 2048 x 2048 pixels does at once, 64 pixels from its border

The scene has 4 bands of 16 bits and soft forms in two classes. The model is trained on --tile x --tile pixels of the same ground for some epochs;
from 385 pixels on, its network reads squares of 4 x 4 pixels as one place, from 161 on of 2 x 2. --folder keeps all for the next call.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
BANDS, BLOCK, TILES, EPOCHS = 4, 512, 24, 10
GROUND = 64  # pixels of a form
SHARE = 1  # units that a process answers


def ground(top: int, left: int, height: int, width: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Bands (bands x height x width) and classes of a part of an endless ground, the same whatever part is asked for."""
    y, x = numpy.mgrid[top : top + height, left : left + width].astype(numpy.float32) / GROUND
    form = numpy.sin(x) * numpy.cos(0.7 * y) + 0.6 * numpy.sin(2.3 * x + y) + 0.3 * numpy.cos(3.1 * y - 1.7 * x)
    noise = numpy.random.default_rng([top, left]).normal(0, 150, (BANDS, height, width)).astype(numpy.float32)
    bands = 3000 + 400 * numpy.arange(1, BANDS + 1, dtype=numpy.float32)[:, None, None] * form + noise
    return bands.clip(1, 65535).astype(numpy.uint16), (form > 0.4).astype(numpy.uint8)


def scene(folder: Path, side: int, rows: int) -> Path:
    import rasterio
    from rasterio.windows import Window

    file = folder / f"scene-{side}-{rows}.tif"
    if file.exists():
        return file
    began, made = time.monotonic(), folder / "made.tif"
    profile = {"driver": "GTiff", "width": side, "height": rows, "count": BANDS, "dtype": "uint16", "crs": "EPSG:3413", "nodata": 0}
    stored = {"tiled": True, "blockxsize": BLOCK, "blockysize": BLOCK, "compress": "DEFLATE", "zlevel": 1, "predictor": 2, "BIGTIFF": "IF_SAFER"}
    transform = rasterio.Affine(0.5, 0, -2_000_000, 0, -0.5, 500_000)
    with rasterio.Env(GDAL_CACHEMAX=64 << 20), rasterio.open(made, "w", **profile, **stored, transform=transform, photometric="minisblack") as to:
        for top in range(0, rows, 1024):
            for left in range(0, side, 1024):
                height, width = min(1024, rows - top), min(1024, side - left)
                to.write(ground(top, left, height, width)[0], window=Window(left, top, width, height))
    made.rename(file)
    print(f"scene of {side} x {rows} x {BANDS} made in {time.monotonic() - began:.0f} s: {file.stat().st_size / 1e6:,.0f} MB", flush=True)
    return file


def run_folder(folder: Path, name: str, dataset: dict[str, Path], kind: str, more: dict) -> Path:
    """A run on files, as the service describes it; returns its spec.json."""
    place = folder / "runs" / name
    subprocess.run(["rm", "-rf", str(place)], check=True)
    inputs = []
    for i, (called, file) in enumerate(dataset.items()):
        to = place / "inputs" / called
        to.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, to)
        with open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        inputs.append({"id": f"f{i}", "name": called, "path": called, "size": file.stat().st_size, "sha256": digest})
    head = {"schema": 2, "run": name, "attempt": 1, "dataset": {"id": "d", "name": "bench"}, "inputs": inputs, "kind": kind}
    (place / "spec.json").write_text(json.dumps({**head, "parameters": {}, "defaults": {}, **more}))
    return place / "spec.json"


def model(folder: Path, tile: int) -> Path:
    """The folder of a model that is trained on tiles of the ground."""
    import tifffile

    place = folder / "runs" / f"train-{tile}"
    if (place / "result.json").exists():
        return place / "out" / "model"
    dataset = {}
    for i in range(TILES):
        bands, classes = ground(i * tile, 10_000_000, tile, tile)
        for name, values in ((f"images/{i}.tif", numpy.moveaxis(bands, 0, -1)), (f"masks/{i}.tif", classes)):
            file = folder / f"tiles-{tile}" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            tifffile.imwrite(file, values, photometric="minisblack", **({"planarconfig": "contig"} if values.ndim == 3 else {}))
            dataset[name] = file
    more = {"parameters": {"epochs": str(EPOCHS)}, "defaults": {"max_minutes": 30}}
    spec = run_folder(folder, f"train-{tile}", dataset, "train", more)
    subprocess.run([sys.executable, "-m", "trainer", "run", "--launcher", "local", str(spec)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    scores = json.loads((place / "result.json").read_text())["metrics"]["test"]
    print(f"model of tiles of {tile}: mean IoU {scores['mean_iou']['value']:.3f} on test tiles", flush=True)
    return place / "out" / "model"


class Memory:
    """The peak memory (proportional set size) of a process with all of its children, looked at five times a second."""

    def __init__(self, pid: int):
        self.peak, self.at, self._pid, self._over = 0, "", pid, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            now = sum(map(self._size, self._tree(self._pid)))
            if now > self.peak:
                self.peak, self.at = now, time.strftime("%H:%M:%S", time.gmtime())

    def _tree(self, pid: int) -> list[int]:
        try:
            children = [int(c) for task in Path(f"/proc/{pid}/task").iterdir() for c in (task / "children").read_text().split()]
        except OSError:
            return []
        return [pid, *(p for child in children for p in self._tree(child))]

    @staticmethod
    def _size(pid: int) -> int:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            return 0

    def end(self) -> int:
        self._over.set()
        self._thread.join()
        return self.peak


def whole(args, folder: Path) -> None:
    file = scene(folder, args.side, args.rows)
    trained = model(folder, args.tile)
    version = {"path": f"../{trained.parent.parent.name}/out/model", "run": trained.parent.parent.name, "name": "m", "version": 1}
    spec = run_folder(folder, "predict", {"scene.tif": file}, "predict", {"model": version})
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "trainer", "run", "--launcher", "local", str(spec)], cwd=ROOT, stdout=subprocess.DEVNULL)
    memory = Memory(process.pid)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds, peak = time.monotonic() - began, memory.end()
    if code != 0:
        sys.exit(f"the prediction failed with {code}")
    events = [json.loads(line) for line in (spec.parent / "events.jsonl").read_text().splitlines()]
    at = {e["phase"]: e["time"] for e in events if e["kind"] == "phase"}
    pixels = args.side * args.rows / 1e6
    rates = f"{pixels / seconds:.2f} Mpx/s, {pixels / spent:.2f} Mpx a processor second"
    print(
        f"whole: {seconds:.0f} s, {rates}, peak {peak / 2**30:.2f} GiB at {memory.at}; phases began at {at}",
        flush=True,
    )
    held_against_map(spec.parent / "out" / "answers", args.side, args.rows)


def held_against_map(answers: Path, side: int, rows: int) -> None:
    import geopandas
    import rasterio

    frame = geopandas.read_file(answers / "scene.gpkg")
    counted = 0
    with rasterio.open(answers / "scene.tif") as made:
        for top in range(0, rows, 2048):
            counted += int((made.read(1, window=((top, min(rows, top + 2048)), (0, side))) == 1).sum())
        each, layout = abs(made.transform.determinant), made.tags(ns="IMAGE_STRUCTURE").get("LAYOUT")
    apart = abs(frame.area.sum() / (counted * each) - 1)
    holes = sum(len(part.interiors) for g in frame.geometry for part in g.geoms)
    sizes = ", ".join(f"{f.name} {f.stat().st_size / 1e6:,.0f} MB" for f in sorted(answers.iterdir()))
    print(f"polygons: {len(frame):,}, {holes:,} holes, areas differ by {apart:.2e}, valid {frame.is_valid.mean():.4%}; {layout}; {sizes}", flush=True)


def loaded(folder: Path, args):
    """The model with how it reads scenes, and a question about the scene."""
    import torch

    torch.set_num_threads(1)
    from trainer.core import registry
    from trainer.data.scenes import opening
    from trainer.kinds.pixels import encoder
    from trainer.kinds.pixels.scenes import units
    from trainer.models import saved_model

    trained = model(folder, args.tile)
    described = saved_model.description(trained)["encoder"]
    how = encoder.Encoder(described, folder)
    one = units.Asked("scene.tif", opening.scene(scene(folder, args.side, args.rows)), None, "")
    made = tuple(units.of_scene(0, one.scene.width, one.scene.height, described["step"]))
    asked = units.Units(None, (one,), made, numpy.zeros(len(made), int), how.bands, described["step"], described["side"])
    return registry.of("pixels").load(trained), how, asked


def answer(folder: Path, args, rank: int, barrier, seconds, spent) -> None:
    import torch

    from trainer.core import registry
    from trainer.kinds.pixels.question import OfScenes
    from trainer.kinds.pixels.scenes import answering
    from trainer.models import saved_model
    from trainer.run_folder import lease

    network, how, asked = loaded(folder, args)
    target = registry.restored(saved_model.description(model(folder, args.tile))["target"])
    with tempfile.TemporaryDirectory() as place:
        work = lease.take(Path(place) / "work").folder
        question = OfScenes(Path(place), work, how.coding, ("0",))
        barrier.wait()
        began, used = time.monotonic(), time.process_time()
        for row in range(SHARE * rank, SHARE * (rank + 1)):
            answering.answer(network, asked, row, question, target, torch.device("cpu"))
        seconds[rank], spent[rank] = time.monotonic() - began, time.process_time() - used


def workers(args, folder: Path) -> None:
    model(folder, args.tile)
    scene(folder, args.side, args.rows)
    *_, asked = loaded(folder, args)
    rates, used = {}, {}
    for count in (1, 2):
        context = multiprocessing.get_context("spawn")
        barrier, seconds, spent = context.Barrier(count), context.Array("d", count), context.Array("d", count)
        running = [context.Process(target=answer, args=(folder, args, rank, barrier, seconds, spent)) for rank in range(count)]
        for process in running:
            process.start()
        for process in running:
            process.join()
        pixels = sum((u.rows.stop - u.rows.start) * (u.columns.stop - u.columns.start) for u in asked.units[: SHARE * count])
        rates[count] = pixels / max(seconds)
        used[count] = pixels / sum(spent)
    print(
        f"workers: {rates[1] / 1e6:.2f} Mpx/s with one, {rates[2] / 1e6:.2f} with two, {rates[2] / rates[1]:.2f} times as many; "
        f"a processor second {used[1] / 1e6:.2f} and {used[2] / 1e6:.2f} Mpx",
        flush=True,
    )


def windows(args, folder: Path) -> None:
    import torch

    from trainer.data.scenes import opening
    from trainer.kinds.pixels import inference
    from trainer.kinds.pixels.scenes import units

    network, _, asked = loaded(folder, args)
    network.eval()
    side = min(2048, args.side, args.rows)
    at = (min(args.side, args.rows) - side) // 64 * 64
    device = torch.device("cpu")
    core = max(128, units.CORE * asked.step // 4)
    units.CORE = core // asked.step
    with opening.opened(asked.scenes[0].scene.file) as dataset:
        pixels, _ = units.read(dataset, asked.scenes[0].scene, (slice(at, at + side), slice(at, at + side)), asked.form)
    once = inference.of_window(network, pixels, device).argmax(-1).numpy()
    found = numpy.zeros_like(once)
    for unit in units.of_scene(0, side, side, asked.step):
        for around, inner, place in units.windows(unit, side, side, asked.step):
            part = inference.of_window(network, pixels[around], device)[inner].argmax(-1).numpy()
            found[unit.rows, unit.columns][place] = part
    equal = (found == once)[64:-64, 64:-64].mean()
    print(f"windows of {core} pixels against {side} x {side} at once: {equal:.4%} equal, classes {numpy.bincount(once.ravel())}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", default=["windows", "workers", "whole"])
    parser.add_argument("--side", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=0, help="0 for as many as --side")
    parser.add_argument("--tile", type=int, default=512)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    args.rows = args.rows or args.side
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix="bench") as temporary:
        folder = args.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for figure in args.figures:
            {"whole": whole, "workers": workers, "windows": windows}[figure](args, folder)


if __name__ == "__main__":
    main()
