"""The shapes of annotated pictures: as a format lists them, and as kinds of data read them."""

from dataclasses import dataclass, field

import numpy

from trainer.core.input import Input

Box = tuple[float, float, float, float]  # left, top, right, bottom
NAMED = 5  # names that are kept of what was left out for one reason


@dataclass(frozen=True, slots=True)
class Runs:
    """A mask as run lengths: the pixels of ``counts`` are in turn outside and inside, column after column from the top left."""

    counts: numpy.ndarray
    height: int
    width: int


@dataclass(slots=True)
class Drawn:
    """One annotation as its file has it: rings of a polygon (each n x 2, x and y), a box, or runs. ``crowd`` is a region of many objects,
    ``difficult`` one that is not to be counted. ``extent`` are the four numbers of a box whose last two are its width and height in that format."""

    label: str
    rings: tuple[numpy.ndarray, ...] = ()
    box: Box | None = None
    runs: Runs | None = None
    crowd: bool = False
    difficult: bool = False
    extent: Box | None = None


@dataclass(slots=True)
class Listed:
    """One picture as a file of annotations lists it.

    ``names`` are those that it may have in the dataset, the likeliest first. ``width`` and ``height`` are 0 where the file does not tell them.
    With ``shares`` all coordinates are shares of the width and the height, otherwise pixels. ``part`` names the part of a video that the picture is
    a frame of; empty for other pictures.
    """

    names: tuple[str, ...]
    drawn: list[Drawn]
    width: float = 0
    height: float = 0
    split: str = ""
    shares: bool = False
    part: str = ""


class LeftOut:
    """What was left out or changed, by the reason: how often, and some names."""

    def __init__(self):
        self.counts: dict[str, int] = {}
        self.names: dict[str, list[str]] = {}

    def add(self, reason: str, name: str, number: int = 1) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + number
        listed = self.names.setdefault(reason, [])
        if len(listed) < NAMED and name not in listed:
            listed.append(name)


@dataclass(frozen=True, slots=True)
class Shape:
    """One object in pixels of its picture, inside of it.

    A polygon is what lies in one of ``rings`` and in none of ``holes``. Without rings and ``runs`` only the ``box`` is known.
    """

    label: str
    box: Box
    rings: tuple[numpy.ndarray, ...] = ()
    holes: tuple[numpy.ndarray, ...] = ()
    runs: Runs | None = None
    crowd: bool = False
    difficult: bool = False

    @property
    def has_outline(self) -> bool:
        return bool(self.rings) or self.runs is not None

    @property
    def counts(self) -> bool:
        """Whether the object is learnt and counted."""
        return not self.crowd and not self.difficult


@dataclass(slots=True)
class Picture:
    """One picture of the dataset with its shapes; none where it was annotated as empty. ``split`` is empty where nothing says one.
    Its size is that of the upright picture. ``part`` is that of a video, as ``Listed`` has it."""

    source: Input
    width: int
    height: int
    split: str
    shapes: list[Shape]
    part: str = ""


@dataclass
class Annotated:
    """The annotated pictures of a dataset.

    ``classes`` are in the order of the file, where it has one. ``left_out`` are annotations and pictures that are not used, ``changed`` those
    that are used after a repair. ``files`` are the names of all files that were read. ``not_annotated`` are pictures without annotations.
    """

    format: str
    pictures: list[Picture]
    classes: tuple[str, ...]
    left_out: LeftOut = field(default_factory=LeftOut)
    changed: LeftOut = field(default_factory=LeftOut)
    files: frozenset[str] = frozenset()
    not_annotated: tuple[Input, ...] = ()

    @property
    def has_outlines(self) -> bool:
        """Whether most objects have an outline and not only a box."""
        shapes = [s for p in self.pictures for s in p.shapes if s.counts]
        return 2 * sum(s.has_outline for s in shapes) > len(shapes)
