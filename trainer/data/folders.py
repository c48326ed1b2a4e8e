"""Files as examples, labelled by their folders or by their metadata: the layout of many sets of images and texts."""

import collections
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trainer.core.example import SPLITS, Example
from trainer.core.input import Input
from trainer.data import names, written
from trainer.data.checks import Checks
from trainer.data.formats import fasta, tables
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.table import NotATable
from trainer.errors import UserError, some

MIN_FOLDERS = 2
MIN_FILES = 2  # in a folder, for its name to be a label
_NO_LABELS = frozenset(("unsup", "unsupervised", "unlabeled", "unlabelled"))  # folders of files whose label nobody knows
_NO_LABELS_OF_TEST = ("unknown", "unk")
_LEVEL = re.compile(r"folder (\d+)")


@dataclass
class Labelled:
    """One file with its label, and the split (empty where none) that its folders stand for."""

    source: Input
    label: str
    split: str


def read(sources: list[Input], wanted: str) -> list[Labelled]:
    """The files with labels by folder; none where folders hold no labels.

    A level of folders whose names all stand for splits tells the split. Of the others the one that varies tells the label; where
    several do, ``wanted`` ("folder 2") says which, else UserError asks.
    """
    folders, levels, divides = _levels(sources)
    varying = [i for i, names_there in enumerate(levels) if len(names_there) >= MIN_FOLDERS and not divides[i]]
    if not varying:
        return []
    level = _level(varying, levels, wanted)
    files = []
    for source, parts in zip(sources, folders):
        split = _split(source, parts, divides)
        if len(parts) > level and parts[level].lower() not in (*_NO_LABELS, *(_NO_LABELS_OF_TEST if split == "test" else ())):
            files.append(Labelled(source, parts[level], split))
    counts = collections.Counter(f.label for f in files)
    return files if sum(n >= MIN_FILES for n in counts.values()) >= MIN_FOLDERS else []


def by_metadata(sources: list[Input]) -> list[Labelled]:
    """The files with a label, or with columns of labels, in their metadata. A level of folders whose names all stand for splits tells the split."""
    folders, _, divides = _levels(sources)
    labelled = ((s, _split(s, parts, divides)) for s, parts in zip(sources, folders) if s.label or s.columns)
    return [Labelled(source, source.label, split) for source, split in labelled]


def _levels(sources: list[Input]) -> tuple[list[list[str]], list[set[str]], list[bool]]:
    """The folders of each file, the names in each level of folders, and whether these all stand for splits."""
    folders = [[names.nfc(part).strip() or part for part in names.in_form(source.name).split("/")[:-1]] for source in sources]
    levels = [{f[i] for f in folders if len(f) > i} for i in range(max(map(len, folders), default=0))]
    return folders, levels, [bool(level) and all(names.split_of(name) for name in level) for level in levels]


def _split(source: Input, parts: list[str], divides: list[bool]) -> str:
    return names.chosen_split(source.name) or next((names.split_of(part) for part, divided in zip(parts, divides) if divided), "")


def is_level(label_column: str) -> bool:
    """Whether the user named a level of folders instead of a column."""
    return _LEVEL.fullmatch(label_column.strip().lower()) is not None


def _level(varying: list[int], levels: list[set[str]], wanted: str) -> int:
    if asked := _LEVEL.fullmatch(wanted.strip().lower()):
        if int(asked[1]) - 1 in varying:
            return int(asked[1]) - 1
    elif len(varying) == 1:
        return varying[0]
    choices = [f"folder {i + 1} ({some(sorted(levels[i], key=names.natural), 4)})" for i in varying]
    raise UserError(
        "ambiguous_label",
        f"The labels could be the names of several levels of folders: {some(choices)}.",
        f"Set label_column to the right level, for example folder {varying[0] + 1}.",
    )


def examples(files: list[Labelled], read: Callable[[Input], Any], checks: Checks) -> dict[str, list[Example]]:
    """The examples in the splits that folders define; ``read`` gives the content of a file. An empty text is left out with a warning."""
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    broken = []
    for f in files:
        content = read(f.source)
        if content:
            given[f.split or "train"].append(Example(f.source.name, 0, content, f.label))
        else:
            broken.append(f.source.name)
    if broken:
        checks.warning("empty_rows", f"{len(broken)} files are left out because they contain no text: {some(broken, 6)}.")
        checks.drop("the file contains no text", len(broken))
    return given


def text(source: Input, encoding: str) -> str:
    """The text of a file; empty where it holds none."""
    ending = names.extension(source.name)
    try:
        content = tables.content(source)
        if ending in written.ENDINGS:
            return written.text(content, ending, encoding)
        found = decode(content, encoding)[0].strip()
        return "\n".join(fasta.read(source.name, found).cells("sequence")) if ending in names.SEQUENCES else found
    except (NotText, NotATable):
        return ""
