"""The part of the report of a prediction about pixels: how much of each class there is, and what the model answers in the first pictures."""

from pathlib import Path

import numpy

from trainer.core import blocks
from trainer.core.blocks import COUNT, RESULT, Block, Cell, Column, Section
from trainer.export.finished import Answered
from trainer.kinds.pixels import overlay, results
from trainer.kinds.pixels.scenes import units
from trainer.kinds.pixels.target import PixelClasses

_EACH = 10  # scenes with lines of their own
_ALL = "all"


def sections(answered: Answered, work: Path) -> list[Section]:
    """``work`` is the folder of the start, below which the first answers are drawn."""
    found = [*_areas(answered), *overlay.in_report(answered, work)]
    return [Section(RESULT, "Answers", found)] if found else []


def _areas(answered: Answered) -> list[Block]:
    """Pixels, share and square metres of each class: of all pictures together, and of each of the first scenes."""
    target, examples = answered.target, answered.examples
    if not isinstance(target, PixelClasses):
        return []
    counts = target.areas(answered.outputs)
    metres = numpy.asarray([results.metres(e) for e in examples])
    scenes = [i for i, e in enumerate(examples) if isinstance(e.content, units.Asked)][:_EACH] if len(examples) > 1 else []
    everything = numpy.arange(len(examples))
    groups = [*((examples[i].file, numpy.asarray([i])) for i in scenes), (_ALL if len(examples) > 1 else examples[0].file, everything)]
    rows = []
    for name, of in groups:
        total = max(1.0, counts[of].sum())
        known = bool(metres[of].all())
        for number, label in enumerate(target.labels):
            pixels = float(counts[of, number].sum())
            square = [Cell(value=round(float((counts[of, number] * metres[of]).sum()))) if known else Cell()] * bool(metres.any())
            rows.append([Cell(name), Cell(label), Cell(value=pixels), Cell(value=pixels / total), *square])
    columns = [Column("File"), Column("Class"), Column("Pixels", COUNT), Column("Share"), *[Column("Area in m²", COUNT)] * bool(metres.any())]
    note = "Pixels without data are in no class. predictions.csv has this for each file."
    if metres.any():
        note += " Areas are those in the plane of the reference system of the scene, and those on the ellipsoid where it has degrees."
    return [blocks.table("Areas of the classes", columns, rows, note=note)]
