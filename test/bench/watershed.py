"""The AP of objects that a watershed cuts from the masks of a model of pixels, to compare outlines with: python watershed.py RUN.

RUN is the folder of a training of image-segmentation on annotated pictures, as `make bench-imagery KEEP=dir` leaves it in dir/run. Objects are the
basins of the distance to the background around its peaks, each with its most probable class and the mean probability of it.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy
import torch
from scipy import ndimage
from skimage import feature, measure, segmentation

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "trainer" / "tests")]

from loading import load  # noqa: E402

from trainer.config import spec as specs  # noqa: E402
from trainer.kinds.objects import looks, truth as truths  # noqa: E402
from trainer.kinds.objects.scores import Boxes, Matched  # noqa: E402
from trainer.kinds.objects.tasks import OUTLINES  # noqa: E402
from trainer.kinds.pixels import inference, network  # noqa: E402
from trainer.run_folder import files  # noqa: E402
from trainer.run_folder.events import Events  # noqa: E402

_SMOOTH = 2.0  # pixels of the distances
_APART = (8, 12, 20, 30)  # pixels between peaks that are tried; the best one is what counts
_LEAST = 200  # pixels of an object
_MOST = 100  # objects of a picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    folder = parser.parse_args().run
    with tempfile.TemporaryDirectory() as place:
        data = load(specs.load(folder / "spec.json"), Events(Path(place) / "events.jsonl", 1), task=OUTLINES)
    labels = files.read_json(folder / "out" / "model" / "labels.json")[1:]
    there = [truths.read(e.target, labels) for e in data.splits["test"]]
    model = network.load(folder / "out" / "model")
    masks = [probabilities(model, looks.read(e.content, e.file, None)) for e in data.splits["test"]]
    print("| pixels between peaks | AP50 | AP50:95 |\n|---|---|---|")
    for apart in _APART:
        tables = Matched(there, [objects(mask, apart) for mask in masks], len(labels), _MOST, outlined=True).tables()
        print(f"| {apart} | {tables.ap50:.3f} | {tables.ap:.3f} |", flush=True)


def probabilities(model, pixels: numpy.ndarray) -> numpy.ndarray:
    """Of each class at each pixel (height x width x classes)."""
    found = numpy.zeros((*pixels.shape[:2], model.outputs), numpy.float32)
    for rows, columns, logits in inference.answered(model, pixels, torch.device("cpu")):
        found[rows, columns] = logits.softmax(-1).numpy()
    return found


def objects(mask: numpy.ndarray, apart: int) -> Boxes:
    """The basins of a picture, the surest first."""
    inside = mask.argmax(axis=-1) > 0
    distance = ndimage.gaussian_filter(ndimage.distance_transform_edt(inside), _SMOOTH)
    peaks = feature.peak_local_max(distance, min_distance=apart, labels=ndimage.label(inside)[0], exclude_border=False)
    marked = numpy.zeros(inside.shape, int)
    marked[tuple(peaks.T)] = numpy.arange(1, len(peaks) + 1)
    basins = segmentation.watershed(-distance, marked, mask=inside)
    found = []
    for number, place in enumerate(ndimage.find_objects(basins), 1):
        if place is None or (basins[place] == number).sum() < _LEAST:
            continue
        mine = basins[place] == number
        likely = mask[place][mine].mean(axis=0)[1:]
        ring = max(measure.find_contours(numpy.pad(mine, 1).astype(numpy.float32), 0.5), key=len)[:-1, ::-1] - 0.5
        found.append((int(likely.argmax()), float(likely.max()), ring + numpy.asarray([place[1].start, place[0].start])))
    found = sorted(found, key=lambda o: -o[1])
    boxes = numpy.asarray([[*ring.min(axis=0), *ring.max(axis=0)] for _, _, ring in found]).reshape(-1, 4)
    return Boxes(numpy.asarray([c for c, _, _ in found], int), numpy.asarray([s for _, s, _ in found]), boxes, tuple(ring for _, _, ring in found))


if __name__ == "__main__":
    main()
