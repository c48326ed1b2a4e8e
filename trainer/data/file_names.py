"""Classes in the names of files: maize_rep2_0412.jpg.

A part of the names is taken as the class where it explains nearly all files, each of its values has some files, and it looks like names and not
like numbers, dates, cameras, repetitions or views of the same things. Other parts that repeat are offered in the error.
"""

import collections
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainer.core.input import Input
from trainer.data import names, views
from trainer.data.folders import Labelled
from trainer.errors import UserError, some

EXPLAINED = 0.95  # share of the files that belong to a class
MIN_FILES, MIN_CLASSES = 3, 2  # of a class; classes
FEWEST = MIN_FILES * MIN_CLASSES  # images
_MOST_PARTS = 8
_LEVEL = re.compile(r"name (-?[1-9])")
_SEPARATORS = re.compile(r"[\s_.,;+#()\[\]-]+")
_NUMBERED = re.compile(r"([^\W\d_]+)(\d+)")
_CAMERAS = frozenset(
    "img image images dsc dscn dscf dcim pict pic photo frame scan snap snapshot screenshot dji gopr gx pxl mvimg wp sam cimg imag file copy "
    "untitled edited crop cropped orig original rgb".split()
)
_TIMES = frozenset(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december "
    "mon tue wed thu fri sat sun am pm".split()
)
_COUNTERS = frozenset("rep plot block row col day week t z page part no nr run id tile patch replicate sample plant leaf site".split())


@dataclass(frozen=True)
class Part:
    """One part of the names. ``level`` is what the user calls it; ``values`` maps each value to the files that have it."""

    level: str
    values: dict[str, list[Input]]
    example: str

    @property
    def words(self) -> str:
        """The part in a list: 'name 1 (maize and wheat)'."""
        return f"{self.level} ({some(sorted(self.values, key=names.natural), 4)})"


def is_level(label_column: str) -> bool:
    """Whether the user named a part of the names instead of a column."""
    return _LEVEL.fullmatch(label_column.strip().lower()) is not None


def read(images: list[Input], label_column: str) -> tuple[list[Labelled], str]:
    """The files with the class in their names, and the reason as a sentence; no files where no part is one.

    ``label_column`` may say which part ("name 2"). Raises UserError where several parts are as good, or the one that was asked for is none.
    """
    parts = _parts(images)
    if is_level(label_column):
        wanted = label_column.strip().lower()
        chosen = [p for p in parts if p.level == wanted]
        if not chosen:
            raise UserError("unknown_column", f"No part of the file names is {wanted} with classes of several files.", _offer(parts))
    else:
        chosen = [p for p in parts if _names_classes(p)]
    if len(chosen) > 1:
        raise UserError(
            "ambiguous_label",
            f"The labels could be several parts of the file names: {some([p.words for p in chosen], 4)}.",
            f"Set label_column to the right one, for example {chosen[0].level}.",
        )
    if not chosen or (not is_level(label_column) and _are_views(chosen[0])):
        return [], ""
    part = chosen[0]
    value = next(v for v, files in part.values.items() if any(f.name.endswith(part.example) for f in files))
    files = [Labelled(file, value, names.split_of(file.name) or "") for value, listed in part.values.items() for file in listed]
    labels = some(sorted(part.values, key=names.natural), 6)
    why = f"The labels of the {len(files)} images are in their file names ({value} in {part.example}): {labels}."
    return sorted(files, key=lambda f: names.natural(f.source.name)), why


def unlabelled(images: list[Input], ignored: str) -> UserError:
    """The error for images that nothing says the class of. ``ignored`` names the other files of the dataset, if there are any."""
    return UserError(
        "unlabelled_images",
        f"Nothing says what the {len(images)} images show: they are in no folders named after labels, and no table names them.",
        "Upload the folders as one ZIP, one folder for each label; or add a table with a column of file names and a column of labels. "
        + _offer(_parts(images)),
        f"Not used: {ignored}." if ignored else "",
    )


def _offer(parts: list[Part]) -> str:
    return f"If a part of the file names is the label, set label_column: {some([p.words for p in parts], 3)}." if parts else ""


def _parts(images: list[Input]) -> list[Part]:
    """The parts of the names whose values repeat, counted from the front, or from the back where the number of parts differs."""
    split = [(image, _split(image.name)) for image in images]
    found: list[Part] = []
    even = len({len(parts) for _, parts in split}) == 1
    for place in [*range(_MOST_PARTS), *(() if even else range(-1, -_MOST_PARTS, -1))]:
        values: dict[str, list[Input]] = collections.defaultdict(list)
        for image, parts in split:
            if -len(parts) <= place < len(parts):
                values[parts[place].lower()].append(image)
        kept = {value: files for value, files in values.items() if len(files) >= MIN_FILES}
        if len(kept) < MIN_CLASSES or sum(map(len, kept.values())) < EXPLAINED * len(images):
            continue
        if not any(_same(kept, other.values) for other in found):
            first = next(iter(kept.values()))[0]
            found.append(Part(f"name {place + 1 if place >= 0 else place}", kept, PurePosixPath(first.name).name))
    return found


def _same(a: dict[str, list[Input]], b: dict[str, list[Input]]) -> bool:
    """Whether two parts divide the files alike."""
    return {frozenset(f.name for f in files) for files in a.values()} == {frozenset(f.name for f in files) for files in b.values()}


def _split(name: str) -> list[str]:
    """The parts of the name of a file without its ending. A word before a number is a part of its own where the name has no other mark."""
    stem = PurePosixPath(name).stem
    parts = [p for p in _SEPARATORS.split(stem) if p]
    whole = _NUMBERED.fullmatch(stem)
    return [whole[1], whole[2]] if whole else parts


def _names_classes(part: Part) -> bool:
    """Whether the values look like names of classes: words, or codes that do not only count."""
    values = list(part.values)
    if any(v in _CAMERAS or v in _TIMES or names.split_of(v) for v in values) or not all(any(c.isalpha() for c in v) for v in values):
        return False
    stems = {v[:-1] if v[:-1] in _COUNTERS else v.rstrip("0123456789") for v in values}  # siteA, site12
    return len(stems) > 1 and not stems <= _COUNTERS


def _are_views(part: Part) -> bool:
    """Whether the values are views or bands of the same things: the names are equal but for them. Colours are bands only at the end of names."""
    number = int(part.level.removeprefix("name "))
    place = number - (number > 0)
    split = [[_split(f.name) for f in files] for files in part.values.values()]
    is_last = all(place in (-1, len(parts) - 1) for listed in split for parts in listed)
    words = list(part.values)
    if not views.are_views(words) or (views.are_colours(words) and not is_last):
        return False
    return views.pair_up([{" ".join(parts[:place] + parts[place:][1:]).lower() for parts in listed} for listed in split])
