"""Streams of tokens and their windows: every token is predicted once, wherever the stream comes from."""

import collections
import pickle

import numpy
import pytest
from hypothesis import given, strategies as st

from trainer.core.example import Example
from trainer.kinds.language import bpe, network as language, scratch, streams
from trainer.kinds.language.streams import FilePart, Stream

TEXT = "The sea was grey and the ship was slow.\nNobody said a word until the bell rang.\n" * 30


@given(st.integers(2, 300), st.integers(16, 64))
def test_blocks_predict_every_token_but_the_last_few_once(count, length):
    windows = streams.blocks(Stream([numpy.arange(count)]), length, 0)
    predicted = [t for a, b in zip(windows.learnt, windows.end, strict=True) for t in range(a, b)]
    assert predicted == list(range(1, 1 + len(predicted)))
    assert len(predicted) > count - length
    assert (windows.lengths <= length).all()


@given(st.integers(0, 50), st.integers(0, 200), st.integers(16, 64))
def test_pieces_predict_every_token_of_an_example_once_after_enough_context(first, count, length):
    begin = first + 7
    found = streams.pieces(begin, begin + count, first, length)
    assert [t for _, a, b in found for t in range(a, b)] == list(range(begin, begin + count))
    assert all(first <= a <= b <= c and c - a <= length for a, b, c in found)
    assert all(b - a >= min(b - first, length // 2) for a, b, c in found if c > b)


def test_a_file_is_read_like_an_array_and_never_sent(tmp_path):
    numbers = numpy.arange(5000, dtype="<u2")
    numbers.tofile(tmp_path / "train.bin")
    parts = [FilePart(tmp_path / "train.bin", "<u2", 0, 3000), FilePart(tmp_path / "train.bin", "<u2", 3000, 5000)]
    stream = Stream(parts)
    for begin, end in ((0, 5), (2990, 3010), (4990, 5000), (0, 5000), (7, 7)):
        assert stream.read(begin, end).tolist() == numbers[begin:end].tolist()
    assert len(pickle.dumps(stream)) < 2000


def test_moved_windows_are_a_function_of_the_random_numbers_and_stay_inside():
    windows = streams.blocks(Stream([numpy.arange(1000)]), 64, 0)
    rows = numpy.arange(len(windows.begin))
    first, again, other = (windows.batch(rows, numpy.random.default_rng(seed))["input_ids"] for seed in (1, 1, 2))
    assert (first == again).all() and (first != other).any()
    assert (numpy.diff(first, axis=1) == 1).all() and first.min() >= 0 and first.max() < 1000


def test_bytes_are_counted_over_several_chunks(monkeypatch):
    monkeypatch.setattr(streams, "_CHUNK", 10)
    tokens = numpy.random.default_rng(1).integers(0, 5, 300)
    lengths = numpy.array([1, 2, 3, 0, 7])
    windows = streams.blocks(Stream([tokens]), 16, 0)
    got = streams.sizes(windows, lengths)
    assert got[:, 1].tolist() == [lengths[tokens[a:b]].sum() for a, b in zip(windows.learnt, windows.end, strict=True)]


@pytest.fixture
def encoder():
    words = scratch._of_texts(bpe.learn([TEXT]))
    return scratch.ScratchEncoder(words, {"max_length": 32, "unit": scratch.PAIRS}, {}, bpe.byte_lengths(words.tokenizer))


def test_the_bytes_of_all_passages_are_measured_and_those_that_follow_have_context(encoder):
    lines = TEXT.splitlines(keepends=True)
    examples = [Example("a.txt", 1, "".join(lines[:2]), ""), Example("a.txt", 3, "".join(lines[2:4]), ""), Example("b.jsonl", 1, lines[0], "")]
    rows = encoder.encode(examples, numpy.zeros((3, 2)), "test")
    measured = collections.Counter()
    for owner, (_, size) in zip(rows.owner.tolist(), rows.targets.tolist(), strict=True):
        measured[owner] += size
    assert [measured[i] for i in range(3)] == [len(e.content) for e in examples]
    firsts = [int(rows.features.learnt[rows.owner == i][0] - rows.features.begin[rows.owner == i][0]) for i in range(3)]
    assert firsts[0] == firsts[2] == 1 < firsts[1]  # after the end of a document, and after the first passage


def test_a_saved_encoder_measures_the_same(encoder, tmp_path):
    encoder.save(tmp_path)
    examples = [Example("a.txt", 1, TEXT, "")]
    again = language.load_encoder(None, tmp_path, encoder.description)
    a, b = (e.encode(examples, numpy.zeros((1, 2)), "test") for e in (encoder, again))
    assert (a.targets == b.targets).all()
    rows = numpy.arange(len(a))
    assert (a.features.batch(rows)["labels"] == b.features.batch(rows)["labels"]).all()
