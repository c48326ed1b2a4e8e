"""Annotations of photos that EXIF turns: those of the picture as it is stored are turned with it."""

import json

import numpy
import pytest
from PIL import Image, ImageOps

from trainer.kinds.annotated import masks, runs, turning
from trainer.kinds.annotated.shapes import Drawn, Listed, Shape
from trainer.tests.zoo import reading, row

WIDTH, HEIGHT = 40, 24
PART = (slice(3, 9), slice(5, 20))
BOX = (5.0, 3.0, 20.0, 9.0)
RING = [(5, 3), (20, 3), (20, 9), (5, 9)]


def photo(file, orientation, light=255):
    """A picture whose bright part is that of the annotations."""
    pixels = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
    pixels[PART] = light
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(file, exif=exif)
    return numpy.asarray(ImageOps.exif_transpose(Image.open(file))) > 0


@pytest.mark.parametrize("orientation", turning.SIDES)
def test_shapes_turn_with_their_picture(tmp_path, orientation):
    seen = photo(tmp_path / "a.png", orientation)
    stored = numpy.zeros((HEIGHT, WIDTH), bool)
    stored[PART] = True
    drawn = [Drawn("ice", (numpy.asarray(RING, float),)), Drawn("ice", box=BOX), Drawn("ice", runs=runs.of_mask(stored))]
    listed = turning.turned(Listed(("a",), drawn, WIDTH, HEIGHT), orientation)
    outline, box, inside = listed.drawn
    assert (listed.height, listed.width) == seen.shape
    rows, columns = numpy.nonzero(seen)
    assert box.box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert (runs.mask(inside.runs) == seen).all()
    place, found = masks.part(Shape("ice", box.box, outline.rings), *seen.shape[::-1])
    assert seen[place].sum() == found.sum() == seen.sum() and (found == seen[place]).all()


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((HEIGHT, WIDTH), ""),
        ((WIDTH, HEIGHT), "are turned as EXIF shows the pictures"),
        (None, "are taken for those of the picture as EXIF shows it"),
    ],
)
def test_the_size_in_the_file_tells_the_frame(tmp_path, size, said):
    def made(folder):
        images, entries = [], []
        for i in range(12):
            photo(folder / f"{i}.png", 6, 100 + i)
            images.append({"id": i, "file_name": f"{i}.png", **({"width": size[0], "height": size[1]} if size else {})})
            ring = RING if size == (WIDTH, HEIGHT) else [(HEIGHT - y, x) for x, y in RING]
            entries.append({"id": i, "image_id": i, "category_id": 1, "segmentation": [[v for p in ring for v in p]]})
        document = {"images": images, "annotations": entries, "categories": [{"id": 1, "name": "ice"}]}
        (folder / "a.json").write_text(json.dumps(document))

    outcome = reading.read(row.Row("made", "", "", "", "", made, row.Reads(), settings={"task": "image-segmentation"}), tmp_path)
    assert outcome.error is None and said in " ".join(e["text"] for e in outcome.data.checks)
    assert (turning.UNCLEAR in outcome.said.get("annotations_repaired", "")) == (size is None)
    for example in (e for rows in outcome.data.splits.values() for e in rows):
        stored = numpy.zeros((HEIGHT, WIDTH), bool)
        stored[PART] = True
        assert (example.content.coding.read(example.content.mask) == stored).all()
