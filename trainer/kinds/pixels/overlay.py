"""The picture that shows what a model answers for pixels: truth beside answer in a training, the answer over the picture in a prediction."""

import base64
import io
import re
from pathlib import Path

import numpy
from PIL import Image

from trainer.core.blocks import Block
from trainer.core.example import Example
from trainer.data import rasters
from trainer.data.pictures import colours
from trainer.data.pictures.colours import SCALE
from trainer.errors import some
from trainer.export import sheet
from trainer.export.finished import Answered, Finished
from trainer.export.sheet import Panel
from trainer.kinds.pixels import painted, shown
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.scenes import areas, units
from trainer.kinds.pixels.target import PixelClasses

FOLDER = "drawn"  # in the folder of a start: a picture for each of the first examples
SIDE = 1024  # pixels of the longer side of such a picture
_FILE = re.compile(r"[0-9]+\.png")


def draw(folder: Path, number: int, pixels: numpy.ndarray, answer: numpy.ndarray, target: PixelClasses | PixelNumbers) -> None:
    """Draw the answer for the example ``number`` into a file below ``folder``. ``pixels`` are what is seen of it (height x width x 3, uint8)."""
    step = every(answer.shape)
    drawn = shown.overlaid(pixels[::step, ::step], numpy.asarray(answer[::step, ::step]), target)
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(numpy.ascontiguousarray(drawn)).save(folder / f"{number}.png", "PNG")


def every(size: tuple[int, ...]) -> int:
    """Every how many pixels of a picture one is drawn."""
    return -(-max(size[:2]) // SIDE)


def of_training(finished: Finished) -> dict[str, dict]:
    """Write the picture of typical windows of the test pictures. Gives what is told of it; nothing where there are none."""
    target, test = finished.prepared.plan.target, finished.outcome.answers["test"]
    pictures, panels = finished.data.splits["test"], []
    for window in test.shown or ():
        if window.sort in (shown.TRUTH, shown.ANSWER):
            image = Image.open(io.BytesIO(base64.b64decode(window.png)))
            said = f"Truth: {_name(pictures[window.picture].file)}" if window.sort == shown.TRUTH else f"Answer ({_size(*image.size)})"
            panels.append(Panel(image, said))
    text = f"Typical windows of test pictures: on the left what is right, on the right what the model answers. {words(target)}"
    return sheet.write(finished.folder.parent, panels, 2, legend(target), text)


def of_prediction(answered: Answered, work: Path, out: Path) -> dict[str, dict]:
    """Write the picture of the first answers, which workers and driver have drawn below ``work``. Gives what is told of it."""
    drawn = _first(work)
    panels = [Panel(image, f"{_name(answered.examples[n].file)} ({_extent(answered.examples[n])})") for n, image in drawn]
    text = f"The answers for {some([answered.examples[n].file for n, _ in drawn])}. {words(answered.target)}"
    return sheet.write(out, panels, len(panels), legend(answered.target), text)


def in_report(answered: Answered, work: Path) -> list[Block]:
    """The same pictures for the report."""
    drawn = ((image, f"{answered.examples[n].file} ({_extent(answered.examples[n])})") for n, image in _first(work))
    return sheet.in_report("What the model answers", drawn, words(answered.target))


def _first(work: Path) -> list[tuple[int, Image.Image]]:
    """The first answers that were drawn, with the numbers of their examples."""
    folder = work / FOLDER
    numbers = sorted(int(f.stem) for f in folder.iterdir() if _FILE.fullmatch(f.name)) if folder.is_dir() else []
    found = []
    for number in numbers[: sheet.MOST]:
        with Image.open(folder / f"{number}.png") as image:
            found.append((number, image.convert("RGB")))
    return found


def legend(target) -> list[tuple[sheet.Colour, str]]:
    if isinstance(target, PixelClasses):
        paints = painted.of_target(target)
        named = [(paint or painted.GREY, label if paint else f"{label}: grey") for paint, label in zip(paints, target.labels)]
        return [*named, (shown.DARK, "no class or no data: dark")]
    low, high = shown.range_of(target)
    steps = [(colour, f"{low + (high - low) * i / (len(SCALE) - 1):.4g}") for i, colour in enumerate(SCALE)]
    return [*steps, (colours.NO_DATA, "no data")]


def words(target) -> str:
    """What the colours mean."""
    if not isinstance(target, PixelClasses):
        low, high = shown.range_of(target)
        return f"Dark violet is {low:.4g} or less, yellow is {high:.4g} or more, grey is unknown."
    ground = f"{target.labels[0]} is grey, and " if painted.has_ground(target.labels) else ""
    said = [f"{name} is {label}" for name, label in zip(painted.names_of(target), target.labels) if name and name != label]
    coloured = some(said, 16) or "the colours name the classes"
    own = " The colours are those of the masks." * painted.has_own(target)
    if target.colours and not own:
        own = " The delivered masks keep the colours of the training masks, which people could not tell apart here."
    again = " Several classes have the same colour." * (painted.repeat(target.labels) and not painted.has_own(target))
    return f"{coloured[:1].upper()}{coloured[1:]}; {ground}unknown pixels are dark.{own}{again}"


def _extent(example: Example) -> str:
    """How large a picture of a prediction is; of a scene on a plane of metres also there."""
    if not isinstance(example.content, units.Asked):
        return _size(*rasters.size(example.content.picture))
    scene = example.content.scene
    return ", ".join([_size(scene.width, scene.height), *areas.extent(scene)])


def _size(width: int, height: int) -> str:
    return f"{width:,} x {height:,} pixels"


def _name(file: str) -> str:
    return file.rpartition("/")[2]
