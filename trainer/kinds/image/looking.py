"""Which squares of some test pictures the answers rest on, for the report."""

import math
import time

from trainer.answer.model import Network
from trainer.core import blocks
from trainer.core.blocks import RESULT, Overlay, Picture, Section
from trainer.core.contract.answering import Less
from trainer.core.example import Example
from trainer.data.pictures import thumbnails
from trainer.errors import UserError
from trainer.export import display
from trainer.export.finished import Finished
from trainer.kinds.image import results, without
from trainer.models import saved_model
from trainer.targets.explained import Explained

TITLE = "Where the model looks"
_PICTURES, _MARKED = 6, 3  # pictures, and squares that are marked in each
_SHARE, _LEAST, _MOST = 0.02, 0.5, 3.0  # of the seconds of the training, and their bounds
_FEWEST = 9  # squares: fewer are too coarse to show anything
_NOTE = (
    "The marked squares raise the answer most: it falls furthest when one of them is grey. Not marked are pictures whose answer no square raises. "
    "It says what the model uses, which may be the background."
)


def sections(finished: Finished) -> list[Section]:
    """The section with marked test pictures; none for models that answer no single pictures, or so slowly that a few squares take too long."""
    target = finished.prepared.plan.target
    if not isinstance(target, Explained) or not (finished.folder / saved_model.ONNX).is_file():
        return []
    try:
        return _sections(finished, target)
    except (UserError, OSError):  # a picture that cannot be read again
        return []


def _sections(finished: Finished, target: Explained) -> list[Section]:
    network = Network(finished.folder, saved_model.description(finished.folder))
    chosen = results.spread(finished.data.splits["test"])[:_PICTURES] if finished.data.splits["test"] else []
    if not chosen:
        return []
    network.outputs(chosen[:1])
    began = time.monotonic()
    network.outputs(chosen[:1])
    allowed = max(_LEAST, min(_MOST, _SHARE * finished.outcome.seconds)) / max(1e-6, time.monotonic() - began)
    if (most := int(allowed / len(chosen))) < _FEWEST:
        return []
    shown = [picture for e in chosen if (picture := _shown(network, target, e, most)) is not None]
    return [Section(RESULT, TITLE, [blocks.pictures("", shown, note=_NOTE)])] if shown else []


def _shown(network: Network, target: Explained, example: Example, most: int) -> Picture | None:
    whole, squares = without.squares(example, most)
    png = thumbnails.of(example.content)
    if not squares or png is None:
        return None
    outputs = network.outputs([whole, *(less.example for less in squares)])
    _, raised = target.raised(outputs[0], outputs[1:])
    answer = target.text(target.predicted(outputs[:1])[0])
    first = sorted(zip(raised.tolist(), squares, strict=True), key=lambda pair: -pair[0])[:_MARKED]
    return Picture(png, f"{display.short(example.target)}, answered {answer}", [_overlay(less) for by, less in first if by > 0 and math.isfinite(by)])


def _overlay(less: Less) -> Overlay:
    left, top, width, height = less.box
    return Overlay(left, top, width, height, mark="shown")
