"""How sure answers are: what is promised from held-out rows, what it comes to, and what a saved promise may say."""

import csv
import io
import json
from fractions import Fraction
from types import SimpleNamespace

import numpy
import pytest
from hypothesis import given, strategies as st

from trainer.core import registry
from trainer.core.example import Example
from trainer.export import answer_lines, promised
from trainer.export.finished import Answered
from trainer.kinds.tokens.target import Tags
from trainer.measure.predictions import Predictions
from trainer.targets import promise
from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.targets.promise import Promise

ABC = Classes(("a", "b", "c"))
PROMISED = Promise(0.9, 20, (0.5,))


@given(rows=st.integers(1, 300), hundredths=st.integers(50, 99), seed=st.integers(0, 5))
def test_the_limit_is_the_smallest_error_that_keeps_the_promise(rows, hundredths, seed):
    """By the definition: among the errors and a new one, all equally likely to be the new one, the share within the limit is the promised one."""
    errors = numpy.random.default_rng(seed).permutation(rows).astype(float)
    enough = [e for e in errors if Fraction(int((errors <= e).sum()), rows + 1) >= Fraction(hundredths, 100)]
    coverage = hundredths / 100
    assert bool(promise.too_few(rows, coverage)) is not bool(enough) and (rows >= promise.fewest(coverage)) is bool(enough)
    if enough:
        assert promise.limit(errors, coverage) == min(enough)


@pytest.mark.parametrize(("coverage", "rows"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)])
def test_the_fewest_rows_of_a_promise(coverage, rows):
    assert promise.fewest(coverage) == rows
    assert promise.too_few(rows, coverage) == ""
    assert promise.too_few(rows - 1, coverage).endswith(f"needs {rows} held-out rows or more, and there are {rows - 1}.")


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ((60, 50, 200), [1, 2, 0]),
        ((49, 60, 200), [1, 1, 0]),  # too few of the first, so that the smallest other joins it
        ((30, 25, 200), [1, 1, 0]),  # both together suffice
        ((10, 100), [0, 0]),
        ((5, 5, 5), [0, 0, 0]),
        ((0, 60, 60), [1, 0, 1]),
        ((100,), [0]),
    ],
)
def test_classes_have_a_limit_of_their_own_where_there_are_rows_enough(counts, groups):
    truth = numpy.repeat(numpy.arange(len(counts)), counts)
    assert promise.groups(truth, len(counts), 0.9).tolist() == groups


def test_a_high_promise_takes_more_rows_of_a_class():
    rows = classes(330)  # about 165, 99 and 66 of each class
    assert len(set(promise.groups(rows.truth, 3, 0.9))) == 3
    assert len(set(promise.groups(rows.truth, 3, 0.99))) == 2
    assert ABC.promising(rows, 0.99)[0].kept(classes(3000, 1)).inside.mean() > 0.97


def numbers(n: int, seed: int = 0) -> Predictions:
    chance = numpy.random.default_rng(seed)
    said = chance.normal(size=n)
    return Predictions(said + chance.normal(size=n), said)


def magnitudes(n: int, seed: int = 0) -> Predictions:
    """Numbers over four orders of magnitude whose errors grow with them."""
    chance = numpy.random.default_rng(seed)
    said = numpy.exp(2 * chance.normal(size=n))
    return Predictions(said * numpy.exp(0.5 * chance.normal(size=n)), said)


def classes(n: int, seed: int = 0, shares=(0.5, 0.3, 0.2)) -> Predictions:
    """Probabilities that are right, and classes drawn by them."""
    chance = numpy.random.default_rng(seed)
    odds = chance.dirichlet(3 * numpy.asarray(shares), n)
    truth = (odds.cumsum(axis=1) < chance.random((n, 1))).sum(axis=1)
    return ABC.answers(odds, truth)


@pytest.mark.parametrize(("target", "draw", "most"), [(Number(0.0, 1.0), numbers, 0.92), (Number(0.0, 1.0), magnitudes, 0.92), (ABC, classes, 0.94)])
@pytest.mark.parametrize("held_out", [9, 40, 300])
def test_the_promise_holds_on_new_rows(target, draw, most, held_out):
    found = [target.promising(draw(held_out, seed), 0.9)[0].kept(draw(500, 1000 + seed)).inside.mean() for seed in range(200)]
    assert 0.89 <= numpy.mean(found) <= (most if held_out > 9 else 0.97)


