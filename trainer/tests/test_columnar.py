"""A sequence of examples over columns is like the list of its examples."""

import numpy
import pyarrow
import pytest
from hypothesis import given, settings, strategies as st

from trainer.core import columnar
from trainer.core.cells import Codes, Strings, read_numbers
from trainer.core.columnar import Columnar, Store
from trainer.core.example import Example
from trainer.data import keys
from trainer.data.columns import summaries
from trainer.data.keys import Keys
from trainer.targets.target import number

ROWS = 11
LISTED = [
    Example(
        "a.csv" if i < 7 else "b.csv", i + 2, (f"{i / 4}", "xyz"[i % 3]), "no" if i % 2 else "yes", f"id{i}", "g" * (i % 2), i / 2 if i % 5 else None
    )
    for i in range(ROWS)
]


def sequence() -> Columnar:
    places = numpy.arange(ROWS)
    cells = pyarrow.chunked_array([[e.content[0] for e in LISTED[a:b]] for a, b in ((0, 4), (4, 4), (4, 11))], pyarrow.large_string())
    return Columnar(
        Store(
            Codes(["a.csv", "b.csv"], (places >= 7).astype(numpy.int32)), places + 2,
            (Strings(cells), Codes(["x", "y", "z"], (places % 3).astype(numpy.int32))),
            Codes(["yes", "no"], (places % 2).astype(numpy.int32)), Strings(pyarrow.chunked_array([[e.id for e in LISTED]], pyarrow.large_string())),
            Codes(["", "g"], (places % 2).astype(numpy.int32)), numpy.asarray([numpy.nan if e.when is None else e.when for e in LISTED]),
        )
    )  # fmt: skip


def test_it_has_the_examples_of_the_list():
    found = sequence()
    assert len(found) == ROWS and list(found) == LISTED and found == LISTED
    assert [found[i] for i in (0, 6, -1, -ROWS)] == [LISTED[i] for i in (0, 6, -1, -ROWS)]
    assert list(reversed(found)) == LISTED[::-1]
    with pytest.raises(IndexError):
        found[ROWS]
    with pytest.raises(TypeError):
        hash(found)


@given(st.slices(ROWS), st.slices(ROWS))
def test_slices_of_slices_are_those_of_the_list(first, second):
    assert list(sequence()[first][second]) == LISTED[first][second]


@given(st.lists(st.integers(0, ROWS - 1)))
def test_examples_and_columns_at_any_places(places):
    found, listed = columnar.taken(sequence(), numpy.asarray(places, numpy.int64)), [LISTED[i] for i in places]
    assert list(found) == listed
    for of in (columnar.targets, columnar.groups, columnar.files):
        assert of(found) == of(listed)
    assert columnar.rows(found).tolist() == columnar.rows(listed).tolist()
    assert numpy.array_equal(columnar.whens(found), columnar.whens(listed), equal_nan=True)
    for place in (0, 1):
        assert columnar.texts(found, place) == columnar.texts(listed, place)
        assert numpy.array_equal(columnar.numbers(found, place), columnar.numbers(listed, place), equal_nan=True)
        for values, codes in (columnar.codes(found, place), columnar.codes(listed, place)):
            assert [values[c] for c in codes] == [e.content[place] for e in listed]


def test_views_of_one_store_are_joined_to_a_view_and_others_to_a_list():
    found = sequence()
    assert isinstance(found[:3] + found[5:], Columnar) and list(found[:3] + found[5:]) == LISTED[:3] + LISTED[5:]
    assert isinstance(columnar.joined([found[:3], [], found[5:]]), Columnar)
    assert found[:2] + LISTED[2:] == LISTED and LISTED[:2] + found[2:] == LISTED
    assert [e.group for e in found[8:].grouped(["p", "q", "p"])] == ["p", "q", "p"]


@given(st.lists(st.text("0123456789+-.eE_ infnaNt", max_size=6) | st.floats().map(repr), max_size=20))
def test_numbers_are_read_as_python_reads_them(cells):
    read = read_numbers(pyarrow.array(cells, pyarrow.large_string())).tolist()
    assert [None if n != n else n for n in read] == [number(c) for c in cells]


@settings(max_examples=20)
@given(st.booleans(), st.booleans())
def test_keys_are_those_of_the_list(by_row, by_time):
    def key(example):
        return columnar.SEPARATOR.join(example.content)

    twice = [*range(ROWS), 3, 3, 0]
    found, listed = sequence().taken(numpy.asarray(twice)), [LISTED[i] for i in twice]
    of_columns, of_list = (Keys(key, by_row=by_row, by_time=by_time) for _ in range(2))
    assert list(of_columns.texts(found)) == list(of_list.texts(listed))
    assert b"".join(of_columns.lines(found, "train ")) == b"".join(of_list.lines(listed, "train "))
    (a, b), (c, d) = of_columns.codes(found, found[2:5]), of_list.codes(listed, listed[2:5])
    assert len({*zip(a.tolist(), c.tolist())}) == len({*c.tolist()}) == ROWS
    assert numpy.isin(a, b).tolist() == numpy.isin(c, d).tolist()


_LONG = st.text("12", min_size=1, max_size=2).map(lambda end: "0.12345678901234" + end) | st.just("1" * 33)  # the first word is there twice; too long


@given(st.lists(st.lists(st.text("0123456789+-.eE", min_size=1, max_size=4) | st.floats().map(repr) | _LONG, max_size=20), max_size=3))
def test_different_numbers_are_counted_as_texts(parts):
    cells = [pyarrow.array(["1", *part, "2"], pyarrow.large_string()).slice(1, len(part)) for part in parts]
    found = summaries._different(pyarrow.chunked_array(cells, pyarrow.large_string()))
    assert found == len({cell for part in parts for cell in part})


@given(st.lists(st.integers(-3, 12).map(str) | st.sampled_from(["0.0", "1.00", "2.", "+3.0", "-1.0", "1.5", "20", "1e0", "10.0"]), min_size=1))
def test_labels_that_are_numbers_are_counted_as_texts(cells):
    """Those that are written with a fraction of zero are the same as without."""
    chunks = [cells[:2], cells[2:]] if len(cells) > 2 else [cells]
    assert summaries.plain(pyarrow.chunked_array(chunks, pyarrow.large_string())).labels() == summaries.Listed(cells).labels()


@pytest.mark.parametrize("copies", [0, 3])
def test_digests_with_the_same_first_bytes_are_told_apart(copies):
    """As many as this are never equal in eight bytes by chance, so here they are made."""
    draw = numpy.random.default_rng(1)
    digests = draw.integers(0, 256, (200, 16), numpy.uint8)
    digests[:, :8] = digests[draw.integers(0, 4, 200), :8]
    digests = numpy.concatenate([digests, digests[:copies]])
    texts = [d.tobytes() for d in digests]
    order, codes = keys._order(digests).tolist(), keys._codes(digests).tolist()
    assert [texts[i] for i in order] == sorted(texts)
    assert len({*zip(codes, texts)}) == len({*codes}) == len({*texts}) == 200


def test_many_cells_of_a_list_are_the_numbers_that_few_are():
    cells = ["1", "", "-2.5e3", "x", "nan", "1e999", " 7 ", "0.1"] * 100
    examples = [Example("t.csv", i, (cell,), "") for i, cell in enumerate(cells)]
    few = numpy.concatenate([columnar.numbers(examples[i : i + 8], 0) for i in range(0, len(examples), 8)])
    assert numpy.array_equal(columnar.numbers(examples, 0), few, equal_nan=True)
