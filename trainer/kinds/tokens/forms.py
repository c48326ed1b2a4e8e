"""The forms in which tagged words are written: CoNLL columns, lists of words and tags, and texts with marked characters.

Sentences without tags may stand beside others. Nobody has said yet what is right for them, which is not the same as words outside of entities.
"""

import json
import re
from dataclasses import dataclass

from trainer.data.formats.table import Table
from trainer.kinds.tokens import words
from trainer.kinds.tokens.entities import OUTSIDE

MAX_WORDS = 10_000  # of a sentence
TO_FILL_IN = "tag?"  # in place of a tag that a person is to write
_MAX_TAG = 100  # characters
_FEW = 50  # tags that may be anything
_DOCUMENT = "-DOCSTART-"
_TAG = re.compile(r"O|[BIESLU]-\S+")
_WORD_COLUMNS, _TAG_COLUMNS = ("tokens", "words", "token", "word"), ("ner_tags", "tags", "ner", "labels", "label", "pos_tags", "ner_labels")
_TEXT_COLUMNS = ("text", "data.text", "content", "sentence", "data")
_SPAN_COLUMNS = ("entities", "spans", "label", "labels", "ents", "ner", "annotations")
_OPEN_IF_EMPTY = ("annotations",)  # Label Studio: one list for each annotator, and none before the first one


@dataclass
class Sentence:
    """``tags`` is None where the words have none, or not all of them. ``row`` is the line or row in which the sentence begins."""

    row: int
    words: tuple[str, ...]
    tags: list[str] | None


@dataclass
class Found:
    """The sentences of a file, what they were read from, and how many were left out because their words and tags do not fit."""

    form: str
    sentences: list[Sentence]
    columns: tuple[str, ...]
    label: str
    bad: int = 0

    @property
    def tagged(self) -> list[Sentence]:
        return [s for s in self.sentences if s.tags is not None]


def conll(text: str, untagged: bool = False, any_tags: bool = True) -> Found | None:
    """Words in lines with their tag in the last of two to four columns, and empty lines between the sentences; None for another file.

    With ``untagged``, lines may also hold a word alone, and no word needs a tag. Without ``any_tags``, one of the tags is O, and there are at most
    50 or they are tags of entities: lines of two words, or columns of numbers, are no tagged words.
    """
    sentences: list[Sentence] = []
    rows: list[tuple[int, list[str]]] = []
    widths: set[int] = set()
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        cells = [c.strip() for c in cells]
        if line.startswith("# ") and "\t" in text and ("\t" not in line or cells[0] != "#"):  # a comment; "# O" between blanks is a word
            continue
        if not "".join(cells) or cells[0] == _DOCUMENT:
            _close(rows, sentences)
            continue
        widths.add(len(cells))
        if len(widths) > 1 or len(cells) > 4 or any(" " in c for c in cells):
            return None
        rows.append((number, cells))
    _close(rows, sentences)
    width = next(iter(widths), 0)
    if len(sentences) < 2 or width < (1 if untagged else 2) or max(len(s.words) for s in sentences) < 2:
        return None
    if width < 2:
        return Found("one word in each line", sentences, ("word",), "")
    tags = {t for s in sentences for t in s.tags or ()}
    is_usual = OUTSIDE in tags and (len(tags) <= _FEW or all(_TAG.fullmatch(t) for t in tags))
    if not (tags or untagged) or not (any_tags or is_usual):
        return None
    return Found(f"a word in each line, with its tag in column {width}", sentences, ("column 1",), f"column {width}")


def _close(rows: list[tuple[int, list[str]]], sentences: list[Sentence]) -> None:
    if rows:
        tags = [c[-1] for _, c in rows[:MAX_WORDS]] if len(rows[0][1]) > 1 else []
        sentences.append(Sentence(rows[0][0], tuple(c[0] for _, c in rows[:MAX_WORDS]), _complete(tags)))
        rows.clear()


def _complete(tags: list[str]) -> list[str] | None:
    """``tags``, or None where one of them is still to be written."""
    return tags if tags and "" not in tags and TO_FILL_IN not in tags else None


def table(read: Table, untagged: bool = False) -> Found | None:
    """The sentences of a table with a column of lists of words and one of as many tags, or of texts and of marked characters.

    With ``untagged``, no sentence needs tags, and the column of the tags may be missing beside lists of words.
    """
    by_name = {c.lower(): c for c in reversed(read.columns)}
    return _lists(read, by_name, untagged) or _marked(read, by_name, untagged)


