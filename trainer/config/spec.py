"""The task of a run, as the service wrote it into spec.json."""

from dataclasses import dataclass, field
from pathlib import Path

from trainer.archive.budget import Budget
from trainer.run_folder import files

WORK = "work"  # in the run folder: holds one folder for each start
_SPEC_BYTES = 1 << 30  # it lists every file of the dataset


@dataclass(frozen=True)
class Input:
    """One file of the dataset: ``name`` as the user sees it, ``file`` as its path on disk."""

    name: str
    file: Path
    size: int
    sha256: str
    id: str = ""


@dataclass(frozen=True)
class Version:
    """A registered model: ``folder`` holds the content of out/model of an earlier run."""

    folder: Path
    run: str = ""
    name: str = ""
    version: int = 0


@dataclass(frozen=True)
class Spec:
    """``parameters`` are the fields that the user changed in the form, ``defaults`` the default values of the form.

    ``folder`` is the run folder, ``work`` its subfolder for this start (see run_folder/lease.py), ``budget`` what this start may
    still unpack.
    """

    kind: str
    run: str
    attempt: int
    folder: Path
    work: Path
    dataset: str
    parameters: dict
    defaults: dict
    inputs: tuple[Input, ...]
    model: Version | None = None
    champion: Version | None = None
    budget: Budget = field(default_factory=Budget, compare=False)

    @property
    def models(self) -> Path:
        """The folder of the installed base models."""
        return self.folder.parent.parent / "models"


def load(path: Path) -> Spec:
    """Read spec.json. Its paths are relative to its folder. Raises ValueError for an input outside inputs/."""
    document = files.read_json(path, _SPEC_BYTES)
    if document.get("schema") != 2:
        raise ValueError(f"{path} has schema {document.get('schema')!r}; this trainer reads schema 2")
    folder = path.resolve().parent
    inputs = folder / "inputs"
    return Spec(
        kind=document["kind"],
        run=document["run"],
        attempt=document["attempt"],
        folder=folder,
        work=folder / WORK,
        dataset=document["dataset"].get("name", ""),
        parameters=document["parameters"],
        defaults=document["defaults"],
        inputs=tuple(Input(i["name"], _inside(inputs, i["path"]), i["size"], i["sha256"], i.get("id", "")) for i in document["inputs"]),
        model=_version(folder, document.get("model")),
        champion=_version(folder, document.get("champion")),
    )


def _version(folder: Path, model: dict | None) -> Version | None:
    """A model from spec.json. It must be on the shared volume, which is two levels above the run folder."""
    if model is None:
        return None
    there = (folder / model["path"]).resolve()
    if not there.is_relative_to(folder.parent.parent):
        raise ValueError(f"model path {model['path']!r} leads out of the shared volume")
    return Version(there, model.get("run", ""), model.get("name", ""), model.get("version", 0))


def _inside(folder: Path, path: str) -> Path:
    """``folder``/``path``. Raises ValueError if ``path`` leaves ``folder``. (A staged input may be a link to the cache.)"""
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or any(p in ("", ".", "..") for p in parts):
        raise ValueError(f"input path {path!r} leads out of the inputs folder")
    return folder.joinpath(*parts)
