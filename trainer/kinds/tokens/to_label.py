"""The texts of a prediction whose tags would teach the model most: ``next-labels.conll``, and what the report shows of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core import blocks
from trainer.core.blocks import RESULT, Cell, Column, Section
from trainer.core.example import Example
from trainer.errors import count
from trainer.export import display
from trainer.export.finished import Answered
from trainer.kinds.tokens import forms, results
from trainer.kinds.tokens.reading import UNKNOWN
from trainer.kinds.tokens.target import Tags
from trainer.measure import next_labels
from trainer.measure.tfidf import TfIdf
from trainer.run_folder import files

FILE = "next-labels.conll"
_FEWEST = 2  # sentences of a file that a training reads
_TERMS = 5000
_READ = 20_000  # characters of a text
_HEAD = f"# Each line: a word, the answer of the model, and the tag. Write the tag in place of {forms.TO_FILL_IN}, also where the answer is right."
_WHY = (
    "These are the texts without tags of whose words the model is least sure, without texts that are alike. Their tags teach more than those of as "
    "many other texts."
)
_HOW = (
    f"Open {FILE} in an editor or as a table, write the tag of each word in place of {forms.TO_FILL_IN}, add the file to the dataset under another "
    f"name, and train again. A text in which a word has no tag is left out of the training."
)


@dataclass(frozen=True)
class Listed:
    """``sentences`` are the texts of the list, the most useful first, ``tags`` the answers to their words, and ``of`` the number of texts without
    tags."""

    sentences: list[Example]
    tags: list[list[str]]
    of: int


def of(answered: Answered) -> Listed:
    """The list for the texts of a prediction that have no tags."""
    words, target = answered.examples, answered.target
    assert isinstance(words, results.Words) and isinstance(target, Tags)
    sentences = words.sentences
    known = {e.content for e in sentences if UNKNOWN not in e.target}
    rows = numpy.asarray([i for i, e in enumerate(sentences) if UNKNOWN in e.target and e.content not in known and _writable(e.content)], numpy.int64)
    if len(rows) < _FEWEST:
        return Listed([], [], len(rows))
    unsure = numpy.asarray([numpy.mean(part) for part in words.parts(target.uncertainty(answered.outputs))])

    def points(chosen: numpy.ndarray) -> numpy.ndarray:
        return _points([sentences[i] for i in chosen])

    chosen = next_labels.choose(*next_labels.most_unsure(rows, unsure[rows]), points)
    if len(chosen) < _FEWEST:
        return Listed([], [], len(rows))
    said = words.parts(answered.predicted)
    tags = [[target.labels[int(t)] for t in said[i]] for i in chosen]
    return Listed([sentences[i] for i in chosen], tags, len(rows))


def write(listed: Listed, out: Path) -> dict[str, dict]:
    """Write the list into ``out``, where there is one. Returns the file with what it holds."""
    if not listed.sentences:
        return {}
    files.write_text(out / FILE, _HEAD + "\n" + "\n".join(_lines(e, tags) for e, tags in zip(listed.sentences, listed.tags, strict=True)))
    text = "The texts whose tags would teach the model most, the most useful first: a word in each line, with the answer and a place for its tag."
    return {f"out/{FILE}": {"title": "Tags to add next", "text": text}}


def sections(listed: Listed) -> list[Section]:
    if not listed.sentences:
        return []
    shown = [
        [Cell(display.short(_where(e))), Cell(display.short(" ".join(e.content))), Cell(results.summary(e.content, tags))]
        for e, tags in zip(listed.sentences, listed.tags, strict=True)
    ]
    note = f"{count(len(shown), 'text')} of {listed.of:,} without tags, the most useful first."
    head = [Column("Text"), Column("Content"), Column("Entities found")]
    return [Section(RESULT, "Tags that would teach most", [blocks.text(_WHY, _HOW), blocks.table("", head, shown, note=note, folded=True)])]


def _lines(e: Example, tags: list[str]) -> str:
    return "".join(f"{line}\n" for line in (f"# {display.short(_where(e))}", *(f"{w}\t{t}\t{forms.TO_FILL_IN}" for w, t in zip(e.content, tags))))


def _where(e: Example) -> str:
    return f"{e.file}, row {e.row}" if e.row else e.file


def _writable(words: Sequence[str]) -> bool:
    """Whether each word is one word in a file with a word in each line."""
    return all(w.split() == [w] for w in words)


def _points(sentences: Sequence[Example]) -> numpy.ndarray:
    """The weights of words and pairs of words that at least two of the texts hold, each row of length 1."""
    texts = [" ".join(e.content)[:_READ] for e in sentences]
    return TfIdf.learn(texts, _TERMS).features(texts).toarray()
