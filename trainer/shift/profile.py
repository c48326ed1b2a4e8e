"""What is kept of the traits of a training, in the description of its model: enough to compare, and no row."""

import collections
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy

from trainer.shift.traits import CHARACTERS, Categories, Numbers, Trait, Words

MOST_TRAITS = 1000
_VALUES = 500  # of a trait of numbers at most, and categories of one
_BUDGET = 100_000  # of these in all
_VOCABULARY = 5000  # words
_WORD = 50  # characters


@dataclass(frozen=True)
class NumberProfile:
    """``values`` are sorted: all of ``rows`` - ``missing`` numbers, or evenly placed ones among them. ``low`` and ``high`` are the ends."""

    name: str
    rows: int
    missing: int
    low: float
    high: float
    values: tuple[float, ...]
    answer: bool = False

    @classmethod
    def learn(cls, trait: Numbers, room: int) -> Self | None:
        there = numpy.sort(trait.values[numpy.isfinite(trait.values)])
        if not len(there):
            return None
        places = numpy.arange(len(there)) if len(there) <= room else ((numpy.arange(room) + 0.5) / room * len(there)).astype(int)
        values = tuple(float(f"{v:.9g}") for v in there[places])
        return cls(trait.name, len(trait.values), len(trait.values) - len(there), float(there[0]), float(there[-1]), values, trait.answer)

    def check(self) -> None:
        _check(self.name, self.rows, self.missing, self.answer)
        numbers = (self.low, self.high, *self.values)
        if not all(isinstance(v, int | float) and math.isfinite(v) for v in numbers) or not 0 < len(self.values) <= _VALUES:
            raise ValueError("the numbers of a trait are wrong")
        if len(self.values) > self.rows - self.missing or self.low > self.high:
            raise ValueError("the numbers of a trait are wrong")
        if list(self.values) != sorted(self.values):
            raise ValueError("the numbers of a trait are not sorted")


@dataclass(frozen=True)
class CategoryProfile:
    """``counts`` are the most frequent categories with their rows; all of them where ``whole``. ``once`` are those with one row."""

    name: str
    rows: int
    missing: int
    counts: dict[str, int]
    whole: bool
    once: int
    answer: bool = False

    @classmethod
    def learn(cls, trait: Categories, room: int) -> Self | None:
        counted = collections.Counter(v[:CHARACTERS] for v in trait.values if v)
        if not counted:
            return None
        kept = dict(sorted(counted.most_common(room)))
        once = sum(n == 1 for n in counted.values())
        missing = len(trait.values) - counted.total()
        return cls(trait.name, len(trait.values), missing, kept, len(kept) == len(counted), once, trait.answer)

    def check(self) -> None:
        _check(self.name, self.rows, self.missing, self.answer)
        if not isinstance(self.whole, bool) or not _is_count(self.once) or not 0 < len(self.counts) <= _VALUES:
            raise ValueError("the categories of a trait are wrong")
        if not all(isinstance(c, str) and len(c) <= CHARACTERS and _is_count(n) and n for c, n in self.counts.items()):
            raise ValueError("the categories of a trait are wrong")
        there, counted = self.rows - self.missing, sum(self.counts.values())
        if counted > there or self.once > there or (self.whole and counted != there):
            raise ValueError("the categories of a trait are not those of its rows")


@dataclass(frozen=True)
class WordProfile:
    """``known`` are frequent words of every second row; ``unknown`` the shares of words beyond them in the other rows, as numbers."""

    name: str
    known: tuple[str, ...]
    unknown: NumberProfile

    @classmethod
    def learn(cls, trait: Words, room: int) -> Self | None:
        counted = collections.Counter(w[:_WORD] for words in trait.values[::2] for w in words)
        known = tuple(sorted(w for w, _ in counted.most_common(_VOCABULARY)))
        unknown = NumberProfile.learn(_unknown(trait.name, trait.values[1::2], frozenset(known)), room)
        return cls(trait.name, known, unknown) if unknown is not None else None

    def of(self, trait: Words) -> Numbers:
        """The share of the words of each example that are not known."""
        return _unknown(self.name, trait.values, frozenset(self.known))

    def check(self) -> None:
        self.unknown.check()
        if self.name != self.unknown.name or len(self.known) > _VOCABULARY or not all(isinstance(w, str) and len(w) <= _WORD for w in self.known):
            raise ValueError("the words of a trait are wrong")


Profile = NumberProfile | CategoryProfile | WordProfile
_LEARNT: dict[type[Trait], type[Profile]] = {Numbers: NumberProfile, Categories: CategoryProfile, Words: WordProfile}
_FORMS: dict[str, type[Profile]] = {"numbers": NumberProfile, "categories": CategoryProfile, "words": WordProfile}


def learn(traits: Sequence[Trait]) -> list[dict]:
    """The profiles of ``traits`` as they stand in the description of a model. Traits without any value have none."""
    traits = traits[:MOST_TRAITS]
    room = max(20, min(_VALUES, _BUDGET // max(1, len(traits))))
    found = [_LEARNT[type(t)].learn(t, room) for t in traits]  # type: ignore[arg-type]
    names = {form: name for name, form in _FORMS.items()}
    return [{"form": names[type(p)], **asdict(p)} for p in found if p is not None]


def restored(described: Any) -> list[Profile]:
    """The profiles of a description, which may be forged. Raises ValueError, KeyError, TypeError or AttributeError."""
    if not isinstance(described, list) or len(described) > MOST_TRAITS:
        raise ValueError("its traits are not described")
    found = [_restored(dict(entry)) for entry in described]
    for profile in found:
        profile.check()
    return found


def _restored(entry: dict) -> Profile:
    form = _FORMS[entry.pop("form")]
    if form is WordProfile:
        return WordProfile(entry["name"], tuple(entry["known"]), _numbers(entry["unknown"]))
    return _numbers(entry) if form is NumberProfile else CategoryProfile(**entry)


def _numbers(entry: dict) -> NumberProfile:
    return NumberProfile(**{**entry, "values": tuple(entry["values"])})


def _unknown(name: str, values: Sequence[Sequence[str]], known: frozenset[str]) -> Numbers:
    return Numbers(name, numpy.asarray([sum(w[:_WORD] not in known for w in words) / len(words) if words else math.nan for words in values]))


def _check(name: Any, rows: Any, missing: Any, answer: Any) -> None:
    if not isinstance(name, str) or not isinstance(answer, bool) or not _is_count(rows) or not _is_count(missing) or missing > rows:
        raise ValueError("a trait is not described")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53
