"""Pictures turned by quarters and mirrored, for training, with what lies on them."""

from dataclasses import dataclass

import numpy


@dataclass(frozen=True)
class Turn:
    """``quarters`` to the left, then a mirror image along x where ``mirrored``."""

    quarters: int
    mirrored: bool

    @classmethod
    def drawn(cls, random: numpy.random.Generator, quarters: bool = True) -> "Turn":
        """One of all eight; without ``quarters`` one of the four that keep width and height."""
        turns = int(random.integers(4)) if quarters else 2 * int(random.integers(2))
        return cls(turns, bool(random.integers(2)))

    def pixels(self, picture: numpy.ndarray) -> numpy.ndarray:
        """A picture (height x width, or with bands behind them), as a view."""
        turned = numpy.rot90(picture, self.quarters)
        return turned[:, ::-1] if self.mirrored else turned

    def points(self, points: numpy.ndarray, height: float, width: float) -> numpy.ndarray:
        """Where points (n x 2, x and y) of a picture with this height and width are then."""
        x, y = points[:, 0], points[:, 1]
        x, y = ((x, y), (y, width - x), (width - x, height - y), (height - y, x))[self.quarters]
        if self.mirrored:
            x = (height if self.quarters % 2 else width) - x
        return numpy.stack([x, y], axis=1)

    def boxes(self, boxes: numpy.ndarray, height: float, width: float) -> numpy.ndarray:
        """The same for boxes (n x 4: left, top, right, bottom)."""
        a, b = self.points(boxes[:, :2], height, width), self.points(boxes[:, 2:], height, width)
        return numpy.concatenate([numpy.minimum(a, b), numpy.maximum(a, b)], axis=1)


NONE = Turn(0, False)
