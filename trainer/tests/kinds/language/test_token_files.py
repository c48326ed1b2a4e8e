"""Files of tokens and their vocabulary: widths, limits, and pickles that are more than plain values."""

import collections
import pickle
import pickletools
import struct

import numpy
import pytest
from hypothesis import given, strategies as st

from trainer.errors import UserError
from trainer.kinds.rows import plain_pickle, token_vocabulary as tokens
from trainer.kinds.rows.plain_pickle import NotPlain

META = {"vocab_size": 3, "itos": {0: "a", 1: "é", 2: "\n"}, "stoi": {"a": 0, "é": 1, "\n": 2}}


class Planted:
    """Creates a file when it is unpickled by Python's own reader."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.fixture
def bin_of(tmp_path):
    def write(numbers, dtype="<u2", name="train.bin"):
        numpy.asarray(numbers, dtype).tofile(tmp_path / name)
        return tmp_path / name, name

    return write


@pytest.mark.parametrize(
    ("name", "numbers", "written", "size", "want"),
    [
        ("16 bits", [1, 2, 3, 40_000], "<u2", 0, "<u2"),
        ("an odd number of 16 bits", [1, 2, 3], "<u2", 0, "<u2"),
        ("32 bits whose high halves are zero", [1, 2, 3, 40_000], "<u4", 0, "<u4"),
        ("32 bits with numbers above 65,535", [1, 2000, 3, 128_000], "<u4", 0, "<u4"),
        ("16 bits of a tiny vocabulary, such as bases of a genome", [0, 1, 2, 3], "<u2", 0, "<u2"),
        ("32 bits as the size of the vocabulary says", [70_000, 70_001], "<u4", 100_000, "<u4"),
    ],
)
def test_the_width_of_the_numbers_is_found(bin_of, name, numbers, written, size, want):
    got = tokens.inspect(*bin_of(numbers, written), size)
    assert (got.dtype, got.count, got.highest) == (numpy.dtype(want), len(numbers), max(numbers)), name
    assert got.read().tolist() == numbers


@pytest.mark.parametrize(
    ("name", "content", "code", "sentence"),
    [
        ("a file of llm.c", struct.pack("<4i", 20240520, 1, 2, 3), "token_header", "train.bin begins with a header of llm.c for GPT-2"),
        ("a file of llm.c for Llama", struct.pack("<4i", 20240801, 7, 2, 3), "token_header", "a header of llm.c for Llama 3"),
        ("an odd number of bytes", b"abc", "not_tokens", "train.bin is not a file of tokens. It has 3 bytes"),
        ("an empty file", b"", "not_tokens", "It has 0 bytes"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path, name, content, code, sentence):
    (tmp_path / "train.bin").write_bytes(content)
    with pytest.raises(UserError) as refused:
        tokens.inspect(tmp_path / "train.bin", "train.bin")
    assert refused.value.code == code and sentence in str(refused.value), name


def test_a_folder_is_no_file_of_tokens(tmp_path):
    with pytest.raises(UserError, match="not a regular file"):
        tokens.inspect(tmp_path, "train.bin")


def test_a_number_outside_the_vocabulary_is_named(bin_of):
    file = tokens.inspect(*bin_of([5, 50_257], name="val.bin"))
    with pytest.raises(UserError) as refused:
        tokens.check(file, tokens.Vocabulary(50_257, None, "meta.pkl"))
    assert str(refused.value) == (
        "val.bin holds the number 50,257 and the vocabulary has 50,257 entries (0 to 50,256). "
        "The file belongs to another tokenizer, or vocab_size is wrong."
    )
    tokens.check(file, tokens.Vocabulary(50_258, None, "meta.pkl"))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_vocabulary_of_characters_is_read(tmp_path, protocol):
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps(META, protocol))
    got = tokens.vocabulary(tmp_path / "meta.pkl")
    assert (got.size, got.characters, got.text([0, 1, 2, 0])) == (3, True, "aé\na")
    assert got.byte_lengths().tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("name", "meta", "size", "text"),
    [
        ("without texts", {"vocab_size": 5}, 5, "4 0"),
        ("only texts by number", {"itos": {0: "x", 1: "yz"}}, 2, "xyz"),
        ("only numbers by text", {"stoi": {"x": 0, "y": 1}}, 2, "xy"),
        ("a list of texts", {"vocab_size": 2, "itos": ["p", "q"]}, 2, "pq"),
        ("a token without a text", {"vocab_size": 3, "itos": {0: "a", 2: "b"}}, 3, "0 2"),
        ("texts that are no texts", {"vocab_size": 2, "itos": {0: 5, 1: None}}, 2, "0 1"),
    ],
)
def test_other_forms_of_a_vocabulary(tmp_path, name, meta, size, text):
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps(meta))
    got = tokens.vocabulary(tmp_path / "meta.pkl")
    assert got.size == size, name
    assert got.text([4, 0] if size == 5 else [0, size - 1]) == text, name


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a class", pickle.dumps(collections.OrderedDict(vocab_size=3)), "meta.pkl holds more than plain values, so it is not read."),
        ("a function", pickle.dumps(print), "meta.pkl holds more than plain values"),
        ("no pickle", b"not a pickle", "meta.pkl holds more than plain values"),
        ("a pickle that is cut off", pickle.dumps(META)[:-9], "meta.pkl holds more than plain values"),
        ("a list", pickle.dumps([1, 2]), "does not describe a vocabulary: it is not a dict."),
        ("a size of one", pickle.dumps({"vocab_size": 1}), "it has no vocab_size from 2 to 1,000,000."),
        ("a size that is no number", pickle.dumps({"vocab_size": "65"}), "it has no vocab_size"),
        ("a huge size", pickle.dumps({"vocab_size": 10**12}), "it has no vocab_size"),
    ],
)
def test_a_vocabulary_that_cannot_be_read_is_refused_unless_a_size_is_given(tmp_path, name, content, sentence):
    (tmp_path / "meta.pkl").write_bytes(content)
    with pytest.raises(UserError) as refused:
        tokens.vocabulary(tmp_path / "meta.pkl")
    assert sentence in str(refused.value) and str(refused.value).endswith("Give vocab_size, or a tokenizer.json."), name
    assert tokens.vocabulary(tmp_path / "meta.pkl", given=7) == tokens.Vocabulary(7, None, "vocab_size"), name


def test_code_in_a_pickle_never_runs(tmp_path):
    planted = tmp_path / "planted"
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 3, "itos": Planted(planted)}))
    with pytest.raises(UserError):
        tokens.vocabulary(tmp_path / "meta.pkl")
    assert not planted.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("memory by a place far up in the memo", b"\x80\x02}r" + struct.pack("<I", 2**31 - 1) + b"."),
        ("memory by a long text that is not there", b"\x80\x04\x8d" + struct.pack("<Q", 2**40) + b"."),
        ("memory by an array of bytes that is not there", b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b"."),
        ("an object of another process", b"\x80\x02U\x01aQ."),
        ("a registered extension", b"\x80\x02\x82\x01."),
        ("an empty stack", b"\x80\x02."),
        ("an item for what is no dict", b"\x80\x02K\x01K\x02K\x03s."),
        ("a long number in digits", b"I" + b"9" * 100_000 + b"\n."),
        ("too many bytes", pickle.dumps("x" * (plain_pickle.MAX_BYTES + 1))),
    ],
)
def test_tricks_of_pickles_are_refused(name, content):
    with pytest.raises(NotPlain):
        plain_pickle.read(content)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content):
    try:
        plain_pickle.read(content)
    except NotPlain:
        return
    assert pickletools.optimize(content) is not None


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(_PLAIN, st.sampled_from(range(2, pickle.HIGHEST_PROTOCOL + 1)))
def test_plain_values_are_read_as_they_were(value, protocol):
    if protocol == 2 and any(name in pickle.dumps(value, protocol) for name in (b"_codecs", b"__builtin__\nbytes")):
        return  # protocol 2 has no bytes and calls a function for them
    assert plain_pickle.read(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize(("highest", "size"), [(64, 65), (50_255, 50_257), (50_256, 50_257), (127_999, 128_000)])
def test_the_largest_token_gives_the_size_where_nothing_else_does(tmp_path, highest, size):
    file = tokens.TokenFile("train.bin", tmp_path, numpy.dtype("<u4"), 10, highest)
    assert tokens.assumed([file]).size == size


def test_numbers_that_no_vocabulary_has_are_refused(tmp_path):
    with pytest.raises(UserError, match="Check that the files hold tokens"):
        tokens.assumed([tokens.TokenFile("train.bin", tmp_path, numpy.dtype("<u4"), 10, 5_000_000)])
