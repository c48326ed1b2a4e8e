"""A column of texts as numbers by what they mean: the vectors of an installed text model, in the directions in which texts differ most, beside the
numbers of its words if these are of use, too."""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from re import compile as pattern
from typing import Any

import numpy

from trainer import threads
from trainer.data.columns import values
from trainer.kinds.derived import part
from trainer.kinds.derived.texts import TextParts
from trainer.models import text_vectors
from trainer.models.leaned import Described
from trainer.models.text_vectors import LEANING, Reader

KEY = "vectors"  # in the description of a column
DIRECTIONS = 32
_WIDEST = 1 << 14
ROWS = 1_000  # from which directions are learnt
MOST_TEXTS = 200_000  # whose numbers are remembered: about 100 MB
_SHA256 = pattern(r"[0-9a-f]{64}")
_NAMED = (500, 64, 500, 100)  # characters of what names the installed model


@dataclass
class TextVectors:
    """``words`` reads the words; None where they are of no use. ``mean`` (width) and ``directions`` (width x directions) are of the vectors that
    ``reader`` gives; None until the installed model is found."""

    words: part.Part | None
    about: Described
    mean: numpy.ndarray
    directions: numpy.ndarray
    reader: Reader | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        return (*(self.words.names if self.words else ()), *(f"meaning, direction {i + 1}" for i in range(self.directions.shape[1])))

    @property
    def categories(self) -> tuple[str, ...]:
        return self.words.categories if self.words else ()

    def wide(self) -> "TextVectors":
        return replace(self, words=self.words and part.wide(self.words))

    @staticmethod
    def learn(reader: Reader, cells: list[str]) -> "TextVectors | None":
        """The directions of the vectors of some different ``cells``; None where there are too few."""
        texts = different(cells)
        texts = texts[:: max(1, -(-len(texts) // ROWS))]
        if len(texts) < 3:
            return None
        found = numpy.stack([reader.vector(t) for t in texts]).astype(numpy.float64)
        mean = _short(found.mean(axis=0))
        with threads.one_of_blas():
            _, _, turned = numpy.linalg.svd(found - mean, full_matrices=False)
        signs = numpy.sign(turned[numpy.arange(len(turned)), numpy.abs(turned).argmax(axis=1)])[:, None]  # an SVD leaves them open
        directions = _short((turned * signs)[: min(DIRECTIONS, len(texts) - 1, reader.width)].T)
        learnt = TextVectors(None, reader.about, mean, directions, reader)
        learnt._known().update(zip(texts, (learnt._turned(v) for v in found.astype(numpy.float32)), strict=True))
        return learnt

    @classmethod
    def restored(cls, described: dict[str, Any]) -> "TextVectors":
        told = described[KEY]
        named = [told["encoder"][n] for n in ("name", "sha256", "license", "commit")]
        if not all(isinstance(n, str) and len(n) <= most for n, most in zip(named, _NAMED, strict=True)) or not _SHA256.fullmatch(named[1]):
            raise ValueError("the installed model is not described")
        mean = numpy.asarray([part.finite(v) for v in told["mean"]], numpy.float64)
        directions = numpy.asarray([[part.finite(v) for v in row] for row in told["directions"]], numpy.float64)
        if directions.ndim != 2 or not 1 <= directions.shape[1] <= DIRECTIONS or not len(mean) == len(directions) <= _WIDEST:
            raise ValueError("the vectors of a column are not described")
        return cls(TextParts.restored(described) if "terms" in described else None, Described(*named), mean, directions)

    def described(self) -> dict[str, Any]:
        encoder = {n: getattr(self.about, n) for n in ("name", "sha256", "license", "commit")}
        told = {"encoder": encoder, "mean": self.mean.tolist(), "directions": self.directions.tolist()}
        return {**(self.words.described() if self.words else {}), KEY: told}

    def attach(self, models: Path) -> None:
        """Find the installed model in the folder ``models``. Raises UserError where it is not there, or is another one."""
        reader = text_vectors.restored(models, self.about)
        if reader.width != len(self.mean):
            raise LEANING.missing(self.about, "has vectors of another width")
        self.reader = reader

    def values(self, cells: list[str]) -> numpy.ndarray:
        known, count = self._known(), self.directions.shape[1]
        found = numpy.full((len(cells), count), numpy.nan)
        for row, cell in enumerate(cells):
            if values.is_missing(cell):
                continue
            text = cell.strip()
            if (numbers := known.get(text)) is None:
                assert self.reader is not None
                numbers = self._turned(self.reader.vector(text))
                if len(known) < MOST_TEXTS:
                    known[text] = numbers
            found[row] = numbers
        return found if self.words is None else numpy.concatenate([self.words.values(cells), found], axis=1)

    def _turned(self, vector: numpy.ndarray) -> numpy.ndarray:
        with threads.one_of_blas():
            return (vector - self.mean) @ self.directions

    def _known(self) -> dict[str, numpy.ndarray]:
        """The numbers of texts that were read in these directions, by this part or by another one, such as that of another member of an ensemble."""
        if self.reader is None:
            raise LEANING.missing(self.about, "is not at hand here")
        return self.reader.kept.setdefault(hashlib.sha256(self.mean.tobytes() + self.directions.tobytes()).hexdigest(), {})


def different(cells: list[str]) -> list[str]:
    """The different texts of ``cells`` without empty ones, in their order."""
    return list(dict.fromkeys(c.strip() for c in cells if not values.is_missing(c)))


def _short(numbers: numpy.ndarray) -> numpy.ndarray:
    """``numbers`` with six digits, which a description repeats to the bit."""
    return numpy.asarray([float(f"{v:.6g}") for v in numbers.ravel()]).reshape(numbers.shape)
