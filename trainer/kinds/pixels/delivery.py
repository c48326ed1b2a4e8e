"""The answers for pictures as files: a mask with a palette for each picture, or a raster of numbers. The service packs them."""

import re
from pathlib import Path

import numpy
from PIL import Image

from trainer.kinds.pixels import codings, painted
from trainer.kinds.pixels.codings import EMPTY, MOST

_BELOW = "answers"  # the folder below out/ that the service packs
_REFUSED = re.compile(r"[\x00-\x1f\x7f\\:]")  # in the names of files that the service takes


def write(folder: Path, number: int, answer: numpy.ndarray, coding: codings.Classes | codings.Numbers) -> None:
    """Write the answer for the picture ``number`` (height x width). Classes have the values of the masks that the model learnt from."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(coding, codings.Numbers):
        Image.fromarray(answer.astype(numpy.float32)).save(folder / f"{number}.tif", compression="tiff_deflate")
        return
    picture(answer, coding).save(folder / f"{number}.png", optimize=False)


def picture(answer: numpy.ndarray, coding: codings.Classes) -> Image.Image:
    """An answer of classes as a picture with a palette. Its values are those of the masks that the model learnt from."""
    values = written(coding)
    nothing = without_data(values)
    places = numpy.full(256, nothing, numpy.uint8)
    places[: len(values)] = values
    places[MOST:] = nothing
    image = Image.fromarray(places[answer])
    image.putpalette(palette(coding).tobytes())
    return image


def palette(coding: codings.Classes) -> numpy.ndarray:
    """The colour of each value of a delivered mask (256 x 3)."""
    colours = numpy.zeros((256, 3), numpy.uint8)
    paints = painted.colours_of(coding.labels or [codings.name(v, coding.values, coding.colours) for v in coding.values])
    for at, value in enumerate(written(coding)):
        colours[value] = codings.unpacked(numpy.asarray(coding.values[at])) if coding.colours else paints[at] or painted.LIGHT
    return colours


def written(coding: codings.Classes) -> tuple[int, ...]:
    """The value of each class in the delivered masks: that of the masks to learn from where it is a number of 8 bits, else its place."""
    fits = not coding.colours and all(0 <= v < EMPTY + 1 for v in coding.values)
    return coding.values if fits else tuple(range(len(coding.values)))


def without_data(values: tuple[int, ...]) -> int:
    """The value of pixels without data: the largest that no class has."""
    return next(v for v in range(EMPTY, -1, -1) if v not in values)


def hand_over(folder: Path, names: list[str], out: Path) -> dict[str, Path]:
    """Move the files in ``folder`` to the files that are delivered, under the names of the pictures. Gives their new places by their old names."""
    files: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        files.setdefault(file.name.partition(".")[0], []).append(file)
    taken: set[str] = set()
    moved: dict[str, Path] = {}
    for number, name in enumerate(names):
        own = {file: file.name.removeprefix(str(number)) for file in files[str(number)]}  # with the ends of their names
        plain = _REFUSED.sub("_", name)
        options = (plain.rpartition(".")[0] or plain, plain, f"{plain} {number}")
        inside = next(o for o in options if not any(f"{o}{end}".lower() in taken for end in own.values()))
        for file, end in own.items():
            taken.add(f"{inside}{end}".lower())
            target = out / _BELOW / f"{inside}{end}"
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)
            moved[file.name] = target
    return moved
