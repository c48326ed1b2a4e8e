"""Vectors of texts and of pictures by an installed model as it is, of length 1. Computed with numpy, without torch."""

import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer import threads
from trainer.errors import UserError, size_in_words
from trainer.memory import available
from trainer.models.catalogue import Base
from trainer.models.leaned import Described, Leaning
from trainer.models.weights import Unusable


class Reader(ABC):
    """Reads cells of a table with an installed model. One object serves all parts of a process that read with the same files.

    ``width`` is that of a vector, and ``bytes`` the memory of the model. ``watch`` is called before each cell; it may raise UserError to stop.
    ``kept`` is for those who read the same cells again and again.
    """

    width: int
    room = 1.5  # bytes of memory for each byte of weights

    def __init__(self, base: Base, about: Described):
        """Raises Unusable for a model that is not computed here."""
        self.about, self.bytes = about, int(self.room * base.size)
        if self.bytes > (free := available()):
            raise Unusable(f"needs {size_in_words(self.bytes)} of memory, and {size_in_words(free)} are free")
        self._lock = threading.Lock()
        self.watch: Callable[[], None] = lambda: None
        self.kept: dict[str, dict[str, numpy.ndarray]] = {}

    @abstractmethod
    def seconds(self, cells: Sequence[str]) -> float:
        """About how long one core reads these cells."""

    def key(self, cell: str) -> str:
        """What is equal for cells that are read alike; empty for one that is not read. Raises UserError for one that nobody can read."""
        return cell.strip()

    def vector(self, cell: str) -> numpy.ndarray | None:
        """The vector of a cell that has a key (float32); None where it cannot be read. Each one is computed alone on one thread of BLAS, so no bit
        depends on other cells. Raises UserError."""
        with self._lock:
            self.watch()
            with threads.one_of_blas():
                found = self._mean(cell)
        if found is None or not numpy.isfinite(length := numpy.sqrt(found @ found)):
            return None
        return found / length if length > 0 else found

    @abstractmethod
    def _mean(self, cell: str) -> numpy.ndarray | None:
        """The vector before it has its length."""


@dataclass(frozen=True)
class Source:
    """Columns that installed models read: what these models are, what they read ("free texts") and one of it ("text"), what a direction of their
    vectors is called, what they are tried beside, and what reads with one of them."""

    leaning: Leaning
    things: str
    thing: str
    direction: str
    beside: str
    reader: Callable[[Base, Described], Reader]

    def read(self, base: Base) -> Reader:
        """What reads with the installed model ``base``. Raises Unusable."""
        return _read(self.reader, base, self.leaning.described(base))

    def restored(self, models: Path, about: Described) -> Reader:
        """What reads with the installed model that a delivered one names. Raises UserError where it is not there or cannot be used."""
        base = self.leaning.found(models, about)
        try:
            return _read(self.reader, base, about)
        except Unusable as e:
            raise UserError(
                "model_unusable", f"The model {self.leaning.does} the installed model {base.name}, which {e}.",
                f"Ask the administrator, or train again with {self.leaning.option} set to none.",
            ) from e  # fmt: skip


@functools.lru_cache(maxsize=4)
def _read(reader: Callable[[Base, Described], Reader], base: Base, about: Described) -> Reader:
    return reader(base, about)
