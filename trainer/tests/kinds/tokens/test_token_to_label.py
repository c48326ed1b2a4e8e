"""Texts whose tags would teach most: which are chosen, the file that a person fills in, and that a training reads it."""

import json

import numpy
import pytest
from small_texts import conll, sentences
from test_data_load import load  # noqa: F401 - a fixture

from trainer.core import registry
from trainer.core.example import Example
from trainer.export.finished import Answered
from trainer.kinds.tokens import forms, results, to_label
from trainer.kinds.tokens.reading import UNKNOWN
from trainer.kinds.tokens.target import Tags

TAGS = Tags(("B-LOC", "B-PER", "I-PER", "O"))


def answered(texts: list[tuple[str, ...]], tags: dict[int, list[str]], sure: dict[int, float]) -> Answered:
    """Answers that are outside of entities for all words, as likely as ``sure`` says for the words of a text."""
    rows = [Example("rows.jsonl", i + 1, text, " ".join(tags.get(i, [UNKNOWN] * len(text)))) for i, text in enumerate(texts)]
    likely = numpy.asarray([sure.get(i, 0.99) for i, text in enumerate(texts) for _ in text])
    outputs = numpy.column_stack([1 - likely, numpy.zeros((len(likely), 2)), likely])
    truth = TAGS.encode([e.target for e in rows])
    return Answered(registry.of("tokens"), results.Words(rows), outputs, truth, TAGS.known(truth), TAGS)


def test_texts_of_unsure_words_come_first_and_tagged_ones_and_their_copies_do_not_come():
    texts = [("Anna", "sings"), ("rivers", "flow", "far"), ("birds", "of", "prey"), ("trees",), ("Anna", "sings"), ("two words", "here")]
    found = to_label.of(answered(texts, {0: ["B-PER", "O"]}, {1: 0.8, 2: 0.6, 4: 0.5, 5: 0.5}))
    assert ([e.row for e in found.sentences], found.of) == ([3, 2, 4], 3), "a word with a space in it cannot stand in a line"
    assert found.tags[0] == ["O"] * 3 and found.tags[2] == ["O"]


@pytest.mark.parametrize("texts", [[], [("one", "text")], [("the", "same"), ("the", "same")]])
def test_a_list_too_short_to_be_read_is_none(texts, tmp_path):
    found = to_label.of(answered(texts, {}, dict.fromkeys(range(len(texts)), 0.6)))
    assert to_label.write(found, tmp_path) == {} and to_label.sections(found) == [] and not list(tmp_path.iterdir())


def test_a_filled_in_list_is_read_with_the_tagged_texts_and_what_is_left_open_is_not(load, tmp_path):  # noqa: F811
    every = sentences(70)
    texts, tags = [tuple(w) for w, _ in every], [t for _, t in every]
    found = to_label.of(answered(texts, dict(enumerate(tags[:40])), {i: 0.5 + i / 1000 for i in range(40, 70)}))
    about = to_label.write(found, tmp_path)
    assert list(about) == ["out/next-labels.conll"] and found.of == 30
    section = to_label.sections(found)[0]
    assert f"{len(found.sentences)} texts of 30 without tags" in section.blocks[1].note
    right = dict(zip(texts, tags, strict=True))
    written = (tmp_path / to_label.FILE).read_text()
    blocks = written.split("\n\n")
    assert len(blocks) == len(found.sentences) > 2
    filled = []
    for number, (block, e) in enumerate(zip(blocks, found.sentences, strict=True)):
        for tag in right[e.content] if number else right[e.content][:-1]:  # of the first, one word is left open
            block = block.replace(f"\t{forms.TO_FILL_IN}", f"\t{tag}", 1)
        filled.append(block)
    untagged = "".join(json.dumps({"tokens": w, **({"ner_tags": t} if i < 40 else {})}) + "\n" for i, (w, t) in enumerate(every))
    data = load({"rows.jsonl": untagged, "filled.conll": "\n\n".join(filled)})
    assert data.labels == TAGS.labels and data.files == ["filled.conll", "rows.jsonl"]
    assert sum(map(len, data.splits.values())) == 40 + len(found.sentences) - 1
    assert data.dropped == [("not all words have a tag", 1), ("not all words have a tag", 30)]


def plain(count: int) -> str:
    return "\n".join("".join(f"{w}\n" for w in words) for words, _ in sentences(count))


def unmarked(**more) -> str:
    return "".join(json.dumps({"text": " ".join(w), **more}) + "\n" for w, _ in sentences(30))


def marked() -> str:
    return "".join(json.dumps({"text": " ".join(w), "entities": [[0, len(w[0]) + len(w[1]) + 1, "PER"]]}) + "\n" for w, _ in sentences(40))


@pytest.mark.parametrize(
    ("files", "left_out"),
    [
        ({"a.conll": conll(40), "b.txt": plain(30)}, []),
        ({"a.tsv": conll(40).replace(" ", "\t") + "\nno\t\ntag\tO\n\nnor\ttag?\nhere\ttag?\n"}, [2]),
        ({"a.jsonl": "".join(json.dumps({"tokens": w, "tags": t if i < 30 else []}) + "\n" for i, (w, t) in enumerate(sentences(90)))}, [60]),
        ({"a.jsonl": marked() + unmarked()}, [30]),
        ({"a.jsonl": marked() + unmarked(entities=[])}, []),
        ({"a.jsonl": marked().replace("entities", "annotations") + unmarked(annotations=[])}, [30]),
    ],
    ids=["words alone", "empty tags", "empty lists", "no marks yet", "marked as empty", "no annotator yet"],
)
def test_texts_that_nobody_tagged_yet_are_left_out_and_told(load, files, left_out):  # noqa: F811
    data = load(files)
    assert data.task == "token-classification" and not {"", UNKNOWN, forms.TO_FILL_IN} & set(data.labels)
    assert [n for why, n in data.dropped if why == "not all words have a tag"] == left_out


def test_columns_of_numbers_are_no_tagged_words_unless_asked_for():
    numbers = "\n".join(f"{i} {i * 1.5}" + "\n" * (i % 10 == 0) for i in range(200))
    assert forms.conll(numbers, any_tags=False) is None
    assert len(forms.conll(numbers).sentences) == 21
