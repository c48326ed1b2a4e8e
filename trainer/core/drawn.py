"""Parts of very many rows, drawn at random: by one seed always the same ones, in their order."""

from collections.abc import Sequence

import numpy

from trainer.core import by_blocks
from trainer.core.columnar import taken
from trainer.core.example import Example


def rows(of: int | numpy.ndarray, most: int, seed: int | numpy.random.Generator) -> numpy.ndarray:
    """At most ``most`` of the numbers ``of``, or of those below ``of``, in ascending order."""
    every = numpy.array(of) if isinstance(of, numpy.ndarray) else numpy.arange(of, dtype=by_blocks.positions(of))
    numpy.random.default_rng(seed).shuffle(every)  # as ``permutation`` does, which makes numbers of 64 bits
    return numpy.sort(every[:most])


def examples(of: Sequence[Example], most: int, seed: int | numpy.random.Generator) -> Sequence[Example]:
    """``of``, or ``most`` of them."""
    return of if len(of) <= most else taken(of, rows(len(of), most, seed))
