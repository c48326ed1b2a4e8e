"""Which model a training starts from, what its target is, and the vocabulary that it learns, without any training."""

import functools
import json
import math
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings, strategies as st
from test_targets import learnt
from tokenizers import Tokenizer

from trainer.core import registry
from trainer.errors import UserError
from trainer.models import catalogue, vocabulary
from trainer.models.catalogue import Base
from trainer.targets import target
from trainer.targets.classes import Classes
from trainer.targets.number import Number

QUICK = settings(max_examples=60, deadline=None)
TEXT, IMAGE = {"config.json": 2, "tokenizer.json": 2}, {"config.json": 2, "preprocessor_config.json": 2}


@pytest.fixture
def models(tmp_path):
    """models({"org/name": {file: bytes}}) makes the folder of the installed models."""

    def of(installed: dict) -> Path:
        for name, files in installed.items():
            (tmp_path / "models" / name).mkdir(parents=True)
            for file, size in files.items():
                (tmp_path / "models" / name / file).write_bytes(b"{}"[:size].ljust(size))
        return tmp_path / "models"

    return of


SHELF = {
    "org/large": {**TEXT, "model.safetensors": 900},
    "org/small": {**TEXT, "a.safetensors": 50, "b.safetensors": 60},
    "other/small": {**TEXT, "model.safetensors": 110},
    "org/eyes": {**IMAGE, "model.safetensors": 30},
    "org/both": {**IMAGE, "vocab.txt": 2, "model.safetensors": 200},
    "org/pickled": {**TEXT, "pytorch_model.bin": 40},
    "org/half": {"tokenizer.json": 2, "model.safetensors": 5},
    "org/bare": {"config.json": 2},
    ".hidden/model": {**TEXT, "model.safetensors": 1},
    "org/a space": {**TEXT, "model.safetensors": 1},
}


def test_only_whole_models_are_listed_the_smallest_first(models):
    found = catalogue.installed(models(SHELF))
    assert [(b.name, b.kind, b.size) for b in found] == [
        ("org/eyes", "image", 30), ("org/small", "text", 110), ("other/small", "text", 110), ("org/both", "text", 200), ("org/large", "text", 900),
    ]  # fmt: skip
    assert not any(b.fresh for b in found)
    assert found[0].config == {}


def test_without_a_folder_of_models_there_are_the_built_in_ones(tmp_path):
    assert catalogue.installed(tmp_path / "gone") == []
    for name, kind in registry.kinds().items():
        assert catalogue.choose(tmp_path / "gone", "auto", kind) == catalogue.choose(tmp_path / "gone", kind.shape, kind) == Base(kind.shape, name)


@pytest.mark.parametrize(
    ("wanted", "kind", "start", "name", "fresh"),
    [
        ("auto", "text", "pretrained", "org/small", False),
        ("", "text", "pretrained", "org/small", False),
        ("auto", "text", "scratch", "bert-tiny", True),
        ("auto", "image", "pretrained", "org/eyes", False),
        ("auto", "table", "pretrained", "mlp", True),
        ("org/large", "text", "pretrained", "org/large", False),
        ("org/large", "text", "scratch", "org/large", True),
        ("bert-tiny", "text", "pretrained", "bert-tiny", True),
    ],
)
def test_the_model_is_the_one_asked_for_or_the_smallest_that_fits(models, wanted, kind, start, name, fresh):
    found = catalogue.choose(models(SHELF), wanted, registry.of(kind), start)
    assert (found.name, found.kind, found.fresh) == (name, kind, fresh)
    assert (found.folder is None) == (name in registry.built_in())


