"""What a run is to do, as the service wrote it into spec.json."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

from trainer.errors import UserError


@dataclass(frozen=True)
class Parameters:
    """The user's settings; see schema/spec.schema.json for their meaning. Keys that are not known here are ignored."""

    task: str
    model: str
    epochs: int
    batch_size: int
    learning_rate: float
    max_length: int
    num_workers: int
    use_gpu: str
    max_minutes: int
    seed: int
    text_column: str
    label_column: str
    data_file: str = ""
    run_name: str = ""


@dataclass(frozen=True)
class Input:
    """One file of the dataset: ``name`` as the user sees it, ``file`` where it lies."""

    name: str
    file: Path
    size: int
    sha256: str
    id: str = ""


@dataclass(frozen=True)
class Spec:
    run: str
    attempt: int
    folder: Path
    dataset: str
    parameters: Parameters
    inputs: tuple[Input, ...]

    @property
    def models(self) -> Path:
        """The folder of the installed base models."""
        return self.folder.parent.parent / "models"


TASKS = ("text-classification",)


def load(path: Path) -> Spec:
    """Read spec.json. Every path in it is taken relative to its folder; one that leads out of inputs/ is refused."""
    document = json.loads(path.read_text(encoding="utf-8"))
    if document.get("schema") != 1:
        raise ValueError(f"{path} has schema {document.get('schema')!r}; this trainer reads schema 1")
    folder = path.resolve().parent
    known = {f.name for f in fields(Parameters)}
    parameters = Parameters(**{k: v for k, v in document["parameters"].items() if k in known})
    inputs = folder / "inputs"
    return Spec(
        run=document["run"],
        attempt=document["attempt"],
        folder=folder,
        dataset=document["dataset"].get("name", ""),
        parameters=parameters,
        inputs=tuple(
            Input(i["name"], _inside(inputs, i["path"]), i["size"], i["sha256"], i.get("id", "")) for i in document["inputs"]
        ),
    )


def check_task(task: str) -> str:
    """The task to run for the parameter ``task``; auto is the only one there is."""
    if task in ("auto", *TASKS):
        return TASKS[0]
    raise UserError(
        "unsupported_task",
        f"The task {task} is not supported.",
        f"Set task to auto or {TASKS[0]}.",
        "This version trains text classifiers only.",
    )


def _inside(folder: Path, path: str) -> Path:
    """``folder``/``path``, which must not lead out of ``folder`` by its parts. (A staged input may be a link to the cache.)"""
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or any(p in ("", ".", "..") for p in parts):
        raise ValueError(f"input path {path!r} leads out of the inputs folder")
    return folder.joinpath(*parts)
