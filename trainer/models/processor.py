"""What an image processor of transformers says about the size and the values of pictures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainer.run_folder import files

PROCESSOR = "preprocessor_config.json"
_HALF = (0.5, 0.5, 0.5)
_SIZE = 224


def size(folder: Path, config: Mapping[str, Any]) -> int:
    """The side of the squares that the model in ``folder`` with this ``config`` reads. Raises OSError or ValueError."""
    found = files.read_json(folder / PROCESSOR).get("size", config.get("image_size", _SIZE))
    if isinstance(found, dict):
        found = found.get("height") or found.get("shortest_edge") or _SIZE
    return int(found)


def normalisation(folder: Path, bands: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and spread of values from 0 to 1 that the model in ``folder`` wants, by band; of other bands than its own, the mean of those of its
    own. Raises OSError or ValueError."""
    wants = files.read_json(folder / PROCESSOR)
    if not wants.get("do_normalize", True):
        return (0.0,) * bands, (1.0,) * bands
    mean, std = (tuple(map(float, wants.get(name) or _HALF)) for name in ("image_mean", "image_std"))
    if min(std) <= 0:
        raise ValueError(f"{PROCESSOR} divides by {min(std):g}")
    return (mean, std) if len(mean) == bands else ((sum(mean) / len(mean),) * bands, (sum(std) / len(std),) * bands)
