"""Settings: every source, which of them decides, what is said of mistakes, and files that mean harm."""

import copy
import json
import pickle
import random

import pytest
from conftest import DEFAULTS, events_of

from trainer.config import settings as resolving, spec as specs
from trainer.config.options import options
from trainer.errors import UserError
from trainer.run_folder.events import Events

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture
def resolve(make_run):
    """resolve(files, defaults, **parameters) gives the settings of such a run; the events are those of ``warned``."""

    def resolved(files: dict | None = None, defaults=DEFAULTS, kind: str = "train", **parameters):
        spec = specs.load(make_run(files or {}, defaults=defaults, kind=kind, **parameters))
        (spec.folder / "events.jsonl").write_text("")
        resolved.folder = spec.folder
        return resolving.resolve(spec, Events(spec.folder / "events.jsonl", 1))

    resolved.warnings = lambda: [e["text"] for e in events_of(resolved.folder) if e["kind"] == "warning"]
    return resolved


def source(settings, name: str) -> str:
    return next(s["source"] for s in settings.listed() if s["name"] == name)


def test_without_settings_the_defaults_of_the_table_apply(resolve):
    settings = resolve()
    for option in options("train").values():
        assert getattr(settings, option.name) == option.default
    assert {s["source"] for s in settings.listed()} == {"default"}


def test_the_first_source_that_sets_an_option_wins(resolve):
    def with_sources(names):
        files = {}
        if "settings file" in names:
            files["my.yaml"] = "epochs: 13"
        if "dataset" in names:
            files["finetune.yaml"] = "epochs: 14"
        parameters = {**({"epochs": 11} if "form" in names else {}), **({"more_options": "epochs: 12"} if "more options" in names else {})}
        parameters |= {"config_file": "my.yaml"} if "settings file" in names else {}
        settings = resolve(files, {**DEFAULTS, "epochs": 15} if "administrator" in names else DEFAULTS, **parameters)
        return settings.epochs, source(settings, "epochs")

    order = ["form", "more options", "settings file", "dataset", "administrator"]
    for first in range(len(order)):
        assert with_sources(order[first:]) == (11 + first, order[first])
    assert with_sources([]) == (3, "default")


@pytest.mark.parametrize(
    ("files", "parameters"),
    [
        pytest.param({}, {"epochs": 5, "seed": 7, "more_options": "learning_rate: 1e-5\ndry_run: yes\nlong_text: drop"}, id="form and more options"),
        pytest.param(
            {}, {"more_options": "# mine\nepochs = 5\ntraining.seed: 7\nlearning_rate = 1e-5\ndry_run = true\nlong_text: drop"}, id="more options"
        ),
        pytest.param(
            {"a.yaml": "epochs: 5\nlearning_rate: 1e-5\ndry_run: yes\ntraining: {seed: 7}\ntokenization:\n  long_text: drop\n"},
            {"config_file": "a.yaml"},
            id="YAML",
        ),
        pytest.param(
            {
                "a.json": json.dumps(
                    {"epochs": 5, "learning_rate": "1e-5", "dry_run": True, "training": {"seed": 7}, "tokenization.long_text": "drop"}
                )
            },
            {"config_file": "file0"},
            id="JSON by its id",
        ),
        pytest.param(
            {"sub/a.py": '"""Settings."""\nepochs = 5\nlearning_rate = 1e-5\ndry_run = True\ntraining = {"seed": 7}\nlong_text = "drop"\n'},
            {"config_file": "a.py"},
            id="Python literals",
        ),
        pytest.param(
            {
                "deep/er/finetune.yml": "seed: 9",
                "finetune.json": '{"epochs": 5.0, "learning_rate": 0.00001, "dry_run": "on", "seed": "7", "long_text": "DROP"}',
            },
            {},
            id="dataset",
        ),
    ],
)
def test_all_sources_lead_to_the_same_settings(resolve, files, parameters):
    settings = resolve(files, **parameters)
    assert (settings.epochs, settings.learning_rate, settings.dry_run, settings.seed, settings.long_text) == (5, 1e-5, True, 7, "drop")
    assert isinstance(settings.epochs, int)
    assert resolve.warnings() == []


def test_what_the_trainer_found_is_listed_as_chosen(resolve):
    settings = resolve()
    assert settings.is_open("learning_rate")
    chosen = settings.with_chosen(learning_rate=0.25)
    assert not chosen.is_open("learning_rate")
    assert {"name": "learning_rate", "value": 0.25, "source": "chosen"} in chosen.listed()
    assert (settings.learning_rate, settings.source("learning_rate")) == (0.0, "default")


def test_settings_are_frozen_also_after_they_were_sent_to_another_process(resolve):
    settings = resolve(epochs=5)
    for one in (settings, pickle.loads(pickle.dumps(settings)), copy.copy(settings)):
        with pytest.raises(AttributeError, match="frozen"):
            one.epochs = 6
        with pytest.raises(AttributeError, match="frozen"):
            del one.epochs
        assert one.listed() == settings.listed() and one.epochs == 5
    with pytest.raises(KeyError, match="no option of this run is called epoch"):
        settings.with_chosen(epoch=6)


