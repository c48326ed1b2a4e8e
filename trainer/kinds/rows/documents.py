"""Plain text files as passages, in the splits that their names or their order define."""

import math

from trainer.core.example import SPLITS, Example
from trainer.core.input import Input
from trainer.data import folders, names
from trainer.data.checks import Checks
from trainer.data.cut import END, Cut
from trainer.errors import some

PASSAGE = 2000  # characters, about 500 tokens of English
MANY_FILES = 30  # from which whole files are held out
MIN_CHARACTERS = 10_000  # for text files to be read as texts without a word from the user
EXTENSIONS = ("txt", "md")


def read(sources: list[Input], settings, checks: Checks) -> dict[str, list[Example]]:
    """The passages of all files by split.

    The splits are those that file names stand for. Else, of many files, whole ones are held out later, by a hash. Of few files the end
    of each is held out, because passages that follow each other are about the same.
    """
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    empty = []
    by_name = any(names.split_of(s.name) == "train" or names.chosen_split(s.name) for s in sources)
    many = len(sources) >= MANY_FILES
    for source in sources:
        found = _examples(source, folders.text(source, settings.encoding), many)
        if not found:
            empty.append(source.name)
        elif by_name or many:
            given[(by_name and names.split_of(source.name)) or "train"] += found
        else:
            for name, part in _held_out(found, settings).items():
                given[name] += part
    if empty:
        checks.warning("empty_rows", f"{len(empty)} files are left out because they contain no text: {some(empty, 6)}.")
        checks.drop("the file contains no text", len(empty))
    if not by_name and not many:
        checks.cut = Cut(END)
        checks.events.decision("held_out", "end", "The end of each text is held out for validation and test.")
    return given


def passages(text: str, size: int = PASSAGE) -> list[tuple[int, str]]:
    """``text`` in parts of about ``size`` characters, cut between paragraphs or lines where there are any, with the line each begins in.

    The parts together are the whole text.
    """
    found, begin, line = [], 0, 1
    while begin < len(text):
        end = min(len(text), begin + size)
        if end < len(text):
            cuts = (text.rfind(mark, begin + size // 2, end) + len(mark) for mark in ("\n\n", "\n", ". ", " "))
            end = next((cut for cut in cuts if cut > begin + size // 2), end)
        found.append((line, text[begin:end]))
        line += text.count("\n", begin, end)
        begin = end
    return found


def _examples(source: Input, text: str, grouped: bool) -> list[Example]:
    group = source.name if grouped else ""
    return [Example(source.name, line, part, "", group=group) for line, part in passages(text) if part.strip()]


def _held_out(found: list[Example], settings) -> dict[str, list[Example]]:
    """The last passages of a file for test, those before them for validation; all of a short file for training."""
    if len(found) < 3:
        return {"train": found}
    test = math.ceil(settings.test_fraction * len(found))
    validation = max(1, math.ceil(settings.validation_fraction * len(found)))
    train = max(1, len(found) - test - validation)
    return {"train": found[:train], "validation": found[train : train + validation], "test": found[train + validation :]}
