"""Installed language models from files to an adapter, and the adapter used without our code."""

import hashlib
import json

import pytest
from language_models import COLOURS, conversations, install
from process_faults import KILLED, run_apart, start_apart  # noqa: F401 - fixtures
from result_checks import blocks_of, check_success, events_of, facts_of, predictions, weights

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
    assert (result["task"], result["model"]["base"]) == ("text-generation", "acme/chat")
    assert facts_of(result, "Answers before and after")["Trained weights"].endswith("(LoRA)")
    test = result["metrics"]["test"]
    first = next(b for b in result["metrics"]["baselines"] if b["name"] == "base")["test"]
    assert test["loss"]["value"] < 0.5 * first["loss"]["value"]
    assert test["exact_match"]["n"] == first["exact_match"]["n"] == 12
    told = json.loads((spec.parent / "out" / "model" / "adapter_config.json").read_text())
    assert told["base_model_name_or_path"] == "acme/chat"
    assert str(spec.parent.parent.parent) not in (spec.parent / "out" / "model" / "adapter_config.json").read_text()
    assert told["target_modules"] == sorted(told["target_modules"])
    assert len(blocks_of(result, "Answers before and after")[0]["rows"]) == 8
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
    assert [r["label"] for r in rows] == [COLOURS[i % 3] for i in range(9)]
    schemas["result"].validate(json.loads((folder / "result.json").read_text()))


def test_a_killed_lora_training_goes_on_with_the_same_bits(make_run, run_apart, schemas):  # noqa: F811
    pytest.importorskip("peft")
    options = {"epochs": 3, "more_options": f"{LORA}\nfrozen_weights: nf4"}  # codes and factors must stay out of checkpoints, too
    undisturbed = make_run({"chats.jsonl": conversations(60)}, run="ft-undisturbed", **options)
    base = install(models_of(undisturbed))
    assert run_apart(undisturbed) == 0
    spec = make_run({"chats.jsonl": conversations(60)}, **options)
    assert run_apart(spec, "step", 9) == KILLED
    saved = next(f for f in (spec.parent / "checkpoints").rglob("model.safetensors"))
    assert saved.stat().st_size < 0.5 * (base / "model.safetensors").stat().st_size  # only what is trained
    assert run_apart(spec) == 0
    result = check_success(spec.parent, schemas)
    assert result["training"]["resumed"] == 1
    assert weights(spec.parent) == weights(undisturbed.parent)


def test_the_parts_of_a_batch_count_by_their_learnt_tokens(make_run):
    """A batch in four parts has the gradient of the whole, though the parts have different numbers of learnt tokens."""
    from safetensors.torch import load_file

    said = ["one two three four five " * (1 + i % 7) + str(i) for i in range(40)]
    rows = [{"messages": [{"role": "user", "content": f"count {i}"}, {"role": "assistant", "content": text}]} for i, text in enumerate(said)]
    files = {"chats.jsonl": "".join(json.dumps(r) + "\n" for r in rows)}
    found = []
    for parts in (1, 4):
        options = f"finetuning: full\ngradient_accumulation: {parts}\nmax_grad_norm: 0\noptimizer: sgd"
        spec = make_run(files, run=f"ft-{parts}", epochs=1, batch_size=16, learning_rate=0.01, more_options=options)
        if not models_of(spec).exists():
            install(models_of(spec))
        assert run(str(spec), "local") == 0
        found.append(load_file(spec.parent / "out" / "model" / "model.safetensors"))
    before = load_file(models_of(spec) / "acme" / "chat" / "model.safetensors")
    for name, tensor in found[0].items():
        assert (tensor - found[1][name]).abs().max() < 1e-5, name
    assert max((found[0][n] - before[n]).abs().max() for n in before) > 1e-3


def decisions(folder) -> dict:
    return {e["what"]: e["choice"] for e in events_of(folder) if e["kind"] == "decision"}


def test_recomputed_activations_give_the_same_bits(make_run, schemas):
    pytest.importorskip("peft")
    kept = make_run({"chats.jsonl": conversations(60)}, run="ft-kept", epochs=1, more_options=f"{LORA}\nrecompute: no")
    install(models_of(kept))
    trained(kept, schemas)
    again = make_run({"chats.jsonl": conversations(60)}, epochs=1, more_options=f"{LORA}\nrecompute: yes")
    trained(again, schemas)
    assert "recompute" not in decisions(kept.parent)
    assert decisions(again.parent)["recompute"] == "yes"
    assert weights(again.parent) == weights(kept.parent)


def test_a_base_in_bf16_learns_and_is_merged_into_weights_in_single_precision(make_run, schemas):
    peft = pytest.importorskip("peft")
    import torch
    from transformers import AutoModelForCausalLM

    spec = make_run({"chats.jsonl": conversations()}, epochs=3, more_options=f"{LORA}\nfrozen_weights: bf16\nmerge: yes")
    base = install(models_of(spec))
    result = trained(spec, schemas)
    assert decisions(spec.parent)["frozen_weights"] == "bf16"
    first = next(b for b in result["metrics"]["baselines"] if b["name"] == "base")["test"]
    assert result["metrics"]["test"]["loss"]["value"] < 0.5 * first["loss"]["value"]
    model = spec.parent / "out" / "model"
    merged = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    adapted = peft.PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32), model / "adapter").merge_and_unload()
    for name, tensor in adapted.state_dict().items():
        assert torch.allclose(merged.state_dict()[name], tensor, atol=1e-6), name


@pytest.mark.parametrize(("frozen", "bits"), [("int8", 8), ("nf4", 4)])
def test_on_a_base_in_few_bits_an_adapter_learns_and_answers_as_it_was_measured(make_run, schemas, frozen, bits):
    pytest.importorskip("peft")
    import torch

    from trainer.kinds.language import lora, network

    spec = make_run({"chats.jsonl": conversations()}, epochs=3, more_options=f"{LORA}\nfrozen_weights: {frozen}\nmerge: yes")
    base = install(models_of(spec))
    before = sha256(base / "model.safetensors")
    result = trained(spec, schemas)
    assert (sha256(base / "model.safetensors"), decisions(spec.parent)["frozen_weights"]) == (before, frozen)
    first = next(b for b in result["metrics"]["baselines"] if b["name"] == "base")["test"]
    assert result["metrics"]["test"]["loss"]["value"] < 0.5 * first["loss"]["value"]
    model = spec.parent / "out" / "model"
    assert lora.base_bits(model / "adapter") == bits
    merged, adapted = network.load(model), network.load(model / "adapter", base=base)
    assert result["model"]["parameters"] == sum(p.numel() for p in merged.parameters()) + sum(
        p.numel() for p in adapted.parameters() if p.requires_grad
    )
    asked = torch.arange(60).view(3, 20)
    with torch.inference_mode():
        wanted = merged(asked).logits
        assert torch.allclose(adapted(asked).logits, wanted, atol=1e-4)
        as_installed = lora.attach(type(merged).from_pretrained(base, dtype=torch.float32), model / "adapter")
        assert not torch.allclose(as_installed(asked).logits, wanted, atol=1e-2)
