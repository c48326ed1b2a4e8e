"""Pictures as a network gets them: scaled once, in one file that all workers map into memory; windows of them, varied, in training."""

from dataclasses import dataclass

import numpy
from PIL import Image

from trainer.data.pictures import turns
from trainer.kinds.objects import rendering
from trainer.kinds.objects.truth import Truth

PLAIN, LIGHT = "none", "light"  # augmentations; the other one is strong
GREY = 127  # around pictures that are smaller than the input
SPREAD = 64  # of values of 8 bits that become 1
_SCALES = (0.8, 1.25)  # of a picture in training
_LIGHT = 0.2  # by which share brightness and contrast of each band change
_ON_OBJECTS = 0.7  # share of the windows that are drawn around an object
_LEAST_SHARE = 0.3  # of an object in a window, from which it is one of its objects


@dataclass(frozen=True)
class Canvas:
    """The input of a network in pixels. ``window`` says that larger pictures are looked at in windows of this size and not made to fit."""

    height: int
    width: int
    window: bool = False

    @property
    def halo(self) -> int:
        """Pixels at the sides of a window whose answers are not used where there is a neighbour."""
        return min(self.height, self.width) // 4 // 32 * 32

    def padded(self, height: int, width: int) -> tuple[int, int]:
        """The size to which a picture is filled up, so that the grid of windows covers it, the same whatever pictures are beside it."""
        if not self.window or (height <= self.height and width <= self.width):
            return self.height, self.width
        return self._grid(height, self.height), self._grid(width, self.width)

    def _grid(self, side: int, window: int) -> int:
        step = window - 2 * self.halo
        return step * max(1, -(-(side - self.halo) // step)) + 2 * self.halo


@dataclass(frozen=True)
class Move:
    """Where the points of a picture (x, y) are in a window: ``factor`` times them plus ``shift``."""

    factor: numpy.ndarray
    shift: numpy.ndarray

    def points(self, points: numpy.ndarray) -> numpy.ndarray:
        return points * self.factor + self.shift

    def boxes(self, boxes: numpy.ndarray) -> numpy.ndarray:
        return numpy.concatenate([self.points(boxes[:, :2]), self.points(boxes[:, 2:])], axis=1)


@dataclass(frozen=True)
class Pictures:
    """Scaled pictures: ``originals`` are the heights and widths before, ``sizes`` those after scaling, ``starts`` where each begins in the file.
    ``truths`` are in pixels of the unscaled pictures. With ``varies`` they are for training; ``augmentation`` says how much they vary then."""

    file: str
    bands: int
    originals: numpy.ndarray
    sizes: numpy.ndarray
    starts: numpy.ndarray
    truths: numpy.ndarray
    labels: int
    canvas: Canvas
    varies: bool
    outlined: bool = False
    augmentation: str = "strong"
    held: numpy.ndarray | None = None
    matched: bool = False  # whether what is right are the objects one by one, for a model that matches them itself, and not maps

    @property
    def lengths(self) -> numpy.ndarray:
        """The pixels of the input, in inputs of the usual size."""
        if self.varies:
            return numpy.ones(len(self.sizes), numpy.int64)
        areas = [numpy.prod(self.canvas.padded(h, w)) for h, w in self.sizes]
        return numpy.maximum(1, numpy.asarray(areas, numpy.int64).reshape(-1) // (self.canvas.height * self.canvas.width))

    def picture(self, row: int) -> numpy.ndarray:
        """One scaled picture (height x width x bands, 8 bits)."""
        height, width = self.sizes[row]
        values = numpy.load(self.file, mmap_mode="r") if self.held is None else self.held
        start = int(self.starts[row])
        return values[start : start + int(height) * int(width) * self.bands].reshape(int(height), int(width), self.bands)

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        """The inputs for ``rows``; in training with what is right for each of their places, or with their objects one by one: the label, -1 where a
        picture has fewer than others, then middle, width and height as shares of the input (rows x objects x 5), or the places of the outline
        (rows x objects x (1 + places))."""
        if augment is None:
            return self._whole(rows)
        shape = (self.canvas.height, self.canvas.width)
        pixels = numpy.full((len(rows), *shape, self.bands), GREY, numpy.uint8)
        truth = []
        for one, row in zip(pixels, rows):
            there: Truth = self.truths[row]
            scale, size = (self.sizes[row] / self.originals[row])[::-1], self.sizes[row]
            turn = self._turn(augment)
            turned = turn.boxes(there.boxes * numpy.tile(scale, 2), *size)
            move = self._drawn(one, turn.pixels(self.picture(row)), turned, augment)
            boxes, kept, counted = _within(move.boxes(turned), there.counted, *shape)
            rings = None
            if self.outlined:
                limits = (self.canvas.width, self.canvas.height)
                rings = [numpy.clip(move.points(turn.points(there.rings[i] * scale, *size)), 0, limits) for i in numpy.flatnonzero(kept)]
            if self.matched and rings is not None:
                truth.append(rendering.masks(there.classes[kept][counted], [r for r, c in zip(rings, counted) if c], *shape))
            elif self.matched:
                truth.append(_shares(there.classes[kept][counted], boxes[counted], *shape))
            else:
                truth.append(rendering.maps(there.classes[kept], boxes, counted, self.labels, *shape, rings))
        return {"pixels": _values(pixels), "truth": _padded(truth) if self.matched else numpy.stack(truth)}

    def _whole(self, rows: numpy.ndarray) -> dict[str, numpy.ndarray]:
        sizes = [self.canvas.padded(*self.sizes[row]) for row in rows]
        pixels = numpy.full((len(rows), max(h for h, _ in sizes), max(w for _, w in sizes), self.bands), GREY, numpy.uint8)
        places = numpy.zeros((len(rows), 3), numpy.float32)
        for i, row in enumerate(rows):
            picture = self.picture(row)
            pixels[i, : picture.shape[0], : picture.shape[1]] = picture
            height, width = self.originals[row]
            places[i] = self.sizes[row][1] / width, width, height
        return {"pixels": _values(pixels), "places": places}

    def _turn(self, random: numpy.random.Generator) -> turns.Turn:
        """By quarters only where the input is as wide as high: turned pictures fit into it as before."""
        if self.augmentation == PLAIN:
            return turns.NONE
        if self.augmentation == LIGHT:
            return turns.Turn(0, bool(random.integers(2)))
        return turns.Turn.drawn(random, quarters=self.canvas.height == self.canvas.width)

    def _drawn(self, window: numpy.ndarray, picture: numpy.ndarray, boxes: numpy.ndarray, random: numpy.random.Generator) -> "Move":
        """Put a varied part of ``picture`` into ``window``, and return how its points move. ``boxes`` are those of its objects."""
        low, high = numpy.log(_SCALES)
        factor = 1.0 if self.augmentation == PLAIN else float(numpy.exp(random.uniform(low, high)))
        height, width = (max(1, round(side * factor)) for side in picture.shape[:2])
        across, down = width / picture.shape[1], height / picture.shape[0]
        larger = boxes * (across, down, across, down)
        # Where the window lies in the picture; negative where the picture is smaller, and lies in the window.
        top, left = (_place(random, side, room) for side, room in ((height, window.shape[0]), (width, window.shape[1])))
        if len(larger) and random.random() < _ON_OBJECTS and (height > window.shape[0] or width > window.shape[1]):
            box = larger[int(random.integers(len(larger)))]
            top, left = _around(random, box[1], box[3], height, window.shape[0], top), _around(random, box[0], box[2], width, window.shape[1], left)
        part, y, x = _part(picture, top, left, height, width, window.shape)
        window[y : y + part.shape[0], x : x + part.shape[1]] = part
        move = Move(numpy.asarray([across, down]), numpy.asarray([-left, -top], numpy.float64))
        if self.augmentation != PLAIN:
            _light(window, random)
        return move


def _light(window: numpy.ndarray, random: numpy.random.Generator) -> None:
    """Change the brightness and the contrast of each band of a window."""
    bands = window.shape[2]
    contrast = random.uniform(1 - _LIGHT, 1 + _LIGHT, bands) * random.uniform(1 - _LIGHT, 1 + _LIGHT)
    shift = random.uniform(-_LIGHT, _LIGHT) * GREY / 2
    levels = numpy.arange(256.0)[:, None]
    table = numpy.clip((levels - GREY) * contrast + GREY + shift, 0, 255).astype(numpy.uint8)
    for band in range(bands):
        window[..., band] = table[window[..., band], band]


def _place(random: numpy.random.Generator, side: int, room: int) -> int:
    return int(random.integers(0, side - room + 1)) if side > room else -int(random.integers(0, room - side + 1))


def _around(random: numpy.random.Generator, low: float, high: float, side: int, room: int, otherwise: int) -> int:
    """Where a window begins that holds the middle of an object; unchanged where the picture is not larger than it."""
    if side <= room:
        return otherwise
    middle = (low + high) / 2
    return int(numpy.clip(middle - random.uniform(0.1, 0.9) * room, 0, side - room))


def _part(picture: numpy.ndarray, top: int, left: int, height: int, width: int, room: tuple) -> tuple[numpy.ndarray, int, int]:
    """The part of ``picture``, scaled to ``height`` by ``width``, that a window shows, and where it lies in the window."""
    y, x = max(0, -top), max(0, -left)
    top, left = max(0, top), max(0, left)
    bottom, right = min(height, top + room[0] - y), min(width, left + room[1] - x)
    across, down = picture.shape[1] / width, picture.shape[0] / height
    box = (left * across, top * down, right * across, bottom * down)
    size = (right - left, bottom - top)
    bands = [Image.fromarray(numpy.ascontiguousarray(picture[..., b])).resize(size, Image.Resampling.BILINEAR, box) for b in range(picture.shape[2])]
    return numpy.stack([numpy.asarray(b) for b in bands], axis=-1), y, x


def _within(boxes: numpy.ndarray, counted: numpy.ndarray, height: int, width: int) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """The boxes of the objects in a window, cut at its sides, which objects they are, and whether each counts: of one that lies mostly outside,
    the rest is to be ignored."""
    cut = numpy.clip(boxes, 0, (width, height, width, height))
    areas, inside = (numpy.prod(b[:, 2:] - b[:, :2], axis=1) for b in (boxes, cut))
    kept = inside > 1
    whole = inside >= _LEAST_SHARE * numpy.maximum(areas, 1e-6)
    return cut[kept], kept, (counted & whole)[kept]


def _shares(classes: numpy.ndarray, boxes: numpy.ndarray, height: int, width: int) -> numpy.ndarray:
    """The objects of a picture as a model with its own matching learns them (objects x 5)."""
    middle, size = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    return numpy.concatenate([classes[:, None], middle / (width, height), size / (width, height)], axis=1).astype(numpy.float32)


def _padded(listed: list[numpy.ndarray]) -> numpy.ndarray:
    found = numpy.full((len(listed), max(len(one) for one in listed), listed[0].shape[1]), -1, listed[0].dtype)
    for place, one in zip(found, listed):
        place[: len(one)] = one
    return found


def _values(pixels: numpy.ndarray) -> numpy.ndarray:
    """Pixels as numbers around 0, with the bands first; they stay last in memory, which convolutions are faster with."""
    return ((pixels.astype(numpy.float32) - GREY) / SPREAD).transpose(0, 3, 1, 2)
