"""The task of a run, as the service wrote it into spec.json."""

from dataclasses import dataclass, field
from pathlib import Path

from trainer.archive.budget import Budget
from trainer.config import older_spec
from trainer.config.jail import Limits
from trainer.core.input import Input
from trainer.run_folder import files

WORK = "work"  # in the run folder: holds one folder for each start
_SCHEMA = 3
_SPEC_BYTES = 1 << 30  # it lists every file of the dataset


@dataclass(frozen=True)
class Version:
    """A registered model: ``folder`` holds the content of out/model of an earlier run."""

    folder: Path
    run: str = ""
    name: str = ""
    version: int = 0


@dataclass(frozen=True)
class Script:
    """What the service allows a script of a user. ``sandbox`` is auto, bubblewrap, gvisor, pod or none; ``check`` is report, block_high or off.
    ``network`` lets the script reach other machines.

    ``overlay`` is a folder with the packages ``requirements``, which requirements.txt added to the image; ``resolved`` says whether somebody
    has looked at requirements.txt at all. The newest snapshot of checkpoints is at most ``checkpoint_seconds`` old. The time limit is a
    setting of the user (max_minutes), not part of ``limits``.
    """

    sandbox: str = "auto"
    check: str = "report"
    network: bool = False
    limits: Limits = field(default_factory=Limits)
    overlay: Path | None = None
    requirements: tuple[str, ...] = ()
    resolved: bool = False
    checkpoint_seconds: float = 60.0


@dataclass(frozen=True)
class Spec:
    """``settings`` are the values of the options, ``sources`` where each came from, and ``notes`` what the user is to read about them.

    ``not_read`` are names of files of the dataset that the run does not get, each with the reason.

    ``folder`` is the run folder, ``work`` its subfolder for this start (see run_folder/lease.py), ``budget`` what this start may
    still unpack.
    """

    kind: str
    run: str
    attempt: int
    folder: Path
    work: Path
    dataset: str
    settings: dict
    sources: dict
    notes: tuple[dict, ...]
    inputs: tuple[Input, ...]
    not_read: tuple[tuple[str, str], ...] = ()
    model: Version | None = None
    champion: Version | None = None
    script: Script | None = None
    budget: Budget = field(default_factory=Budget, compare=False)

    @property
    def models(self) -> Path:
        """The folder of the installed base models."""
        return self.folder.parent.parent / "models"


def load(path: Path) -> Spec:
    """Read spec.json. Its paths are relative to its folder. Raises ValueError for an input outside inputs/, and for what a spec
    of an older service cannot mean.
    """
    document = files.read_json(path, _SPEC_BYTES)
    folder = path.resolve().parent
    inputs = folder / "inputs"
    if document.get("schema") == older_spec.SCHEMA:
        document = older_spec.upgraded(document, inputs)
    if document.get("schema") != _SCHEMA:
        raise ValueError(f"{path} has schema {document.get('schema')!r}; this trainer reads schema {_SCHEMA}")
    return Spec(
        kind=document["kind"],
        run=document["run"],
        attempt=document["attempt"],
        folder=folder,
        work=folder / WORK,
        dataset=document["dataset"].get("name", ""),
        settings=document["settings"],
        sources=document["sources"],
        notes=tuple(document.get("notes", ())),
        inputs=tuple(_input(inputs, i) for i in document["inputs"]),
        not_read=tuple((f["name"], f["reason"]) for f in document.get("not_read", ())),
        model=_version(folder, document.get("model")),
        champion=_version(folder, document.get("champion")),
        script=_script(folder, document.get("script", {})) if document["kind"] == "script" else None,
    )


def _input(folder: Path, given: dict) -> Input:
    columns = tuple((c["name"], c["value"]) for c in given.get("columns", ()))
    name, file = given["name"], _inside(folder, given["path"])
    label, dataset = given.get("label", ""), given.get("dataset", "")
    return Input(name, file, given["size"], given["sha256"], given.get("id", ""), label, dataset=dataset, columns=columns)


def _script(folder: Path, given: dict) -> Script:
    """The part of spec.json for a script. A field that is absent has its default."""
    known = {name: given[name] for name in ("sandbox", "check", "network", "resolved", "checkpoint_seconds") if name in given}
    overlay = _shared(folder, given["overlay"], "../..", "overlay") if given.get("overlay") else None
    return Script(limits=Limits(**given.get("limits", {})), overlay=overlay, requirements=tuple(given.get("requirements", ())), **known)


def _version(folder: Path, model: dict | None) -> Version | None:
    """A model from spec.json. It must be on the shared volume, which is two levels above the run folder."""
    if model is None:
        return None
    return Version(_shared(folder, model["path"], ".", "model"), model.get("run", ""), model.get("name", ""), model.get("version", 0))


def _shared(folder: Path, path: str, start: str, what: str) -> Path:
    """``path`` from ``start``, which is relative to the run folder. Raises ValueError if it leaves the shared volume."""
    there = (folder / start / path).resolve()
    if not there.is_relative_to(folder.parent.parent):
        raise ValueError(f"{what} path {path!r} leads out of the shared volume")
    return there


def _inside(folder: Path, path: str) -> Path:
    """``folder``/``path``. Raises ValueError if ``path`` leaves ``folder``. (A staged input may be a link to the cache.)"""
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or any(p in ("", ".", "..") for p in parts):
        raise ValueError(f"input path {path!r} leads out of the inputs folder")
    return folder.joinpath(*parts)
