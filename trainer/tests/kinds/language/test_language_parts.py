"""The parts of language models that need no torch: sequences, windows, documents, vocabularies and the memory of a training."""

import dataclasses
import math
from types import SimpleNamespace

import numpy
import pytest
from hypothesis import given, settings, strategies as st
from safetensors import numpy as safetensors

from trainer.core.example import Example
from trainer.core.plan import IGNORED
from trainer.errors import UserError, gigabytes
from trainer.kinds.language import bpe, footprint, held, ngram, samples, sequences, simple, streams
from trainer.kinds.language.footprint import Footprint, Held
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


SMALL = Footprint(weights=1_000_000, trained=1_000_000, rows=4, length=512, layers=2, width=64, vocabulary=1000)


def test_the_memory_of_a_training_by_its_parts():
    activations = 2 * 4 * 512 * (34 * 2 * 64 + 10 * 1000)
    assert SMALL.needed() == 600_000_000 + 4_000_000 + 12_000_000 + activations
    assert SMALL.needed(256) == SMALL.needed() - activations // 2
    assert SMALL.needed(held=Held(recomputed=True)) == SMALL.needed() - activations + 2 * 4 * 512 * ((2 * 2 + 34) * 64 + 10 * 1000)
    adapter = dataclasses.replace(SMALL, trained=10_000)
    assert adapter.needed(held=Held(half=True)) == adapter.needed() - 2 * 990_000 - activations // 2
    assert adapter.needed(held=Held(workers=3)) == adapter.needed() - 4 * 660_000
    assert SMALL.needed(held=Held(workers=2)) == SMALL.needed() - 8 * 1_000_000
    assert dataclasses.replace(SMALL, length=1).needed(held=Held(workers=8)) == 600_000_000 + 4_000_000 + 500_000
    others = dataclasses.replace(adapter, others=90_000)
    together = 8 * 4 * 64**2
    assert others.needed() == adapter.needed()
    assert others.needed(held=Held(bits=8)) == adapter.needed() - 3 * 900_000 + together
    assert others.needed(held=Held(half=True, bits=4)) == adapter.needed(held=Held(half=True)) - int(1.46875 * 900_000) + together
    assert dataclasses.replace(adapter, others=1_000_000).needed(held=Held(bits=4)) == adapter.needed()


GB = 1_000_000_000
LARGE = Footprint(weights=7 * GB, trained=40_000_000, rows=8, length=1024, layers=32, width=4096, vocabulary=32_000)
WHOLE = dataclasses.replace(LARGE, trained=7 * GB)
EXPERTS = dataclasses.replace(LARGE, others=7 * GB)
CPU, OLD_CPU, GPU, OLD_GPU = ((False, True), (False, False), (True, True), (True, False))
AUTO = {"frozen_weights": "auto", "recompute": "auto", "spread_weights": "auto", "mixed_precision": "auto", "optimizer": "adamw"}


@pytest.mark.parametrize(
    ("needs", "options", "device", "size", "wanted"),
    [
        (LARGE, {}, GPU, 80, Held(True, False)),
        (LARGE, {}, GPU, 40, Held(True, True)),
        (LARGE, {}, OLD_GPU, 200, Held(False, False)),
        (LARGE, {}, OLD_GPU, 80, Held(False, True)),
        (LARGE, {}, CPU, 200, Held(False, False)),
        (LARGE, {}, CPU, 80, Held(True, False)),
        (LARGE, {}, CPU, 40, Held(True, True)),
        (LARGE, {}, OLD_CPU, 40, Held(False, True, bits=8)),
        (LARGE, {}, CPU, 15, Held(True, True, bits=8)),
        (LARGE, {}, CPU, 10, Held(True, True, bits=4)),
        (LARGE, {}, GPU, 17, Held(True, True)),
        (LARGE, {}, GPU, 12, Held(True, True, bits=8)),
        (LARGE, {}, GPU, 8, Held(True, True, bits=4)),
        (EXPERTS, {}, GPU, 8, Held(True, True)),
        (LARGE, {"frozen_weights": "fp32"}, GPU, 200, Held(False, False)),
        (LARGE, {"frozen_weights": "bf16"}, OLD_CPU, 200, Held(True, False)),
        (LARGE, {"frozen_weights": "nf4"}, GPU, 200, Held(True, False, bits=4)),
        (LARGE, {"frozen_weights": "int8"}, OLD_CPU, 200, Held(False, False, bits=8)),
        (LARGE, {"mixed_precision": "fp32"}, GPU, 200, Held(False, False)),
        (LARGE, {"recompute": "no"}, GPU, 20, Held(True, False, bits=8)),
        (LARGE, {"recompute": "yes"}, GPU, 200, Held(True, True)),
        (SMALL, {}, GPU, 80, Held(False, False)),
        (SMALL, {"frozen_weights": "bf16"}, GPU, 80, Held(False, False)),
        (SMALL, {"frozen_weights": "nf4"}, GPU, 80, Held(False, False)),
    ],
)  # fmt: skip
def test_how_a_model_is_held_follows_from_the_memory(needs, options, device, size, wanted):
    assert held.chosen(needs, SimpleNamespace(**AUTO | options), held.Place(*device, size * GB)) == wanted


