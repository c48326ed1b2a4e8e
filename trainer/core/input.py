"""A file of the dataset, as it is staged for a run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Input:
    """One file of the dataset: ``name`` as the user sees it, ``file`` as its path on disk, ``label`` as its metadata says (empty for none)."""

    name: str
    file: Path
    size: int
    sha256: str
    id: str = ""
    label: str = ""
