"""Every option of the table: its limits, its words, and the sentence for a wrong value."""

import pytest
from hypothesis import given, settings, strategies as st

from trainer.config.option import Option
from trainer.config.options import options, table
from trainer.core import registry
from trainer.errors import one_line

ALL = [pytest.param(o, id=f"{kind}.{o.name}") for kind in ("train", "predict") for o in options(kind).values()]
NUMBERS = [p for p in ALL if not isinstance(p.values[0].default, (str, bool))]
WORDS = [p for p in ALL if p.values[0].choices]
SWITCHES = [p for p in ALL if isinstance(p.values[0].default, bool)]
TEXTS = [p for p in ALL if isinstance(p.values[0].default, str) and not p.values[0].choices]
QUICK = settings(max_examples=25, deadline=None)


def refused(option: Option, value) -> str:
    with pytest.raises(ValueError, match="must be") as error:
        option.parse(value)
    return str(error.value)


@pytest.mark.parametrize("option", ALL)
def test_the_default_of_an_option_is_one_of_its_values(option):
    assert option.parse(option.default) == option.default
    assert type(option.parse(option.default)) is type(option.default)
    assert option.help and not option.help.endswith(".")


@pytest.mark.parametrize("option", NUMBERS)
def test_a_number_is_accepted_from_its_lowest_to_its_highest_value_and_no_further(option):
    whole = isinstance(option.default, int)
    step = 1 if whole else max(1.0, option.high) * 1e-9
    kind = int if whole else float
    for value in (option.low, option.high):
        for spelling in (value, str(value), f" {value:.12g} ", f"{value:.12e}"):
            assert option.parse(spelling) == value
            assert type(option.parse(spelling)) is kind
    sentence = f"must be {'a whole number' if whole else 'a number'} from {option.low:g} to {option.high:.10g}"
    for wrong in (option.low - step, option.high + step, "nan", "inf", "-inf", "", "x", None, True, object()):
        assert refused(option, wrong) == sentence
    if whole:
        assert refused(option, option.low + 0.5) == sentence


@pytest.mark.parametrize("option", NUMBERS)
@QUICK
@given(share=st.floats(0, 1))
def test_every_number_within_the_limits_is_accepted_as_it_is(option, share):
    value = option.low + share * (option.high - option.low)
    value = int(value) if isinstance(option.default, int) else min(value, option.high)
    assert option.parse(value) == option.parse(str(value)) == option.parse(repr(value)) == value


@pytest.mark.parametrize("option", WORDS)
def test_a_word_is_accepted_in_any_case_and_others_are_refused_with_the_list(option):
    for word in option.choices:
        assert option.parse(word) == option.parse(f"  {word.upper()} ") == word
    for wrong in ("", "x", f"{option.choices[0]}x", 7, ", ".join(option.choices)):
        assert refused(option, wrong) == f"must be one of {', '.join(option.choices)}"
    if {"yes", "no"} <= set(option.choices):  # what YAML reads
        assert (option.parse(True), option.parse(False)) == ("yes", "no")
    else:
        refused(option, True)


@pytest.mark.parametrize("option", SWITCHES)
def test_a_switch_has_words_for_both_states(option):
    for value in (True, "true", "Yes", " on ", "1", 1):
        assert option.parse(value) is True
    for value in (False, "false", "NO", "off", "0", "", 0):
        assert option.parse(value) is False
    for wrong in ("maybe", 2, "truefalse", None):
        assert refused(option, wrong) == "must be true or false"


@pytest.mark.parametrize("option", TEXTS)
def test_a_text_is_taken_without_the_spaces_around_it(option):
    assert option.parse("  two words ") == "two words"
    assert option.parse(None) == ""
    assert option.parse(2026) == "2026"


@pytest.mark.parametrize("option", ALL)
@pytest.mark.parametrize("value", [[], [1], (), {}, {"a": 1}, set()], ids=repr)
def test_no_option_accepts_several_values(option, value):
    assert refused(option, value) == "must be a single value"


def test_the_table_for_the_documentation_names_every_option_once():
    for kind in ("train", "predict"):
        rows = table(kind).splitlines()[2:]
        names = [row.split("`")[1] for row in rows]
        assert [n.rpartition(".")[2] for n in names] == list(options(kind))
        assert all(row.count(" | ") == 3 and row.startswith("| ") and row.endswith(" |") for row in rows)


def test_every_task_belongs_to_one_kind_of_data_and_every_kind_has_a_shape():
    tasks = registry.tasks()
    assert len(tasks) == len(set(tasks))
    assert {registry.of_task(task).name for task in tasks} == registry.kinds().keys()
    assert registry.of_task("auto") is None and registry.of_task("text-translation") is None
    assert registry.built_in() == {kind.shape for kind in registry.kinds().values()}
    assert registry.of_task("text-classification").shape == "bert-tiny"


def test_one_line_is_cut_at_its_limit():
    assert one_line("a\n\t b  c") == "a b c"
    assert one_line("x" * 700) == "x" * 599 + "…"
    assert len(one_line("word " * 500, 50)) == 50
