"""Settings: what spec.json says of each option, what the trainer chooses beside it, and specs of older services."""

import copy
import json
import pickle

import pytest
from conftest import DEFAULTS, events_of

from trainer.config import older_spec, settings as resolving, spec as specs
from trainer.config.option import Option
from trainer.config.options import options
from trainer.core import registry
from trainer.errors import UserError
from trainer.run_folder.events import Events


@pytest.fixture
def read(tmp_path):
    """read(settings, sources, notes, kind) gives the settings of such a spec.json; the warnings are those of ``read.warnings()``."""

    def settings_of(settings: dict | None = None, sources: dict | None = None, notes: list | None = None, kind: str = "train"):
        spec = {"schema": 3, "kind": kind, "run": "ft-1", "attempt": 1, "dataset": {}, "inputs": [], "notes": notes or []}
        (tmp_path / "spec.json").write_text(json.dumps({**spec, "settings": settings or {}, "sources": sources or {}}))
        (tmp_path / "events.jsonl").write_text("")
        return resolving.of(specs.load(tmp_path / "spec.json"), Events(tmp_path / "events.jsonl", 1))

    settings_of.warnings = lambda: [(e["code"], e["text"]) for e in events_of(tmp_path) if e["kind"] == "warning"]
    return settings_of


def test_an_option_that_is_left_out_has_its_default(read):
    settings = read()
    for option in options("train").values():
        assert getattr(settings, option.name) == option.default
        assert type(getattr(settings, option.name)) is type(option.default)
    assert {s["source"] for s in settings.listed()} == {"default"}


def test_values_have_the_types_of_the_table_and_their_sources(read):
    settings = read(
        {"learning_rate": 1, "epochs": 5.0, "seed": 42, "run_name": "a"}, {"learning_rate": "dataset", "epochs": "form", "seed": "default"}
    )
    assert (settings.learning_rate, type(settings.learning_rate)) == (1.0, float)
    assert (settings.epochs, type(settings.epochs)) == (5, int)
    assert [settings.source(n) for n in ("learning_rate", "epochs", "seed", "run_name", "stride")] == [
        "dataset",
        "form",
        "default",
        "form",
        "default",
    ]
    assert settings.is_open("seed") and not settings.is_open("epochs")


@pytest.mark.parametrize("wrong", [{"epoch": 5}, {"epochs": "5"}, {"epochs": 2.5}, {"dry_run": 1}, {"run_name": 7}, {"learning_rate": True}])
def test_a_spec_that_breaks_the_contract_is_refused(read, wrong):
    with pytest.raises(ValueError, match=r"spec\.json has "):
        read(wrong)


def test_what_the_service_notes_is_a_warning_of_the_run(read):
    read(notes=[{"code": "unknown_option", "text": "finetune.yaml, line 3: There is no option epoch."}])
    assert read.warnings() == [("unknown_option", "finetune.yaml, line 3: There is no option epoch.")]


def test_an_option_that_only_this_trainer_knows_is_taken_from_its_note(read, monkeypatch):
    powers = Option("powers", 2, "data", 1, 4, kind="toy")
    monkeypatch.setattr(resolving, "options", lambda kind: {**options(kind), "powers": powers})
    passed = {"code": "unknown_option", "text": "There is no option powers.", "option": "powers", "value": "3", "source": "dataset"}
    settings = read(notes=[passed, {**passed, "value": "4", "source": "administrator"}])
    assert (settings.powers, settings.source("powers"), read.warnings()) == (3, "dataset", [])
    with pytest.raises(UserError, match="powers must be a whole number from 1 to 4, not 9"):
        read(notes=[{**passed, "value": "9"}])


def test_what_the_trainer_found_is_listed_as_chosen(read):
    settings = read()
    chosen = settings.with_chosen(learning_rate=0.25)
    assert settings.is_open("learning_rate") and not chosen.is_open("learning_rate")
    assert {"name": "learning_rate", "value": 0.25, "source": "chosen"} in chosen.listed()
    again = chosen.with_default(learning_rate=0.5, batch_size=7)
    assert (again.learning_rate, again.batch_size, again.source("batch_size")) == (0.25, 7, "chosen")
    assert (settings.learning_rate, settings.source("learning_rate")) == (0.0, "default")


def test_settings_are_frozen_also_after_they_were_sent_to_another_process(read):
    settings = read({"epochs": 5})
    for one in (settings, pickle.loads(pickle.dumps(settings)), copy.copy(settings)):
        with pytest.raises(AttributeError, match="frozen"):
            one.epochs = 6
        with pytest.raises(AttributeError, match="frozen"):
            del one.epochs
        assert one.listed() == settings.listed() and one.epochs == 5
    with pytest.raises(KeyError, match="no option of this run is called epoch"):
        settings.with_chosen(epoch=6)


