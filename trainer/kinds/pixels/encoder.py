"""Pictures of any size and depth as numbers of 8 bits, and their masks as classes or numbers, in files that workers map into memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.example import Dataset, Example
from trainer.core.plan import Rows
from trainer.data import rasters
from trainer.data.images import opened, undecodable
from trainer.data.pictures import bands
from trainer.errors import count, some
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.codings import EMPTY, UNLABELLED
from trainer.kinds.pixels.windows import STEP_OF_INSTALLED, Windows, multiple
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

SIDES = (64, 128, 256)  # of windows: the largest that is not larger than a typical picture
STEPS = ((160, 1), (384, 2))  # typical sides up to which the network reads squares of so many pixels a side as one place
WHOLE = 768  # pixels of the longest side, up to which windows are whole pictures: a network that sees where a picture ends learns what is there
WINDOW_PIXELS = 8 * 256 * 256  # of a batch
COARSE = 4  # pixels a side of the squares of larger pictures: what they show is larger, and each step is faster by the square of it
COLOURS = "colours"  # in the description of models of plain pictures: what their bands are called
ANY_SIZE = "any_size"  # in the description: whether model.onnx reads pictures of any size, or those of the size of a window
_COLOURS = 3
_SAMPLE = 200


class Encoder:
    """How pictures and masks are read. ``folder`` is that of the files; None where single pictures are read."""

    def __init__(self, description: dict, folder: Path | None, augmentation: str = "none"):
        self.description, self.folder, self.augmentation = description, folder, augmentation
        self.bands = bands.restored(description)
        self.coding = codings.restored(description["coding"])
        count_of_bands = self.bands.count if self.bands else _COLOURS
        self.colours = tuple(description.get(COLOURS, ()))  # the names of the three bands of plain pictures, where they have some
        self.moved: list[str] = []  # pictures whose bands were put into other places, by their names
        self.outcome: Any = None  # of a prediction with scenes: where their answers are
        self.largest = 0 if description.get(ANY_SIZE, True) else description["side"]  # pixels of a side of a single picture; 0 for no limit
        self.shape = {"bands": count_of_bands, "step": description["step"], "side": description["side"]}

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the bands in the training pictures, or empty."""
        return self.bands.names if self.bands else self.colours

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        """Write all pictures and masks into two files. In training a picture has as many rows as windows cover it, else one. Raises UserError."""
        assert self.folder is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        files = self.folder / f"{name}-pixels.bin", self.folder / f"{name}-truth.bin"
        classes = len(self.coding.values) if isinstance(self.coding, codings.Classes) else 0
        sizes, bare = numpy.zeros((len(examples), 2), numpy.int64), numpy.zeros(len(examples), bool)
        with open(files[0], "wb") as pixels_file, open(files[1], "wb") as truth_file:
            for i, example in enumerate(examples):
                pixels, truth = self.read(example)
                sizes[i], bare[i] = pixels.shape[:2], bool(classes) and not numpy.any((truth > 0) & (truth < codings.MOST))
                pixels_file.write(numpy.ascontiguousarray(pixels).data)
                truth_file.write(numpy.ascontiguousarray(truth).data)
        side = self.description["side"]
        covering = numpy.ceil(sizes / side).prod(axis=1).astype(int) if training else numpy.ones(len(examples), int)
        owner = numpy.repeat(numpy.arange(len(examples)), covering)
        spread = (self.coding.mean, self.coding.std) if isinstance(self.coding, codings.Numbers) else (0.0, 1.0)
        windows = Windows(
            str(files[0]), str(files[1]), sizes, owner, side=side, classes=classes, spread=spread, bare=bare,
            bands=self.shape["bands"], step=self.shape["step"], augmentation=self.augmentation if training else "none", names=self.names,
        )  # fmt: skip
        return Rows(windows, numpy.asarray(targets, numpy.float64)[owner], owner if training else None)

    def read(self, example: Example) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The values of a picture (height x width x bands, uint8) and what is right for its pixels (see ``Windows``). Raises UserError."""
        picture, mask = example.content.picture, example.content.mask
        try:
            if self.bands is None:
                pixels, holds = self._plain(picture, example.file)
            else:
                raw, held = bands.values(picture, example.file, self.bands.count, self.bands.dtype, self.bands.names)
                if self.bands.names and bands.places(rasters.names(picture), self.bands.names):
                    self.moved.append(example.file)
                pixels, holds = bands.scaled(raw, held, self.bands), None if held is None else held.all(axis=2)
        except (OSError, ValueError, SyntaxError) as e:
            raise undecodable(example.file, e) from e
        of_classes = isinstance(self.coding, codings.Classes)
        try:
            if mask is not None:
                truth = self.coding.read(mask)
            else:
                truth = numpy.full(pixels.shape[:2], UNLABELLED if of_classes else numpy.nan, numpy.uint8 if of_classes else numpy.float32)
        except (OSError, ValueError, SyntaxError) as e:
            raise undecodable(example.target or example.file, e) from e
        if holds is not None:
            truth = numpy.where(holds, truth, EMPTY if of_classes else numpy.inf).astype(truth.dtype)
        return pixels, truth

    def _plain(self, picture: Path | BinaryIO, name: str) -> tuple[numpy.ndarray, numpy.ndarray | None]:
        """Red, green and blue of a plain picture, by the names of its bands where it has some."""
        pixels, holds = _colours(picture)
        own = rasters.names(picture) if self.colours else ()
        wanted = self.colours if len(own) == len(self.colours) else ()
        order = bands.order_of(f"The image {name or 'that was sent'}", (pixels.shape[2], "uint8"), own, wanted)
        if order:
            self.moved.append(name)
            pixels = pixels[..., list(order)]
        return pixels, holds

    def tell_of_moved(self, events: Events) -> None:
        """Say whose bands lie in another order than in the training."""
        moved = [*self.moved, *(s.name for s in (self.outcome.scenes if self.outcome else ()) if s.scene.order)]
        if moved:
            text = f"The bands of {some(moved, 5)} lie in other places than in the training, and are read by their names"
            events.warning("bands_moved", f"{text}: {some(self.names, 12)}.")

    def forget(self) -> None:
        """Nothing is counted."""

    def described(self) -> dict:
        named = f" ({some(self.colours)})" if self.colours else ""
        words = self.bands.words if self.bands else f"8 bits, as screens show them{named}"
        return {"model": {"image_form": words}, "data": {}, "encoder": self.description}

    def save(self, folder: Path) -> None:
        """Writes nothing: the description of the model says it all."""


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
    """The encoder, whose ranges of bands are those of the training pictures."""
    train = data.splits["train"]
    form = rasters.form(train[0].content.picture)
    description: dict = {}
    if not form.plain:
        learnt, held = bands.learnt([(e.content.picture, e.file) for e in train], form)
        description = learnt.described()
        empty = f" {1 - held:.1%} of the values hold no data; pixels without data are not learnt." if held < 1 else ""
        events.decision(
            "bands", description,
            f"The pictures have {learnt.words}. Each band is scaled from its values between the {bands.PERCENTILES[0]}st and the "
            f"{bands.PERCENTILES[1]}th percentile of the training data, in the same way in predictions.{empty}",
        )  # fmt: skip
    elif len(names := rasters.names(train[0].content.picture)) == _COLOURS:
        description[COLOURS] = list(names)
        events.decision("bands", list(names), f"The bands of the pictures are {some(names)}, and are read by their names in predictions, too.")
    sizes = _sizes(train)
    usual, longest = int(numpy.median(sizes.min(axis=1))), int(sizes.max())
    step = STEP_OF_INSTALLED if base.folder else next((step for most, step in STEPS if usual <= most), COARSE)
    whole = longest <= WHOLE and not settings.image_size
    side = next((s for s in reversed(SIDES) if s <= usual), SIDES[0])
    if whole:
        side = -(-longest // multiple(step)) * multiple(step)
    elif settings.image_size:
        side = max(SIDES[0], settings.image_size // SIDES[0] * SIDES[0])
    windows = int(numpy.ceil(sizes / side).prod(axis=1).sum() * len(train) / len(sizes))
    what = f"whole pictures, which are up to {longest} pixels wide or high" if whole else f"windows of {side} x {side} pixels"
    why = "as requested" if settings.image_size else f"a typical picture is {usual} pixels wide or high"
    around = " Half of them are drawn around pixels of other classes than the first." if data.labels and not whole else ""
    events.decision("window", side, f"The model learns from {what}, {count(windows, 'window')} in each epoch: {why}.{around}")
    if settings.augmentation == "auto":
        settings = settings.with_chosen(augmentation="strong")
    settings = settings.with_chosen(image_size=side)
    settings = settings.with_default(batch_size=int(numpy.clip(WINDOW_PIXELS // side**2, 2, 8)))
    number = description.get("bands", _COLOURS)
    if base.folder is not None and number != _COLOURS:
        events.decision(
            "first_layer", number,
            f"The model {base.name} learnt from {_COLOURS} colours. Its first layer is changed to read {count(number, 'band')}, "
            "each of which begins with the mean of the colours.",
        )  # fmt: skip
    # Whether an installed model answers the same in windows of another size depends on its family, so its model.onnx reads one size.
    description |= {"coding": train[0].content.coding.described(), "side": side, "step": step, ANY_SIZE: base.folder is None}
    return Encoder(description, spec.work / "data", settings.augmentation), settings


def load_encoder(spec: Spec | None, folder: Path, description: dict) -> Encoder:
    return Encoder(description, spec.work / "data" if spec else None)


def _colours(file: Path | BinaryIO) -> tuple[numpy.ndarray, numpy.ndarray | None]:
    """Red, green and blue of a plain picture in the places of its own pixels, and which of them are there to be seen; None for all."""
    clear = rasters.form(file).clear
    with opened(rasters.rewound(file)) as image:
        if clear and image.format != "TIFF":
            pixels = numpy.asarray(image.convert("RGBA"))
            return _hidden(pixels[..., :_COLOURS].copy(), pixels[..., _COLOURS] > 0)
        pixels = numpy.asarray(image.convert("RGB"))
    holds = rasters.values(file)[1] if clear else None
    return _hidden(pixels.copy(), ~numpy.all(~holds, axis=2)) if holds is not None else (pixels, None)


def _hidden(pixels: numpy.ndarray, holds: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray | None]:
    if holds.all():
        return pixels, None
    pixels[~holds] = rasters.GREY
    return pixels, holds


def _sizes(examples: Sequence[Example]) -> numpy.ndarray:
    """Widths and heights of a sample."""
    sample = examples[:: max(1, len(examples) // _SAMPLE)]
    return numpy.asarray([rasters.size(e.content.picture) for e in sample])
