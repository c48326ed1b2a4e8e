"""The models to start from: installed ones, in <models>/<org>/<name>/, and the shapes that are built in.

An installed model has config.json, safetensors, and a tokenizer or an image processor. It is always loaded from its folder and
never by an id that a library would look up elsewhere. Weights in pickled form (.bin, .pt) run code when they are loaded, so a
folder that holds nothing else is refused. What a model is for says its model.json, which the service writes when it installs one, or
its architecture (model_types.py).

The image of Ray may bring models too: BASE_MODELS names their folder. An installed model of the same name takes precedence.
"""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from trainer.core import registry
from trainer.core.kind import Kind
from trainer.errors import UserError, some
from trainer.models import license, model_types
from trainer.run_folder import files

AUTO = "auto"
IMAGE_MODELS = "BASE_MODELS"  # the variable with the folder of the models in the image
_DESCRIPTION, _DESCRIPTION_BYTES = "model.json", 16 << 20
SMALL_BYTES = 40_000_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")  # a file system refuses longer names
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")


@dataclass(frozen=True)
class Base:
    """The model to start from. ``folder`` is None for a built-in model; ``fresh`` means to use its architecture but not its weights."""

    name: str
    kind: str
    folder: Path | None = None
    size: int = 0  # bytes of its weights
    fresh: bool = True
    commit: str = ""  # of the repository that an installed model comes from, if its model.json names one
    preferred: bool = False  # whether auto takes it before smaller ones
    model_type: str = ""  # of an installed model, as its config.json names it
    chosen_only: bool = False  # whether its license keeps it from being a default, so that a user must name it

    @property
    def is_small(self) -> bool:
        """Whether steps are so short that a second thread does not pay off."""
        return self.size < SMALL_BYTES

    @property
    def config(self) -> dict:
        return files.read_json(self.folder / "config.json")


def installed(models: Path) -> list[Base]:
    """The usable models of the volume and of the image. Other folders are left out.

    Those marked as the default come first, of the volume before the image, then the smallest.
    """
    found: dict[str, Base] = {}
    for shelf in _shelves(models):
        for folder in sorted(shelf.glob("*/*")) if shelf.is_dir() else []:
            name = f"{folder.parent.name}/{folder.name}"
            if name not in found and _NAME.fullmatch(name) and _inside(shelf, folder) and (folder / "config.json").is_file() and _weights(folder):
                found[name] = _described(name, folder)
    return sorted(found.values(), key=lambda b: (not b.preferred, b.preferred and not b.folder.is_relative_to(models), b.size, b.name))


def _shelves(models: Path) -> list[Path]:
    """The folders with models, the one of the volume first."""
    image = os.environ.get(IMAGE_MODELS, "")
    return [models, *([Path(image)] if image else [])]


def _described(name: str, folder: Path) -> Base:
    described = _document(folder / _DESCRIPTION)
    commit = described.get("commit")
    size = sum(w.stat().st_size for w in _weights(folder))
    preferred = described.get("default") is True
    return Base(
        name, _kind(folder, described), folder, size, fresh=False, commit=commit if isinstance(commit, str) and _COMMIT.fullmatch(commit) else "",
        preferred=preferred, model_type=str(_document(folder / "config.json").get("model_type", "")),
        chosen_only=not license.suits_all(license.of(folder), preferred),
    )  # fmt: skip


def choose(models: Path, wanted: str, kind: Kind, start_from: str = "pretrained", task: str = "") -> Base:
    """The base for ``kind`` of data and, if it is given, for ``task``. Raises UserError.

    auto uses the installed model that fits and is marked as the default, else the smallest that fits, else the built-in model. A model whose
    license is not for all uses, or one that is made for other data and can be a part of one for this, must be named.
    """
    there = fitting(models, kind, task)
    if wanted in ("", AUTO):
        defaults = [b for b in there if b.kind == kind.starts_from and not b.chosen_only]
        base = defaults[0] if defaults and start_from == "pretrained" else Base(kind.shape, kind.name)
    elif wanted in registry.built_in():
        if kind.shape != wanted:
            raise _unfit(wanted, kind, there)
        base = Base(wanted, kind.name)
    else:
        base = _named(models, wanted, kind, there)
    return replace(base, fresh=True) if start_from == "scratch" else base


