"""Images: squares of pixels for a small residual network, or for an installed vision model."""

import concurrent.futures
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy
from PIL import Image

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.contract.training import LinearFeatures
from trainer.core.example import Dataset, Example
from trainer.core.plan import Rows
from trainer.data import rasters
from trainer.data.images import undecodable
from trainer.data.pictures import bands, squares
from trainer.errors import count
from trainer.kinds.image import looked
from trainer.kinds.image.looked import CLEAR
from trainer.models import processor
from trainer.models.catalogue import Base
from trainer.run_folder import files
from trainer.run_folder.events import Events

SIZES = (32, 64, 96, 128)  # for a model from scratch: the first one that is not smaller than a typical image
SAMPLE = 200
_HALF = (0.5, 0.5, 0.5)
_DECODERS = 8  # at a time: each may hold a large image
_PIXELS = 64  # values of an image for the linear baseline: a grid of 8 x 8


@dataclass(frozen=True)
class Images:
    """Pixels of many images (n x size x size x bands, 8 bit), in a file of the shared volume that every worker maps into memory. A few images
    can be ``held`` in memory instead."""

    file: str
    count: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    augmentation: str
    held: numpy.ndarray | None = None

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(self.count, dtype=numpy.int64)

    def pixels(self) -> numpy.ndarray:
        return numpy.load(self.file, mmap_mode="r") if self.held is None else self.held

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        pixels = self.pixels()[rows]
        if augment is not None and self.augmentation != "none":
            pixels = _varied(pixels, augment, strong=self.augmentation == "strong")
        values = (pixels.astype(numpy.float32) / 255 - numpy.asarray(self.mean, numpy.float32)) / numpy.asarray(self.std, numpy.float32)
        return {"pixel_values": values.transpose(0, 3, 1, 2)}  # channels stay last in memory, which convolutions are faster with


