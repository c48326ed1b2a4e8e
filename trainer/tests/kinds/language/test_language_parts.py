"""The parts of language models that need no torch: sequences, windows, documents, vocabularies and the memory of a training."""

import math
from types import SimpleNamespace

import numpy
import pytest
from hypothesis import given, settings, strategies as st

from trainer.core.example import Example
from trainer.core.plan import IGNORED
from trainer.kinds.language import bpe, ngram, samples, sequences, simple, streams
from trainer.kinds.language.shapes import Shape, restored
from trainer.kinds.language.streams import FilePart, Stream, Windows
from trainer.kinds.rows import documents
from trainer.kinds.rows.conversations import Turn


def piece(ids: list[int], learnt: list[bool]) -> tuple[numpy.ndarray, numpy.ndarray]:
    return numpy.array(ids), numpy.array(learnt, bool)


def test_sequences_are_filled_up_and_masked_by_their_place():
    rows = sequences.of([piece([5, 6, 0], [True] * 3), piece([], []), piece([7], [True]), piece([0, 8], [False, True])], pad_id=0)
    assert rows.lengths.tolist() == [3, 0, 1, 2]
    batch = rows.batch(numpy.array([3, 0, 1]))
    assert batch["input_ids"].tolist() == [[0, 8, 0], [5, 6, 0], [0, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 0], [1, 1, 1], [0, 0, 0]]
    assert batch["labels"].tolist() == [[IGNORED, 8, IGNORED], [IGNORED, 6, 0], [IGNORED] * 3]  # the first token follows nothing
    assert {v.dtype for v in batch.values()} == {numpy.dtype(numpy.int64)}


def test_there_may_be_no_sequence():
    rows = sequences.of([], pad_id=3)
    assert (len(rows.ids), len(rows.learnt), rows.offsets.tolist()) == (0, 0, [0])
    assert (rows.ids.dtype, rows.learnt.dtype) == (numpy.int32, bool)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_a_stream_of_parts_is_read_like_one_array(sizes, data):
    whole = numpy.arange(sum(sizes))
    parts = numpy.split(whole, numpy.cumsum(sizes)[:-1])
    stream = Stream(parts)
    assert len(stream) == len(whole)
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, len(whole)))
    assert stream.read(begin, end).tolist() == whole[begin:end].tolist()


def test_a_part_of_a_file_ends_where_it_ends(tmp_path):
    numpy.arange(10, dtype="<u2").tofile(tmp_path / "a.bin")
    part = FilePart(tmp_path / "a.bin", "<u2", 2, 6)
    assert len(part) == 4
    assert part[1:3].tolist() == [3, 4]
    assert part[1:99].tolist() == [3, 4, 5]  # and not what another part has


def test_windows_that_are_filled_up_have_a_mask():
    stream = Stream([numpy.arange(10, 20)])
    windows = Windows(stream, numpy.array([0, 4]), numpy.array([1, 6]), numpy.array([4, 10]), pad_id=99)
    batch = windows.batch(numpy.array([0, 1]))
    assert batch["input_ids"].tolist() == [[10, 11, 12, 13, 99, 99], [14, 15, 16, 17, 18, 19]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1, 0, 0], [1] * 6]
    assert batch["labels"].tolist() == [[IGNORED, 11, 12, 13, IGNORED, IGNORED], [IGNORED, IGNORED, 16, 17, 18, 19]]
    assert "attention_mask" not in windows.batch(numpy.array([1]))


def test_only_windows_of_a_training_move_and_by_half_their_length_at_most():
    stream = Stream([numpy.arange(100)])
    still = Windows(stream, numpy.array([40]), numpy.array([41]), numpy.array([50]), 0)
    moving = Windows(stream, still.begin, still.learnt, still.end, 0, moves=True)
    row = numpy.array([0])
    assert still.batch(row, numpy.random.default_rng(1))["input_ids"][0, 0] == 40
    assert moving.batch(row)["input_ids"][0, 0] == 40  # a measurement has no random numbers
    firsts = {int(moving.batch(row, numpy.random.default_rng(seed))["input_ids"][0, 0]) for seed in range(200)}
    assert firsts == set(range(35, 46))
    whole = Windows(stream, numpy.array([0]), numpy.array([1]), numpy.array([100]), 0, moves=True)
    assert whole.batch(row, numpy.random.default_rng(1))["input_ids"].tolist() == [list(range(100))]


@pytest.mark.parametrize(
    ("count", "length", "windows"),
    [(1, 16, [(0, 1, 1)]), (2, 16, [(0, 1, 2)]), (16, 16, [(0, 1, 16)]), (31, 16, [(0, 1, 16), (15, 16, 31)]), (30, 16, [(0, 1, 16)])],
    ids=["one token", "two tokens", "one window", "two windows", "a token less than two windows"],
)
def test_the_windows_of_a_training(count, length, windows):
    found = streams.blocks(Stream([numpy.arange(count)]), length, 0)
    assert list(zip(found.begin.tolist(), found.learnt.tolist(), found.end.tolist())) == windows
    assert found.moves


