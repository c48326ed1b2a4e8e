"""Installed language models from files to an adapter, and the adapter used without our code."""

import hashlib
import json

import pytest
from language_models import conversations, install
from result_checks import check_success, predictions

from trainer.run import run

LORA = "finetuning: lora\nlearning_rate: 0.01"


def models_of(spec):
    return spec.parent.parent.parent / "models"


def sha256(file) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def trained(spec, schemas) -> dict:
    assert run(str(spec), "local") == 0
    return check_success(spec.parent, schemas)


def test_lora_learns_the_answers_and_leaves_the_base_as_it_is(make_run, schemas):
    pytest.importorskip("peft")
    spec = make_run({"chats.jsonl": conversations()}, epochs=3, more_options=LORA)
    base = install(models_of(spec))
    before = sha256(base / "model.safetensors")
    result = trained(spec, schemas)
    assert sha256(base / "model.safetensors") == before
    assert (result["task"], result["model"]["base"], result["language"]["method"]) == ("text-generation", "acme/chat", "lora")
    test = result["metrics"]["test"]
    first = next(b for b in result["metrics"]["baselines"] if b["name"] == "base")["test"]
    assert test["loss"]["value"] < 0.5 * first["loss"]["value"]
    assert test["exact_match"]["n"] == first["exact_match"]["n"] == 12
    told = json.loads((spec.parent / "out" / "model" / "adapter_config.json").read_text())
    assert told["base_model_name_or_path"] == "acme/chat"
    assert str(spec.parent.parent.parent) not in (spec.parent / "out" / "model" / "adapter_config.json").read_text()
    assert told["target_modules"] == sorted(told["target_modules"])
    assert len(result["language"]["samples"]) == 8
    assert predictions(spec.parent)
