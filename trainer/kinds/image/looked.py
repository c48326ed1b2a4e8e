"""What a look at a sample of the training pictures decides: how they are stored, what of them holds nothing to see, and whether they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from trainer.core.example import Example
from trainer.data import rasters
from trainer.data.images import opened, undecodable
from trainer.data.pictures import bands
from trainer.run_folder.events import Events

if TYPE_CHECKING:
    from trainer.kinds.image.encoder import Encoder

CLEAR = "clear"  # in the description of an encoder: what is clear in a picture is grey
SAMPLE = 50
SAME = 2.0  # standard deviation of the values from 0 to 255, below which the pictures hardly differ
_HALF = 0.5


def about(train: Sequence[Example], normal: tuple[tuple[float, ...], tuple[float, ...]], events: Events) -> dict:
    """The part of an encoder's description that the training pictures decide. ``normal`` is the mean and the deviation of plain colours."""
    sample = train[:: max(1, len(train) // bands.PICTURES)][: bands.PICTURES]
    forms = [rasters.form(e.content) for e in sample]
    mean, std = list(normal[0]), list(normal[1])
    if forms[0].plain:
        return {"mean": mean, "std": std, **_clear(sample, forms, events)}
    learnt, held = bands.learnt([(e.content, e.file) for e in train], forms[0])
    ranges = ", ".join(f"{low:.6g} to {high:.6g}" for low, high in list(zip(learnt.low, learnt.high))[:8])
    more = f" and {learnt.count - 8} more" if learnt.count > 8 else ""
    empty = f" {1 - held:.1%} of the values hold no data; they are grey." if held < 1 else ""
    events.decision(
        "bands", learnt.described(),
        f"The images have {learnt.words}. Each band is scaled from its values between the {bands.PERCENTILES[0]}st and the {bands.PERCENTILES[1]}th "
        f"percentile of training images ({ranges}{more}), in the same way in predictions.{empty}",
    )  # fmt: skip
    same = learnt.count == len(mean)
    return {"mean": mean if same else [_HALF] * learnt.count, "std": std if same else [_HALF] * learnt.count, **learnt.described()}


def _clear(sample: Sequence[Example], forms: list[rasters.Form], events: Events) -> dict:
    """The mark of a model that reads pictures with clear pixels; none where all pixels of the sample are to be seen."""
    clear = [e for e, form in zip(sample, forms) if form.clear]
    if not any(_has_clear(e) for e in clear):
        return {}
    events.decision(
        CLEAR, len(clear), f"{len(clear)} of {len(sample)} images have clear pixels or pixels without data, which are grey for the model."
    )
    return {CLEAR: rasters.GREY}


def _has_clear(example: Example) -> bool:
    """Whether some pixels of a plain picture are clear or hold no data. Raises UserError where it cannot be decoded."""
    try:
        with opened(example.content) as image:
            if image.format != "TIFF":
                return bool(numpy.asarray(image.convert("RGBA"))[..., 3].min() < 255)
        holds = rasters.values(example.content)[1]
    except (OSError, ValueError, SyntaxError) as e:
        raise undecodable(example.file, e) from e
    return holds is not None and bool(numpy.all(~holds, axis=2).any())


def warn_of_sameness(encoder: Encoder, train: Sequence[Example], events: Events) -> None:
    """Warn of pictures that a model cannot tell apart: their values, as it gets them, hardly differ."""
    sample = train[:: max(1, len(train) // SAMPLE)][:SAMPLE]
    values = numpy.stack([encoder.square(e) for e in sample])
    if values.std() < SAME:
        events.warning(
            "images_alike",
            f"The values of the images hardly differ: {values.min()} to {values.max()} of 0 to 255, with a standard deviation of {values.std():.2g}. "
            "Check how they were saved: measured values may have been cut off.",
        )
