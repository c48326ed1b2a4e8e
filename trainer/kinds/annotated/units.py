"""Numbers of annotations that are not in the unit or the form of their format: shares of the picture instead of pixels, corners instead of sizes."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainer.errors import UserError
from trainer.kinds.annotated.readers import Read
from trainer.kinds.annotated.shapes import Drawn

_SHARE = 1.01  # the largest coordinate in shares of the picture
_BEYOND = 0.02  # of the side of a picture: boxes that reach further beyond it are not drawn so
_CORNERS, _REACH = 0.99, 0.2  # shares of the boxes that are some as corners, and that reach beyond their picture as sizes
_FEWEST = 10  # boxes


def take_shares(read: Read) -> None:
    """Take coordinates for shares of the pictures where none is above 1 although the format has pixels."""
    entries = [listed for _, listed in read.listed if not listed.shares and listed.drawn]
    drawn = [d for listed in entries for d in listed.drawn]
    if not drawn or any(d.runs is not None for d in drawn):
        return
    numbers = [c for d in drawn for c in ((c for ring in d.rings for c in ring.ravel().tolist()) if d.rings else d.box or ())]
    if all(0 <= c <= _SHARE for c in numbers) and any(c % 1 for c in numbers):
        for listed in entries:
            listed.shares = True
            read.changed.add("coordinates from 0 to 1 are taken for shares of the pictures", next(iter(listed.names), ""))


@dataclass
class Corners:
    """Counts the boxes with a width and a height, those whose last two numbers may as well be a corner, and those that reach beyond their picture."""

    boxes: int = 0
    corners: int = 0
    beyond: int = 0

    def look(self, drawn: Iterable[Drawn], width: float, height: float) -> None:
        """Count the boxes of a picture of this size, in the unit of the boxes."""
        for d in drawn:
            if d.extent is None or d.box is None or d.rings:
                continue
            left, top, right, bottom = d.extent
            self.boxes += 1
            self.corners += left < right <= width * _SHARE and top < bottom <= height * _SHARE
            across, down = width * _BEYOND, height * _BEYOND
            self.beyond += min(d.box[0] + across, d.box[1] + down) < 0 or d.box[2] > width + across or d.box[3] > height + down

    def check(self, form: str) -> None:
        """Raise UserError where boxes are some only if their numbers are two corners."""
        if self.boxes >= _FEWEST and self.corners >= _CORNERS * self.boxes and self.beyond >= _REACH * self.boxes:
            raise UserError(
                "annotations_unclear",
                f"{self.beyond:,} of {self.boxes:,} boxes ({form}) reach beyond their picture if the last two numbers are a width and a "
                "height, as in this format, and none does if they are the lower right corner.",
                "Write boxes with a width and a height (YOLO: the middle first), or a table with xmin, ymin, xmax and ymax.",
            )
