"""The folder of a saved model comes from outside: what is refused before a library reads it, and with which words."""

import json
import struct

import numpy
import pytest
from safetensors.numpy import save_file

from trainer.data.columns.values import Style
from trainer.models import saved_model
from trainer.run_folder import files
from trainer.targets import target as targets
from trainer.targets.classes import Classes
from trainer.targets.number import Number

DESCRIBED = {
    "schema": 1, "kind": "text", "task": "text-classification", "base": "bert-tiny", "target": {}, "encoder": {}, "columns": ["text"], "types": {},
    "label_column": "label", "test": {},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    save_file({"a": numpy.zeros(3)}, str(tmp_path / "model.safetensors"))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "trainer.json").write_text(json.dumps(DESCRIBED))
    return tmp_path


def test_a_whole_folder_is_described(folder):
    assert saved_model.description(folder) == DESCRIBED


@pytest.mark.parametrize("missing", ["task", "base", "target", "encoder", "columns", "types", "label_column", "test", "schema", "kind"])
def test_a_description_that_lacks_something_is_refused(folder, missing):
    (folder / "trainer.json").write_text(json.dumps({k: v for k, v in DESCRIBED.items() if k != missing}))
    with pytest.raises((ValueError, KeyError), match=rf"^its description is incomplete$|^'{missing}'$"):
        saved_model.description(folder)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"schema": "1"}, "its description is incomplete"),
        ({"schema": True}, "its description is incomplete"),
        ({"schema": 0}, "its description is incomplete"),
        ({"kind": 5}, "its description is incomplete"),
        ({"types": []}, "its columns are not described"),
        ({"columns": [5]}, "its columns are not described"),
        ({"kind": "graph", "graph": []}, "its graph is not described"),
    ],
)
def test_a_description_of_another_form_is_refused(folder, changed, why):
    (folder / "trainer.json").write_text(json.dumps(DESCRIBED | changed))
    with pytest.raises(ValueError, match=rf"^{why}$"):
        saved_model.description(folder)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"schema": 2}, "its description has schema 2, and this version knows 1"),
        ({"kind": "sound"}, "it is for a kind of data that this version does not know, sound"),
    ],
)
def test_a_model_of_a_newer_version_is_named_as_such_even_if_its_weights_are_in_other_files(folder, changed, why):
    (folder / "trainer.json").write_text(json.dumps(DESCRIBED | changed))
    no_weights(folder)
    with pytest.raises(saved_model.NewerModel, match=rf"^{why}$") as refused:
        saved_model.description(folder)
    assert saved_model.unreadable(refused.value) == f"a newer version of this program wrote it: {why}"


def test_a_damaged_model_is_not_said_to_be_newer():
    assert saved_model.unreadable(KeyError("task")) == "its files cannot be read (KeyError)"


def no_weights(folder):
    (folder / "model.safetensors").unlink()


def long_header(folder):
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", saved_model.MAX_HEADER_BYTES + 1) + b"{}")


def truncated(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])


def empty(folder):
    (folder / "model.safetensors").write_bytes(b"")


def second_file(folder):
    (folder / "other.safetensors").write_bytes(b"no weights")


def large_document(folder):
    with open(folder / "other.json", "wb") as file:
        file.truncate(files.JSON_BYTES + 1)


def large_vocabulary(folder):
    with open(folder / "vocab.txt", "wb") as file:
        file.truncate(saved_model.MAX_WORDS_BYTES + 1)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (no_weights, "there are no weights"),
        (long_header, "the header of the weights is too long"),
        (truncated, "the weights cannot be read"),
        (empty, "the weights cannot be read"),
        (second_file, "the (header of the weights is too long|weights cannot be read)"),
        (large_document, "other.json is too large"),
        (large_vocabulary, "vocab.txt is too large"),
    ],
)
def test_weights_and_documents_that_would_do_harm_are_refused(folder, damage, why):
    saved_model.check(folder)
    damage(folder)
    with pytest.raises(ValueError, match=rf"^{why}"):
        saved_model.check(folder)


def test_a_large_vocabulary_may_be_larger_than_a_document(folder):
    with open(folder / "tokenizer.json", "wb") as file:
        file.truncate(files.JSON_BYTES + 1)
    saved_model.check(folder)


@pytest.mark.parametrize("key", ["quantization_config", "attn_implementation", "_attn_implementation", "experts_implementation"])
@pytest.mark.parametrize("nest", [lambda c: c, lambda c: {"text_config": c}, lambda c: {"a": [{"b": c}]}])
def test_a_configuration_that_loads_other_packages_is_refused_at_any_depth(folder, key, nest):
    (folder / "config.json").write_text(json.dumps(nest({key: {"x": 1}})))
    with pytest.raises(ValueError, match=rf"^its config.json has {key}$"):
        saved_model.check(folder)


@pytest.mark.parametrize(
    ("config", "adapter", "refused"),
    [
        ("{}", None, False),
        ("{}", '{"quantization_config": 1}', False),
        (None, "{}", False),
        (None, '{"quantization_config": 1}', True),
        (None, None, True),
        ("{", None, True),
    ],
)
def test_the_configuration_of_an_adapter_counts_where_there_is_no_other(folder, config, adapter, refused):
    (folder / "config.json").unlink()
    for name, text in (("config.json", config), ("adapter_config.json", adapter)):
        if text is not None:
            (folder / name).write_text(text)
    if not refused:
        saved_model.check(folder)
        return
    with pytest.raises((ValueError, OSError)):
        saved_model.check(folder)


@pytest.mark.parametrize(
    ("outputs", "classes", "fits"),
    [
        (numpy.zeros((2, 3)), 3, True), (numpy.zeros((2, 3)), 2, False), (numpy.zeros(2), 0, True), (numpy.zeros((2, 1)), 0, False),
        (numpy.zeros(2), 2, False), (numpy.zeros((0, 3)), 3, True), (numpy.asarray([numpy.nan]), 0, False), (numpy.asarray([numpy.inf]), 0, False),
    ],
)  # fmt: skip
def test_outputs_have_the_form_of_the_target(outputs, classes, fits):
    target = Classes(tuple("abc"[:classes])) if classes else Number(0.0, 1.0)
    assert targets.fits(target, outputs) is fits


@pytest.mark.parametrize(
    ("described", "styles"),
    [
        ({}, {}), ({"styles": None}, {}), ({"styles": []}, {}), ({"styles": {"a": {"comma": True, "unit": "€"}}}, {"a": Style(True, "€")}),
        ({"styles": {"a": "x"}}, {"a": Style()}),
    ],
)  # fmt: skip
def test_styles_from_outside(described, styles):
    assert saved_model.styles(described) == styles