@pytest.mark.parametrize(
    ("needs", "options", "size", "wanted"),
    [
        (LARGE, {}, 40, Held(True, True, 1)),
        (LARGE, {}, 20, Held(True, True, 4)),
        (LARGE, {}, 10, Held(True, True, 4, bits=8)),
        (LARGE, {"spread_weights": "no"}, 20, Held(True, True, 1, bits=8)),
        (LARGE, {"spread_weights": "yes"}, 80, Held(True, False, 4)),
        (SMALL, {"spread_weights": "yes"}, 80, Held(False, False, 4)),
        (WHOLE, {}, 200, Held(False, False, 1)),
        (WHOLE, {}, 50, Held(False, True, 4)),
        (WHOLE, {"optimizer": "adafactor"}, 50, Held(False, True, 1)),
        (WHOLE, {"mixed_precision": "fp16"}, 50, Held(False, True, 1)),
    ],
)
def test_weights_are_spread_over_workers_where_they_do_not_fit_into_one(needs, options, size, wanted):
    assert held.chosen(needs, SimpleNamespace(**AUTO | options), held.Place(*GPU, size * GB, 4)) == wanted


def test_an_optimizer_that_does_not_work_on_spread_weights_is_refused_where_a_user_wants_both():
    wanted = SimpleNamespace(**AUTO | {"optimizer": "adafactor", "spread_weights": "yes"})
    assert held.chosen(WHOLE, wanted, held.Place(*GPU, GB)).workers == 1
    with pytest.raises(UserError, match="adafactor does not work on weights that are spread"):
        held.chosen(WHOLE, wanted, held.Place(*GPU, GB, 2))


def test_what_is_said_of_how_a_model_is_held():
    assert held.decisions(Held(), LARGE) == []
    assert held.decisions(Held(half=True, recomputed=True, workers=4), LARGE) == [
        ("frozen_weights", "bf16", "The weights that are not trained are held in bf16, and the model computes in it: about 53 GB less of memory."),
        ("recompute", "yes", "Activations are computed again in the backward pass: about 33 GB less of memory, in about a third more time."),
        ("spread_weights", "yes", "Each of the 4 workers holds a part of the weights that are not trained: about 10 GB less of memory for each."),
    ]
    assert held.decisions(Held(half=True, bits=4), LARGE) == [
        (
            "frozen_weights",
            "nf4",
            "The weights of linear layers, which are not trained, are held in 4 bits (nf4): about 63 GB less of memory. "
            "The adapter belongs to these rounded weights; on the weights as they are installed, its answers differ a little.",
        )
    ]


@pytest.mark.parametrize(
    ("config", "settings", "shape", "wanted"),
    [
        (
            {"num_hidden_layers": 3, "hidden_size": 10, "intermediate_size": 20, "vocab_size": 7}, (8, 2), {"finetuning": "full"},
            Footprint(12, 12, 4, 64, 3, 10, 7, 140),
        ),
        (
            {"n_layer": 3, "n_embd": 10, "tie_word_embeddings": True}, (7, 2), {"finetuning": "lora", "rank": 2},
            Footprint(12, 2 * 3 * (80 + 3 * 50), 4, 64, 3, 10, 99, 990),
        ),
        ({"num_hidden_layers": 0, "hidden_size": "x"}, (8, 0), {"finetuning": "full"}, Footprint(12, 12, 8, 64, 12, 768, 99, 2 * 99 * 768)),
        ({"hidden_size": 10, "num_experts": 4}, (8, 0), {"finetuning": "full"}, Footprint(12, 12, 8, 64, 12, 10, 99, 12)),
    ],
    ids=["full finetuning", "LoRA and the names of GPT-2", "sizes that are not known", "a mixture of experts"],
)  # fmt: skip
def test_the_footprint_of_an_installed_model(tmp_path, config, settings, shape, wanted):
    safetensors.save_file({"a": numpy.zeros((2, 3), numpy.float32), "b": numpy.zeros(5, numpy.float32)}, tmp_path / "model-1.safetensors")
    safetensors.save_file({"c": numpy.ones((), numpy.float32)}, tmp_path / "model-2.safetensors")
    batch, parts = settings
    found = footprint.of(
        tmp_path, config, SimpleNamespace(batch_size=batch, gradient_accumulation=parts), {"max_length": 64, "vocabulary_size": 99, **shape}
    )
    assert found == wanted


@pytest.mark.parametrize(
    ("needs", "method", "sentence"),
    [
        (
            SMALL, "lora",
            "org/tiny has 1 million weights: LoRA needs about 0.7 GB and the worker has 0.1 GB. "
            "Choose a smaller model, max_length 256 (0.6 GB), or ask for more memory.",
        ),
        (
            Footprint(7_000_000_000, 7_000_000_000, 4, 256, 2, 64, 1000), "full",
            "org/tiny has 7.0 billion weights: full finetuning needs about 113 GB and the worker has 0.1 GB. "
            "Choose a smaller model, a smaller batch_size, or ask for more memory.",
        ),
    ],
)  # fmt: skip
def test_a_model_that_does_not_fit_is_refused(needs, method, sentence):
    with pytest.raises(UserError) as refused:
        footprint.check(needs, 100_000_000, "org/tiny", method)
    assert (refused.value.code, str(refused.value)) == ("model_memory", sentence)
    footprint.check(needs, needs.needed(), "org/tiny", method)
    with pytest.raises(UserError):
        footprint.check(needs, needs.needed() - 1, "org/tiny", method)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0.0 GB"), (640_000_000, "0.6 GB"), (9_940_000_000, "9.9 GB"), (10_000_000_000, "10 GB"), (113.4e9, "113 GB")]
)
def test_bytes_as_text(size, text):
    assert gigabytes(size) == text


@pytest.mark.parametrize(("number", "text"), [(1, "1 million"), (135_400_000, "135 million"), (999_000_000, "999 million"), (10**9, "1.0 billion")])
def test_numbers_of_weights_as_text(number, text):
    assert footprint.spelled_count(number) == text


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
