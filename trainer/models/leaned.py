"""An installed model that a delivered one computes with, and which is not among its files: how it is named there, and how it is found again."""

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

from trainer.errors import UserError
from trainer.models import catalogue, license
from trainer.models.catalogue import Base
from trainer.models.weights import CONFIG, WEIGHTS, Unusable
from trainer.run_folder.files import sha256


@dataclass(frozen=True)
class Described:
    """How a delivered model names the installed one: ``sha256`` is that of the files that it computes with, ``commit`` the revision, if known."""

    name: str
    sha256: str
    license: str = ""
    commit: str = ""


@dataclass(frozen=True)
class Leaning:
    """What a delivered model does with an installed one of a ``kind``, in words ("forecasts with"), the option that names it, and the files beside
    configuration and weights that decide what it computes."""

    kind: str
    does: str
    option: str
    also: tuple[str, ...] = ()

    def described(self, base: Base) -> Described:
        """Raises Unusable."""
        assert base.folder is not None
        return Described(base.name, self.digest(base.folder), license.of(base.folder), base.commit)

    def digest(self, folder: Path) -> str:
        """The sha256 over the names and contents of the files. Raises Unusable."""
        whole = hashlib.sha256()
        for file in [folder / CONFIG, *sorted(folder.glob(WEIGHTS)), *(f for n in self.also if (f := folder / n).is_file())]:
            try:
                told = file.stat()
                whole.update(f"{file.name} {_digest(file, told.st_size, told.st_mtime_ns)}\n".encode())
            except OSError as e:
                raise Unusable(f"has a file {file.name} that cannot be read") from e
        return whole.hexdigest()

    def found(self, models: Path, about: Described) -> Base:
        """The installed model that ``about`` names. Raises UserError where it is not there, or has other files."""
        base = next((b for b in catalogue.installed(models) if b.name == about.name and b.kind == self.kind), None)
        if base is None or base.folder is None:
            raise self.missing(about, "is not installed here")
        try:
            same = self.digest(base.folder) == about.sha256
        except Unusable as e:
            raise self.missing(about, str(e)) from e
        if not same:
            raise self.missing(about, "has other files here than in the training")
        return base

    def missing(self, about: Described, what: str) -> UserError:
        revision = f" --revision {about.commit}" if about.commit else ""
        return UserError(
            "installed_model_missing", f"The model {self.does} the installed model {about.name}, which {what}.",
            f"Ask the administrator to run: extractor models install {about.name}{revision}. Or train again with {self.option} set to none.",
            f"The sha256 of its files was {about.sha256[:12]}… in the training.",
        )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _digest(file: Path, size: int, changed: int) -> str:
    """The sha256 of a file, which has this size and was changed at this time. Raises OSError."""
    return sha256(file)
