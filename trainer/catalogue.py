"""The installed base models: <models>/<org>/<name>/ with config.json, safetensors and a tokenizer.

A model is always loaded from its folder and never by an id that a library would look up elsewhere. Weights in pickled form
(.bin, .pt) run code when they are loaded, so a folder that holds nothing else is refused.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from trainer.errors import UserError, some

AUTO = "auto"
SCRATCH = "bert-tiny shape"
SMALL_BYTES = 40_000_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")


@dataclass(frozen=True)
class Base:
    """The model to start from. ``folder`` is None for one that starts from scratch."""

    name: str
    folder: Path | None
    size: int = 0  # bytes of its weights

    @property
    def is_small(self) -> bool:
        """Whether a step is so short that a second thread costs more than it brings."""
        return self.size < SMALL_BYTES

    @property
    def config(self) -> dict:
        return json.loads((self.folder / "config.json").read_text(encoding="utf-8"))


def installed(models: Path) -> list[Base]:
    """The models that can be used, the smallest first. Folders that cannot are left out."""
    found = []
    for folder in sorted(models.glob("*/*")) if models.is_dir() else []:
        name = f"{folder.parent.name}/{folder.name}"
        if _NAME.fullmatch(name) and _inside(models, folder) and (folder / "config.json").is_file() and (weights := _weights(folder)):
            found.append(Base(name, folder, sum(w.stat().st_size for w in weights)))
    return sorted(found, key=lambda b: (b.size, b.name))


def choose(models: Path, wanted: str) -> Base:
    """The base for the parameter ``model``: auto takes the smallest installed one, or none at all."""
    there = installed(models)
    if wanted in ("", AUTO):
        return there[0] if there else Base(SCRATCH, None)
    if base := next((b for b in there if b.name == wanted), None):
        return base
    folder = models / wanted
    if _NAME.fullmatch(wanted) and folder.is_dir() and _inside(models, folder):
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
    raise UserError(
        "model_not_installed",
        f"The model {wanted} is not installed here.",
        "Choose an installed model, set model to auto, or ask the administrator to install it.",
        f"Installed: {some(b.name for b in there)}.",
    )


def _weights(folder: Path) -> list[Path]:
    return [f for f in folder.glob("*.safetensors") if f.is_file()]


def _inside(models: Path, folder: Path) -> bool:
    """Whether ``folder`` really lies in ``models``: a link that leads out of it does not."""
    return folder.resolve().is_relative_to(models.resolve())
