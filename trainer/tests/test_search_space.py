"""The search space: what search.space may say, and which settings each trial has."""

import pytest

from trainer.config.settings import ADMINISTRATOR, DATASET, DEFAULT, FORM, MORE, Settings
from trainer.errors import UserError
from trainer.search import space
from trainer.search.space import Choices, Range


def settings(**sources) -> Settings:
    values = {"learning_rate": 0.0, "batch_size": 32, "weight_decay": 0.01, "label_smoothing": 0.0}
    given = {"learning_rate": 0.001}
    return Settings({**values, **{n: given.get(n, values[n]) for n in sources}}, {**dict.fromkeys(values, DEFAULT), **sources})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("learning_rate: 1e-4..1e-2", {"learning_rate": Range(1e-4, 1e-2, False, True)}),
        ("training.weight_decay = 0.01..0.02", {"weight_decay": Range(0.01, 0.02, False, True)}),
        ("label_smoothing: 0..0.2", {"label_smoothing": Range(0, 0.2, False, False)}),
        ("batch_size: 16|32|64", {"batch_size": Choices((16, 32, 64))}),
        ("batch_size: 8..256", {"batch_size": Range(8, 256, True, True)}),
        ("Batch-Size: 16 .. 64 ; scheduler: linear|Cosine", {"batch_size": Range(16, 64, True, False), "scheduler": Choices(("linear", "cosine"))}),
        ("freeze_encoder: true|false,\nwarmup_ratio: 0.1", {"freeze_encoder": Choices((True, False)), "warmup_ratio": Choices((0.1,))}),
    ],
)
def test_ranges_and_choices_are_read(text, found):
    assert space.parse(text) == found


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("learningrate: 1e-4..1e-2", "search.space names no option called learningrate; did you mean learning_rate?"),
        ("data.batch_size: 16|32", "search.space names no option called data.batch_size; did you mean batch_size?"),
        ("colour: red|blue", "search.space names no option called colour."),
        ("batch_size: 64..16", "search.space: 64..16 needs two numbers, the smaller first."),
        ("batch_size: a..b", "search.space: a..b needs two numbers, the smaller first."),
        ("learning_rate: nan..1", "search.space: nan..1 needs two numbers, the smaller first."),
        ("scheduler: 1..2", "search.space: 1..2 needs two numbers, the smaller first."),
        ("batch_size: 16|", "search.space: batch_size needs a value between two |."),
        ("batch_size: 16|many", "search.space: batch_size must be a whole number from 1 to 4096, not many."),
        ("learning_rate: 0.1..3", "search.space: learning_rate must be a number from 0 to 1, not 3."),
        ("max_length: 64|128", "search.space: max_length cannot be searched."),
        ("batch_size: 16, batch_size: 32", "search.space names batch_size twice."),
        ("batch_size", "search.space: batch_size names no option with its values."),
        ("batch_size: " + "|".join(map(str, range(1, 60))), "search.space: batch_size has 59 values; at most 50 are possible."),
        ("x" * 3000, "search.space is longer than 2000 characters."),
    ],
)
def test_a_wrong_space_is_refused_with_one_sentence(text, what):
    with pytest.raises(UserError) as e:
        space.parse(text)
    assert (e.value.code, e.value.what) == ("search_space", what)


@pytest.mark.parametrize(("source", "where"), [(FORM, "the form"), (MORE, "more_options"), (DATASET, "the settings file of the dataset")])
def test_an_option_is_either_set_or_searched(source, where):
    with pytest.raises(UserError) as e:
        space.check_open(space.parse("learning_rate: 1e-4..1e-2"), settings(learning_rate=source))
    assert str(e.value) == f"learning_rate is set to 0.001 in {where} and searched in search.space. Leave one of them."
    space.check_open(space.parse("batch_size: 16|32"), settings(learning_rate=source))


@pytest.mark.parametrize("source", [DEFAULT, ADMINISTRATOR])
def test_a_default_may_be_searched(source):
    space.check_open(space.parse("learning_rate: 1e-4..1e-2"), settings(learning_rate=source))


def test_the_default_space_leaves_out_what_somebody_has_set():
    found = space.default(settings(weight_decay=FORM, batch_size=ADMINISTRATOR), rate=1e-3, fresh=True, classifies=False)
    assert found == {"learning_rate": Range(1e-4, 1e-2, False, True)}
    assert set(space.default(settings(), 2e-5, fresh=False, classifies=True)) == {"learning_rate", "batch_size", "weight_decay", "label_smoothing"}


def test_a_trial_is_a_function_of_the_seed_and_its_number():
    wide = space.parse("learning_rate: 1e-4..1e-2, batch_size: 16|32|64")
    drawn = [space.draw(wide, 7, i) for i in range(30)]
    assert drawn == [space.draw(wide, 7, i) for i in range(30)]
    assert drawn[0] == {}
    assert drawn[1:4] == [  # fixed, because a manifest repeats them with a later version
        {"batch_size": 64, "learning_rate": 0.00074},
        {"batch_size": 16, "learning_rate": 0.000614},
        {"batch_size": 64, "learning_rate": 0.0024},
    ]
    assert drawn[1:] != [space.draw(wide, 8, i) for i in range(1, 30)]
    assert {d["batch_size"] for d in drawn[1:]} == {16, 32, 64}
    assert all(1e-4 <= d["learning_rate"] <= 1e-2 for d in drawn[1:])


def test_another_option_in_the_space_changes_no_value():
    narrow, wide = space.parse("learning_rate: 1e-4..1e-2"), space.parse("batch_size: 16|32, learning_rate: 1e-4..1e-2")
    assert [space.draw(narrow, 1, i)["learning_rate"] for i in range(1, 9)] == [space.draw(wide, 1, i)["learning_rate"] for i in range(1, 9)]


def test_rates_are_drawn_evenly_over_their_orders_of_magnitude():
    rates = [space.draw(space.parse("learning_rate: 1e-4..1e-2"), 3, i)["learning_rate"] for i in range(1, 401)]
    assert 0.4 < sum(r < 1e-3 for r in rates) / len(rates) < 0.6
