"""Which imports of a script the environment lacks, and what to write into requirements.txt for each."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath

from trainer.script.checking.checks import Parsed, needed
from trainer.script.checking.package_names import package_of

_OURS = "trainer"  # on the path of this process, never on that of a script


@dataclass(frozen=True)
class Missing:
    """A module that cannot be imported, the package that has it, and where it is imported first. ``certain`` says that the script cannot
    run without it."""

    module: str
    package: str
    file: str
    line: int
    certain: bool


def missing(parsed: Parsed, code: Mapping[str, str], names: Iterable[str], entry: str, overlay: Path | None) -> list[Missing]:
    """What ``code`` imports although nobody has it: neither Python, the installed packages, ``overlay``, nor the files ``names`` of the
    dataset, in whichever folder they are, because scripts extend their own path. In order of file and line, each module once."""
    own = {part for name in names for part in PurePosixPath(name).with_suffix("").parts}
    required = needed(parsed, code, entry)
    folders = [*(str(p) for p in [overlay] if p), *(p for p in sys.path if p and Path(p).name in ("site-packages", "dist-packages"))]
    found: dict[str, Missing] = {}
    known: dict[str, bool] = {}
    for path in sorted(parsed.imports, key=lambda p: (p not in required, p)):
        for module, line, certain in parsed.imports[path]:
            top = module.partition(".")[0]
            if top not in known:
                known[top] = top in own or top in sys.stdlib_module_names or (top != _OURS and PathFinder.find_spec(top, folders) is not None)
            one = Missing(top, package_of(module), path, line, certain and path in required)
            if not known[top] and (top not in found or (one.certain and not found[top].certain)):
                found[top] = one
    return sorted(found.values(), key=lambda m: (not m.certain, m.file, m.line))