def _lists(read: Table, by_name: dict[str, str], untagged: bool) -> Found | None:
    pairs = [(w, t) for w in _WORD_COLUMNS for t in _TAG_COLUMNS if w in by_name and t in by_name and w != t]
    for word, tag in [*pairs, *((w, "") for w in _WORD_COLUMNS if untagged and w in by_name)]:
        cells = read.cells(by_name[tag]) if tag else [""] * len(read.rows)
        found = [_tagged(row, _list(a), b) for (row, _), a, b in zip(read.rows, read.cells(by_name[word]), cells)]
        sentences = [s for s in found if s is not None]
        tagged = sum(s.tags is not None for s in sentences)
        bad = len(found) - len(sentences)
        if not (tagged or (untagged and sentences)) or bad > max(tagged, untagged * len(sentences)) or all(len(s.words) < 2 for s in sentences):
            continue
        form = f"lists of words in {by_name[word]}"
        return Found(f"{form} with as many tags in {by_name[tag]}" if tag else form, sentences, (by_name[word],), by_name.get(tag, ""), bad)
    return None


def _tagged(row: int, words: list | None, cell: str) -> Sentence | None:
    """A list of words with the list of their tags in ``cell``, which may be empty; None where they do not fit together."""
    tags = _list(cell) if cell.strip() else []
    if not words or tags is None or len(tags) not in (0, len(words)):
        return None
    return Sentence(row, tuple(map(str, words[:MAX_WORDS])), _complete([_tag(t) for t in tags[:MAX_WORDS]]))


def _marked(read: Table, by_name: dict[str, str], untagged: bool) -> Found | None:
    for name, mark in ((t, s) for t in _TEXT_COLUMNS for s in _SPAN_COLUMNS if t in by_name and s in by_name and t != s):
        cells, texts = read.cells(by_name[mark]), read.cells(by_name[name])
        lists = [_list(c) for c in cells]
        spans = [None if found is None else _spans(found, text) for found, text in zip(lists, texts)]
        open_rows = [not c.strip() or (mark in _OPEN_IF_EMPTY and found == []) for c, found in zip(cells, lists)]
        good = sum(s is not None for s, is_open in zip(spans, open_rows) if not is_open)
        if not (any(spans) or (untagged and all(open_rows))) or good < 0.5 * open_rows.count(False):
            continue
        sentences, bad = [], 0
        for (row, _), text, found, is_open in zip(read.rows, texts, spans, open_rows):
            content, tags = words.tagged(text, found or [])
            if content and (is_open or found is not None):
                sentences.append(Sentence(row, content[:MAX_WORDS], None if is_open else tags[:MAX_WORDS]))
            else:
                bad += 1
        form = f"texts in {by_name[name]} with marked characters in {by_name[mark]}"
        return Found(form, sentences, (by_name[name],), by_name[mark], bad)
    return None


def _list(cell: str) -> list | None:
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _tag(value) -> str:
    """A tag without spaces in it; a number stays a number."""
    return "_".join(str(value).split())[:_MAX_TAG] or OUTSIDE


def _spans(entries: list, text: str) -> list[tuple[int, int, str]] | None:
    """The marked characters as doccano, spaCy and Label Studio write them; None for another list, or for marks outside the text."""
    found: list[tuple[int, int, str]] = []
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("result"), list):  # Label Studio: one list for each annotator
            inner = _spans(entry["result"], text)
            if inner is None:
                return None
            return inner
        span = _span(entry.get("value", entry) if isinstance(entry, dict) else entry)
        if span is None or not 0 <= span[0] < span[1] <= len(text):
            return None
        found.append(span)
    return found


def _span(entry) -> tuple[int, int, str] | None:
    if isinstance(entry, list) and len(entry) >= 3:
        start, end, name = entry[:3]
    elif isinstance(entry, dict):
        start, end = entry.get("start", entry.get("start_offset")), entry.get("end", entry.get("end_offset"))
        name = next((entry[k] for k in ("label", "labels", "type", "entity", "tag") if k in entry), None)
        name = name[0] if isinstance(name, list) and name else name
    else:
        return None
    if type(start) is not int or type(end) is not int or not isinstance(name, str) or not name.strip():
        return None
    return start, end, _tag(name)
