"""Language models from scratch, from files to the report: tokens, documents, conversations, a kill, several experts."""

import json
import pickle

import numpy
import pytest
from language_models import conversations
from result_checks import blocks_of, check_success, codes, error_of, predictions, setting
from small_texts import story, token_files
from transformers import AutoModelForCausalLM, AutoTokenizer

from trainer.run import run

SMALL = "max_length: 32\nbatch_size: 16"


def trained(spec, schemas) -> dict:
    assert run(str(spec), "local") == 0
    return check_success(spec.parent, schemas)


@pytest.mark.parametrize("dtype", ["<u2", "<u4"])
def test_files_of_tokens_become_a_model_that_transformers_loads(make_run, schemas, dtype):
    files = {"input.txt": story(250), "prepare.py": "print()", "readme.md": "# a set", **token_files(dtype=dtype)}
    spec = make_run(files, epochs=2, more_options=SMALL)
    result = trained(spec, schemas)
    assert (result["task"], result["model"]["base"], result["model"]["from_scratch"]) == ("text-generation", "gpt-small", True)
    assert set(result["data"]["rows"]) == {"train", "validation", "test"} and result["data"]["rows"]["test"] > 1
    said = next(w["text"] for w in result["warnings"] if w["code"] == "from_scratch")
    assert said.startswith("No language model is installed here, so a small one (gpt-small, 0.8 million weights) is trained from random weights")
    test = result["metrics"]["test"]
    assert test["bits_per_byte"]["value"] == pytest.approx(test["loss"]["value"] / numpy.log(2), rel=1e-6)  # each token is a byte
    assert test["bits_per_byte"]["low"] < test["bits_per_byte"]["value"] < test["bits_per_byte"]["high"]
    table = next(b for b in result["metrics"]["baselines"] if b["name"] == "ngram")
    assert "-grams of tokens" in table["title"] and table["test"]["bits_per_byte"]["n"] == test["bits_per_byte"]["n"]
    assert any(c["code"] == "ngrams" for c in result["checks"])
    answers = blocks_of(result, "Answers")[0]
    assert [c["title"] for c in answers["columns"]] == ["Prompt", "After", "In the data"]
    assert len(answers["rows"]) == 8 and all(row[0]["text"].strip() for row in answers["rows"])
    model = AutoModelForCausalLM.from_pretrained(spec.parent / "out" / "model")
    tokenizer = AutoTokenizer.from_pretrained(spec.parent / "out" / "model")
    ids = tokenizer("The sea", return_tensors="pt").input_ids
    assert tokenizer.decode(ids[0]) == "The sea"
    assert model(ids).logits.shape[-1] == len(tokenizer)
    assert predictions(spec.parent)[0]["content"].startswith("tokens ")


def test_documents_are_learnt_as_one_stream(make_run, schemas):
    spec = make_run({"one.txt": story(900), "two.md": story(700, seed=2)}, task="text-generation", epochs=1, more_options=SMALL)
    result = trained(spec, schemas)
    assert setting(result, "epochs")[0] == 1
    test, table = result["metrics"]["test"], result["metrics"]["baselines"][0]
    assert table["title"].endswith("-grams of bytes") and set(table["test"]) == {"bits_per_byte"}
    assert test["bits_per_byte"]["value"] > table["test"]["bits_per_byte"]["value"]  # after so few steps
    assert "ngrams" in codes(result)
    said = next(w["text"] for w in result["warnings"] if w["code"] == "ngrams")
    assert said.startswith("The n-gram table predicts the text better (") and said.endswith("Train longer, or give more text.")


def test_experts_and_conversations(make_run, schemas):
    options = "max_length: 64\nbatch_size: 8\nexperts: 4\nrouter_loss: 0.1"
    spec = make_run({"chats.jsonl": conversations(120)}, model="gpt-small", epochs=2, more_options=options)
    result = trained(spec, schemas)
    config = json.loads((spec.parent / "out" / "model" / "config.json").read_text())
    assert (config["model_type"], config["num_local_experts"], config["router_aux_loss_coef"]) == ("mixtral", 4, 0.1)
    assert result["metrics"]["test"]["bits_per_byte"]["n"] == result["data"]["rows"]["test"]
    assert "from_scratch" not in codes(result)


def test_tokens_without_a_vocabulary_are_shown_as_numbers(make_run, schemas):
    files = token_files()
    del files["meta.pkl"]
    result = trained(make_run(files, epochs=1, more_options=SMALL), schemas)
    assert "bits_per_byte" not in result["metrics"]["test"]
    assert all(part.isdigit() for part in blocks_of(result, "Answers")[0]["rows"][0][0]["text"].split())


class Planted:
    def __reduce__(self):
        return print, ("planted",)


@pytest.mark.parametrize(
    ("name", "change", "options", "code", "sentence"),
    [
        ("meta.pkl with a class", {"meta.pkl": pickle.dumps(Planted())}, "", "token_vocabulary", "meta.pkl holds more than plain values"),
        (
            "a number that the vocabulary lacks",
            {"val.bin": numpy.asarray([500], "<u2").tobytes() * 200},
            "",
            "token_range",
            "val.bin holds the number 500 and the vocabulary has",
        ),
        ("a header of llm.c", {"train.bin": numpy.asarray([20240520, 1, 9], "<i4").tobytes()}, "", "token_header", "begins with a header of llm.c"),
        ("too few tokens", {"train.bin": bytes(100)}, "", "too_few_rows", "The training files have only 25 tokens"),
        ("vocab_size that is too small", {}, "vocab_size: 5", "token_range", "The file belongs to another tokenizer, or vocab_size is wrong."),
        ("a damaged tokenizer.json", {"tokenizer.json": "{"}, "", "token_vocabulary", "tokenizer.json cannot be read as a tokenizer."),
    ],
)
def test_bad_files_of_tokens_are_refused(make_run, name, change, options, code, sentence):
    spec = make_run({**token_files(), **change}, epochs=1, more_options=options)
    assert run(str(spec), "local") == 2, name
    error = error_of(spec.parent)
    assert error["code"] == code and sentence in " ".join((error["what"], error.get("why", ""), error["do"])), error
