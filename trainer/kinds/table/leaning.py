"""Models of tables that read columns with installed models, which are not among their files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from trainer.errors import UserError
from trainer.kinds.derived.part import Part
from trainer.kinds.derived.vectors import Vectors


class Leaning:
    """What the models of tables have as ``trainer.estimators.Leaning``."""

    @property
    def parts(self) -> Sequence[Part | None]:
        """What reads the columns."""
        raise NotImplementedError

    @property
    def _vectors(self) -> list[Vectors]:
        return [p for p in self.parts if isinstance(p, Vectors)]

    @property
    def leans_alone(self) -> bool:
        return bool(self._vectors)

    @property
    def installed_bytes(self) -> int:
        return sum({p.about: p.reader.bytes for p in self._vectors if p.reader is not None}.values())

    def with_installed(self, models: Path) -> Self:
        for part in self._vectors:
            part.attach(models)
        return self


def missing(load: Callable[[Path], Leaning]) -> Callable[[Path, Path], str]:
    """``missing`` of the module of an estimator that ``load`` loads: why the one in a folder cannot answer here with the installed models in another,
    as the end of a sentence; empty if it can. It raises as ``load`` does."""

    def missing(folder: Path, models: Path) -> str:
        try:
            for part in load(folder)._vectors:
                part.source.leaning.found(models, part.about)
        except UserError as e:
            return e.what.removesuffix(".").replace("The model", "it", 1)
        return ""

    return missing
