"""A file of the dataset, as it is staged for a run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Input:
    """One file of the dataset: ``name`` as the user sees it, ``file`` as its path on disk, ``label`` as its metadata says (empty for none).

    ``columns`` are several such labels with their names, where a run reads several; one that the file lacks is empty.
    ``dataset`` is the name of the dataset that it came from, where a run reads several; no two have the same name.
    ``aliases`` are other names that it may have: those of a file in an archive that does not tell the code page of its names.
    """

    name: str
    file: Path
    size: int
    sha256: str
    id: str = ""
    label: str = ""
    aliases: tuple[str, ...] = ()
    dataset: str = ""
    columns: tuple[tuple[str, str], ...] = ()
