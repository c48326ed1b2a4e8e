"""Rows that belong together although the split did not keep them so: those of one plant, site, dataset or part of the map.

What is found here changes no split. A training measures what its score would be if such rows were held out together.
"""

import collections
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from trainer.core import columnar
from trainer.core.example import Example
from trainer.data import names, ordered
from trainer.data.ordered import Rule
from trainer.data.origins import Origins

MIN_GROUPS = 5  # so that each can be held out and others be learnt from
MIN_FROM_NAMES = 10  # groups that the names of files tell
_MOST_EXAMPLES = 200_000
_MEMBERS = 0.8  # share of the files that have others in their group
_OF_LABEL = 2  # groups for each label, so that they are no names of labels
_PARTS = "frame|slice|image|img|photo|pic|shot|scan|tile|crop|patch|view|[a-z]"  # of a thing, before their number
_NUMBERED = re.compile(rf"(.*?\d.*?|.{{3,}}?)[-_. ]+(?:{_PARTS})?\d{{1,6}}[a-z]?$", re.IGNORECASE)
_WORDS = frozenset(
    """patient subject participant person individual animal donor specimen plant plot site station farm household school hospital clinic
    transect quadrat tree colony nest capture scene session recording speaker batch slide device sensor catchment watershed borehole core
    camera cam book video rid ptid mrn subj usubjid sub""".split()
)
_OF_ROWS = frozenset("index idx key row rowid row_id number nr no".split())  # names of identifiers that say nothing of things
_ENDINGS = frozenset("id ids no nr number num code name key label".split())
_THING = re.compile(r"([A-Za-z]{3,})[-_. ]*\d{1,6}|([A-Za-z]{3,}?)[-_. ]*[A-Z]")
_PART = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True)
class Together:
    """A way in which rows belong together.

    ``name`` is what they share, as a noun in a sentence: "plant_id" or "dataset"; ``by`` is the rule of a split by it (``ordered.GROUP`` or PLACE),
    ``why`` says how it was found, ``do`` what a person sets to split by it. ``of`` has the group of a row by its file and number; rows without a
    group are left out. ``said`` is whether a warning speaks of it already. ``tells`` is whether what was found is sure enough for a warning.
    """

    name: str
    by: str
    why: str
    do: str
    of: Mapping[tuple[str, int], str]
    said: bool = False
    tells: bool = True


def is_named(name: str) -> bool:
    """Whether a column of this name tells things that may have several rows: the last word, or the one before id, number or name, says so."""
    words = [w.lower() for w in _PART.findall(name)]
    if names.is_identifier(name) and name.strip().lower() not in _OF_ROWS:
        return True
    while len(words) > 1 and words[-1] in _ENDINGS:
        words.pop()
    return bool(words) and words[-1] in _WORDS


def is_numbered_thing(name: str) -> bool:
    """Whether a folder is one of several things that are numbered, also by letters: plot_3, cam2, siteA."""
    found = _THING.fullmatch(name.strip())
    return found is not None and is_named(found[1] or found[2])


def of_datasets(given: Mapping[str, Sequence[Example]], origins: Origins) -> list[Together]:
    """The datasets of the rows, where a run reads several."""
    if not origins.others or _count(given) > _MOST_EXAMPLES:
        return []
    found = {(file, row): origins.of(file) for file, row in _rows(given)}
    usable = MIN_GROUPS <= len(set(found.values())) < len(found)
    do = "set data.split to group"
    return [Together("dataset", ordered.GROUP, "the run reads several datasets", do, found, said=True)] if usable else []


def of_files(given: Mapping[str, Sequence[Example]]) -> list[Together]:
    """The groups of pictures or texts that are a file each, as the folders below their labels or the names before their numbers tell."""
    if any(rows[0].row for rows in given.values() if len(rows)) or _count(given) > _MOST_EXAMPLES:
        return []
    examples = [e for rows in given.values() for e in rows]
    found = []
    for name, why, of in (("folder", "they are in one folder", _folder), ("series", "their names differ in the last number alone", _before_number)):
        groups = {e.file: of(e.file) for e in examples}
        if _tell_groups(groups, examples):
            of_rows = {(file, 0): group for file, group in groups.items() if group}
            found.append(Together(name, ordered.GROUP, why, "set data.split to group", of_rows))
    return found


def kept(given: Mapping[str, Sequence[Example]], way: Together, things: str) -> tuple[dict[str, list[Example]], Rule]:
    """The files of ``given`` with their groups by ``way``, and the rule that keeps these together. ``things`` are examples, in the plural."""
    plural = way.name if way.name.endswith("s") else f"{way.name}s"
    rule = Rule(whole=f"the {things} of each of {len(set(way.of.values()))} {plural}, since {way.why},", new=plural)
    return {name: [replace(e, group=way.of.get((e.file, e.row), "")) for e in rows] for name, rows in given.items()}, rule


def _count(given: Mapping[str, Sequence[Example]]) -> int:
    return sum(map(len, given.values()))


def _rows(given: Mapping[str, Sequence[Example]]) -> list[tuple[str, int]]:
    return [pair for rows in given.values() for pair in zip(columnar.files(rows), columnar.rows(rows).tolist())]


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def before_number(name: str) -> str:
    """What stands before the number at the end of a name: rec_07 of rec_07_3; empty for other names."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found else ""


def _before_number(file: str) -> str:
    return before_number(PurePosixPath(file).stem)


def _tell_groups(groups: Mapping[str, str], examples: list[Example]) -> bool:
    """Whether names tell groups of several files each, of which no label has only one or two."""
    sizes = collections.Counter(g for g in groups.values() if g)
    alone = sum(n for n in sizes.values() if n > 1)
    labels = {e.target for e in examples}
    if not examples or len(sizes) < max(MIN_FROM_NAMES, _OF_LABEL * len(labels) + 1) or alone < _MEMBERS * len(examples):
        return False
    of_label = collections.defaultdict(set)
    for e in examples:
        of_label[e.target].add(groups[e.file])
    return sum(len(of) > _OF_LABEL for of in of_label.values()) > len(labels) / 2
