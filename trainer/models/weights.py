"""The configuration and the tensors of an installed model that is computed with numpy, which are checked as they are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
from safetensors import SafetensorError, safe_open

from trainer.run_folder import files

CONFIG, WEIGHTS = "config.json", "*.safetensors"
_READ = ("F32", "F16")


class Unusable(ValueError):
    """What keeps a model from being used, as the end of a sentence that begins with its name."""


def configuration(folder: Path) -> dict[str, Any]:
    """config.json of a model. Raises Unusable."""
    try:
        found = files.read_json(folder / CONFIG)
    except (OSError, ValueError) as e:
        raise Unusable("has a config.json that cannot be read") from e
    if not isinstance(found, dict):
        raise Unusable("has a config.json that is no JSON object")
    return found


def whole(config: Mapping[str, Any], name: str, usual: int, most: int, least: int = 1) -> int:
    """A whole number of a configuration. Raises Unusable."""
    found = config.get(name, usual)
    if type(found) is not int or not least <= found <= most:
        raise Unusable(f"has {name} {str(found)[:40]} in its config.json, where a whole number from {least} to {most:,} is read")
    return found


class Weights:
    """The tensors of the safetensors in a folder, by their names. Raises Unusable for files that are damaged or of another kind."""

    def __init__(self, folder: Path):
        self._places: dict[str, Path] = {}
        for file in sorted(folder.glob(WEIGHTS)):
            try:
                with safe_open(file, "numpy") as tensors:
                    self._places.update(dict.fromkeys(tensors.keys(), file))
            except (OSError, SafetensorError) as e:
                raise Unusable(f"has a damaged file {file.name}") from e

    def has(self, name: str) -> bool:
        return name in self._places

    def take(self, name: str, *shape: int) -> numpy.ndarray:
        """A tensor of this shape, as float32."""
        file = self._places.get(name)
        if file is None:
            raise Unusable(f"lacks {name} in its weights")
        try:
            with safe_open(file, "numpy") as tensors:
                part = tensors.get_slice(name)
                there, sort = tuple(part.get_shape()), part.get_dtype()
                if there != shape:
                    raise Unusable(f"has {name} of the shape {there} in its weights, and its config.json says {shape}")
                if sort not in _READ:
                    raise Unusable(f"has weights of the type {sort}; {' and '.join(_READ)} are read")
                return tensors.get_tensor(name).astype(numpy.float32, copy=False)
        except (OSError, SafetensorError) as e:
            raise Unusable(f"has a damaged file {file.name}") from e
