"""Starting from an installed model: a small one that the tests make themselves."""

import json

import pytest
from conftest import REVIEWS, events_of, small_reviews
from test_run import check_success

from trainer import catalogue, vocabulary
from trainer.errors import UserError
from trainer.run import run


def install(models, name: str, hidden: int = 32, tokenizer_file: str = "tokenizer.json", positions: int = 64):
    """Save a BERT without a classifier into ``models``/``name``, as an administrator would install one."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = vocabulary.learn([line for line in (REVIEWS / "train.csv").read_text().splitlines()])
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
def test_auto_takes_the_smallest_installed_model(make_run, schemas, tokenizer_file):
    spec = make_run({"all.csv": small_reviews(200)}, epochs=1)
    models = spec.parent.parent.parent / "models"
    install(models, "org/small", tokenizer_file=tokenizer_file)
    install(models, "org/larger", hidden=64)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert (result["model"]["base"], result["model"]["from_scratch"]) == ("org/small", False)
    assert result["training"]["learning_rate"] == 3e-4
    assert not [w for w in result["warnings"] if w["code"] == "from_scratch"]
    assert "org/small" in (spec.parent / "out" / "model_card.md").read_text()
    config = json.loads((spec.parent / "out" / "model" / "config.json").read_text())
    assert config["id2label"] == {"0": "negative", "1": "positive"}


def test_training_starts_from_the_installed_weights(make_run, schemas):
    from safetensors.torch import load_file

    spec = make_run({"all.csv": small_reviews(60)}, model="org/base", learning_rate=1e-9, epochs=1, max_length=500)
    folder = install(spec.parent.parent.parent / "models", "org/base", positions=48)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["model"]["max_length"] == 48
    assert "max_length" in [w["code"] for w in result["warnings"]]
    before, after = load_file(folder / "model.safetensors"), load_file(spec.parent / "out" / "model" / "model.safetensors")
    key = "embeddings.word_embeddings.weight"
    assert (before[key] - after[f"bert.{key}"]).abs().max() < 1e-5


def test_a_model_that_cannot_classify_is_the_users_error(make_run):
    spec = make_run({"all.csv": small_reviews(60)}, model="org/odd")
    folder = install(spec.parent.parent.parent / "models", "org/odd")
    (folder / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))
    assert run(str(spec), "local") == 2
    error = json.loads((spec.parent / "error.json").read_text())
    assert error["code"] == "model_unusable"
    assert "org/odd" in error["what"]
    assert events_of(spec.parent)[-1]["kind"] == "error"


def test_a_model_without_tokenizer_is_named(make_run):
    spec = make_run({"all.csv": small_reviews(60)}, model="org/mute")
    install(spec.parent.parent.parent / "models", "org/mute", tokenizer_file="")
    assert run(str(spec), "local") == 2
    assert json.loads((spec.parent / "error.json").read_text())["code"] == "model_incomplete"


def test_a_link_out_of_the_models_folder_is_not_followed(tmp_path):
    models = tmp_path / "models"
    (models / "org").mkdir(parents=True)
    install(tmp_path, "elsewhere/model")
    (models / "org" / "linked").symlink_to(tmp_path / "elsewhere" / "model")
    assert catalogue.installed(models) == []
    with pytest.raises(UserError, match="is not installed"):
        catalogue.choose(models, "org/linked")
