"""Rows of large tables as a sequence of examples whose cells lie in columns: an ``Example`` is made only when one is asked for.

A row as a Python object takes fifteen times the bytes of its line in the file. Here the cells stay in Arrow arrays, which may be mapped from a
file, and columns of few values are codes. A split is a view: the positions of its rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast, overload

import numpy

from trainer.core import by_blocks, mapped
from trainer.core.cells import Codes, Column, number, read_numbers
from trainer.core.example import Example

Examples = TypeVar("Examples", bound=Sequence[Example])  # a list, or a view of columns
BLOCK = 8192  # examples made at once
SEPARATOR = "\x1f"  # between the cells of a row where they are one text: it is in no table that is written for people
_JOINED = 1 << 16  # rows
_LISTED = 500  # cells of a list from which Arrow reads them faster, as numbers


def short(numbers: numpy.ndarray) -> numpy.ndarray:
    """Numbers of rows, from 0 on, in as few bits as they need."""
    return numbers.astype(by_blocks.positions(int(numbers.max(initial=0))), copy=False)


@dataclass(frozen=True, eq=False)
class Store:
    """The cells of all rows: those that a model reads, and what is known of each row beside them. ``whens`` is NaN where there is no time;
    None where no row has one."""

    files: Codes
    rows: numpy.ndarray  # int32, or int64 where a number of a row needs it
    cells: tuple[Column, ...]
    targets: Column
    ids: Column | None = None
    groups: Column | None = None
    whens: numpy.ndarray | None = None


class Columnar(Sequence[Example]):
    """A sequence of examples over a ``Store``. Two examples of one row are equal and not identical; views of one store share its cells."""

    def __init__(self, store: Store, at: numpy.ndarray | None = None):
        self.store = store
        count = len(store.rows)
        sort = by_blocks.positions(count)
        self.at = numpy.arange(count, dtype=sort) if at is None else at.astype(sort, copy=False)

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, place: int) -> Example: ...
    @overload
    def __getitem__(self, place: slice) -> Columnar: ...

    def __getitem__(self, place):
        if isinstance(place, slice):
            return Columnar(self.store, self.at[place])
        return self._made(self.at[[place]])[0]

    def __iter__(self) -> Iterator[Example]:
        for start in range(0, len(self.at), BLOCK):
            yield from self._made(self.at[start : start + BLOCK])
            if start % _JOINED == 0:
                mapped.rest()

    def __reversed__(self) -> Iterator[Example]:
        return iter(Columnar(self.store, self.at[::-1]))

    def __add__(self, other: Sequence[Example]) -> Sequence[Example]:
        if not len(other):
            return self
        if isinstance(other, Columnar) and other.store is self.store:
            return Columnar(self.store, numpy.concatenate([self.at, other.at]))
        return [*self, *other]

    def __radd__(self, other: Sequence[Example]) -> Sequence[Example]:
        return [*other, *self] if len(other) else self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    __hash__ = None  # as of a list

    def taken(self, places: numpy.ndarray) -> Columnar:
        """The examples at these places of this sequence."""
        return Columnar(self.store, by_blocks.chosen(self.at, places))

    def alone(self) -> Columnar:
        """The same examples over a store that has their rows alone, in memory. Positions must ascend."""
        store, at = self.store, self.at
        return Columnar(
            Store(
                store.files.alone(at), store.rows[at], tuple(c.alone(at) for c in store.cells), store.targets.alone(at),
                None if store.ids is None else store.ids.alone(at), None if store.groups is None else store.groups.alone(at),
                None if store.whens is None else store.whens[at],
            )
        )  # fmt: skip

    def column(self, place: int) -> Column:
        """A column of the store: ask it with ``at``."""
        return self.store.cells[place]

    def contents(self) -> Iterator[tuple[str, ...]]:
        """The cells that a model reads, row by row."""
        for start in range(0, len(self.at), BLOCK):
            at = self.at[start : start + BLOCK]
            yield from zip(*(c.texts(at) for c in self.store.cells))

    def joined(self, cells: int | None = None) -> Iterator[list[bytes]]:
        """The cells that a model reads of each row, or the first ones, as one text in UTF-8 with ``SEPARATOR`` between them, in blocks. Positions
        must ascend."""
        import pyarrow
        import pyarrow.compute as pc

        separator = pyarrow.scalar(SEPARATOR, pyarrow.large_string())
        for start in range(0, len(self.at), _JOINED):
            at = self.at[start : start + _JOINED]
            yield pc.binary_join_element_wise(*(c.array(at) for c in self.store.cells[:cells]), separator).cast("large_binary").to_pylist()

    def grouped(self, groups: list[str]) -> Columnar:
        """The same examples, each with the group of its place in ``groups``, in a store of their own."""
        known: dict[str, int] = {}
        places = numpy.zeros(len(self.store.rows), numpy.int32)
        places[self.at] = [known.setdefault(g, len(known)) for g in groups]
        return Columnar(replace(self.store, groups=Codes(list(known), places)), self.at)

    def narrowed(self, places: Sequence[int]) -> Columnar:
        """The same examples, with the cells at these places alone."""
        return Columnar(replace(self.store, cells=tuple(self.store.cells[p] for p in places)), self.at)

    def targeted(self, targets: list[str]) -> Columnar:
        """The same examples, in a store whose rows have these targets."""
        known: dict[str, int] = {}
        places = numpy.fromiter((known.setdefault(t, len(known)) for t in targets), numpy.int32, len(targets))
        return Columnar(replace(self.store, targets=Codes(list(known), places)), self.at)

    def _made(self, at: numpy.ndarray) -> list[Example]:
        store = self.store
        none = itertools.repeat("")
        whens = itertools.repeat(None) if store.whens is None else (None if w != w else w for w in store.whens[at].tolist())
        return [
            Example(*parts)
            for parts in zip(
                store.files.texts(at), store.rows[at].tolist(), zip(*(c.texts(at) for c in store.cells)), store.targets.texts(at),
                store.ids.texts(at) if store.ids is not None else none, store.groups.texts(at) if store.groups is not None else none, whens,
            )
        ]  # fmt: skip


def taken(examples: Examples, places: numpy.ndarray) -> Examples:
    """The examples at these places: a list of a list, and a view of a view."""
    if isinstance(examples, Columnar):
        return cast(Examples, examples.taken(places))
    return cast(Examples, [examples[i] for i in places.tolist()])


def alone(examples: Sequence[Example]) -> Sequence[Example]:
    """The examples in a form that can be sent to another process."""
    return examples.alone() if isinstance(examples, Columnar) else list(examples)


def narrowed(examples: Sequence[Example], places: Sequence[int]) -> Sequence[Example]:
    """The examples, with the cells at these places alone."""
    if isinstance(examples, Columnar):
        return examples.narrowed(places)
    return [replace(e, content=tuple(e.content[p] for p in places)) for e in examples]


def targets(examples: Sequence[Example]) -> list[str]:
    if isinstance(examples, Columnar):
        return examples.store.targets.texts(examples.at)
    return [e.target for e in examples]


def have_groups(examples: Sequence[Example]) -> bool:
    """Whether any example has a group."""
    if isinstance(examples, Columnar):
        groups = examples.store.groups
        return groups is not None and any(map(any, in_blocks(groups, examples.at)))
    return any(e.group for e in examples)


def in_blocks(column: Column, at: numpy.ndarray) -> Iterator[list[str]]:
    """The cells at these places, in blocks."""
    return (column.texts(at[i : i + _JOINED]) for i in range(0, len(at), _JOINED))


def groups(examples: Sequence[Example]) -> list[str]:
    if isinstance(examples, Columnar):
        return [""] * len(examples) if examples.store.groups is None else examples.store.groups.texts(examples.at)
    return [e.group for e in examples]


def group_codes(examples: Sequence[Example]) -> tuple[list[str], numpy.ndarray]:
    """Different groups, of which not all need occur, and for each example the number of its own among them (int32)."""
    known: dict[str, int] = {}
    if not isinstance(examples, Columnar):
        found = numpy.fromiter((known.setdefault(e.group, len(known)) for e in examples), numpy.int32, len(examples))
        return list(known), found
    if examples.store.groups is None:
        return [""], numpy.zeros(len(examples), numpy.int32)
    names, places = examples.store.groups.codes(examples.at)
    number = numpy.asarray([known.setdefault(name, len(known)) for name in names], numpy.int32)  # two cells may be one name
    return list(known), by_blocks.chosen(number, places)


def without_groups(examples: Sequence[Example]) -> Sequence[Example]:
    """The same examples, none with a group."""
    if isinstance(examples, Columnar):
        return Columnar(replace(examples.store, groups=None), examples.at)
    return [replace(e, group="") for e in examples]


def rows(examples: Sequence[Example]) -> numpy.ndarray:
    """The number of each example in its file."""
    if isinstance(examples, Columnar):
        return by_blocks.chosen(examples.store.rows, examples.at)
    return numpy.asarray([e.row for e in examples], numpy.int64)


def joined(parts: Iterable[Sequence[Example]]) -> Sequence[Example]:
    """The examples of one part after another: a view where all are views of one store."""
    listed = [p for p in parts if len(p)]
    first = listed[0] if listed else []
    if isinstance(first, Columnar) and all(isinstance(p, Columnar) and p.store is first.store for p in listed):
        return Columnar(first.store, numpy.concatenate([p.at for p in listed if isinstance(p, Columnar)]))
    return [e for p in listed for e in p]


def files(examples: Sequence[Example]) -> list[str]:
    if isinstance(examples, Columnar):
        return examples.store.files.texts(examples.at)
    return [e.file for e in examples]


def have_ids(examples: Sequence[Example]) -> bool:
    """Whether any example has an id."""
    if isinstance(examples, Columnar):
        ids = examples.store.ids
        return ids is not None and any(map(any, in_blocks(ids, examples.at)))
    return any(e.id for e in examples)


def whens(examples: Sequence[Example]) -> numpy.ndarray:
    """The times of the examples, NaN for those without one."""
    if isinstance(examples, Columnar):
        return numpy.full(len(examples), numpy.nan) if examples.store.whens is None else examples.store.whens[examples.at]
    return numpy.asarray([numpy.nan if e.when is None else e.when for e in examples], numpy.float64)


def known_whens(examples: Sequence[Example]) -> numpy.ndarray:
    """The times of the examples that have one."""
    if isinstance(examples, Columnar) and examples.store.whens is None:
        return numpy.zeros(0)
    found = whens(examples)
    return found[~numpy.isnan(found)]


def texts(examples: Sequence[Example], place: int) -> list[str]:
    """The cells of a column."""
    if isinstance(examples, Columnar):
        return examples.column(place).texts(examples.at)
    return [e.content[place] for e in examples]


def numbers(examples: Sequence[Example], place: int) -> numpy.ndarray:
    """The cells of a column as float64: NaN for what ``float`` does not read as a finite number."""
    if isinstance(examples, Columnar):
        return examples.column(place).numbers(examples.at)
    cells = [e.content[place] for e in examples]
    if len(cells) < _LISTED:
        return numpy.asarray([number(c) for c in cells], numpy.float64)
    import pyarrow

    return read_numbers(pyarrow.array(cells, pyarrow.large_string()))


def codes(examples: Sequence[Example], place: int) -> tuple[list[str], numpy.ndarray]:
    """Different cells of a column, of which not all need occur, and for each example the number of its cell among them."""
    if isinstance(examples, Columnar):
        return examples.column(place).codes(examples.at)
    known: dict[str, int] = {}
    found = numpy.fromiter((known.setdefault(e.content[place], len(known)) for e in examples), numpy.int32, len(examples))
    return list(known), found