@pytest.mark.parametrize(
    ("wanted", "kind", "code", "part"),
    [
        pytest.param("org/gone", "text", "model_not_installed", "Installed: org/small, other/small, org/both and org/large.", id="not there"),
        pytest.param(
            "org/gone", "text", "model_not_installed", "ask the administrator to run: extractor models install org/gone.", id="how to get it"
        ),
        pytest.param("../models/org/small", "text", "model_not_installed", "set model to auto", id="a path"),
        pytest.param("org/../org/small", "text", "model_not_installed", "", id="a path through dots"),
        pytest.param("/etc", "text", "model_not_installed", "", id="an absolute path"),
        pytest.param("org", "text", "model_not_installed", "", id="an organisation"),
        pytest.param("x" * 5000 + "/y", "text", "model_not_installed", "", id="a very long name"),
        pytest.param("org/small", "image", "model_unfit", "Models for image data: small-cnn and org/eyes.", id="another kind of data"),
        pytest.param("mlp", "text", "model_unfit", "does not read text data", id="a built-in one of another kind"),
        pytest.param("org/pickled", "text", "pickled_model", "extractor models install org/pickled", id="weights that could run code"),
        pytest.param("org/half", "text", "model_incomplete", "lacks config.json or model.safetensors", id="without config.json"),
        pytest.param("org/bare", "text", "model_incomplete", "complete it", id="without weights"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_with_the_reason_and_the_choice(models, wanted, kind, code, part):
    with pytest.raises(UserError) as refused:
        catalogue.choose(models(SHELF), wanted, registry.of(kind))
    assert refused.value.code == code
    assert part.lower() in str(refused.value).lower()
    assert len(str(refused.value)) < 1500


def write(folder: Path, config: dict | None = None, model: object = None, size: int = 10, tokenizer: str = "tokenizer.json") -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config or {}))
    (folder / tokenizer).write_text("{}")
    (folder / "model.safetensors").write_bytes(bytes(size))
    if model is not None:
        (folder / "model.json").write_text(json.dumps(model))


LANGUAGE = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
BERT = {"model_type": "bert", "architectures": ["BertForMaskedLM"]}


@pytest.mark.parametrize(
    ("config", "model", "kind"),
    [
        pytest.param(LANGUAGE, None, "language", id="a language model with a tokenizer"),
        pytest.param({"architectures": ["GPT2LMHeadModel"]}, None, "language", id="a language model without a type"),
        pytest.param(BERT, None, "text", id="an encoder"),
        pytest.param({"model_type": "vit", "architectures": ["ViTModel"]}, None, "image", id="a vision model with a tokenizer beside it"),
        pytest.param({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"]}, None, "", id="another kind of model"),
        pytest.param({"model_type": ["bert"], "architectures": {}}, None, "text", id="a strange config.json"),
        pytest.param(LANGUAGE, {"kind": "text"}, "text", id="model.json knows better"),
        pytest.param(LANGUAGE, {"kind": "sound"}, "language", id="a kind that does not exist"),
        pytest.param(BERT, ["text"], "text", id="a strange model.json"),
    ],
)
def test_the_kind_is_what_model_json_says_or_the_architecture(tmp_path, config, model, kind):
    write(tmp_path / "org" / "m", config, model)
    assert catalogue.installed(tmp_path)[0].kind == kind


def test_an_installed_language_model_is_never_the_base_of_a_classification(tmp_path):
    write(tmp_path / "org" / "lm", LANGUAGE, size=1)
    assert catalogue.choose(tmp_path, "auto", registry.of("text")) == Base("bert-tiny", "text")
    write(tmp_path / "org" / "encoder", BERT, size=900)
    assert catalogue.choose(tmp_path, "auto", registry.of("text")).name == "org/encoder"
    with pytest.raises(UserError, match=r"org/lm is a language model; it does not classify\. .*Choose a text model, or the task text-generation\."):
        catalogue.choose(tmp_path, "org/lm", registry.of("text"))


def test_auto_takes_the_model_that_is_marked_and_a_mark_on_the_volume_outranks_one_in_the_image(tmp_path, monkeypatch):
    volume, image = tmp_path / "models", tmp_path / "image"
    monkeypatch.setenv(catalogue.IMAGE_MODELS, str(image))
    write(image / "org" / "own", BERT, {"default": True, "commit": "c0ffee1"}, size=500)
    write(volume / "org" / "small", BERT, size=10)
    chosen = catalogue.choose(volume, "auto", registry.of("text"))
    assert (chosen.name, chosen.folder, chosen.commit, chosen.preferred) == ("org/own", image / "org" / "own", "c0ffee1", True)
    write(volume / "org" / "large", BERT, {"default": True, "commit": 3}, size=900)
    assert [b.name for b in catalogue.installed(volume)] == ["org/large", "org/own", "org/small"]
    assert catalogue.choose(volume, "auto", registry.of("text")).commit == ""


@pytest.mark.parametrize(
    ("license", "default", "taken"),
    [
        ("apache-2.0", False, True), ("", False, True), ("cc-by-nc-4.0", False, False), ("CC BY-NC-SA 4.0", True, False), ("ncsa", False, True),
        ("for non-commercial use", True, False), ("nvidia-source-code-license", True, False), ("other", False, False), ("other", True, True),
    ],
)  # fmt: skip
def test_a_model_whose_license_is_not_for_all_uses_is_taken_by_its_name_alone(tmp_path, license, default, taken):
    write(tmp_path / "org" / "model", BERT, {"kind": "text", "license": license, "default": default})
    assert (catalogue.choose(tmp_path, "auto", registry.of("text")).name == "org/model") == taken
    assert catalogue.choose(tmp_path, "org/model", registry.of("text")).name == "org/model"


def test_a_model_of_another_kind_that_can_be_a_part_is_taken_by_its_name_alone(tmp_path):
    write(tmp_path / "org" / "eyes", {"model_type": "resnet", "architectures": ["ResNetForImageClassification"]}, {"kind": "image"})
    assert catalogue.choose(tmp_path, "auto", registry.of("pixels")).name == registry.of("pixels").shape
    assert catalogue.choose(tmp_path, "org/eyes", registry.of("pixels")).folder is not None
    with pytest.raises(UserError, match="does not find these objects"):
        catalogue.choose(tmp_path, "org/eyes", registry.of("objects"))


def test_a_model_of_the_volume_replaces_one_of_the_same_name_in_the_image(tmp_path, monkeypatch):
    volume, image = tmp_path / "models", tmp_path / "image"
    monkeypatch.setenv(catalogue.IMAGE_MODELS, str(image))
    write(image / "org" / "m", BERT)
    write(volume / "org" / "m", BERT)
    assert [b.folder for b in catalogue.installed(volume)] == [volume / "org" / "m"]
    monkeypatch.setenv(catalogue.IMAGE_MODELS, str(tmp_path / "gone"))
    assert len(catalogue.installed(volume)) == 1


def test_a_model_is_small_by_the_bytes_of_its_weights():
    assert Base("bert-tiny", "text").is_small
    assert not Base("org/x", "text", size=catalogue.SMALL_BYTES).is_small


def test_a_label_and_its_number_are_the_same_in_both_directions():
    classes = learnt("text-classification", ("a", "b", "10"), [])
    assert classes.encode(["10", "a", "unknown", "", "A"]).tolist() == [2, 0, -1, -1, -1]
    assert [classes.text(i) for i in classes.encode(["a", "b", "10"])] == ["a", "b", "10"]
    assert classes.outputs == 3


def test_the_answers_of_classes_have_the_probabilities_of_the_predicted_and_the_true_class():
    outputs = numpy.asarray([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4]], numpy.float32)
    answers = Classes(("a", "b", "c")).answers(outputs, numpy.asarray([1, 1]))
    assert answers.predicted.tolist() == [0, 1]
    assert answers.confidence == pytest.approx([0.7, 0.5])
    assert answers.likelihood == pytest.approx([0.2, 0.5])
    many = Classes(tuple(map(str, range(51))))
    assert many.answers(numpy.full((2, 51), 1 / 51), numpy.asarray([0, 50])).probabilities is None


@pytest.mark.parametrize(
    ("targets", "mean", "std"),
    [(["1", "3"], 2.0, 1.0), (["5", "5", "5"], 5.0, 1.0), (["-1e3", "1e3"], 0.0, 1000.0), (["7"], 7.0, 1.0)],
)
def test_a_number_is_scaled_by_the_mean_and_the_deviation_of_the_training_targets(targets, mean, std):
    found = learnt("tabular-regression", (), targets)
    assert (found.mean, found.std, found.outputs, found.labels) == (mean, std, 1, ())


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "-inf", "1,5", "0x10", "1e999", "None"])
def test_a_target_that_is_not_a_finite_number_is_missing(text):
    assert target.number(text) is None
    assert numpy.isnan(Number(0.0, 1.0).encode([text])[0])


