"""Every option of the table: its limits, its words, the sentence for a wrong value, and its sources one by one."""

import json

import pytest
from conftest import DEFAULTS
from hypothesis import given, settings, strategies as st

from trainer.config import settings as resolving, spec as specs
from trainer.config.option import Option
from trainer.config.options import options, table
from trainer.core import registry
from trainer.errors import UserError, one_line
from trainer.run_folder.events import Events

ALL = [pytest.param(o, id=f"{kind}.{o.name}") for kind in ("train", "predict") for o in options(kind).values()]
NUMBERS = [p for p in ALL if not isinstance(p.values[0].default, (str, bool))]
WORDS = [p for p in ALL if p.values[0].choices]
SWITCHES = [p for p in ALL if isinstance(p.values[0].default, bool)]
TEXTS = [p for p in ALL if isinstance(p.values[0].default, str) and not p.values[0].choices]
QUICK = settings(max_examples=25, deadline=None, derandomize=True)


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


@pytest.fixture
def resolve(make_run):
    def resolved(files=None, defaults=DEFAULTS, **parameters):
        spec = specs.load(make_run(files or {}, defaults=defaults, **parameters))
        return resolving.resolve(spec, Events(spec.folder / "events.jsonl", 1))

    return resolved


def another(option: Option):
    """A value of ``option`` that is not its default."""
    if option.choices:
        return next(c for c in option.choices if c != option.default)
    if isinstance(option.default, bool):
        return not option.default
    return "other" if isinstance(option.default, str) else option.high


SETTABLE = [o for o in options("train").values() if o.name not in ("config_file", "more_options")]


@pytest.mark.parametrize("source", ["form", "more options", "settings file", "dataset", "administrator"])
def test_every_option_can_be_set_by_every_source(resolve, source):
    wanted = {o.name: another(o) for o in SETTABLE}
    grouped = {f"{o.group}.{o.name}" if o.group else o.name: wanted[o.name] for o in SETTABLE}
    found = {
        "form": lambda: resolve(**wanted),
        "more options": lambda: resolve(more_options="\n".join(f"{n}: {v}" for n, v in grouped.items())),
        "settings file": lambda: resolve({"a.json": json.dumps(grouped)}, config_file="a.json"),
        "dataset": lambda: resolve({"finetune.json": json.dumps(wanted)}),
        "administrator": lambda: resolve(defaults=wanted),
    }[source]()
    listed = {s["name"]: (s["value"], s["source"]) for s in found.listed()}
    assert listed == {name: (value, source) for name, value in wanted.items()}


@pytest.mark.parametrize("option", [o for o in SETTABLE if not isinstance(o.default, str) or o.choices], ids=lambda o: o.name)
@pytest.mark.parametrize(
    ("where", "parameters"),
    [("the form", "form"), ("more_options", "more"), ("finetune.yaml", "dataset"), ("the administrator's defaults", "defaults")],
)
def test_a_wrong_value_names_its_option_and_its_source(resolve, option, where, parameters):
    wrong = {"form": {option.name: "wrong"}, "more": {"more_options": f"{option.name}: wrong"}}.get(parameters, {})
    files = {"finetune.yaml": f"{option.name}: wrong\n"} if parameters == "dataset" else {}
    with pytest.raises(UserError) as error:
        resolve(files, {option.name: "wrong"} if parameters == "defaults" else DEFAULTS, **wrong)
    assert error.value.code == "wrong_setting"
    assert error.value.what.startswith(f"The option {option.name} in {where} must be ")
    assert error.value.what.endswith(", not wrong.")
    assert error.value.do == f"Correct {option.name} in {where}."


def test_an_empty_value_leaves_the_option_to_the_next_source(resolve):
    files = {"finetune.yaml": "epochs:\nseed: ''\nlabel_column: kind\n"}
    found = resolve(files, {**DEFAULTS, "epochs": 9}, label_column="", seed=None)
    assert (found.epochs, found.source("epochs")) == (9, "administrator")
    assert (found.seed, found.source("seed")) == (42, "default")
    assert (found.label_column, found.source("label_column")) == ("kind", "dataset")


def test_of_several_settings_files_the_one_nearest_to_the_top_counts(resolve):
    files = {"deep/a/finetune.yaml": "epochs: 5", "deep/finetune.yml": "epochs: 6", "deep/Finetune.JSON": '{"epochs": 7}'}
    assert resolve(files).epochs == 7  # names in capitals come first
    assert resolve(files, config_file="deep/a/finetune.yaml").epochs == 5
    assert resolve({**files, "finetune.yml": "seed: 8"}).epochs == 3


def test_the_table_for_the_documentation_names_every_option_once():
    for kind in ("train", "predict"):
        rows = table(kind).splitlines()[2:]
        names = [row.split("`")[1] for row in rows]
        assert [n.rpartition(".")[2] for n in names] == list(options(kind))
        assert all(row.count(" | ") == 3 and row.startswith("| ") and row.endswith(" |") for row in rows)


def test_every_task_belongs_to_one_kind_of_data_and_every_kind_has_a_shape():
    kinds = [registry.of_task(task).name for task in registry.tasks()]
    assert kinds == ["text", "text", "text", "image", "table", "table", "language", "tokens", "graph", "graph", "graph"]
    assert registry.of_task("auto") is None and registry.of_task("text-translation") is None
    shapes = {"text": "bert-tiny", "image": "small-cnn", "table": "mlp", "language": "gpt-small", "tokens": "bert-tiny", "graph": "sage"}
    assert {name: kind.shape for name, kind in registry.kinds().items()} == shapes
    assert registry.built_in() == set(shapes.values())


def test_one_line_is_cut_at_its_limit():
    assert one_line("a\n\t b  c") == "a b c"
    assert one_line("x" * 700) == "x" * 599 + "…"
    assert len(one_line("word " * 500, 50)) == 50
