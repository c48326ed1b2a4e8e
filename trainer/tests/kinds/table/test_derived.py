"""Dates, texts, lists and names with many values as columns of numbers: what is learnt, what is restored, and what damaged files do."""

import contextlib
import json
import math
import random

import numpy
import pytest
from hypothesis import given, settings as bounds, strategies as some

from trainer.data.columns.features import DATE, LIST, NAME, TEXT
from trainer.kinds.derived import dates, lists, part as parts
from trainer.kinds.table import columns, encoded

DAYS = [f"2019-{m:02}-{d:02}" for m in range(1, 13) for d in (1, 9, 17, 25)]
NOTES = [f"{'dry stony' if i % 2 else 'wet sandy'} ground {('near the river', 'on the hill')[i % 3 > 0]} number {i % 7}" for i in range(60)]
WOOL = ["wool; silk", "silk", "wool", "cotton; wool", "cotton"] * 8
TOWNS = [f"town {i % 30}" for i in range(90)] + [f"hamlet {i}" for i in range(40)]
CELLS = {DATE: DAYS, TEXT: NOTES, LIST: WOOL, NAME: TOWNS}


def of(part, cell: str) -> dict[str, float]:
    return dict(zip(part.names, part.values([cell])[0].tolist(), strict=True))


def learnt(sort: str, cells: list[str]):
    found = parts.learn(sort, cells)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("cells", "form", "cell", "expected"),
    [
        (DAYS, dates.DATE, "2019-03-02", {"month": 3, "weekday": 5, "weekend": 1, "age in days": 298}),
        (["25.12.2019", "03.01.2020", "4.2.2020"] * 9, dates.DATE, "05.06.2021", {"month": 6}),
        (["12/25/2019", "01/03/2020", "2/4/2020"] * 9, dates.DATE, "05/06/2021", {"month": 5}),
        ([f"2019-01-0{1 + i % 7} {i:02}:30" for i in range(24)], dates.DATE, "2019-01-03 18:00", {"hour": 18, "hour, cosine": 0, "hour, sine": -1}),
        ([f"201901{1 + i:02}" for i in range(28)], dates.COMPACT, "20190206", {"weekday": 2, "age in days": -9}),
        ([f"2019Q{1 + i % 4}" for i in range(20)], dates.PERIOD, "2020Q3", {"month": 7}),
        ([f"{i % 24}:15" for i in range(48)], dates.CLOCK, "6:00", {"hour": 6, "hour, sine": 1}),
    ],
    ids=["ISO", "day first", "month first", "with hours", "compact", "quarters", "times of day"],
)
def test_a_date_is_read_as_its_column_is_written(cells, form, cell, expected):
    found = learnt(DATE, cells)
    assert found.form == form
    assert {name: of(found, cell)[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_numbers_of_dates_that_do_not_differ_are_left_out():
    assert learnt(DATE, DAYS).names == ("month", "season, sine", "season, cosine", "weekday", "weekend", "age in days")
    assert "year" in learnt(DATE, [*DAYS, "2020-01-01"]).names
    assert "known" in learnt(DATE, [*DAYS, ""]).names
    assert parts.learn(DATE, ["2019-01-01"] * 30) is None


@pytest.mark.parametrize("far", ["9999-12-31", "0015-07-04", "2019-13-45", "", "soon", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:01+14:00"])
def test_dates_far_from_all_others_are_empty(far):
    found = learnt(DATE, [*DAYS, far, *DAYS])
    assert of(found, far)["known"] == 0
    assert math.isnan(of(found, far)["age in days"])
    assert of(found, "2019-12-25")["age in days"] == 0, "they are no last date either"
    assert of(found, "2031-01-01")["age in days"] == -4025, "but a later one of new rows counts"


@pytest.mark.parametrize(("form", "low"), [(dates.DATE, -1e99), (dates.COMPACT, -1e99), (dates.PERIOD, 0), (dates.CLOCK, 0)])
@given(cell=some.text(max_size=30) | some.from_regex(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d\d:\d\d(:\d\d)?([+-]\d\d)?)?", fullmatch=True))
@bounds(max_examples=60, deadline=None)
def test_any_cell_is_a_date_or_none(form, low, cell):
    found = dates.DateParts(form, False, low, 1e99, 0.0, dates.NAMES).values([cell])
    assert found.shape == (1, len(dates.NAMES)) and not numpy.isinf(found).any()


def test_lists_are_told_from_sentences():
    found = learnt(LIST, WOOL)
    assert found.items == ("cotton", "silk", "wool")
    assert of(found, "wool;linen") == {"number of items": 2, "cotton": 0, "silk": 0, "wool": 1}
    assert numpy.isnan(found.values([""])).all()
    assert lists.separator_of(['["a", "b"]', '["b"]', '["a", "c"]'] * 5) == ","
    assert lists.separator_of([f"in {i}, we saw {i * 7} birds, and left" for i in range(30)]) == ""
    assert lists.separator_of(["Smith, John", "Miller, Ann"] + [f"Person {i}, Jane" for i in range(40)]) == ""


def test_names_have_their_frequency_and_rare_ones_are_one():
    found = learnt(NAME, TOWNS)
    assert len(found.categories) == 30 and "hamlet 1" not in found.categories
    assert of(found, "town 3") == {"frequency": pytest.approx(math.log(4))}
    assert of(found, "hamlet 1") == of(found, "elsewhere") == {"frequency": 0}
    assert math.isnan(of(found, "")["frequency"])
    assert parts.learn(NAME, [f"person {i}" for i in range(50)]) is None


def test_words_that_are_not_in_most_texts_are_numbers_of_their_own():
    found = parts.wide(learnt(TEXT, NOTES))
    words = {n for n in found.names if n.startswith("the word")}
    assert 'the word "dry"' in words and 'the word "ground"' not in words, "all texts have a ground"
    seen = of(found, "dry dry ground")
    assert seen['the word "dry"'] > of(found, "dry sandy ground")['the word "dry"'] > 0 == seen['the word "sandy"']
    assert not parts.wide(learnt(TEXT, NOTES * 3)).alone, "texts that repeat are categories"
    assert learnt(TEXT, NOTES).names == found.names[: -len(words)], "other models do not read them"
    before = {n: v for n, v in found.described().items() if n != "alone"}
    assert parts.restored(TEXT, before).names == found.names[: -len(words)], "models that were saved before have no such words"


def test_texts_that_are_alike_are_near_each_other():
    found = learnt(TEXT, NOTES)
    dry, also_dry, wet = found.values(["dry stony ground", "DRY, stony field", "wet sandy ground"])[:, 1:]
    assert dry @ also_dry > dry @ wet
    assert (found.values(["unseen"])[0, 1:] == 0).all()
    assert numpy.isnan(found.values([""])).all()
    assert not found.categories and learnt(TEXT, NOTES * 3).categories
    assert parts.learn(TEXT, [f"w{i} x{i} y{i}" for i in range(40)]) is None, "no word is in three texts"


def test_the_words_of_a_sequence_are_its_neighbouring_letters():
    draw = random.Random(2)
    chains = ["".join(draw.choices("ACGT", k=30)) + ("GATTACA" if i % 2 else "") for i in range(60)]
    found = parts.wide(learnt(TEXT, chains))
    assert found.letters == 3 and {"gat", "gat att"} <= {*found.terms} and of(found, "gattaca")["number of words"] == pytest.approx(math.log(6))
    again = parts.restored(TEXT, json.loads(json.dumps(found.described())))
    assert numpy.array_equal(found.values(chains), again.values(chains), equal_nan=True)
    for letters in (-1, 4, 1.5, "3", None, True):
        with pytest.raises(ValueError, match="not described"):
            parts.restored(TEXT, found.described() | {"letters": letters})
    assert learnt(TEXT, NOTES).letters == 0


@pytest.mark.parametrize("sort", CELLS)
def test_what_is_restored_reads_the_same_bits(sort):
    found = parts.wide(learnt(sort, CELLS[sort]))
    again = parts.restored(sort, json.loads(json.dumps(found.described())))
    cells = [*CELLS[sort], "", "elsewhere", "1;2"]
    every = found.values(cells)
    assert numpy.array_equal(every, again.values(cells), equal_nan=True)
    assert again.names == found.names and again.categories == found.categories
    alone = numpy.concatenate([parts.restored(sort, found.described()).values([c]) for c in cells])
    assert numpy.array_equal(every, alone, equal_nan=True), "a row does not depend on the others"


OTHERS = [None, True, -1, 0, 1e308, 10**400, "x", [], {}, [[1.0]], [[1.0], [2.0, 3.0]], ["a", "a"], [1], {"a": -1}, {"a": 10**400}]


@pytest.mark.parametrize("sort", CELLS)
def test_damaged_descriptions_are_refused(sort):
    described = parts.wide(learnt(sort, CELLS[sort])).described()
    draw = random.Random(1)
    for name in described:
        without = {n: v for n, v in described.items() if n != name}
        with contextlib.nullcontext() if name == "alone" else pytest.raises(KeyError):
            parts.restored(sort, without)
        for value in OTHERS:
            try:
                found = parts.restored(sort, {**described, name: value})
            except (ValueError, KeyError, TypeError):
                continue
            values = found.values([draw.choice(CELLS[sort]), "", "2019-01-01"])
            assert values.shape == (3, len(found.names)) and not numpy.isinf(values).any()


@pytest.mark.parametrize("scale", [None, 1.0, [], [0.0] * 99, ["x"], [1e999], {"a": 1}], ids=str)
@pytest.mark.parametrize("name", ["mean", "std"])
def test_a_scale_that_does_not_fit_the_part_is_refused(name, scale):
    described = {"name": "c", "type": DATE, **learnt(DATE, DAYS).described()}
    numbers = len(described["names"])
    good = {**described, "mean": [0.0] * numbers, "std": [1.0] * numbers}
    assert encoded.restored([good]).width == numbers
    with pytest.raises((ValueError, TypeError)):
        encoded.restored([{**good, name: scale}])
    with pytest.raises(ValueError, match="the scale of a column"):
        encoded.restored([{**good, "std": [0.0] * numbers}])
    with pytest.raises(KeyError):
        columns.restored([{"name": "c", "type": DATE}])
