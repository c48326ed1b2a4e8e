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


def predicted(make_run, spec, files: dict, run_name: str = "ft-predict", **parameters):
    folder = spec.parent / "out" / "model"
    model = {"run": "ft-test", "name": "chats", "version": 1, "path": str(folder)}
    second = make_run(files, run=run_name, kind="predict", more={"model": model}, **parameters)
    assert run(str(second), "local") == 0
    return second.parent


@pytest.mark.parametrize("merge", ["no", "yes"])
def test_an_adapter_answers_prompts_like_its_merged_model(make_run, schemas, merge):
    pytest.importorskip("peft")
    spec = make_run({"chats.jsonl": conversations(60)}, epochs=1, more_options=f"{LORA}\nmerge: {merge}")
    install(models_of(spec))
    trained(spec, schemas)
    model = spec.parent / "out" / "model"
    assert (model / "config.json").is_file() == (merge == "yes")
    assert (model / "adapter" / "adapter_config.json").is_file() == (merge == "yes")
    folder = predicted(make_run, spec, {"ask.jsonl": conversations(9)}, max_new_tokens=5)
    rows = predictions(folder)
    assert len(rows) == 9
    schemas["result"].validate(json.loads((folder / "result.json").read_text()))
