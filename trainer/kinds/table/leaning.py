"""Models of tables that read texts with an installed model, which is not among their files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from trainer.errors import UserError
from trainer.kinds.derived.part import Part
from trainer.kinds.derived.vectors import TextVectors
from trainer.models.text_vectors import LEANING


class Leaning:
    """What the models of tables have as ``trainer.estimators.Leaning``."""

    @property
    def parts(self) -> Sequence[Part | None]:
        """What reads the columns."""
        raise NotImplementedError

    @property
    def _vectors(self) -> list[TextVectors]:
        return [p for p in self.parts if isinstance(p, TextVectors)]

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


def missing(model: Leaning, models: Path) -> str:
    """Why ``model`` cannot answer here, as the end of a sentence; empty if it can."""
    try:
        for part in model._vectors:
            LEANING.found(models, part.about)
    except UserError as e:
        return e.what.removesuffix(".").replace("The model", "it", 1)
    return ""
