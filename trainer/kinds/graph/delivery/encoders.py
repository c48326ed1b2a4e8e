"""How features are made of the columns of new nodes, beside a model."""

from pathlib import Path

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from trainer.kinds.graph.reading_progress import ReadingProgress

NAME = "features.safetensors"


def save(folder: Path, arrays: dict[str, numpy.ndarray]) -> None:
    """Write the arrays that the description of the features refers to, if there are any."""
    if arrays:
        save_file({name: numpy.ascontiguousarray(value) for name, value in arrays.items()}, folder / NAME)


def features(
    folder: Path, described: dict, cells: dict[str, list[str]], rows: int, models: Path, progress: ReadingProgress | None = None
) -> numpy.ndarray:
    """The features (float32) of ``rows`` new nodes from their columns as text. ``models`` has the installed models; one that reads texts tells
    ``progress``. Raises ValueError where the model does not say how."""
    import trainer.kinds.graph.features as made

    if not described.get("parts"):
        raise ValueError("it does not say how features are made")
    try:
        arrays = load_file(folder / NAME) if (folder / NAME).exists() else {}
    except SafetensorError as e:
        raise ValueError(f"{NAME} cannot be read: {e}") from None
    return made.encode(described, arrays, cells, rows, models, progress)
