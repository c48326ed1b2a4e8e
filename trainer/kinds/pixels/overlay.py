"""The picture that shows what a model answers for pixels: truth beside answer in a training, the answer over the picture in a prediction."""

import base64
import io
import re
from pathlib import Path

import numpy
from PIL import Image

from trainer.data.pictures import colours
from trainer.data.pictures.colours import NAMES, PALETTE, SCALE
from trainer.errors import some
from trainer.export import sheet
from trainer.export.finished import Answered, Finished
from trainer.export.sheet import Panel
from trainer.kinds.pixels import shown
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.target import PixelClasses

FOLDER = "drawn"  # in the folder of a start: a picture for each of the first examples
SIDE = 1024  # pixels of the longer side of such a picture
_GROUND = (245, 245, 245)  # of the first class in the legend: it has no colour in pictures
_FILE = re.compile(r"[0-9]+\.png")


def draw(folder: Path, number: int, pixels: numpy.ndarray, answer: numpy.ndarray, target: PixelClasses | PixelNumbers) -> None:
    """Draw the answer for the example ``number`` into a file below ``folder``. ``pixels`` are numbers of 8 bits (height x width x bands)."""
    step = every(answer.shape)
    drawn = shown.overlaid(shown.seen(pixels[::step, ::step]), numpy.asarray(answer[::step, ::step]), target)
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
            said = f"{_name(pictures[window.picture].file)}: truth" if window.sort == shown.TRUTH else "answer"
            panels.append(Panel(Image.open(io.BytesIO(base64.b64decode(window.png))), said))
    text = f"Typical windows of test pictures: on the left what is right, on the right what the model answers. {words(target)}"
    return sheet.write(finished.folder.parent, panels, 2, legend(target), text)


def of_prediction(answered: Answered, work: Path, out: Path) -> dict[str, dict]:
    """Write the picture of the first answers, which workers and driver have drawn below ``work``. Gives what is told of it."""
    folder = work / FOLDER
    numbers = sorted(int(f.stem) for f in folder.iterdir() if _FILE.fullmatch(f.name)) if folder.is_dir() else []
    panels = []
    for number in numbers[: sheet.MOST]:
        with Image.open(folder / f"{number}.png") as image:
            panels.append(Panel(image.convert("RGB"), _name(answered.examples[number].file)))
    text = f"The answers for {some([answered.examples[n].file for n in numbers[: sheet.MOST]])}. {words(answered.target)}"
    return sheet.write(out, panels, min(2, len(panels)) or 1, legend(answered.target), text)


def legend(target) -> list[tuple[sheet.Colour, str]]:
    if isinstance(target, PixelClasses):
        return [(_GROUND if i == 0 else PALETTE[(i - 1) % len(PALETTE)], label) for i, label in enumerate(target.labels)]
    low, high = shown.range_of(target)
    steps = [(colour, f"{low + (high - low) * i / (len(SCALE) - 1):.4g}") for i, colour in enumerate(SCALE)]
    return [*steps, (colours.NO_DATA, "no data")]


def words(target) -> str:
    """What the colours mean."""
    if not isinstance(target, PixelClasses):
        low, high = shown.range_of(target)
        return f"Dark blue is {low:.4g} or less, yellow is {high:.4g} or more, grey is unknown."
    said = [f"{NAMES[i % len(NAMES)]} is {label}" for i, label in enumerate(target.labels[1:])]
    coloured = f"{some(said, 16)}; " if said else ""
    return f"{coloured[:1].upper()}{coloured[1:]}{target.labels[0]} has no colour, and unknown pixels are dark."


def _name(file: str) -> str:
    return file.rpartition("/")[2]
