"""Packages that an installation which was killed has left half there.

uv takes a package for installed as soon as its folder of metadata exists, which may be before the rest of its files. A package is whole when its
list of files names what uv writes last, and all that it lists is there in full. This module needs nothing but Python: test/setup/python.sh
starts it as a program, too.
"""

import csv
import shutil
import sys
from pathlib import Path

_LAST = "INSTALLER"  # uv adds it to the list of files when everything else is there


def forget(environment: Path) -> list[str]:
    """Remove the metadata of each package of ``environment`` that is not whole, so that the next installation writes the package again.

    Nothing may be installing into ``environment`` meanwhile. Returns the names of these packages with their versions.
    """
    found = [folder for folder in sorted(environment.glob("lib/python3*/site-packages/*.dist-info")) if not _is_whole(folder)]
    for folder in found:
        shutil.rmtree(folder)
    return [folder.name.removesuffix(".dist-info") for folder in found]


def _is_whole(folder: Path) -> bool:
    try:
        with (folder / "RECORD").open(newline="", encoding="utf-8") as listed:
            rows = [row for row in csv.reader(listed) if row]
    except (OSError, ValueError, csv.Error):
        return False
    return any(row[0] == f"{folder.name}/{_LAST}" for row in rows) and all(_is_there(folder.parent, *row) for row in rows)


def _is_there(packages: Path, name: str, _sum: str = "", size: str = "") -> bool:
    if name.endswith(".pyc"):  # Python writes it again
        return True
    file = packages / name
    return file.is_file() and size in ("", str(file.stat().st_size))


if __name__ == "__main__":
    if halves := forget(Path(sys.argv[1])):
        print(f"An earlier installation was ended in the middle. These packages are written again: {', '.join(halves)}", file=sys.stderr)