@pytest.mark.parametrize(
    ("begin", "end", "first", "windows"),
    [
        (5, 5, 0, [(5, 5, 5)]),
        (0, 1, 0, [(0, 1, 1)]),  # the first token is not predicted
        (0, 10, 0, [(0, 1, 5), (1, 5, 9), (2, 9, 10)]),
        (6, 9, 0, [(1, 6, 9)]),
        (6, 9, 4, [(4, 6, 9)]),
    ],
    ids=["no token", "only the first", "from the beginning", "with context", "with little context"],
)
def test_the_pieces_of_an_example(begin, end, first, windows):
    assert streams.pieces(begin, end, first, 8) == windows


@pytest.mark.parametrize("lengths", [None, numpy.array([2] * 10)], ids=["not known", "known"])
def test_the_sizes_of_windows(lengths):
    windows = streams.blocks(Stream([numpy.arange(10)]), 4, 0)
    assert streams.sizes(windows, lengths).tolist() == [[3, 0 if lengths is None else 6]] * 3


TEXT = "One paragraph of words.\n\nAnother one.\nA line. And a sentence"


@pytest.mark.parametrize(
    ("text", "size", "parts"),
    [
        ("", 10, []),
        ("short", 10, [(1, "short")]),
        ("exactly 10", 10, [(1, "exactly 10")]),
        ("aaaa bbbb cccc", 10, [(1, "aaaa bbbb "), (1, "cccc")]),
        ("aaaaaaaaaabbbb", 10, [(1, "aaaaaaaaaa"), (1, "bbbb")]),
        ("aaaaa\n\nb\nc ddddd", 10, [(1, "aaaaa\n\n"), (3, "b\nc ddddd")]),
        ("aaaaaa\nb. c ddddd", 10, [(1, "aaaaaa\n"), (2, "b. c ddddd")]),
        ("aaaaaa. b cc ddddd", 10, [(1, "aaaaaa. "), (1, "b cc ddddd")]),
        ("a\nb\n" + "c" * 12, 10, [(1, "a\nb\ncccccc"), (3, "cccccc")]),
    ],
    ids=["none", "short", "one", "a space", "no place to cut", "a paragraph first", "a line next", "a sentence next", "no cut in the first half"],
)
def test_a_text_is_cut_at_the_best_place(text, size, parts):
    assert documents.passages(text, size) == parts


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="ab. \n", max_size=300), st.integers(2, 40))
def test_passages_are_the_whole_text(text, size):
    parts = documents.passages(text, size)
    assert "".join(p for _, p in parts) == text
    assert all(0 < len(p) <= size for _, p in parts)
    place = 0
    for line, part in parts:
        assert line == 1 + text.count("\n", 0, place)
        place += len(part)


@pytest.mark.parametrize(
    ("count", "validation", "test", "sizes"),
    [(1, 0.1, 0.1, (1, 0, 0)), (2, 0.1, 0.1, (2, 0, 0)), (3, 0.1, 0.1, (1, 1, 1)), (20, 0.1, 0.2, (14, 2, 4)), (21, 0.1, 0, (18, 3, 0)),
     (4, 0.5, 0.5, (1, 2, 1)), (10, 0, 0.1, (8, 1, 1))],
)  # fmt: skip
def test_the_end_of_a_file_is_held_out_in_order(count, validation, test, sizes):
    rows = [Example("a.txt", i, f"part {i}", "") for i in range(count)]
    found = documents._held_out(rows, SimpleNamespace(validation_fraction=validation, test_fraction=test))
    assert tuple(len(found.get(n, [])) for n in ("train", "validation", "test")) == sizes
    assert [e for n in ("train", "validation", "test") for e in found.get(n, [])] == rows


@pytest.mark.parametrize("special", [(), ("<a>", "<b>")])
def test_special_tokens_have_the_first_numbers_and_no_bytes(special):
    found = bpe.learn(["some text\n" * 50], special)
    assert [found.token_to_id(t) for t in (bpe.END, *special)] == list(range(1 + len(special)))
    lengths = bpe.byte_lengths(found)
    assert lengths[: 1 + len(special)].sum() == 0 and (lengths[1 + len(special) :] >= 1).all()
    assert len(bpe.encode(found, "")) == 0
    assert bpe.encode(found, "text").dtype == numpy.uint16