def test_the_promise_of_a_rare_class_holds_inside_it():
    shares = (0.88, 0.08, 0.04)
    found = []
    for seed in range(20):
        made, _ = ABC.promising(classes(2500, seed, shares), 0.9)
        new = classes(4000, 100 + seed, shares)
        found.append([made.kept(new).inside[new.truth == c].mean() for c in range(3)])
    assert len(made.promise.limits) == 3
    assert numpy.mean(found, axis=0).min() >= 0.88


def test_an_interval_is_the_held_out_error_around_the_answer():
    held = Predictions(numpy.arange(9.0), numpy.zeros(9))  # errors of 0 to 8: the ninth of nine is promised
    found, said = Number(0.0, 1.0).promising(held, 0.9)
    assert said == "The interval of an answer holds the right number for 90 % of rows like the held-out ones."
    assert found.columns(numpy.asarray([10.0, -1.0])) == {"low": ["2", "-9"], "high": ["18", "7"]}
    assert found.kept(Predictions(numpy.asarray([8.0, -8.0, 8.1]), numpy.zeros(3))).inside.tolist() == [True, True, False]
    value, low, high = found.tensors(numpy.asarray([10.0]))
    assert (value["data"], low["name"], high["name"], low["parameters"]) == ([10.0], "low", "high", {"coverage": 0.9})
    assert (low["data"], high["data"]) == ([pytest.approx(2)], [pytest.approx(18)])
    assert [(t["name"], t["datatype"]) for t in (value, low, high)] == [form[:2] for form in found.tensor_forms()]


def test_an_interval_of_numbers_over_orders_of_magnitude_is_a_factor():
    made, said = Number(0.0, 1.0).promising(magnitudes(300), 0.9)
    factor = numpy.exp(made.promise.limits[0])
    assert 1.8 < factor < 3 and said.endswith(f"divided by {factor:.3g} to {factor:.3g} times it, because errors grow with the number.")
    low, high = (numpy.asarray(made.columns(numpy.asarray([1.0, 1000.0]))[name], float) for name in ("low", "high"))
    assert low == pytest.approx([1 / factor, 1000 / factor], rel=1e-4) and high == pytest.approx([factor, 1000 * factor], rel=1e-4)
    assert "times it" in made.kept(magnitudes(100, 1)).size
    low, high = (numpy.asarray(made.columns(numpy.asarray([-5.0]))[name], float) for name in ("low", "high"))
    assert low == [-5] and high > 0, "an answer that no number has is inside its interval"
    even = magnitudes(300)
    even = Predictions(even.predicted + numpy.random.default_rng(1).normal(size=300).clip(-0.001, 0.001), even.predicted)
    assert len(Number(0.0, 1.0).promising(even, 0.9)[0].promise.limits) == 1, "errors that do not grow"
    assert len(Number(0.0, 1.0).promising(magnitudes(40), 0.9)[0].promise.limits) == 1, "few rows"


def test_a_set_has_the_likely_classes_and_always_the_answer():
    made = Classes(("a", "b", "c"), promise=Promise(0.9, 20, (0.4,)))
    outputs = numpy.asarray([[0.45, 0.5, 0.05], [0.2, 0.39, 0.38], [0.1, 0.0, 0.9]])
    assert made.columns(outputs) == {"possible": ["b; a", "b", "c"]}
    assert made.tensors(outputs)[2] == {
        "name": "possible", "datatype": "BOOL", "shape": [3, 3], "parameters": {"coverage": 0.9},
        "data": [True, True, False, False, True, False, False, False, True],
    }  # fmt: skip
    assert [(t["name"], t["datatype"]) for t in made.tensors(outputs)] == [form[:2] for form in made.tensor_forms()]
    rare = Classes(("a", "b"), (1.0, 20.0), Promise(0.9, 20, (0.5,)))
    assert rare.columns(numpy.asarray([[0.9, 0.1]])) == {"possible": ["a; b"]}  # b is the answer
    many = Classes(tuple(map(str, range(60))), promise=Promise(0.9, 20, (0.0,)))
    assert many.columns(numpy.full((1, 60), 1 / 60))["possible"][0].endswith("; 49; and 10 more")