def _varied(pixels: numpy.ndarray, random: numpy.random.Generator, strong: bool) -> numpy.ndarray:
    """Each image shifted by up to an eighth of its side; strong also mirrors it and changes its brightness, which digits do not bear."""
    size = pixels.shape[1]
    room = max(1, size // 8)
    padded = numpy.pad(pixels, ((0, 0), (room, room), (room, room), (0, 0)), mode="edge")
    moves = random.integers(0, 2 * room + 1, size=(len(pixels), 2))
    moved = numpy.stack([p[y : y + size, x : x + size] for p, (y, x) in zip(padded, moves, strict=True)])
    if strong:
        mirrored = random.random(len(moved)) < 0.5
        moved[mirrored] = moved[mirrored, :, ::-1]
        light = random.uniform(0.8, 1.2, size=(len(moved), 1, 1, 1))
        moved = numpy.clip(moved * light, 0, 255).astype(numpy.uint8)
    return moved


class Encoder:
    """The common size and normalisation of all images."""

    def __init__(self, description: dict, folder: Path | None, augmentation: str = "none"):
        self.description, self.folder, self.augmentation = description, folder, augmentation
        self.size = description["image_size"]
        self.bands = bands.restored(description)
        self.shape = {"image_size": self.size, **({"bands": self.bands.count} if self.bands else {})}

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        """Decode and resize all images into a file of the shared volume; into memory where there is no folder."""
        mean, std = tuple(self.description["mean"]), tuple(self.description["std"])
        if self.folder is None:
            held = numpy.stack([self.square(e) for e in examples])
            return Rows(Images("", len(examples), mean, std, "none", held), targets)
        file = self.folder / f"{name}-{self.size}.npy"
        file.parent.mkdir(parents=True, exist_ok=True)
        pixels = numpy.lib.format.open_memmap(file, "w+", numpy.uint8, (len(examples), self.size, self.size, len(mean))) if examples else None

        def decode(i: int) -> None:
            pixels[i] = self.square(examples[i])

        with concurrent.futures.ThreadPoolExecutor(min(_DECODERS, len(os.sched_getaffinity(0)))) as pool:  # decoding releases the interpreter
            list(pool.map(decode, range(len(examples))))
        if pixels is not None:
            pixels.flush()
        augmentation = self.augmentation if training else "none"
        return Rows(Images(str(file), len(examples), mean, std, augmentation), targets)

    def square(self, example: Example) -> numpy.ndarray:
        """The pixels of one image. Raises UserError."""
        try:
            if self.bands is not None:
                return bands.square(example.content, example.file, self.size, self.bands)
            if not (form := rasters.form(example.content)).plain:
                raise bands.other_form(example.file, form.words, rasters.PLAIN)
            return squares.plain(rasters.rewound(example.content), self.size, clear=CLEAR in self.description)
        except (OSError, ValueError, SyntaxError) as e:
            raise undecodable(example.file, e) from e

    def forget(self) -> None:
        """Nothing is counted."""

    def described(self) -> dict:
        form = self.bands.words if self.bands else "8 bits, with grey where a pixel is clear" if CLEAR in self.description else ""
        return {"model": {"image_size": self.size, **({"image_form": form} if form else {})}, "data": {}, "encoder": self.description}

    def save(self, folder: Path) -> None:
        """The image processor as transformers reads it: resize, divide by 255, normalise."""
        files.write_json(
            folder / processor.PROCESSOR,
            {
                "image_processor_type": "ViTImageProcessor",
                "do_resize": True, "size": {"height": self.size, "width": self.size}, "resample": int(Image.Resampling.BILINEAR),
                "do_rescale": True, "rescale_factor": 1 / 255,
                "do_normalize": True, "image_mean": list(self.description["mean"]), "image_std": list(self.description["std"]),
                **{name: value for name, value in self.description.items() if name not in ("image_size", "mean", "std")},
            },
        )  # fmt: skip


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
    mean = std = _HALF
    if base.folder is not None:
        size, mean, std = _wanted(base)
        why = f"the model {base.name} reads images of {size} x {size} pixels"
    else:
        usual = _usual_side(data.splits["train"])
        size = next((s for s in SIZES if s >= usual), SIZES[-1])
        why = f"a typical image is {usual} pixels wide or high"
    if settings.image_size:
        size, why = max(32, settings.image_size), "as requested"
    settings = settings.with_chosen(image_size=size)
    if settings.augmentation == "auto":
        settings = settings.with_chosen(augmentation="light")
    events.decision("image_size", size, f"All images are resized to {size} x {size} pixels: {why}.")
    description = {"image_size": size, **looked.about(data.splits["train"], (mean, std), events)}
    if base.folder is not None and len(description["mean"]) != len(mean):
        events.decision(
            "first_layer", len(description["mean"]),
            f"The model {base.name} learnt from {len(mean)} colours. Its first layer is changed to read {count(len(description['mean']), 'band')}, "
            "each of which begins with the mean of the colours.",
        )  # fmt: skip
    made = Encoder(description, spec.work / "data", settings.augmentation)
    looked.warn_of_sameness(made, data.splits["train"], events)
    return made, settings


def load_encoder(spec: Spec | None, folder: Path, description: dict) -> Encoder:
    return Encoder(description, spec.work / "data" if spec else None)


def linear_features(rows: dict[str, Rows]) -> LinearFeatures:
    return LinearFeatures({n: _coarse(cast(Images, r.features)) for n, r in rows.items()}, None, "linear model on coarse pixels")


def _coarse(images: Images) -> numpy.ndarray:
    """Means over an 8 x 8 grid in grey, from 0 to 1."""
    if not images.count:
        return numpy.zeros((0, _PIXELS), numpy.float32)
    pixels = images.pixels()
    cell = pixels.shape[1] // 8
    grey = numpy.empty((images.count, _PIXELS), numpy.float32)
    for start in range(0, images.count, 1000):
        part = pixels[start : start + 1000, : 8 * cell, : 8 * cell].astype(numpy.float32).mean(axis=3) / 255
        grey[start : start + 1000] = part.reshape(len(part), 8, cell, 8, cell).mean(axis=(2, 4)).reshape(len(part), -1)
    return grey


def _usual_side(examples: Sequence[Example]) -> int:
    """The median of the longer sides, over a sample."""
    sides = []
    for example in examples[:: max(1, len(examples) // SAMPLE)]:
        sides.append(max(rasters.size(example.content)))
    return int(numpy.median(sides))


def _wanted(base: Base) -> tuple[int, tuple, tuple]:
    """Size and normalisation of an installed model, from its image processor."""
    assert base.folder is not None
    wants = files.read_json(base.folder / processor.PROCESSOR)
    return processor.size(base.folder, base.config), tuple(wants.get("image_mean", _HALF)), tuple(wants.get("image_std", _HALF))