def fitting(models: Path, kind: Kind, task: str = "") -> list[Base]:
    """The installed models that ``kind`` of data can start from, for ``task`` if it is given."""
    return [b for b in installed(models) if b.kind in (kind.starts_from, *kind.also_starts_from) and kind.starts_task(b, task)]


def _named(models: Path, wanted: str, kind: Kind, there: list[Base]) -> Base:
    if base := next((b for b in there if b.name == wanted), None):
        return base
    if other := next((b for b in installed(models) if b.name == wanted), None):
        raise _unfit(wanted, kind, there, other.kind)
    folder = models / wanted
    if not _NAME.fullmatch(wanted) or not folder.is_dir() or not _inside(models, folder):
        raise UserError(
            "model_not_installed",
            f"The model {wanted} is not installed here.",
            f"Ask the administrator to run: extractor models install {wanted}. Or set model to auto."
            if _NAME.fullmatch(wanted) else "Set model to auto, or to the name of an installed model: owner/name.",
            f"Installed: {some(b.name for b in there)}.",
        )  # fmt: skip
    if any(f.suffix in _PICKLES for f in folder.iterdir()) and not _weights(folder):
        raise UserError(
            "pickled_model",
            f"The installed model {wanted} has its weights only in a pickled file, which could run any code when it is loaded.",
            f"Ask the administrator to install it with extractor models install {wanted}, which converts it to safetensors, or choose another model.",
            f"Models that can be used: {some(b.name for b in there)}.",
        )
    raise UserError(
        "model_incomplete",
        f"The installed model {wanted} lacks config.json or model.safetensors.",
        "Ask the administrator to complete it, or choose another model.",
        f"Models that can be used: {some(b.name for b in there)}.",
    )


def unfit(models: Path, wanted: str, kind: Kind) -> UserError:
    """That ``wanted`` does not read ``kind`` of data."""
    return _unfit(wanted, kind, fitting(models, kind))


def _unfit(wanted: str, kind: Kind, there: list[Base], its_kind: str = "") -> UserError:
    fitting = some([kind.shape, *(b.name for b in there)])
    what, do = f"The model {{model}} does not read {kind.name} data.", "Set model to auto, or choose one that fits."
    its = registry.kinds().get(its_kind)
    if its is not None and its.unfit_elsewhere:
        what, do = its.unfit_elsewhere
    elif kind.unfit_here:
        what, do = kind.unfit_here
    return UserError("model_unfit", what.format(model=wanted), do, f"Models for {kind.name} data: {fitting}.")


def _kind(folder: Path, described: dict) -> str:
    """What model.json says, else what the architecture says. A folder whose config.json names no type is judged by its other files."""
    if described.get("kind") in [kind.starts_from for kind in registry.kinds().values()]:
        return described["kind"]
    config = _document(folder / "config.json")
    architectures = config.get("architectures")
    architecture = str(architectures[0]) if isinstance(architectures, list) and architectures else ""
    model_type = config.get("model_type")
    if isinstance(model_type, str) and model_type in model_types.types():
        return model_types.kind(model_type, architecture)
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return model_types.LANGUAGE
    has_tokenizer = any((folder / n).is_file() for n in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"))
    return model_types.IMAGE if (folder / "preprocessor_config.json").is_file() and not has_tokenizer else model_types.TEXT


def _document(path: Path) -> dict:
    """The object in a JSON file; empty if there is none."""
    try:
        found = files.read_json(path, _DESCRIPTION_BYTES)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _weights(folder: Path) -> list[Path]:
    return [f for f in folder.glob("*.safetensors") if f.is_file()]


def _inside(models: Path, folder: Path) -> bool:
    """Whether ``folder`` is really inside ``models`` and not a link to another place."""
    return folder.resolve().is_relative_to(models.resolve())