def of_one_class(n: int) -> Predictions:
    return ABC.answers(numpy.full((n, 3), 1 / 3), numpy.zeros(n, int))


@pytest.mark.parametrize(
    ("target", "held_out", "said"),
    [
        (Number(0.0, 1.0), numbers(8), "A promise of 90 % needs 9 held-out rows or more, and there are 8."),
        (Number(0.0, 1.0), numbers(0), "A promise of 90 % needs 9 held-out rows or more, and there are 0."),
        (ABC, classes(8), "A promise of 90 % needs 9 held-out rows or more, and there are 8."),
        (ABC, ABC.answers(numpy.full((9, 3), 1 / 3), numpy.full(9, -1)), "A promise of 90 % needs 9 held-out rows or more, and there are 0."),
        (ABC, of_one_class(10), "All held-out rows are of one class, so nothing can be promised of the others."),
        (
            Number(5.0, 1.0), Predictions(numpy.full(20, 5.0), numpy.full(20, 5.1)),
            "All held-out rows have the same number, so they do not say how far answers are from others.",
        ),
        (Number(0.0, 1.0), Predictions(numpy.append(numpy.full(20, numpy.nan), numpy.arange(8.0)), numpy.zeros(28)),
            "A promise of 90 % needs 9 held-out rows or more, and there are 8."),
        (Number(0.0, 1.0), Predictions(numpy.linspace(-1e200, 1e200, 20), numpy.zeros(20)), "The held-out numbers are too large for an interval."),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_said_and_has_no_columns(target, held_out, said):
    found, why = target.promising(held_out, 0.9)
    assert (found.promise, why) == (None, said)
    assert found.columns(numpy.zeros((1, 3)) if target.labels else numpy.zeros(1)) == {}
    assert "promise" not in found.described()


def test_a_target_without_a_promise_has_no_columns():
    assert Tags(("O", "B")).promising(of_one_class(20), 0.9) == (Tags(("O", "B")), "")
    for target in (Tags(("O", "B")), Number(0.0, 1.0), object()):
        assert promise.columns(target, numpy.zeros((1, 2))) == {}
    assert promise.columns(Classes(("a", "b"), promise=PROMISED), None) == {}  # the probabilities of many classes are not kept


@pytest.mark.parametrize(
    "target",
    [
        Classes(("a", "b"), promise=PROMISED),
        Classes(("a", "b"), (1.0, 3.0), Promise(0.9, 200, (0.1, 0.7))),
        Number(1.0, 2.0, Promise(0.8, 30, (4.5,))),
        Number(1.0, 2.0, Promise(0.8, 60, (1.1, 0.5, 0.0))),
    ],
)
def test_a_promise_survives_its_description(target):
    assert registry.restored(json.loads(json.dumps(target.described()))) == target


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["coverage", "rows", "limits"]), inner),
)


@given(key=st.sampled_from(["promise", "coverage", "rows", "limits"]), value=VALUES, labels=st.booleans())
def test_a_forged_promise_is_refused_or_has_finite_limits(key, value, labels):
    described = (Classes(("a", "b"), promise=PROMISED) if labels else Number(1.0, 2.0, PROMISED)).described()
    if key == "promise":
        described["promise"] = value
    else:
        described["promise"][key] = value
    try:
        found = registry.restored(described).promise
    except (KeyError, TypeError, ValueError):
        return
    assert found is None or (0 < found.coverage < 1 and found.rows >= 1 and numpy.isfinite(found.limits).all() and min(found.limits) >= 0)


@pytest.mark.parametrize("limits", [[1.0, 2.0], [300.0, 1.0, 0.0], [1.0, 0.0, 1.0], [-1.0, 1.0, 0.0], [1.0, float("nan"), 0.0]])
def test_a_forged_factor_is_refused(limits):
    described = Number(1.0, 2.0, PROMISED).described()
    described["promise"]["limits"] = limits
    with pytest.raises((ValueError, TypeError)):
        registry.restored(described)


class Said:
    """Keeps the decisions and the warnings."""

    def __init__(self):
        self.decided, self.warned = [], []

    def decision(self, what, choice, why):
        self.decided.append((what, choice, why))

    def warning(self, code, text):
        self.warned.append((code, text))


class Settings(SimpleNamespace):
    coverage, min_confidence, top_k = 0.9, 0.0, 3


