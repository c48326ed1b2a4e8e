"""The targets of examples, asked of all of them together: of columns without a list of a text for each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy

from trainer.core import by_blocks, columnar
from trainer.core.cells import Codes
from trainer.core.columnar import Columnar
from trainer.core.example import Example

if TYPE_CHECKING:
    from trainer.targets.target import Target

_BLOCK = 1 << 20  # examples at once


def have_targets(examples: Sequence[Example]) -> bool:
    """Whether any example has a target."""
    if isinstance(examples, Columnar):
        return any(map(any, columnar.in_blocks(examples.store.targets, examples.at)))
    return any(e.target for e in examples)


def counted_targets(examples: Sequence[Example]) -> Counter[str]:
    """How many examples have each target, in the order of the first of each."""
    found: Counter[str] = Counter()
    if not isinstance(examples, Columnar):
        found.update(columnar.targets(examples))
        return found
    for block in columnar.in_blocks(examples.store.targets, examples.at):
        found.update(block)
    return found


def target_codes(examples: Sequence[Example]) -> tuple[list[str], numpy.ndarray]:
    """Different targets, of which not all need occur, and for each example the number of its own among them."""
    if isinstance(examples, Columnar):
        return examples.store.targets.codes(examples.at)
    known: dict[str, int] = {}
    found = numpy.fromiter((known.setdefault(e.target, len(known)) for e in examples), numpy.int32, len(examples))
    return list(known), found


def target_numbers(examples: Sequence[Example]) -> numpy.ndarray:
    """The targets as float64."""
    if isinstance(examples, Columnar):
        return examples.store.targets.numbers(examples.at)
    return numpy.asarray([float(e.target) for e in examples], numpy.float64)


def known_places(examples: Sequence[Example], target: Target) -> numpy.ndarray:
    """The places of the examples whose target is known."""
    known = numpy.empty(len(examples), bool)
    step = _BLOCK if isinstance(examples, Columnar) else max(1, len(examples))
    for start in range(0, len(examples), step):
        known[start : start + step] = target.known(encoded_targets(examples[start : start + step], target.encode))
    return by_blocks.true(known)


def encoded_targets(examples: Sequence[Example], encode: Callable[[list[str]], numpy.ndarray]) -> numpy.ndarray:
    """What ``encode`` makes of the targets, each by itself: of codes it is asked once for each different one, of others in blocks."""
    if not isinstance(examples, Columnar):
        return encode(columnar.targets(examples))
    if isinstance(examples.store.targets, Codes):
        different, places = target_codes(examples)
        return by_blocks.chosen(encode(different), places)
    parts = [encode(block) for block in columnar.in_blocks(examples.store.targets, examples.at)]
    return numpy.concatenate(parts) if parts else encode([])