def test_an_option_of_a_kind_that_did_not_win_is_a_warning_that_names_the_kind(read, tmp_path):
    of_kinds = [o for o in options("train").values() if o.kind]
    assert {o.kind for o in of_kinds} == {name for name, kind in registry.kinds().items() if kind.options}
    for option in of_kinds:
        other = next(name for name in registry.kinds() if name != option.kind)
        value, default = another_value(option), option.default
        for source, kind, set_to, is_said in (
            ("dataset", other, value, True), ("dataset", other, default, False), ("dataset", option.kind, value, False),
            ("administrator", other, value, False),
        ):  # fmt: skip
            settings = read({option.name: set_to}, {option.name: source})
            resolving.warn_of_other_kinds(settings, kind, (), Events(tmp_path / "events.jsonl", 1))
            said = [text for code, text in read.warnings() if code == "other_kind"]
            assert len(said) == is_said, (option.name, source, kind, set_to)
            assert not said or all(word in said[0] for word in (option.name, option.kind, kind))


def test_an_option_that_the_winning_kind_takes_from_another_one_is_no_warning(read, tmp_path):
    settings = read({"augmentation": "none"}, {"augmentation": "dataset"})
    for name in ("pixels", "objects"):
        resolving.warn_of_other_kinds(settings, name, registry.kinds()[name].takes_options, Events(tmp_path / "events.jsonl", 1))
    assert not [text for code, text in read.warnings() if code == "other_kind"]


def another_value(option):
    """A value of the option that is not its default."""
    if option.choices:
        return next(choice for choice in option.choices if choice != option.default)
    if isinstance(option.default, bool):
        return not option.default
    if isinstance(option.default, str):
        return option.default + "x"
    return option.high if option.high is not None and option.high != option.default else option.default + 1


def older(folder, files: dict, kind: str = "train", defaults: dict = DEFAULTS, **parameters) -> dict:
    """The settings of a spec of version 2, with their sources, where they are not defaults of the table."""
    inputs = [{"id": f"f{n}", "name": name, "path": name} for n, name in enumerate(files)]
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    spec = {"schema": 2, "kind": kind, "parameters": parameters, "defaults": defaults, "inputs": inputs}
    found = older_spec.upgraded(spec, folder)
    assert found["schema"] == 3 and "parameters" not in found
    return {name: (value, found["sources"][name]) for name, value in found["settings"].items()}


@pytest.mark.parametrize(
    ("files", "parameters"),
    [
        pytest.param({}, {"more_options": "# mine\nepochs = 5\ntraining.seed: 7\nLearning-Rate = 1e-5\ndry_run = yes # all"}, id="more options"),
        pytest.param({"a.yaml": "epochs: 5\nlearning_rate: 1e-5\ndry_run: yes\ntraining: {seed: 7}\n"}, {"config_file": "a.yaml"}, id="YAML"),
        pytest.param(
            {"finetune.json": '{"epochs": 5.0, "learning_rate": "1e-5", "dry_run": "on", "training.seed": "7"}', "b/finetune.yaml": "epochs: 9"},
            {},
            id="JSON of the dataset",
        ),
        pytest.param(
            {"sub/a.py": '"""Mine."""\nepochs: int = 5\nlearning_rate = 1e-5\ndry_run = True\ntraining = {"seed": 7}\n'},
            {"config_file": "a.py"},
            id="Python",
        ),
        pytest.param(
            {"a.py": "{'epochs': 5, 'learning_rate': 1e-5, 'training': {'seed': 7}}\ndry_run: bool = True\n"},
            {"config_file": "a.py"},
            id="a dictionary",
        ),
    ],
)
def test_a_spec_of_an_older_service_is_read_as_its_run_began(tmp_path, files, parameters):
    found = older(tmp_path, files, defaults={**DEFAULTS, "epochs": 9, "batch_size": 16}, **parameters)
    values = {name: value for name, (value, source) in found.items() if source not in ("form", "administrator")}
    assert values == {"epochs": 5, "learning_rate": 1e-5, "dry_run": True, "seed": 7}
    assert found["batch_size"] == (16, "administrator")


def test_the_sources_of_an_older_spec_have_their_order(tmp_path):
    files = {"my.yaml": "epochs: 13\nseed: 13\nstride: 13", "finetune.yaml": "epochs: 14\nseed: 14\nstride: 14\nlayers: 4"}
    found = older(tmp_path, files, defaults={**DEFAULTS, "epochs": 15}, epochs=11, more_options="epochs: 12\nseed: 12", config_file="my.yaml")
    wanted = {"epochs": (11, "form"), "seed": (12, "more options"), "stride": (13, "settings file"), "layers": (4, "dataset")}
    assert {name: found[name] for name in wanted} == wanted
    assert older(tmp_path, {}, "predict", {}, top_k=5) == {"top_k": (5, "form")}
    with pytest.raises(ValueError, match=r"no file gone\.yaml"):
        older(tmp_path, {}, config_file="gone.yaml")
