"""The forms in which tagged words are written: CoNLL columns, lists of words and tags, and texts with marked characters."""

import json
import re
from dataclasses import dataclass

from trainer.data.formats.table import Table
from trainer.kinds.tokens import words
from trainer.kinds.tokens.entities import OUTSIDE

MAX_WORDS = 10_000  # of a sentence
_MAX_TAG = 100  # characters
_DOCUMENT = "-DOCSTART-"
_TAG = re.compile(r"O|[BIESLU]-\S+")
_WORD_COLUMNS, _TAG_COLUMNS = ("tokens", "words", "token", "word"), ("ner_tags", "tags", "ner", "labels", "label", "pos_tags", "ner_labels")
_TEXT_COLUMNS = ("text", "data.text", "content", "sentence", "data")
_SPAN_COLUMNS = ("entities", "spans", "label", "labels", "ents", "ner", "annotations")


@dataclass
class Sentence:
    """``tags`` is None where the words have none. ``row`` is the line or row in which the sentence begins."""

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


def conll(text: str, tagged: bool = True) -> Found | None:
    """Words in lines with their tag in the last of two to four columns, and empty lines between the sentences; None for another file.

    Without ``tagged``, lines may also hold a word alone.
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
    if len(sentences) < 2 or width < (2 if tagged else 1) or max(len(s.words) for s in sentences) < 2:
        return None
    if width < 2:
        return Found("one word in each line", [Sentence(s.row, s.words, None) for s in sentences], ("word",), "")
    tags = {t for s in sentences for t in s.tags or ()}
    if tagged and not (OUTSIDE in tags and all(_TAG.fullmatch(t) or len(tags) <= 50 for t in tags)):
        return None
    return Found(f"a word in each line, with its tag in column {width}", sentences, ("column 1",), f"column {width}")


def _close(rows: list[tuple[int, list[str]]], sentences: list[Sentence]) -> None:
    if rows:
        sentences.append(Sentence(rows[0][0], tuple(c[0] for _, c in rows[:MAX_WORDS]), [c[-1] for _, c in rows[:MAX_WORDS]]))
        rows.clear()


def table(read: Table) -> Found | None:
    """The sentences of a table with a column of lists of words and one of as many tags, or of texts and of marked characters."""
    by_name = {c.lower(): c for c in reversed(read.columns)}
    return _lists(read, by_name) or _marked(read, by_name)


def _lists(read: Table, by_name: dict[str, str]) -> Found | None:
    for word, tag in ((w, t) for w in _WORD_COLUMNS for t in _TAG_COLUMNS if w in by_name and t in by_name and w != t):
        pairs = [(_list(a), _list(b)) for a, b in zip(read.cells(by_name[word]), read.cells(by_name[tag]))]
        good = [a is not None and b is not None and 0 < len(a) == len(b) for a, b in pairs]
        if sum(good) < 0.5 * len(pairs) or not any(len(a or ()) > 1 for a, _ in pairs):
            continue
        sentences = [
            Sentence(row, tuple(map(str, a[:MAX_WORDS])), [_tag(t) for t in b[:MAX_WORDS]])
            for (row, _), (a, b), ok in zip(read.rows, pairs, good)
            if ok
        ]
        return Found(
            f"lists of words in {by_name[word]} with as many tags in {by_name[tag]}", sentences, (by_name[word],), by_name[tag], good.count(False)
        )
    return None


def _marked(read: Table, by_name: dict[str, str]) -> Found | None:
    for name, mark in ((t, s) for t in _TEXT_COLUMNS for s in _SPAN_COLUMNS if t in by_name and s in by_name and t != s):
        cells, texts = read.cells(by_name[mark]), read.cells(by_name[name])
        lists = [_list(c) if c.strip() else [] for c in cells]
        spans = [None if found is None else _spans(found, text) for found, text in zip(lists, texts)]
        if not any(spans) or sum(s is not None for s in spans) < 0.5 * len(spans):
            continue
        sentences = []
        for (row, _), text, found in zip(read.rows, texts, spans):
            if found is not None and text.strip():
                content, tags = words.tagged(text, found)
                if content:
                    sentences.append(Sentence(row, content[:MAX_WORDS], tags[:MAX_WORDS]))
        form = f"texts in {by_name[name]} with marked characters in {by_name[mark]}"
        return Found(form, sentences, (by_name[name],), by_name[mark], len(spans) - len(sentences))
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
