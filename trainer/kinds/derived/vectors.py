"""A column of texts or of pictures as numbers by what they mean or show: the vectors of an installed model, in the directions in which they differ
most; of texts beside the numbers of their words if these are of use, too."""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from re import compile as pattern
from typing import Any

import numpy

from trainer import threads
from trainer.config.settings import Settings
from trainer.core import registry
from trainer.data.columns import values
from trainer.data.columns.features import PICTURE, TEXT
from trainer.kinds.derived import part
from trainer.kinds.derived.texts import TextParts
from trainer.models import catalogue, picture_vectors, text_vectors
from trainer.models.catalogue import Base
from trainer.models.leaned import Described
from trainer.models.vectors import Reader, Source

KEY = "vectors"  # in the description of a column
SOURCES: dict[str, Source] = {TEXT: text_vectors.SOURCE, PICTURE: picture_vectors.SOURCE}  # by the type of a column
DIRECTIONS = 32
_WIDEST = 1 << 14
ROWS = 1_000  # from which directions are learnt
MOST = 200_000  # texts or pictures whose numbers are remembered: about 100 MB
_SHA256 = pattern(r"[0-9a-f]{64}")
_NAMED = (500, 64, 500, 100)  # characters of what names the installed model


@dataclass
class Vectors:
    """``words`` reads the words of texts; None where they are of no use, and of pictures. ``mean`` (width) and ``directions`` (width x directions)
    are of the vectors that ``reader`` gives; None until the installed model is found."""

    source: Source
    words: part.Part | None
    about: Described
    mean: numpy.ndarray
    directions: numpy.ndarray
    reader: Reader | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        own = (f"{self.source.direction}, direction {i + 1}" for i in range(self.directions.shape[1]))
        return (*(self.words.names if self.words else ()), *own)

    @property
    def categories(self) -> tuple[str, ...]:
        return self.words.categories if self.words else ()

    def wide(self) -> "Vectors":
        return replace(self, words=self.words and part.wide(self.words))

    @staticmethod
    def learn(source: Source, reader: Reader, cells: list[str]) -> "Vectors | None":
        """The directions of the vectors of some different ``cells``; None where there are too few."""
        known = different(reader, cells)
        chosen = list(known)[:: max(1, -(-len(known) // ROWS))]
        read = {key: vector for key in chosen if (vector := reader.vector(known[key])) is not None}
        if len(read) < 3:
            return None
        found = numpy.stack([*read.values()]).astype(numpy.float64)
        mean = _short(found.mean(axis=0))
        with threads.one_of_blas():
            _, _, turned = numpy.linalg.svd(found - mean, full_matrices=False)
        signs = numpy.sign(turned[numpy.arange(len(turned)), numpy.abs(turned).argmax(axis=1)])[:, None]  # an SVD leaves them open
        directions = _short((turned * signs)[: min(DIRECTIONS, len(read) - 1, reader.width)].T)
        learnt = Vectors(source, None, reader.about, mean, directions, reader)
        learnt._known().update({key: learnt._turned(vector) for key, vector in read.items()})
        return learnt

    @classmethod
    def restored(cls, sort: str, described: dict[str, Any]) -> "Vectors":
        """Of a column of the type ``sort``. Raises as ``part.restored`` does."""
        told = described[KEY]
        named = [told["encoder"][n] for n in ("name", "sha256", "license", "commit")]
        if not all(isinstance(n, str) and len(n) <= most for n, most in zip(named, _NAMED, strict=True)) or not _SHA256.fullmatch(named[1]):
            raise ValueError("the installed model is not described")
        mean = numpy.asarray([part.finite(v) for v in told["mean"]], numpy.float64)
        directions = numpy.asarray([[part.finite(v) for v in row] for row in told["directions"]], numpy.float64)
        if directions.ndim != 2 or not 1 <= directions.shape[1] <= DIRECTIONS or not len(mean) == len(directions) <= _WIDEST:
            raise ValueError("the vectors of a column are not described")
        words = TextParts.restored(described) if sort == TEXT and "terms" in described else None
        return cls(SOURCES[sort], words, Described(*named), mean, directions)

    def described(self) -> dict[str, Any]:
        encoder = {n: getattr(self.about, n) for n in ("name", "sha256", "license", "commit")}
        told = {"encoder": encoder, "mean": self.mean.tolist(), "directions": self.directions.tolist()}
        return {**(self.words.described() if self.words else {}), KEY: told}

    def attach(self, models: Path) -> None:
        """Find the installed model in the folder ``models``. Raises UserError where it is not there, or is another one."""
        reader = self.source.restored(models, self.about)
        if reader.width != len(self.mean):
            raise self.source.leaning.missing(self.about, "has vectors of another width")
        self.reader = reader

    def values(self, cells: list[str]) -> numpy.ndarray:
        known, count = self._known(), self.directions.shape[1]
        assert self.reader is not None
        found = numpy.full((len(cells), count), numpy.nan)
        for row, cell in enumerate(cells):
            if values.is_missing(cell) or not (key := self.reader.key(cell)):
                continue
            if (numbers := known.get(key)) is None:
                vector = self.reader.vector(cell)
                numbers = numpy.full(count, numpy.nan) if vector is None else self._turned(vector)
                if len(known) < MOST:
                    known[key] = numbers
            found[row] = numbers
        return found if self.words is None else numpy.concatenate([self.words.values(cells), found], axis=1)

    def _turned(self, vector: numpy.ndarray) -> numpy.ndarray:
        with threads.one_of_blas():
            return (vector.astype(numpy.float64) - self.mean) @ self.directions

    def _known(self) -> dict[str, numpy.ndarray]:
        """The numbers of cells that were read in these directions, by this part or by another one, such as that of another member of an ensemble."""
        if self.reader is None:
            raise self.source.leaning.missing(self.about, "is not at hand here")
        return self.reader.kept.setdefault(hashlib.sha256(self.mean.tobytes() + self.directions.tobytes()).hexdigest(), {})


def installed(source: Source, models: Path, settings: Settings) -> Base | None:
    """The installed model whose vectors are tried; None where none is installed or wanted. Raises UserError for a name that is not installed."""
    wanted = getattr(settings, source.leaning.option)
    if wanted == part.NO_VECTORS or settings.start_from == "scratch":
        return None
    base = catalogue.choose(models, wanted, registry.of(source.leaning.kind))
    return None if base.folder is None else base


def different(reader: Reader, cells: list[str]) -> dict[str, str]:
    """The different ``cells`` that ``reader`` reads, in their order, by their keys."""
    found: dict[str, str] = {}
    for cell in dict.fromkeys(cells):
        if not values.is_missing(cell) and (key := reader.key(cell)):
            found.setdefault(key, cell)
    return found


def _short(numbers: numpy.ndarray) -> numpy.ndarray:
    """``numbers`` with six digits, which a description repeats to the bit."""
    return numpy.asarray([float(f"{v:.6g}") for v in numbers.ravel()]).reshape(numbers.shape)
