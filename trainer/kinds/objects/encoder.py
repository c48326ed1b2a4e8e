"""From pictures to inputs of one size: how far they are scaled, and how their bands become 8 bits."""

import concurrent.futures
import os
from pathlib import Path
from typing import Any

import numpy
from PIL import Image

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.example import Dataset, Example
from trainer.core.plan import Rows
from trainer.data.images import undecodable
from trainer.data.pictures import bands
from trainer.errors import count
from trainer.kinds.annotated import matching
from trainer.kinds.objects import looks, truth as truths
from trainer.kinds.objects.pictures import PLAIN, Canvas, Pictures
from trainer.kinds.objects.tasks import OUTLINES
from trainer.models import training_length
from trainer.models.catalogue import Base
from trainer.run_folder import files
from trainer.run_folder.events import Events

FILE = "pictures.json"
_SIDES = (64, 96, 128, 192, 256, 320, 384, 448, 512, 640)  # of the input: the longest side of a whole picture
_WINDOW = 384  # the side of a window of larger pictures
_SEEN, _OUTLINED = 18.0, 28.0  # pixels that the smaller side of a typical object of the smallest label is to have; with outlines more
_LARGEST = 2.0  # factor by which small pictures are enlarged
_STEP = 32  # by which the network divides its input
_PASSES = 9_000  # inputs of a training of default length: some minutes of two cores with small inputs
_EPOCHS = (12, 150)
_PICTURE = 320 * 256  # pixels of the input with which that many are read
_DECODERS = 4
_COLOURS = 3


class Encoder:
    """The size of the input, the scale of pictures and the range of their bands."""

    def __init__(self, description: dict, labels: tuple[str, ...], folder: Path | None, augmentation: str = PLAIN):
        self.description, self.labels, self.folder, self.augmentation = description, labels, folder, augmentation
        self.canvas, self.outlined = Canvas(*description["canvas"]), bool(description["outlined"])
        self.bands = bands.restored(description)
        self.matched = bool(description.get("matched"))
        self.shape = {"bands": looks.count(self.bands), "canvas": description["canvas"], "typical": description["typical"]}

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        """Scale all pictures into one file of the shared volume; into memory where there is no folder. Raises UserError."""
        originals = numpy.asarray([_original(e) for e in examples], numpy.int64).reshape(-1, 2)
        sizes = numpy.asarray([self._size(*original) for original in originals], numpy.int64).reshape(-1, 2)
        numbers = sizes.prod(axis=1) * self.shape["bands"]
        starts = numpy.concatenate([[0], numpy.cumsum(numbers)]).astype(numpy.int64)
        file = None if self.folder is None else self.folder / f"{name}-{self.canvas.height}x{self.canvas.width}.npy"
        if file is None:
            values = numpy.zeros(int(starts[-1]), numpy.uint8)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            values = numpy.lib.format.open_memmap(file, "w+", numpy.uint8, (max(1, int(starts[-1])),))

        def decode(i: int) -> None:
            values[starts[i] : starts[i + 1]] = self._scaled(examples[i], *sizes[i]).ravel()

        with concurrent.futures.ThreadPoolExecutor(min(_DECODERS, len(os.sched_getaffinity(0)))) as pool:
            list(pool.map(decode, range(len(examples))))
        held = values if file is None else None
        features = Pictures(
            str(file or ""), self.shape["bands"], originals, sizes, starts, targets, len(self.labels), self.canvas, training, self.outlined,
            self.augmentation, held, self.matched,
        )  # fmt: skip
        return Rows(features, targets)

    def _size(self, height: int, width: int) -> tuple[int, int]:
        """The height and the width of a picture after scaling."""
        scale = _scale(height, width, self.description["scale"], self.canvas)
        return max(1, round(height * scale)), max(1, round(width * scale))

    def _scaled(self, example: Example, height: int, width: int) -> numpy.ndarray:
        try:
            pixels = looks.read(example.content, example.file, self.bands)
        except (OSError, ValueError, SyntaxError) as e:
            raise undecodable(example.file, e) from e
        size, kept = (int(width), int(height)), Image.Resampling
        scaled = [Image.fromarray(numpy.ascontiguousarray(pixels[..., b])).resize(size, kept.BOX if _shrinks(pixels, size) else kept.BILINEAR)
                  for b in range(pixels.shape[2])]  # fmt: skip
        return numpy.stack([numpy.asarray(b) for b in scaled], axis=-1)

    def forget(self) -> None:
        """Nothing is counted."""

    def described(self) -> dict:
        canvas = self.canvas
        how = "windows of" if canvas.window else "whole, scaled to"
        form = f"{how} {canvas.width} by {canvas.height} pixels"
        return {"model": {"image_form": form}, "data": {}, "encoder": self.description}

    def save(self, folder: Path) -> None:
        """What the lines of Python in the report need beside the weights."""
        files.write_json(folder / FILE, {**self.description, "labels": list(self.labels)})