def prepared(target) -> promised.Any:
    from dataclasses import make_dataclass

    plan = make_dataclass("Plan", ["target"])(target)
    return make_dataclass("Prepared", ["plan"])(plan)


def test_the_report_says_what_is_promised_and_what_it_came_to():
    events = Said()
    answers = {"validation": Predictions(numpy.arange(9.0), numpy.zeros(9)), "test": Predictions(numpy.asarray([8.0, 9.0]), numpy.zeros(2))}
    found, (section,) = promised.training(prepared(Number(0.0, 1.0)), answers, Settings(), events)
    assert found.plan.target.promise.rows == 9
    facts = {f.name: f.value for f in section.blocks[0].facts}
    assert facts == {
        "Promised": "90 % of rows",
        "On the test rows": "50 % of 2 (95 % interval 9.5 % to 90.5 %)",
        "Size of an answer": "16, the width of each interval",
    }
    assert "90 % is an average over rows." in section.blocks[1].text[2] and "9 held-out rows" in section.blocks[1].text[1]
    assert events.decided == [("coverage", 0.9, "The interval of an answer holds the right number for 90 % of rows like the held-out ones.")]
    (again, _) = promised.training(prepared(Number(0.0, 1.0)), answers, Settings(), events, Predictions(numpy.arange(20.0), numpy.zeros(20)))
    assert again.plan.target.promise == Promise(0.9, 20, (pytest.approx(18.0),))  # rows that were held out in turn are more
    no_test = {**answers, "test": Predictions(numpy.zeros(0), numpy.zeros(0))}
    section = promised.training(prepared(Number(0.0, 1.0)), no_test, Settings(), events)[1][0]
    assert section.blocks[0].facts[1].value == "There are no test rows that could show it."


@pytest.mark.parametrize(("outside", "warned"), [(0, False), (3, False), (6, True)])
def test_a_promise_that_the_test_rows_do_not_keep_is_a_warning(outside, warned):
    events, truth = Said(), numpy.where(numpy.arange(20) < outside, 30.0, 0.0)
    answers = {"validation": Predictions(numpy.arange(9.0), numpy.zeros(9)), "test": Predictions(truth, numpy.zeros(20))}
    promised.training(prepared(Number(0.0, 1.0)), answers, Settings(), events)
    assert [code for code, _ in events.warned] == ["coverage"] * warned
    if warned:
        assert "for only 70 % of 20 test rows, and 90 % was promised" in events.warned[0][1]


def test_the_report_says_why_nothing_is_promised():
    events = Said()
    found, (section,) = promised.training(prepared(ABC), {"validation": of_one_class(3), "test": of_one_class(3)}, Settings(), events)
    assert found.plan.target == ABC and events.decided[0][1] == 0
    assert section.blocks[0].text[0].endswith("needs 9 held-out rows or more, and there are 3.")
    for other in (Tags(("O", "B")), object()):
        before = prepared(other)
        assert promised.training(before, {"validation": None}, Settings(), events) == (before, [])


@pytest.mark.parametrize(
    ("target", "outputs", "read"),
    [
        (Number(0.0, 1.0, PROMISED), numpy.asarray([1.0]), {"predicted": "1", "low": "0.5", "high": "1.5"}),
        (Number(0.0, 1.0), numpy.asarray([1.0]), {"predicted": "1"}),
        (
            Classes(("=a", "b"), promise=Promise(0.9, 20, (0.4,))), numpy.asarray([[0.55, 0.45]]),
            {"predicted": "'=a", "confidence": "0.5500", "possible": "'=a; b", "choice 2": "b", "probability 2": "0.4500"},
        ),
        (ABC, numpy.asarray([[0.5, 0.3, 0.2]]), {
            "predicted": "a", "confidence": "0.5000", "choice 2": "b", "probability 2": "0.3000", "choice 3": "c", "probability 3": "0.2000",
        }),
    ],
)  # fmt: skip
def test_predictions_have_the_columns_of_the_promise(target, outputs, read):
    answered = Answered(registry.of("text"), [Example("f.csv", 2, "x", "")], outputs, numpy.zeros(1), numpy.zeros(1, bool), target)
    (row,) = csv.DictReader(io.StringIO("".join(answer_lines.table(answer_lines.layout(Settings(), answered, ["text"], False), answered, None))))
    assert row == {"file": "f.csv", "row": "2", "content": "x", **read}
