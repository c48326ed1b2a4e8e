"""The two files of a model of tables: a description, and tensors."""

from pathlib import Path
from typing import Protocol

import numpy
from safetensors import numpy as safetensors

from trainer.run_folder import files

CONFIG, WEIGHTS = "config.json", "weights.safetensors"


class Model(Protocol):
    """What is saved of a model."""

    def described(self) -> dict:
        """Its description, whose ``model_type`` is the name of the estimator."""

    def tensors(self) -> dict[str, numpy.ndarray]:
        """Its numbers."""


def write(folder: Path, model: Model) -> None:
    """Write ``model`` into ``folder``, which exists."""
    tensors = {name: numpy.ascontiguousarray(tensor) for name, tensor in model.tensors().items()}
    files.write_bytes(folder / WEIGHTS, safetensors.save(tensors))
    files.write_json(folder / CONFIG, model.described())


def read(folder: Path) -> tuple[dict, dict[str, numpy.ndarray]]:
    """The description and the tensors in ``folder``. Raises OSError, or ValueError for a description that is no JSON or too large."""
    return files.read_json(folder / CONFIG), safetensors.load_file(folder / WEIGHTS)