@pytest.mark.parametrize(
    ("texts", "chunks"),
    [
        ([""], []),
        (["ab", "cd"], ["ab", "cd"]),
        (["abc\ndefg"], ["abc\n", "defg"]),
        (["abcdefgh"], ["abcde", "fgh"]),
        (["abcde"], ["abcde"]),
        (["\nabcdefgh"], ["\n", "abcde", "fgh"]),
    ],
)
def test_documents_are_encoded_in_parts_that_end_with_a_line(texts, chunks, monkeypatch):
    monkeypatch.setattr(bpe, "_CHUNK", 5)
    assert list(bpe._chunks(texts)) == chunks


def test_a_described_shape_is_restored_among_other_values():
    shape = Shape(3, 144, 65, 64, experts=4, router_loss=0.1)
    assert restored({**shape.described(), "unit": "characters"}) == shape


@pytest.mark.parametrize(("width", "experts", "inner"), [(144, 1, 384), (144, 4, 192), (96, 1, 256), (100, 1, 272), (100, 2, 136)])
def test_experts_share_the_width_of_a_layer(width, experts, inner):
    assert Shape(1, width, 10, 8, experts).inner == inner


@pytest.mark.parametrize(("width", "rate"), [(144, 1e-3), (576, 6e-4)])
def test_large_models_learn_slower(width, rate):
    assert Shape(8, width, 2048, 256).learning_rate == rate


@pytest.mark.parametrize(("ids", "stop", "kept"), [([], (1,), []), ([1], (1,), []), ([5, 1, 6], (1, 2), [5]), ([5, 6], (1,), [5, 6]), ([5], (), [5])])
def test_an_answer_ends_before_the_first_stop(ids, stop, kept):
    assert samples._until(ids, stop) == kept


def test_only_the_answers_of_a_conversation_count():
    talk = (Turn("user", "ab"), Turn("assistant", "é", learnt=False), Turn("user", "c"), Turn("assistant", "xy"))
    tokens, counted, owner, sizes = simple._stream([Example("a", 1, "hi", ""), Example("a", 2, talk, "")], numpy.array([1] * 256 + [0]))
    stop = simple._BREAK
    assert tokens.tolist() == [*b"hi", stop, *b"ab", stop, *"é".encode(), stop, *b"c", stop, *b"xy", stop]
    assert counted.tolist() == [True, True, *[False] * 9, True, True, True]
    assert owner.tolist() == [0, 0, *[1] * 12]
    assert sizes.tolist() == [int(t != stop) for t in tokens.tolist()]
    found = simple._likelihoods((tokens, counted, owner, sizes), numpy.arange(14.0))
    assert (found.nats.tolist(), found.tokens.tolist(), found.bytes.tolist()) == ([1, 36], [2, 3], [2, 2])


def test_of_a_large_split_runs_that_are_spread_evenly_are_read():
    examples = [Example("a", i, "x" * 10, "") for i in range(1000)]
    assert simple._some(examples, 10_000) is examples
    some = simple._some(examples, 3000)
    assert 200 <= len(some) <= 300
    rows = [e.row for e in some]
    assert rows == sorted(set(rows)) and rows[0] == 0
    assert simple._some([Example("a", 1, "x" * 10, "")], 5) == [Example("a", 1, "x" * 10, "")]  # at least one


def test_the_table_of_ngrams_in_the_metrics():
    splits = {n: [Example("a", i, "abcabcabc", "") for i in range(k)] for n, k in (("train", 20), ("validation", 3), ("test", 3))}
    found = simple.baseline(SimpleNamespace(splits=splits), 1)
    assert (found["name"], set(found["test"])) == ("ngram", {"bits_per_byte"})
    assert found["title"].startswith("table of ") and found["title"].endswith("-grams of bytes")
    assert 0 < found["test"]["bits_per_byte"]["value"] < 1
    assert simple.baseline(SimpleNamespace(splits={**splits, "test": []}), 1) is None


def test_a_long_stream_is_shortened_to_blocks_from_its_beginning_to_its_end(monkeypatch):
    monkeypatch.setattr(ngram, "MAX_TOKENS", 640)
    stream = numpy.arange(10_000)
    found = ngram._shortened(stream)
    assert (len(found), found[0], found[-1]) == (640, 0, 9999)
    assert (numpy.diff(found) > 0).all()
    assert ngram._shortened(stream[:640]) is not None and len(ngram._shortened(stream[:640])) == 640
    assert (ngram._shortened(stream[:640]) == stream[:640]).all()


def test_the_first_tokens_have_equal_likelihoods_without_training():
    found = ngram.measure(numpy.zeros(0, int), {"validation": numpy.array([1, 2])}, 4)
    assert (found.order, found.title) == (0, "table of 0-grams")
    assert found.nats["validation"] == pytest.approx([math.log(4)] * 2)
