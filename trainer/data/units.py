"""Sets of rows that stay in one split, and the random order in which they are dealt to the splits."""

import hashlib
import itertools
from collections.abc import Iterator, Sequence

import numpy

from trainer.core import by_blocks
from trainer.core.columnar import group_codes, groups, have_groups, taken
from trainer.core.example import Example
from trainer.data.keys import Keys

_BYTES = 32  # of a place
_FIRST_BYTES = 8  # of it, a whole number, which tell places apart: of ten million, two are equal with a chance of 3 in a million
_BLOCK = 1 << 16  # rows at once
_SHARE_BITS = 4  # by which places are dealt to parts that are ordered one after another


def of(rows: Sequence[Example], keys: Keys) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The sets of rows that must stay together, because they are copies or of one group, be it through a third row: for each row the number of
    its set, and for each set its first row. Sets are in the order of their first rows."""
    codes = keys.codes(rows)[0]
    if have_groups(rows):
        codes = _joined(codes, rows)
    count = len(codes)
    first_of = numpy.zeros(int(codes.max(initial=-1)) + 1, by_blocks.positions(count))  # of each code: its first row
    by_blocks.put(first_of, codes[::-1], numpy.arange(count - 1, -1, -1, dtype=first_of.dtype))  # of equal codes the last one that is written stays
    first = by_blocks.chosen(first_of, codes)
    del first_of, codes  # each has four bytes for every row
    is_first = first == numpy.arange(count, dtype=first.dtype)
    if is_first.all():
        return first, first
    number = numpy.cumsum(is_first, dtype=first.dtype) - 1
    return by_blocks.chosen(number, first), by_blocks.true(is_first)


def _joined(codes: numpy.ndarray, rows: Sequence[Example]) -> numpy.ndarray:
    """Numbers that are equal for rows with the same of ``codes``, and for rows that groups join, be it through others."""
    from scipy import sparse
    from scipy.sparse import csgraph

    names, of_rows = group_codes(rows)
    grouped = numpy.flatnonzero(numpy.asarray([bool(name) for name in names], bool)[of_rows])
    start = int(codes.max(initial=-1)) + 1  # of the groups behind the codes
    ends = codes[grouped], start + of_rows[grouped]
    edges = sparse.coo_matrix((numpy.ones(len(grouped), numpy.int8), ends), shape=(start + len(names), start + len(names)))
    return csgraph.connected_components(edges, directed=False)[1][codes]


def place(key: str, seed: int) -> bytes:
    """The position of an example in the random order of the seed."""
    return hashlib.sha256(f"{seed}\0{key}".encode()).digest()


def places(rows: Sequence[Example], keys: Keys, seed: int, units: numpy.ndarray, first: numpy.ndarray, sizes: numpy.ndarray) -> numpy.ndarray:
    """What the sets of rows are ordered by: the ``place`` of each, by its key or by the names of its groups. ``units`` and ``first`` are those of
    ``of``, ``sizes`` are the rows of each set."""
    found = _places_of_units(rows, keys, seed, units, first, sizes, _FIRST_BYTES)
    return found if _differ(found) else _places_of_units(rows, keys, seed, units, first, sizes, _BYTES)


def _places_of_units(
    rows: Sequence[Example], keys: Keys, seed: int, units: numpy.ndarray, first: numpy.ndarray, sizes: numpy.ndarray, width: int
) -> numpy.ndarray:
    """The first ``width`` bytes of the ``place`` of each unit, by its key or by the names of its groups: in their order."""
    found = _places(keys.texts(taken(rows, first)), len(first), seed, width)
    if have_groups(rows):
        names = groups(rows)
        by_unit = numpy.argsort(units, kind="stable")
        starts = numpy.concatenate([[0], numpy.cumsum(sizes)])
        several = (sizes > 1) | numpy.asarray([bool(names[i]) for i in first.tolist()], bool)
        for unit in numpy.flatnonzero(several).tolist():
            members = by_unit[starts[unit] : starts[unit + 1]]
            found[unit] = place(min(names[i] or key for i, key in zip(members.tolist(), keys.texts(taken(rows, members)))), seed)[:width]
    return _as_numbers(found) if width == _FIRST_BYTES else found


def places_of_keys(keys: Iterator[str], count: int, seed: int) -> numpy.ndarray:
    """What so many examples are ordered by, for each key: the first eight bytes of its ``place`` as a number (uint64)."""
    return _as_numbers(_places(keys, count, seed, _FIRST_BYTES))


def _as_numbers(places: numpy.ndarray) -> numpy.ndarray:
    return places.view(">u8").astype(numpy.uint64)


def _places(keys: Iterator[str], count: int, seed: int, width: int) -> numpy.ndarray:
    """The first ``width`` bytes of the ``place`` of each of so many keys."""
    before, found = f"{seed}\0", numpy.empty(count, f"S{width}")
    for start in range(0, count, _BLOCK):
        some_keys = itertools.islice(keys, _BLOCK)
        part = b"".join([hashlib.sha256((before + key).encode()).digest()[:width] for key in some_keys])
        found[start : start + _BLOCK] = numpy.frombuffer(part, found.dtype)
    return found


def _differ(places: numpy.ndarray) -> bool:
    """Whether all places differ, so that their order is that of the whole ones."""
    return not any((places[part[1:]] == places[part[:-1]]).any() for part in in_order(places))


def in_order(places: numpy.ndarray) -> Iterator[numpy.ndarray]:
    """The positions of ``places``, the smallest first, in parts of which one after another is ordered: this takes less memory. Places of 32 bytes
    are one part."""
    if len(places) <= _BLOCK or places.dtype != numpy.uint64:
        yield numpy.argsort(places, kind="stable")
        return
    of_places = numpy.empty(len(places), numpy.uint8)
    for start in range(0, len(places), _BLOCK):
        of_places[start : start + _BLOCK] = places[start : start + _BLOCK] >> numpy.uint64(64 - _SHARE_BITS)
    for share in range(1 << _SHARE_BITS):
        part = by_blocks.true(of_places == share)
        yield part[numpy.argsort(places[part], kind="stable")]
