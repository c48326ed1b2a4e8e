"""Whether new rows are like those of a training: few false alarms, planted shifts found, marks for rows, and profiles from outside."""

import json

import numpy
import pytest
from hypothesis import given, settings, strategies as st

from trainer.shift import comparison, profile
from trainer.shift.comparison import compare
from trainer.shift.traits import Categories, Numbers, Words

WORDS = [f"word{i}" for i in range(400)]
ODDS = 1 / numpy.arange(1, len(WORDS) + 1)


def rows(chance, count: int) -> dict:
    """Traits of all forms: even and skewed numbers, counts, some missing; few and many categories; texts."""
    gaps = chance.random(count) < 0.1
    many = chance.zipf(1.6, count).clip(max=300)
    lengths = chance.integers(3, 20, count)
    words = numpy.split(chance.choice(WORDS, lengths.sum(), p=ODDS / ODDS.sum()), lengths.cumsum()[:-1])
    return {
        "height": chance.normal(170, 10, count),
        "income": numpy.where(gaps, numpy.nan, chance.lognormal(8, 1, count)),
        "children": chance.poisson(1.5, count).astype(float),
        "species": chance.choice(["ash", "elm", "oak"], count, p=[0.6, 0.3, 0.1]).tolist(),
        "place": [f"place {n}" for n in many],
        "texts": [w.tolist() for w in words],
    }


def traits(values: dict) -> list:
    forms = {"species": Categories, "place": Categories, "texts": Words}
    return [forms.get(name, Numbers)(name, v) for name, v in values.items()]


def learnt(values: dict) -> list:
    return profile.restored(json.loads(json.dumps(profile.learn(traits(values)))))


@pytest.mark.parametrize(("before", "now"), [(60, 30), (400, 500), (2000, 500), (300, 2000)])
def test_rows_of_one_source_rarely_give_an_alarm(before, now):
    alarms = 0
    for seed in range(40):
        chance = numpy.random.default_rng(seed)
        alarms += bool(compare(learnt(rows(chance, before)), traits(rows(chance, now))).findings)
    assert alarms <= 2


def _larger(values, chance):
    values["height"] = values["height"] + 5


def _wider(values, chance):
    values["height"] = 170 + (values["height"] - 170) * 1.6


def _unit(values, chance):
    values["income"] = values["income"] / 100


def _emptier(values, chance):
    values["income"][chance.random(len(values["income"])) < 0.25] = numpy.nan


def _unseen(values, chance):
    values["species"] = ["yew" if chance.random() < 0.06 else s for s in values["species"]]


def _other_shares(values, chance):
    values["species"] = chance.choice(["ash", "elm", "oak"], len(values["species"]), p=[0.3, 0.3, 0.4]).tolist()


def _other_words(values, chance):
    values["texts"] = [[f"mot{w}" if chance.random() < 0.3 else w for w in words] for words in values["texts"]]


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        (_larger, "height", "height is larger"), (_wider, "height", "height"), (_unit, "income", "income is smaller"),
        (_emptier, "income", "of income is empty, in the training"), (_unseen, "species", "never saw: yew"),
        (_other_shares, "species", "species has other shares"), (_other_words, "texts", "of the words of texts are unknown"),
    ],
)  # fmt: skip
def test_planted_shifts_are_found_and_named(change, name, words):
    found = 0
    for seed in range(20):
        chance = numpy.random.default_rng(seed)
        known, new = learnt(rows(chance, 1000)), rows(chance, 500)
        change(new, chance)
        result = compare(known, traits(new))
        found += any(f.name == name and words in f.said for f in result.findings)
        assert {f.name for f in result.findings} <= {name}
    assert found >= 19


def test_a_difference_that_no_figure_shows_is_not_said():
    chance = numpy.random.default_rng(2)
    near, further = (Numbers("depth", chance.normal(1000, spread, 400)) for spread in (0.01, 0.03))
    known = profile.restored(json.loads(json.dumps(profile.learn([near]))))
    assert not [f for f in compare(known, [further]).findings if "spread" in f.said]


def test_rows_unlike_every_training_row_are_marked_with_the_trait():
    chance = numpy.random.default_rng(1)
    known, new = learnt(rows(chance, 1000)), rows(chance, 30)
    new["height"][3], new["species"][3], new["species"][7] = 400.0, "yew", ""
    new["place"][3] = new["place"][7] = "place 1"
    result = compare(known, traits(new))
    assert result.marks[3] == ("height", "species") and result.marks[7] == () and result.marked >= 1
    assert not result.findings, "two rows of thirty are no shift"


def test_answers_are_compared_and_higher_confidence_is_no_alarm():
    chance = numpy.random.default_rng(2)
    sure = Numbers("the confidence", chance.beta(8, 2, 500), answer=True, falls=True)
    known = profile.restored(profile.learn([Categories("the answer", ["a", "b"] * 250, answer=True), sure]))
    same = [Categories("the answer", ["a", "b"] * 250, answer=True)]
    assert not compare(known, [*same, Numbers("the confidence", numpy.full(500, 0.99), answer=True, falls=True)]).findings
    assert "smaller" in compare(known, [*same, Numbers("the confidence", chance.beta(4, 4, 500), answer=True, falls=True)]).findings[0].said
    assert "other shares" in compare(known, [Categories("the answer", ["b"] * 500, answer=True)]).findings[0].said


def test_a_column_that_is_called_like_an_answer_is_not_compared_with_it():
    names = [Categories("the answer", ["yes"] * 100), Categories("the answer", ["a", "b"] * 50, answer=True)]
    assert not compare(profile.restored(profile.learn(names)), names).findings


@pytest.mark.parametrize("count", [0, 1, 5])
def test_few_rows_are_not_tested(count):
    chance = numpy.random.default_rng(3)
    few, many = rows(chance, max(1, count)), rows(chance, 100)
    assert compare(learnt(many), [type(t)(t.name, t.values[:count]) for t in traits(few)]).tests == 0
    assert compare(learnt(few), traits(many)).tests == 0


def test_a_trait_of_another_form_or_without_values_is_left_alone():
    known = learnt({"height": numpy.full(50, numpy.nan), "species": ["ash"] * 50, "income": numpy.ones(50)})
    assert [p.name for p in known] == ["species", "income"]
    result = compare(known, [Numbers("species", numpy.ones(50)), Categories("income", ["x"] * 50), Numbers("new", numpy.ones(50))])
    assert result.findings == [] and result.marked == 0
    constant = compare(known, [Numbers("income", numpy.ones(50)), Categories("species", ["ash"] * 50)])
    assert constant.findings == [] and constant.tests > 0


def test_the_profile_of_very_many_columns_stays_small():
    chance = numpy.random.default_rng(4)
    described = profile.learn([Numbers(f"c{i}", chance.normal(size=600)) for i in range(3000)])
    assert len(described) == profile.MOST_TRAITS and sum(len(p["values"]) for p in described) <= 100_000


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_forged_profiles_are_refused_or_compared(data):
    chance = numpy.random.default_rng(5)
    values = rows(chance, 40)
    described = json.loads(json.dumps(profile.learn(traits(values))))
    entry = data.draw(st.sampled_from(described))
    key = data.draw(st.sampled_from(sorted(entry)))
    wrong = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5), st.lists(st.floats(), max_size=3))
    entry[key] = data.draw(st.one_of(wrong, st.dictionaries(st.text(max_size=3), st.integers(), max_size=3)))
    try:
        known = profile.restored(described)
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    result = compare(known, traits(values))
    assert all(0 <= f.p <= comparison.ALARMS for f in result.findings)
