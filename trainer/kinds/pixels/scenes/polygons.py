"""The classes of a map as polygons, by strips: what goes on in the next strip waits, and everything else is given out, so memory is bounded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy

MOST_CORNERS = 250_000  # of one polygon: a larger one is given out in parts, which are cut at strips, since uniting parts takes much memory
STRIP = 1 << 23  # pixels of a strip, about
_AT_ONCE, _CORNERS_AT_ONCE = 5000, 500_000  # polygons, and corners of them, that are given out together


@dataclass(frozen=True)
class Found:
    """Polygons in pixels (columns and rows as x and y). ``scores`` are means over their pixels, in the unit of what was given; ``parts`` says how
    many of them are parts of larger ones."""

    geometries: numpy.ndarray
    classes: numpy.ndarray
    pixels: numpy.ndarray
    scores: numpy.ndarray
    parts: int


@dataclass
class _Open:
    """A polygon that may go on: its pieces so far."""

    label: int
    pieces: list = field(default_factory=list)
    pixels: int = 0
    score: float = 0.0
    corners: int = 0


def strips(height: int, width: int) -> list[slice]:
    """The strips of a map."""
    rows = max(64, STRIP // width)
    return [slice(top, min(height, top + rows)) for top in range(0, height, rows)]


def polygons(parts: Iterable[tuple[numpy.ndarray, numpy.ndarray]], classes: int) -> Iterator[Found]:
    """The polygons of the classes from 1 to ``classes`` - 1 of a map. ``parts`` are its strips from the top, each with scores of its pixels.

    Pixels that touch at a corner alone are not joined. Holes are kept, and all polygons are valid.
    """
    traced = _Traced(classes)
    top = 0
    for values, scores in parts:
        traced.add(values, scores, top)
        top += len(values)
        yield from traced.given(False)
    yield from traced.given(True)


class _Traced:
    def __init__(self, classes: int):
        self.classes = classes
        self.open: dict[int, _Open] = {}
        self.done: list[_Open] = []
        self.corners = 0  # of those that are done
        self.above: numpy.ndarray | None = None  # which open polygon each pixel of the last row belongs to, from 1; 0 for none
        self.number = 0

    def add(self, values: numpy.ndarray, scores: numpy.ndarray, top: int) -> None:
        """Trace the next strip, whose first row is ``top``."""
        labels, count, of_label = _labelled(values, self.classes)
        if not count:
            self._close(set())
            self.above = None
            return
        pixels = numpy.bincount(labels.ravel(), minlength=count + 1)
        sums = numpy.bincount(labels.ravel(), weights=scores.ravel(), minlength=count + 1)
        names = self._joined(labels[0], of_label, count)
        for geometry, label in _shapes(labels, top):
            held = self.open.setdefault(names[label], _Open(int(of_label[label])))
            held.pieces.append(geometry)
            held.corners += _corners(geometry)
        for label in range(1, count + 1):
            held = self.open[names[label]]
            held.pixels += int(pixels[label])
            held.score += float(sums[label])
        self.above = numpy.asarray([0, *(names[label] for label in range(1, count + 1))])[labels[-1]]
        self._close(set(numpy.unique(self.above[self.above > 0]).tolist()))

    def _joined(self, first: numpy.ndarray, of_label: numpy.ndarray, count: int) -> list[int]:
        """The open polygon that each label of a strip belongs to. Open ones that meet in it become one."""
        parent: dict[int, int] = {}

        def root(name: int) -> int:
            while (up := parent.get(name, name)) != name:
                name = up
            return name

        names = [0, *range(self.number + 1, self.number + count + 1)]
        self.number += count
        if self.above is not None:
            touching = (self.above > 0) & (first > 0)
            pairs = numpy.unique(numpy.stack([self.above[touching], first[touching]]), axis=1).T if touching.any() else ()
            for upper, label in pairs:
                if self.open[int(upper)].label != of_label[label]:
                    continue
                a, b = root(int(upper)), root(names[label])
                if a != b:
                    parent[max(a, b)] = min(a, b)
        for name in sorted(parent):
            if name in self.open:
                self._merge(root(name), name)
        return [root(name) if name else 0 for name in names]

    def _merge(self, to: int, name: int) -> None:
        gone, kept = self.open.pop(name), self.open[to]
        kept.pieces += gone.pieces
        kept.pixels, kept.score, kept.corners = kept.pixels + gone.pixels, kept.score + gone.score, kept.corners + gone.corners

    def _close(self, going_on: set[int]) -> None:
        for name in [n for n in self.open if n not in going_on]:
            self._finish(self.open.pop(name))
        for name, held in self.open.items():
            if held.corners > MOST_CORNERS:
                self._finish(held)
                self.open[name] = _Open(held.label)

    def _finish(self, held: _Open) -> None:
        if held.pieces:
            self.done.append(held)
            self.corners += held.corners

    def given(self, all_of_them: bool) -> Iterator[Found]:
        """What is finished, some at a time."""
        if all_of_them:
            self._close(set())
        while self.done and (all_of_them or len(self.done) >= _AT_ONCE or self.corners >= _CORNERS_AT_ONCE):
            some: list[_Open] = []
            corners = 0
            while self.done and len(some) < _AT_ONCE and corners < _CORNERS_AT_ONCE:
                some.append(self.done.pop())
                corners += some[-1].corners
            self.corners -= corners
            yield _whole(some)


def _labelled(values: numpy.ndarray, classes: int) -> tuple[numpy.ndarray, int, numpy.ndarray]:
    """Connected pixels of one class with a number of their own, from 1; their count, and the class of each number."""
    from scipy import ndimage

    labels, count = numpy.zeros(values.shape, numpy.int32), 0
    of_label = [numpy.zeros(1, numpy.int64)]
    for label in range(1, classes):
        where = values == label
        if not where.any():
            continue
        found, number = ndimage.label(where)
        found[where] += count
        labels[where] = found[where]
        of_label.append(numpy.full(number, label))
        count += number
    return labels, count, numpy.concatenate(of_label)


def _shapes(labels: numpy.ndarray, top: int) -> Iterator[tuple]:
    """The polygon of each label."""
    import shapely
    from rasterio import features
    from rasterio.transform import Affine

    for shape, label in features.shapes(labels, labels > 0, 4, Affine.translation(0, top)):
        shell, *holes = shape["coordinates"]
        yield shapely.Polygon(shell, holes), int(label)


def _corners(geometry) -> int:
    import shapely

    return int(shapely.get_num_coordinates(geometry))


def _whole(some: list[_Open]) -> Found:
    """Polygons from their pieces, which share edges alone."""
    import shapely

    geometries = numpy.empty(len(some), object)
    parts = 0
    for number, held in enumerate(some):
        geometries[number] = held.pieces[0] if len(held.pieces) == 1 else shapely.union_all(held.pieces)
        parts += held.corners > MOST_CORNERS
    broken = ~shapely.is_valid(geometries)
    geometries[broken] = shapely.make_valid(geometries[broken])
    pixels = numpy.asarray([held.pixels for held in some], numpy.float64)
    scores = numpy.asarray([held.score for held in some]) / numpy.maximum(1, pixels)
    return Found(geometries, numpy.asarray([held.label for held in some], numpy.int64), pixels, scores, parts)
