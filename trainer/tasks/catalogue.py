"""The models to start from: installed ones, in <models>/<org>/<name>/, and the shapes that are built in.

An installed model has config.json, safetensors, and a tokenizer or an image processor. It is always loaded from its folder and
never by an id that a library would look up elsewhere. Weights in pickled form (.bin, .pt) run code when they are loaded, so a
folder that holds nothing else is refused.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from trainer.config.kinds import SHAPES
from trainer.errors import UserError, some
from trainer.run_folder import files

AUTO = "auto"
SMALL_BYTES = 40_000_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")  # a file system refuses longer names
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")


@dataclass(frozen=True)
class Base:
    """The model to start from. ``folder`` is None for a built-in model; ``fresh`` means to use its architecture but not its weights."""

    name: str
    kind: str
    folder: Path | None = None
    size: int = 0  # bytes of its weights
    fresh: bool = True

    @property
    def is_small(self) -> bool:
        """Whether steps are so short that a second thread does not pay off."""
        return self.size < SMALL_BYTES

    @property
    def config(self) -> dict:
        return files.read_json(self.folder / "config.json")


def installed(models: Path) -> list[Base]:
    """The usable models, the smallest first. Other folders are left out."""
    found = []
    for folder in sorted(models.glob("*/*")) if models.is_dir() else []:
        name = f"{folder.parent.name}/{folder.name}"
        if _NAME.fullmatch(name) and _inside(models, folder) and (folder / "config.json").is_file() and (weights := _weights(folder)):
            found.append(Base(name, _kind(folder), folder, sum(w.stat().st_size for w in weights), fresh=False))
    return sorted(found, key=lambda b: (b.size, b.name))


def choose(models: Path, wanted: str, kind: str, start_from: str = "pretrained") -> Base:
    """The base for ``kind`` of data: auto uses the smallest installed one that fits, or the built-in model. Raises UserError."""
    there = [b for b in installed(models) if b.kind == kind]
    if wanted in ("", AUTO):
        base = there[0] if there and start_from == "pretrained" else Base(SHAPES[kind], kind)
    elif wanted in SHAPES.values():
        if SHAPES[kind] != wanted:
            raise _unfit(wanted, kind, there)
        base = Base(wanted, kind)
    else:
        base = _named(models, wanted, kind, there)
    return replace(base, fresh=True) if start_from == "scratch" else base


def _named(models: Path, wanted: str, kind: str, there: list[Base]) -> Base:
    if base := next((b for b in there if b.name == wanted), None):
        return base
    folder = models / wanted
    if not _NAME.fullmatch(wanted) or not folder.is_dir() or not _inside(models, folder):
        raise UserError(
            "model_not_installed",
            f"The model {wanted} is not installed here.",
            "Choose an installed model, set model to auto, or ask the administrator to install it.",
            f"Installed: {some(b.name for b in there)}.",
        )
    if (folder / "config.json").is_file() and _weights(folder):
        raise _unfit(wanted, kind, there)
    if any(f.suffix in _PICKLES for f in folder.iterdir()) and not _weights(folder):
        raise UserError(
            "pickled_model",
            f"The installed model {wanted} has its weights only in a pickled file, which could run any code when it is loaded.",
            "Ask the administrator to convert it to safetensors, or choose another model.",
            f"Models that can be used: {some(b.name for b in there)}.",
        )
    raise UserError(
        "model_incomplete",
        f"The installed model {wanted} lacks config.json or model.safetensors.",
        "Ask the administrator to complete it, or choose another model.",
        f"Models that can be used: {some(b.name for b in there)}.",
    )


def _unfit(wanted: str, kind: str, there: list[Base]) -> UserError:
    fitting = some([SHAPES[kind], *(b.name for b in there)])
    return UserError(
        "model_unfit",
        f"The model {wanted} does not read {kind} data.",
        "Set model to auto, or choose one that fits.",
        f"Models for {kind} data: {fitting}.",
    )


def _kind(folder: Path) -> str:
    """Text, unless the folder has an image processor and no tokenizer."""
    has_tokenizer = any((folder / n).is_file() for n in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"))
    return "image" if (folder / "preprocessor_config.json").is_file() and not has_tokenizer else "text"


def _weights(folder: Path) -> list[Path]:
    return [f for f in folder.glob("*.safetensors") if f.is_file()]


def _inside(models: Path, folder: Path) -> bool:
    """Whether ``folder`` is really inside ``models`` and not a link to another place."""
    return folder.resolve().is_relative_to(models.resolve())
