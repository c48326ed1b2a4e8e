"""The objects of a picture as texts in answers to single requests."""

import json
from collections.abc import Sequence

from trainer.kinds.objects.scores import Boxes


def boxes(found: Boxes, labels: Sequence[str]) -> str:
    """The label, the score, and left, top, right and bottom in pixels of each."""
    listed = zip(found.classes, found.scores, found.boxes)
    return "; ".join(f"{labels[c]} {score:.2f} at {', '.join(f'{v:.0f}' for v in box)}" for c, score, box in listed)


def outlines(found: Boxes, labels: Sequence[str]) -> str:
    """JSON: the label and the points (x and y in pixels) of each, in the order of the boxes."""
    listed = [{"label": labels[c], "outline": ring.round().astype(int).tolist()} for c, ring in zip(found.classes, found.outlines)]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