def _shrinks(pixels: numpy.ndarray, size: tuple[int, int]) -> bool:
    return pixels.shape[1] > size[0]


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
    """The encoder, fitted on the training pictures, and the settings with the length of the training."""
    train = data.splits["train"]
    listed = [truths.read(e.target, data.labels) for e in train]
    outlined = data.task == OUTLINES
    scale, canvas, why = _chosen(listed, len(data.labels), _OUTLINED if outlined else _SEEN, whole=base.folder is not None)
    events.decision("input_size", [canvas.width, canvas.height], why)
    sides = [(t.boxes[:, 2:] - t.boxes[:, :2]).mean(axis=1) * _scale(t.height, t.width, scale, canvas) for t in listed]
    typical = max(2.0, round(float(numpy.median(numpy.concatenate(sides))) / 2, 2))
    ranges = looks.learnt([(e.content, e.file) for e in train], events)
    if base.folder is not None:
        _say_of_installed(base, listed, looks.count(ranges), events)
    described: dict[str, Any] = {
        "canvas": [canvas.height, canvas.width, canvas.window], "scale": scale, "typical": typical, "outlined": outlined,
        **(ranges.described() if ranges else {}), **({"matched": True} if base.folder is not None else {}),
    }  # fmt: skip
    settings = _augmented(settings, canvas, events)
    return Encoder(described, data.labels, spec.work / "encoded", settings.augmentation), _lengths(settings, len(train), canvas, events)


def _say_of_installed(base: Base, listed: list[truths.Truth], number: int, events: Events) -> None:
    """What the user is told of an installed model: bands that it did not learn, and more objects than it answers."""
    if number != _COLOURS:
        events.decision(
            "first_layer", number,
            f"The model {base.name} learnt from {_COLOURS} colours. Its first layer is changed to read {count(number, 'band')}, "
            "each of which begins with the mean of the colours.",
        )  # fmt: skip
    answered, most = base.config.get("num_queries"), max(int(t.counted.sum()) for t in listed)
    if isinstance(answered, int) and answered < most:
        events.warning(
            "objects_beyond_the_model",
            f"A training picture has {most} objects, and the model {base.name} finds at most {answered} in a picture. Choose another model where "
            "pictures have so many.",
        )  # fmt: skip


def _original(example: Example) -> tuple[int, int]:
    """The height and the width of an upright picture. Raises UserError."""
    try:
        width, height = matching.upright_size(example.content)
    except (OSError, ValueError, SyntaxError) as e:
        raise undecodable(example.file, e) from e
    return height, width


def _scale(height: int, width: int, scale: float, canvas: Canvas) -> float:
    """By how much a picture is scaled: as the input allows, or as all pictures where the input is a window of them."""
    return scale if canvas.window else min(canvas.height / height, canvas.width / width, _LARGEST)


def _chosen(listed: list[truths.Truth], labels: int, seen: float, whole: bool) -> tuple[float, Canvas, str]:
    """The scale, the input, and the reason: the smallest input in which objects of the smallest label are still seen. With ``whole`` it is never a
    window of a picture, but the largest input."""
    longest = float(numpy.median([max(t.width, t.height) for t in listed]))
    least = []
    for label in range(labels):
        sides = [(b[2:] - b[:2]).min() for t in listed for b in t.boxes[(t.classes == label) & t.counted]]
        least += [float(numpy.median(sides))] if sides else []
    needed = min(_LARGEST, seen / max(1.0, min(least, default=seen)))
    side = next((s for s in _SIDES if s >= needed * longest), _SIDES[-1] if whole else 0)
    small = f"Half of the objects of the smallest label are narrower than {min(least, default=0):.0f} pixels of their pictures"
    if not side:
        scale = min(1.0, needed) if needed < 1 else min(needed, _LARGEST)
        return scale, Canvas(_WINDOW, _WINDOW, True), (
            f"{small}, which are up to {max(max(t.width, t.height) for t in listed)} pixels long, so the model looks at windows of {_WINDOW} pixels "
            f"of pictures at {scale:.0%} of their size."
        )  # fmt: skip
    scale = side / longest
    height = max(t.height * min(scale, side / max(t.width, t.height)) for t in listed)
    width = max(t.width * min(scale, side / max(t.width, t.height)) for t in listed)
    canvas = Canvas(_whole(height), _whole(width))
    return 0.0, canvas, f"{small}, so whole pictures are scaled to {canvas.width} by {canvas.height} pixels."


def _whole(side: float) -> int:
    return _STEP * max(1, -(-round(side) // _STEP))


def _augmented(settings: Settings, canvas: Canvas, events: Events) -> Settings:
    if settings.augmentation != "auto":
        return settings
    turned = "turned by quarters" if canvas.height == canvas.width else "turned by half"
    events.decision(
        "augmentation", "strong",
        f"In training, pictures are scaled, lit, mirrored and {turned}, with their objects. Where up and down differ, set augmentation to light.",
    )  # fmt: skip
    return settings.with_chosen(augmentation="strong")


def _lengths(settings: Settings, pictures: int, canvas: Canvas, events: Events) -> Settings:
    """The settings with a batch size, epochs and patience where nobody chose them: a bounded number of pixels is read."""
    inputs = _PASSES * min(2.0, _PICTURE / (canvas.height * canvas.width))
    epochs = int(numpy.clip(round(inputs / max(1, pictures)), *_EPOCHS))
    why = f"The training reads the {pictures} training pictures {epochs} times, each time varied."
    return training_length.choose(settings.with_default(batch_size=8), epochs, why, 4, events)


def load_encoder(spec: Spec | None, folder: Path, description: dict) -> Encoder:
    """Without a spec, pictures are held in memory. Raises ValueError for a description that is none."""
    height, width, window = description["canvas"]
    if not (_STEP <= height <= 4096 and _STEP <= width <= 4096 and isinstance(window, bool)) or height % _STEP or width % _STEP:
        raise ValueError(f"its input has {width} x {height} pixels")
    labels = tuple(files.read_json(folder / FILE)["labels"])
    return Encoder(description, labels, spec.work / "encoded" if spec else None)
