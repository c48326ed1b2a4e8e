"""What is in a dataset besides data: results that an earlier run of this service delivered, and models.

Both are recognised by what their files hold: a manifest.json of this service, and the configuration of a model beside its weights. The names
alone tell nothing: a camera writes a config.json, and people have tables called predictions.csv.
"""

import json
from collections.abc import Iterable
from pathlib import PurePosixPath

from trainer.core.input import Input
from trainer.data import names
from trainer.run_folder import files

RESULT = "the result of an earlier run, as the manifest.json beside it says"
MODEL = "part of a model, which is never loaded"
_MANIFEST, _CONFIG = "manifest.json", "config.json"
_MANIFEST_BYTES = 64 << 20  # as the service limits it
_CONFIG_BYTES = 1 << 20
_MANIFEST_KEYS: dict[str, type | tuple[type, ...]] = {
    "schema": int,
    "run": str,
    "extractor": str,
    "dataset": dict,
    "settings": (list, type(None)),
    "outputs": (list, type(None)),
}
# What is delivered beside the manifest and is no output of the trainer, so that the manifest does not list it.
_DELIVERED = frozenset(
    "manifest.json log.txt report.html metrics.json model_card.md predictions.csv model.zip baseline.zip code.zip outputs.zip readme.md "
    "loss_curve.vl.json confusion.vl.json plots/loss.png plots/confusion.png plots/predicted.png plots/embedding.png".split()
)
_LOGS = "tensorboard/"


class NotData:
    """Tells which of these files of one dataset, or of one archive, are results or models."""

    def __init__(self, inputs: Iterable[Input]):
        inputs = list(inputs)
        self._outputs = {folder: listed for i in inputs if (listed := _listed(i)) is not None for folder in [_folder(i.name)]}
        weights = {_folder(i.name) for i in inputs if names.extension(i.name) in names.WEIGHTS}
        own = {_folder(i.name) for i in inputs if names.extension(i.name) == "safetensors"}
        self._models = {folder for i in inputs if (folder := _folder(i.name)) in weights and _describes_model(i, folder in own)}

    @property
    def models(self) -> set[str]:
        """The folders that hold a model."""
        return self._models

    def reason(self, name: str) -> str:
        """Why the file of this name is no data, or an empty text."""
        if _folder(name) in self._models:
            return MODEL
        return RESULT if self._is_delivered(name) else ""

    def _is_delivered(self, name: str) -> bool:
        for folder, outputs in self._outputs.items():
            if not folder or name.startswith(f"{folder}/"):
                inside = name[len(folder) + 1 if folder else 0 :].lower()
                if inside in _DELIVERED or inside.startswith(_LOGS) or PurePosixPath(inside).name in outputs:
                    return True
        return False


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _object(source: Input, base: str, limit: int) -> dict | None:
    """The JSON object in ``source``, if it is called ``base`` and holds one."""
    if PurePosixPath(source.name.lower()).name != base or source.size > limit:
        return None
    try:
        read = json.loads(files.read_bytes(source.file, limit))
    except (OSError, ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _listed(source: Input) -> frozenset[str] | None:
    """The names of the outputs that a manifest of this service lists; None for any other file."""
    read = _object(source, _MANIFEST, _MANIFEST_BYTES)
    if read is None or not all(key in read and isinstance(read[key], kind) for key, kind in _MANIFEST_KEYS.items()):
        return None
    paths = (o.get("path") for o in read["outputs"] or () if isinstance(o, dict))
    return frozenset(PurePosixPath(p.lower()).name for p in paths if isinstance(p, str))


def _describes_model(source: Input, safetensors: bool) -> bool:
    """Whether a file is the configuration of a model: of transformers, or, beside weights as safetensors, of a perceptron of this service."""
    read = _object(source, _CONFIG, _CONFIG_BYTES)
    if read is None:
        return False
    return (
        isinstance(read.get("model_type"), str)
        or isinstance(read.get("architectures"), list)
        or (safetensors and isinstance(read.get("layers"), list))
    )
