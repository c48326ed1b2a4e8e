"""Names of classes in a file of their own, beside labels that are numbers: classes.txt, label_map.json, or the card of a dataset."""

import json
import re
from collections.abc import Iterable

from trainer.core.input import Input
from trainer.data import names
from trainer.data.columns import values
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.table import Table
from trainer.data.sources import Sources
from trainer.errors import some
from trainer.kinds.rows.roles import Roles

_WORDS = frozenset("class classes label labels category categories names mapping map dict target targets".split())  # in the name of such a file
_ENDINGS = ("txt", "csv", "tsv", "json", "names", "")
_CARD = "readme.md"
_MOST_BYTES, MOST_CLASSES = 1 << 20, values.MOST_SPELLINGS
_LONGEST = 100  # characters of a name
_DIGITS = 18  # of a number of a class
_NUMBER_FIRST = re.compile(rf"""["']?(\d{{1,{_DIGITS}}})["']?\s*[:,;=\t ]\s*["']?(.*?)["']?,?""")
_NUMBER_LAST = re.compile(rf"""["']?(.*?)["']?\s*[:,;=\t ]\s*["']?(\d{{1,{_DIGITS}}})["']?,?""")
_IN_CARD = re.compile(r"class_label:[ \t\r]*\n[ \t]*names:[ \t\r]*\n((?:[ \t]*['\"]?\d+['\"]?:[^\n]*\n)+)")


def name(group: list[Table], roles: Roles, found: Sources) -> None:
    """Take the names of classes that are numbers from the file that has them."""
    if roles.sets is not None or not roles.labelled or not roles.label:
        return
    classes = {values.label(c) for t in group for c in t.different(roles.label)} - {""}
    used = {n for t in group for n in (t.name, *t.joined)}
    candidates = [*found.tables, *found.documents, *found.others]
    roles.class_names, file = find(candidates, used, classes)
    if roles.class_names:
        examples = some([f"{number} is {name}" for number, name in sorted(roles.class_names.items(), key=lambda p: int(p[0]))], 3)
        roles.decisions.append(("class_names", list(roles.class_names.items()), f"{file} names the classes: {examples}."))
        found.ignored.used(file)
        for table in group:
            table.joined.append(file)


def find(sources: Iterable[Input], used: Iterable[str], classes: Iterable[str]) -> tuple[dict[str, str], str]:
    """The name of each of ``classes``, which are whole numbers as texts, and the file that has them; nothing where no file names all of them, or
    two files name them differently. ``used`` are files with examples."""
    wanted = {*classes}
    if not 2 <= len(wanted) <= MOST_CLASSES or not all(c.isascii() and c.isdecimal() and len(c) <= _DIGITS for c in wanted):
        return {}, ""
    found: dict[str, dict[str, str]] = {}
    for source in sources:
        if source.name not in used and _may_name(source) and (named := _named(source, wanted)):
            found[source.name] = named
    different = {tuple(sorted(n.items())) for n in found.values()}
    return (next(iter(found.values())), next(iter(found))) if len(different) == 1 else ({}, "")


def _may_name(source: Input) -> bool:
    base = source.name.rpartition("/")[2].lower()
    return source.size <= _MOST_BYTES and (base == _CARD or (names.extension(base) in _ENDINGS and bool(_WORDS & names.words(base))))


def _named(source: Input, wanted: set[str]) -> dict[str, str]:
    """The names of the classes that are ``wanted``; none where a class has none, or two have the same."""
    try:
        with open(source.file, "rb") as file:
            text = decode(file.read(), "")[0]
    except (NotText, OSError):
        return {}
    for pairs in _pairs(source, text, wanted):
        kept = {number: pairs[number].strip() for number in wanted if number in pairs}
        different = len({*kept.values()}) == len(wanted)
        if different and all(n and len(n) <= _LONGEST and values.number(n) is None for n in kept.values()):
            return kept
    return {}


def _pairs(source: Input, text: str, wanted: set[str]) -> list[dict[str, str]]:
    """The numbers and names that the file may mean."""
    if source.name.rpartition("/")[2].lower() == _CARD:
        cards = _IN_CARD.findall(text)
        return [_of_lines(cards[0], _NUMBER_FIRST, 0)] if len(cards) == 1 else []
    if names.extension(source.name) == "json":
        return _of_json(text, wanted)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    numbered = [_of_lines(text, _NUMBER_FIRST, 0), _of_lines(text, _NUMBER_LAST, 1)]
    return numbered if any(numbered) else _of_list(lines, wanted)


def _of_lines(text: str, pattern: re.Pattern[str], number: int) -> dict[str, str]:
    """The numbers and names of lines that all have both, but for a first one with the names of columns. No number stands twice."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]  # long blanks would keep the pattern busy for hours
    matches = [pattern.fullmatch(line) for line in lines]
    if len(lines) > 2 and matches[0] is None:
        matches = matches[1:]
    pairs = {str(int(m[1 + number])): m[2 - number] for m in matches if m}
    return pairs if len(pairs) == len(matches) else {}


def _of_list(found: list, wanted: set[str]) -> list[dict[str, str]]:
    """Names in the order of the numbers, which begin with 0 or 1: only where the classes tell which."""
    highest = max(map(int, wanted))
    start = 0 if "0" in wanted and highest < len(found) else 1 if highest == len(found) else None
    return [] if start is None or not all(isinstance(n, str) for n in found) else [{str(i): n for i, n in enumerate(found, start)}]


def _of_json(text: str, wanted: set[str]) -> list[dict[str, str]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, list):
        return _of_list(value, wanted)
    inner = [v for v in value.values() if isinstance(v, (dict, list))] if isinstance(value, dict) else []
    found = []
    for pairs in (value, *inner):
        if isinstance(pairs, list):
            found += _of_list(pairs, wanted)
        elif isinstance(pairs, dict):
            found.append({k: v for k, v in pairs.items() if k.isdecimal() and isinstance(v, str)})
            found.append({str(v): k for k, v in pairs.items() if type(v) is int})
    return found