@QUICK
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_finite_number_is_read_back_from_its_text(value):
    assert target.number(repr(value)) == value
    if value:
        assert math.isclose(float(Number(0.0, 1.0).text(value)), value, rel_tol=1e-5)


@pytest.mark.parametrize("wanted", [Classes(("ä", "b\n", "")), Number(0.1, 1e-9), Classes(())], ids=repr)
def test_a_target_survives_its_description_as_json(wanted):
    assert registry.restored(json.loads(json.dumps(wanted.described()))) == wanted


TEXTS = ["The house, the garden and the river.", "A garden near the house!", "Rivers run; houses stand.", "日本 の house", "don't"] * 2


def test_the_same_texts_give_the_same_vocabulary_in_any_order():
    first = vocabulary.learn(TEXTS).get_vocab()
    assert vocabulary.learn(TEXTS).get_vocab() == first
    assert vocabulary.learn(TEXTS[::-1]).get_vocab() == first
    assert [first[word] for word in vocabulary.SPECIAL] == [0, 1, 2, 3, 4]
    assert sorted(first.values()) == list(range(len(first)))
    assert first.keys() >= {"the", "house", "garden", ",", "."}


def test_a_text_begins_and_ends_with_its_marks_and_a_pair_has_two_types():
    tokenizer = vocabulary.learn(TEXTS)
    one, two = tokenizer.encode("The house"), tokenizer.encode("The house", "a garden")
    assert one.tokens == ["[CLS]", "the", "house", "[SEP]"]
    assert two.tokens == ["[CLS]", "the", "house", "[SEP]", "a", "garden", "[SEP]"]
    assert two.type_ids == [0, 0, 0, 0, 1, 1, 1]
    assert tokenizer.encode("").tokens == ["[CLS]", "[SEP]"]