def test_unknown_options_are_warned_about_with_a_suggestion(resolve):
    settings = resolve({"finetune.yaml": "epoch: 9\ntraining: {lerning_rate: 0.1}\nzzz: 1\ndata: {seed: 3}\n"}, more_options="batchsize: 8")
    assert (settings.epochs, settings.learning_rate, settings.seed, settings.batch_size) == (3, 0, 42, 32)
    assert resolve.warnings() == [
        "The option epoch in finetune.yaml is unknown and is ignored; did you mean epochs?",
        "The option training.lerning_rate in finetune.yaml is unknown and is ignored; did you mean learning_rate?",
        "The option zzz in finetune.yaml is unknown and is ignored.",
        "The option data.seed in finetune.yaml is unknown and is ignored; did you mean seed?",
        "The option batchsize in more_options is unknown and is ignored; did you mean batch_size?",
    ]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epochs": 0}, "The option epochs in the form must be a whole number from 1 to 200, not 0."),
        ({"epochs": 2.5}, "The option epochs in the form must be a whole number from 1 to 200, not 2.5."),
        ({"epochs": True}, "The option epochs in the form must be a whole number from 1 to 200, not True."),
        ({"epochs": 10**400}, "The option epochs in the form must be a whole number from 1 to 200, not 1000000000"),
        ({"learning_rate": float("nan")}, "The option learning_rate in the form must be a number from 0 to 1, not nan."),
        ({"more_options": "learning_rate: nan"}, "The option learning_rate in more_options must be a number from 0 to 1, not nan."),
        ({"more_options": "scheduler: steep"}, "The option scheduler in more_options must be one of linear, cosine, constant, not steep."),
        ({"more_options": "freeze_encoder: maybe"}, "The option freeze_encoder in more_options must be true or false, not maybe."),
        ({"more_options": "just words"}, "Line 1 of more_options is not an option: just words."),
        ({"more_options": "seed: 1\n: 3"}, "Line 2 of more_options is not an option: : 3."),
        ({"text_column": ["a"]}, "The option text_column in the form must be a single value, not a list."),
        ({"task": "text-translation"}, "The option task in the form must be one of auto, text-classification"),
        ({"config_file": "none.yaml"}, "There is no settings file none.yaml in the dataset."),
    ],
)
def test_a_wrong_value_is_one_sentence_that_names_option_place_and_value(resolve, parameters, sentence):
    with pytest.raises(UserError) as refused:
        resolve(**parameters)
    assert refused.value.what.startswith(sentence)
    assert refused.value.what.endswith((".", "…"))
    assert refused.value.do.endswith(".")
    assert len(refused.value.what) < 300


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("a.yaml", BOMB + "epochs: *i\n", id="aliases that grow to a billion, in a number"),
        pytest.param("a.yaml", BOMB + "task: *i\n", id="the same in a choice"),
        pytest.param("a.yaml", BOMB + "dry_run: *i\n", id="the same in a switch"),
        pytest.param("a.yaml", BOMB + "run_name: *i\n", id="the same in a text"),
        pytest.param("a.yaml", "epochs: &a [*a]\n", id="an alias within itself"),
        pytest.param("a.yaml", "epochs: !!python/object/apply:os.system ['true']\n", id="a Python object in YAML"),
        pytest.param("a.yaml", "epochs: !!bool nonsense\n", id="a switch that is none by its tag"),
        pytest.param("a.yaml", "epochs: !!timestamp nonsense\n", id="a time that is none by its tag"),
        pytest.param("a.yaml", "epochs: !!int ''\n", id="a number that is none by its tag"),
        pytest.param("a.yaml", f"epochs: 0x{'f' * 9000}\n", id="a number too long to be printed"),
        pytest.param("a.yaml", "[" * 20000, id="deep YAML"),
        pytest.param("a.yaml", "epochs: [1, 2\n", id="YAML that does not end"),
        pytest.param("a.yaml", "a: 1\n---\nb: 2\n", id="two documents"),
        pytest.param("a.yaml", "- epochs\n- 5\n", id="a list at the top"),
        pytest.param("a.yaml", "just a text", id="a text at the top"),
        pytest.param("a.yaml", b"epochs: \xff\xfe\x00", id="no UTF-8"),
        pytest.param("a.yaml", b"epochs: 5\x00", id="a NUL"),
        pytest.param("a.yaml", "#" * (2 << 20), id="2 MB"),
        pytest.param("a.json", "[" * 100000, id="deep JSON"),
        pytest.param("a.json", "[1, 2]", id="a JSON list"),
        pytest.param("a.json", "", id="empty JSON"),
        pytest.param("a.json", '{"epochs": Infinity}', id="an infinite number"),
        pytest.param("a.json", '{"epochs": 1' + "0" * 400 + "}", id="a number beyond all floats"),
        pytest.param("a.py", "import os\nepochs = 5\n", id="an import"),
        pytest.param("a.py", "epochs = int('5')\n", id="a call"),
        pytest.param("a.py", "epochs = __import__('os').system('true')\n", id="a call of the system"),
        pytest.param("a.py", "epochs = {[]: 1}\n", id="a list as a key"),
        pytest.param("a.py", "epochs = 9 ** 9 ** 9\n", id="a number that takes forever"),
        pytest.param("a.py", "(" * 5000, id="deep Python"),
        pytest.param("a.py", "epochs = ", id="half a line of Python"),
    ],
)
def test_a_hostile_settings_file_is_a_sentence(resolve, name, content):
    with pytest.raises(UserError) as refused:
        resolve({name: content}, config_file=name)
    assert "a." in refused.value.what
    for sentence in (refused.value.what, refused.value.do):
        assert sentence.endswith(".")
    assert len(str(refused.value)) < 2000


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        pytest.param("a.yaml", "epochs: 3\nepochs: 7\n", "epochs appears twice", id="YAML"),
        pytest.param("a.yaml", "training:\n  seed: 3\n  seed: 3\n", "seed appears twice", id="a group of YAML"),
        pytest.param("a.json", '{"epochs": 3, "epochs": 7}', "epochs appears twice", id="JSON"),
        pytest.param("a.py", "epochs = 3\nepochs = 7\n", "epochs appears twice", id="Python"),
        pytest.param("a.yaml", "seed: 3\ntraining: {seed: 7}\n", "The option seed is set twice in a.yaml", id="with and without its group"),
    ],
)
def test_an_option_that_is_set_twice_is_refused(resolve, name, content, named):
    with pytest.raises(UserError) as refused:
        resolve({name: content}, config_file=name)
    assert named in str(refused.value)
    with pytest.raises(UserError, match="seed is set twice in more_options"):
        resolve(more_options="seed: 1\nseed: 2")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.yaml", "training:\n\tseed: 7\n", "line 2: while scanning for the next token found character '\\t' that cannot start any token."),
        ("a.py", "seed = 1\nepochs = int('5')\n", "line 2 is not an assignment of a plain value."),
        ("a.yaml", "epochs: 5\n".encode("utf-16"), ""),
    ],
)
def test_an_error_in_a_settings_file_names_its_line(resolve, name, content, why):
    with pytest.raises(UserError) as refused:
        resolve({name: content}, config_file=name)
    assert refused.value.why == why
    assert name in refused.value.what


