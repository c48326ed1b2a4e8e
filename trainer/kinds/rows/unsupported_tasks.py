"""Recognises data for tasks that are not supported, before one of its columns is used as a label."""

import itertools
import json

from trainer.data import names
from trainer.data.columns import profiles, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError

_RESULTS = ("annotations", "completions")  # columns of an export of Label Studio
_NUMBERS, _ROWS = 16, 100  # in a cell, and cells that are looked at
LONGEST = 10_000  # characters of a cell that are looked at


def check(tables: list[Table], seen: dict[str, Profile], where: str) -> None:
    """Raise UserError for conversations that cannot be read, choices of Label Studio, and words with a tag each."""
    by_name = {n.strip().lower(): n for n in seen}
    if chats := [by_name[n] for n in names.CHATS if n in by_name and seen[by_name[n]].lists]:
        raise UserError(
            "language_model_task",
            f"The column {chats[0]} of {where} looks like conversations for a language model, but most of its cells are not lists of turns.",
            "Write each conversation as a list of objects with role (user or assistant) and content.",
        )
    if chosen := next((n for n in seen if n.strip().lower() in _RESULTS and _has_choices(tables, n)), ""):
        raise UserError(
            "label_studio_choices",
            f"The column {chosen} of {where} has choices of Label Studio inside its results, a form that is not read.",
            "Export the project of Label Studio as CSV or JSON-MIN, with the text and its choice in columns of their own.",
        )
    if name := next((n for n, p in seen.items() if p.is_free_text and _are_numbers([c for t in tables for c in t.sample(n)][:_ROWS])), ""):
        raise UserError(
            "numbers_in_cells",
            f"Each cell of the column {name} of {where} holds many numbers, as of a picture or a series, which are no text.",
            "Write each of these numbers into a column of its own, or save the pictures as PNG and name them in the column.",
        )
    if tagged := _tagged(tables, seen):
        raise UserError(
            "token_task",
            f"The columns {tagged[0]} and {tagged[1]} of {where} look like words with one tag each, in a form that is not read.",
            "Write them as JSON lines with the lists tokens and tags, or as a CoNLL file with a word and its tag in each line. "
            "To train a classifier of whole texts, set label_column to a column with one label for each row.",
        )


def _are_numbers(cells: list[str]) -> bool:
    """Whether all cells hold as many numbers, with blanks or commas between them."""
    rows = [c.strip().strip("[]").replace(",", " ").split() for c in cells if c.strip()]
    sizes = {len(row) for row in rows}
    return len(sizes) == 1 and sizes.pop() >= _NUMBERS and all(values.number(n) is not None for row in rows for n in row)


def _has_choices(tables: list[Table], name: str) -> bool:
    """Whether most cells of a column hold results of Label Studio that are choices."""
    cells = [c for t in tables for c in t.sample(name) if c.strip()]
    return bool(cells) and sum('"result"' in c and '"choices"' in c for c in cells) >= values.MOSTLY * len(cells)


def _tagged(tables: list[Table], seen: dict[str, Profile]) -> tuple[str, str] | None:
    """A column of words and a column with one tag for each of them, if there are such columns."""
    usable = [n for n, p in seen.items() if p.lists >= values.MOSTLY or (p.words >= 2 and p.dates < values.MOSTLY)]
    entries = {n: [_entries(c) for t in tables for c in t.sample(n)] for n in usable}
    different = {n: len({e for cell in cells for e in cell}) for n, cells in entries.items()}
    for words, tags in itertools.permutations(usable, 2):
        are_lists = all(seen[n].lists >= values.MOSTLY for n in (words, tags))
        few_tags = different[tags] <= min(profiles.FEW_VALUES, different[words] // 2)
        if few_tags and _same_lengths(entries[words], entries[tags], are_lists):
            return words, tags
    return None


def _same_lengths(words: list[list[str]], tags: list[list[str]], are_lists: bool) -> bool:
    """Whether most rows have as many tags as words. Columns that are not lists must have rows of different lengths."""
    lengths = [(len(a), len(b)) for a, b in zip(words, tags) if a or b]
    same = sum(a == b for a, b in lengths)
    varies = are_lists or len({b for _, b in lengths}) > 1
    return bool(lengths) and varies and same >= values.MOSTLY * len(lengths)


def _entries(cell: str) -> list[str]:
    """The entries of a list as JSON or Python writes it, else the words of a text."""
    cell = cell.strip()[:LONGEST]
    if cell.startswith("["):
        try:
            return [str(e) for e in json.loads(cell.replace("'", '"'))]
        except ValueError:
            return cell.strip("[]").split(",")
    return cell.split()
