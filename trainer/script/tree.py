"""The folders that a script sees: a tree like the dataset, made of copies and of links to the staged files.

The staged files are shared by all runs of a dataset, so a script must never write to them. Code and small files are copied, as scripts
may change them; everything else is a symbolic link to the staged file, which the sandbox shows read-only. New files can be created
everywhere in the tree, also beside the data.
"""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainer.config.jail import INPUTS, RUN
from trainer.config.spec import Spec
from trainer.core.input import Input
from trainer.errors import UserError
from trainer.run_folder import files

OUT, DATA = "out", "data"
COPIED_BYTES, COPIED_FILES = 1 << 20, 2000  # of files other than code: larger ones, and those after so many, are links
CODE_BYTES = 16 << 20
TEXT_BYTES = 1 << 20  # of a file of code that is read to decide something
MAX_CODE_FILES = 2000
_CODE = {".py", ".pyi", ".ipynb", ".sh", ".md", ".rst", ".cfg", ".ini", ".toml", ".yaml", ".yml", ".jinja", ".pyx", ".c", ".h", ".cpp", ".cu"}
_CODE_NAMES = re.compile(r"(requirements.*\.txt|dockerfile|makefile|licen[cs]e.*|\.git.*|setup\.cfg)", re.IGNORECASE)
_KERAS = "keras-datasets"  # a folder of the dataset that is offered where Keras looks for downloads


@dataclass(frozen=True)
class File:
    """A file of the dataset in the tree: ``size`` and ``sha256`` as staged, ``copied`` or a link."""

    size: int
    sha256: str
    copied: bool


@dataclass(frozen=True)
class Placed:
    """What was put into the tree: the files of the dataset by their paths, and links to places outside of the tree."""

    files: Mapping[str, File]
    links: tuple[tuple[str, str], ...] = ()


def paths(spec: Spec) -> dict[str, Input]:
    """The staged files by their paths in the tree."""
    inputs = spec.folder / "inputs"
    return {i.file.relative_to(inputs).as_posix(): i for i in spec.inputs}


def is_code(path: str) -> bool:
    """Whether a file of the dataset counts as code: it is copied, hashed and delivered with the results, and is no data."""
    name = PurePosixPath(path).name
    return PurePosixPath(name).suffix.lower() in _CODE or _CODE_NAMES.fullmatch(name) is not None


def texts(spec: Spec) -> dict[str, str]:
    """The Python files of the dataset, to look at. Files that are too large or no text are left out."""
    found: dict[str, str] = {}
    for path, given in sorted(paths(spec).items())[:100_000]:
        if path.endswith(".py") and given.size <= TEXT_BYTES and len(found) < MAX_CODE_FILES:
            try:
                found[path] = files.read_bytes(given.file, TEXT_BYTES).decode("utf-8-sig")
            except (OSError, ValueError):
                continue
    return found


def place(spec: Spec, tree: Path, home: Path, code: Mapping[str, str], visible: bool) -> Placed:
    """Fill the new folders ``tree`` and ``home``. ``code`` is what ``texts`` gives.

    ``visible`` says that the paths of jail.py exist for the script. Without a sandbox they do not, and links lead to the files themselves.
    """
    given = paths(spec)
    target = {path: f"{INPUTS}/{path}" if visible else str(i.file.resolve()) for path, i in given.items()}
    for folder in (tree, home):
        folder.mkdir(parents=True)
    placed, copies = {}, 0
    for path, one in sorted(given.items()):
        small = one.size <= COPIED_BYTES and copies < COPIED_FILES
        copied = (is_code(path) and one.size <= CODE_BYTES) or PurePosixPath(path).parts[0] == OUT or small
        there = tree / path
        _folder(tree, there.parent)
        if copied:
            copies += not is_code(path)
            shutil.copyfile(one.file, there)
        else:
            there.symlink_to(target[path])
        placed[path] = File(one.size, one.sha256, copied)
    _folder(tree, tree / OUT)
    for name in _made_by_hand(code):
        _folder(tree, tree / OUT / name)
    _place_data(tree, given, target)
    for path in (p for p in given if p.startswith(f"{_KERAS}/")):
        there = home / ".keras" / "datasets" / PurePosixPath(path).relative_to(_KERAS)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(target[path])
    if not visible:
        (tree.parent / DATA).unlink(missing_ok=True)
        (tree.parent / DATA).symlink_to(tree / DATA)  # scripts that say ../data
    return Placed(placed, links(tree, code))


def links(tree: Path, code: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The places where scripts of other systems look, as links into the tree."""
    data = f"{RUN}/{DATA}"
    channels = {name: f"{data}/{name}" for name in channels_of(tree)}
    channels = {"training": data, "train": data, **channels}
    kaggle = sorted({name for text in code.values() for name in re.findall(r"/kaggle/input/([\w.-]{1,100})", text)})
    inside = [name for name in kaggle if not (tree / DATA / name).exists()]
    return (
        ("/home/user/data", data),
        *((f"/opt/ml/input/data/{name}", there) for name, there in channels.items()),
        ("/opt/ml/code", RUN),
        ("/opt/ml/model", f"{RUN}/{OUT}/model"),
        ("/opt/ml/output/data", f"{RUN}/{OUT}"),
        ("/opt/ml/checkpoints", f"{RUN}/{OUT}/checkpoints"),
        ("/kaggle/working", RUN),
        *([(f"/kaggle/input/{name}", data) for name in inside] or [("/kaggle/input", data)]),
        ("/content", RUN),
    )


def channels_of(tree: Path) -> list[str]:
    """The folders in data/: SageMaker calls them channels."""
    return sorted(e.name for e in os.scandir(tree / DATA) if e.is_dir() and re.fullmatch(r"[\w-]{1,50}", e.name))[:20]


def _made_by_hand(code: Mapping[str, str]) -> list[str]:
    """The folders in out/ that a script expects to exist. Others would disturb scripts that refuse a folder with content."""
    text = "\n".join(code.values())
    wanted = {"model": ("SM_MODEL_DIR", "/opt/ml/model", "AIP_MODEL_DIR"), "checkpoints": ("CHECKPOINT_DIR", "/opt/ml/checkpoints")}
    return [name for name, words in wanted.items() if any(word in text for word in words)]


def _place_data(tree: Path, given: Mapping[str, Input], target: Mapping[str, str]) -> None:
    """data/ of the dataset itself, or a tree of links to everything that is no code."""
    if (tree / DATA).is_file():
        return
    _folder(tree, tree / DATA)
    if any(path.startswith(f"{DATA}/") for path in given):
        return
    for path in given:
        if not is_code(path) and PurePosixPath(path).parts[0] != OUT:
            there = tree / DATA / path
            _folder(tree, there.parent)
            there.symlink_to(target[path])


def _folder(tree: Path, folder: Path) -> None:
    """Make a folder of the tree. Raises UserError if a file of the dataset has its name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as e:
        name = folder.relative_to(tree).as_posix()
        raise UserError("name_taken", f"The dataset has both a file and a folder called {name}.", "Rename one of them.") from e