def test_option_names_ignore_case_and_dashes(resolve):
    settings = resolve({"a.py": "learning_rate: float = 1e-4\n"}, config_file="a.py", more_options="EPOCHS: 7\nTraining.Seed: 9\nbatch-size: 8")
    assert (settings.epochs, settings.seed, settings.batch_size, settings.learning_rate) == (7, 9, 8, 1e-4)
    assert resolve.warnings() == []


def test_a_date_of_yaml_is_a_text_where_a_text_is_wanted(resolve):
    assert resolve({"finetune.yaml": "run_name: 2026-11-21"}).run_name == "2026-11-21"


def test_an_empty_settings_file_changes_nothing(resolve):
    assert resolve({"finetune.yaml": ""}).epochs == 3
    assert resolve({"a.py": "# nothing yet\n"}, config_file="a.py").epochs == 3


def test_any_text_at_all_in_more_options_gives_settings_or_a_sentence(resolve):
    chance = random.Random(5)
    names = [*options("train"), "training", "x", "training.", ".", ""]
    values = [
        "1",
        "-1",
        "1e999",
        "nan",
        "yes",
        "[1,",
        "{}",
        "null",
        "'",
        "\0",
        "é",
        "\u2028",
        "1_000",
        "0x10",
        "٣",
        "²",
        "a: b",
        "= =",
        " " * 50,
        "9" * 5000,
    ]
    outcomes = set()
    for _ in range(400):
        lines = [chance.choice(names) + chance.choice([":", "=", " ", ": ", ""]) + chance.choice(values) for _ in range(chance.randint(1, 2))]
        noise = "".join(chr(chance.choice([*range(128), 0xA0, 0x85, 0x2028, 0x1F642])) for _ in range(chance.randint(0, 3)))
        try:
            settings = resolve(more_options="\n".join([*lines, noise]))
            outcomes.add(type(settings.epochs).__name__)
        except UserError as e:
            outcomes.add(e.what[-1])
    assert outcomes == {"int", "."}


def test_the_options_of_a_prediction_are_its_own(resolve):
    settings = resolve(kind="predict", top_k=5, min_confidence=0.5, model_file="m.zip")
    assert (settings.top_k, settings.min_confidence, settings.model_file) == (5, 0.5, "m.zip")
    resolve(kind="predict", epochs=5)
    assert resolve.warnings() == ["The option epochs in the form is unknown and is ignored."]