@pytest.mark.parametrize(("lower", "tokens"), [(True, 1), (False, 2)])
def test_the_case_of_letters_counts_only_if_asked(lower, tokens):
    tokenizer = vocabulary.learn(["House house House house"] * 3, lower)
    assert len({tuple(tokenizer.encode(w).ids) for w in ("House", "house")}) == tokens


@functools.cache
def learned() -> Tokenizer:
    return vocabulary.learn(TEXTS)


@QUICK
@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_text_is_encoded_with_known_numbers(text):
    tokenizer = learned()
    ids = tokenizer.encode(text).ids
    assert ids[0] == 2 and ids[-1] == 3
    assert max(ids) < tokenizer.get_vocab_size()


def test_the_tokenizer_of_an_installed_model_pads_and_cuts_nothing_by_itself(tmp_path):
    tokenizer = vocabulary.learn(TEXTS)
    tokenizer.enable_padding(length=50)
    tokenizer.enable_truncation(3)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert vocabulary.installed(tmp_path).encode("The house and the garden").tokens == ["[CLS]", "the", "house", "and", "the", "garden", "[SEP]"]


@pytest.mark.parametrize(("described", "known"), [(None, True), ({}, True), ({"do_lower_case": False}, False)])
def test_a_vocabulary_in_lines_is_read_with_the_setting_beside_it(tmp_path, described, known):
    (tmp_path / "vocab.txt").write_text("\n".join([*vocabulary.SPECIAL, "house", ""]))
    if described is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(described))
    assert vocabulary.installed(tmp_path).encode("HOUSE").tokens == ["[CLS]", "house" if known else "[UNK]", "[SEP]"]


def test_a_model_without_any_vocabulary_is_refused_by_its_name(tmp_path):
    (tmp_path / "org" / "name").mkdir(parents=True)
    with pytest.raises(UserError, match="The installed model org/name has no tokenizer") as refused:
        vocabulary.installed(tmp_path / "org" / "name")
    assert str(tmp_path) not in str(refused.value)
