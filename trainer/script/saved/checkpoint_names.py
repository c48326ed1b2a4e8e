"""Which files of a script are checkpoints, and which of them belong together, by their names.

A unit is what a script needs together to go on: a numbered folder (checkpoint-500 of Hugging Face), or the files of one folder whose
names have the same numbers: model.pt beside optimizer.pt, or model_20.pt beside optimizer_20.pt. A unit counts only as a whole.
"""

import os
import re
from dataclasses import dataclass

LAST_OF_HF = "trainer_state.json"  # Hugging Face writes it last
_SURE = (".pt", ".pth", ".ckpt", ".safetensors", ".keras", ".distcp")
_LIKELY = (".bin", ".h5", ".hdf5", ".pkl", ".pickle", ".joblib", ".npz", ".npy", ".msgpack", ".json", ".model", ".ubj")
_WORDS = re.compile(r"ckpt|checkpoint|model|weight|state|optim|best|last|latest|epoch|step|iter|snapshot|resume", re.I)
_DATA = re.compile(r"data|datasets?|raw|processed|cache|\.cache|inputs?|features|tokeni[sz]ed", re.I)  # folders of files that are made once
_NUMBERED = re.compile(r"(?:.{0,60}[-_.=])?(?:checkpoint|ckpt|step|epoch|iter|global_step|snapshot)[-_=]?\d{1,12}", re.I)
_UNFINISHED = re.compile(r"(?:te?mp|\.).*|.*(?:\.|-|_)te?mp\d{0,12}|.*\.part|.*~|.*\.incomplete", re.I)
_OWN_STATE = re.compile(r"(?:te?mp[-_.].*|.*[-_.]te?mp(?:[-_.].*)?|.*\.part|.*\.incomplete|.*~|\.nfs.*)", re.I)
LEFT_OUT = ("__pycache__", ".cache", "wandb", ".ipynb_checkpoints", ".git")  # folders that nobody needs to go on


@dataclass(frozen=True)
class Unit:
    """``place`` is the numbered folder or the folder of the files, ``numbers`` are in the names of the files."""

    place: str
    numbers: tuple[int, ...] = ()
    is_folder: bool = False

    @property
    def series(self) -> tuple[str, bool]:
        """Equal for units that differ only in their numbers."""
        return (re.sub(r"\d+", "#", self.place), self.is_folder) if self.is_folder else (self.place, False)

    @property
    def step(self) -> int | None:
        """The number that grows during a training: the last one in the name."""
        numbers = re.findall(r"\d+", os.path.basename(self.place)) if self.is_folder else self.numbers
        return int(numbers[-1]) if numbers else None


def is_left_out(path: str) -> bool:
    """Whether the file is of no use for a later start: caches, and what is still being written under another name."""
    *folders, name = path.split("/")
    return any(f in LEFT_OUT or _OWN_STATE.fullmatch(f) for f in folders) or bool(_OWN_STATE.fullmatch(name)) or name.endswith(".pyc")


def unit_of(path: str) -> Unit | None:
    """The unit that the file belongs to; None for a file that is no part of a checkpoint."""
    *folders, name = path.split("/")
    for depth, folder in enumerate(folders):
        if _NUMBERED.fullmatch(folder) and not _UNFINISHED.fullmatch(folder):
            return Unit("/".join(folders[: depth + 1]), (), True)
    stem, suffix = os.path.splitext(name)
    if _UNFINISHED.fullmatch(name) or any(_DATA.fullmatch(f) for f in folders):
        return None
    if suffix.lower() in _SURE or (suffix.lower() in _LIKELY and _WORDS.search(stem)):
        return Unit("/".join(folders), tuple(int(n) for n in re.findall(r"\d{1,18}", stem)))
    return None


def is_weights(path: str) -> bool:
    """Whether the file alone makes its unit a checkpoint, because it holds more than settings."""
    name = path.rsplit("/", 1)[-1]
    suffix = os.path.splitext(name)[1].lower()
    return suffix in _SURE or (suffix in _LIKELY and (suffix != ".json" or bool(re.search(r"ckpt|checkpoint|state|resume|snapshot", name, re.I))))
