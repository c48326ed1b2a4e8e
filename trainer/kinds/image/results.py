"""Images in results: training pictures as the model gets them, thumbnails, and whole files to try the model with."""

import base64
import itertools
from collections.abc import Sequence

import numpy
from PIL import Image

from trainer.core import blocks
from trainer.core.blocks import DATA, Picture, Section
from trainer.core.example import Example
from trainer.data import rasters
from trainer.data.pictures import thumbnails
from trainer.errors import UserError
from trainer.export import display
from trainer.export.finished import Finished
from trainer.kinds.image.encoder import Encoder
from trainer.run_folder import files

SEEN = 12  # training pictures that the report shows
RANGES = 8  # bands whose ranges are written out
INPUT_BYTES = 64_000  # of an image to try: a larger one is left out, since a smaller copy could get another answer


def sections(finished: Finished) -> list[Section]:
    """How the training pictures are stored, what the model gets of them, and some as it gets them."""
    encoder = finished.prepared.encoder
    if not isinstance(encoder, Encoder):
        return []
    learnt = encoder.bands
    count = learnt.count if learnt else 3
    facts = {
        "Stored": learnt.words if learnt else rasters.form(finished.data.splits["train"][0].content).words,
        "The model reads": f"{encoder.size} by {encoder.size} pixels of {'1 band' if count == 1 else f'{count} bands'}",
    }
    if learnt:
        ranges = list(zip(learnt.low, learnt.high))
        facts |= {f"Range of band {n}": f"{low:.6g} to {high:.6g}" for n, (low, high) in enumerate(ranges[:RANGES], 1)}
    shown = [Picture(png, display.short(e.target)) for e in spread(finished.data.splits["train"]) if (png := _as_read(encoder, e))]
    note = "Augmentation is not shown." if finished.settings.augmentation != "none" else ""
    if count > 3:
        note = f"Bands 1, 2 and 3 of {count} are shown as red, green and blue. {note}".strip()
    seen = blocks.pictures("Training pictures as the model gets them", shown, note=note)
    return [Section(DATA, "Pictures", [blocks.facts(facts), *[seen] * bool(shown)])]


def spread(examples: Sequence[Example]) -> list[Example]:
    """Examples of each label in turn, where there are few labels; else one each of some labels or numbers, with even steps between them."""
    labels: dict[str, list[Example]] = {}
    for example in examples:
        labels.setdefault(example.target, []).append(example)
    if len(labels) <= SEEN:
        turns = itertools.zip_longest(*(labels[name] for name in sorted(labels)))
        return list(itertools.islice((e for turn in turns for e in turn if e is not None), SEEN))
    first = [each[0] for each in labels.values()]
    return [first[round(i)] for i in numpy.linspace(0, len(first) - 1, SEEN)]


def _as_read(encoder: Encoder, example: Example) -> str | None:
    """The picture after scaling, as a PNG in base64. Bands after the third are not in it."""
    try:
        pixels = encoder.square(example)
    except UserError:
        return None
    seen = pixels[..., :3] if pixels.shape[2] > 2 else pixels[..., 0]
    return thumbnails.png(Image.fromarray(numpy.ascontiguousarray(seen)))


def inputs(example: Example) -> dict[str, str] | None:
    """The file as it is, in base64."""
    try:
        return {"image": base64.b64encode(files.read_bytes(example.content, INPUT_BYTES)).decode()}
    except (OSError, ValueError):
        return None
