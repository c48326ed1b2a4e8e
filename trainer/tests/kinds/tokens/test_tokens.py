"""Token classification from bytes to results: reading, training, metrics, prediction."""

import csv
import json
import shutil

from result_checks import blocks_of
from small_texts import NAMES, SURNAMES, TOWNS, conll

from trainer.run import run


def test_tagged_words_are_trained_and_predicted_from_bytes_to_results(make_run, schemas):
    spec = make_run({"train.conll": conll()}, epochs=8, learning_rate=0.003, model="bert-tiny", seed=1)
    assert run(str(spec), "local") == 0
    folder = spec.parent
    result = json.loads((folder / "result.json").read_text())
    schemas["result"].validate(result)
    assert (result["task"], result["model"]["kind"], result["data"]["rows"]["test"]) == ("token-classification", "tokens", 10)
    assert result["model"]["labels"] == ["B-LOC", "B-PER", "I-PER", "O"]
    table = blocks_of(result, "Entities")[0]["rows"]
    assert [row[0]["text"] for row in table] == ["all", "LOC", "PER"] and table[0][3]["value"] > 0.9
    with open(folder / "out" / "predictions.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == 70
    assert {r["entity"].split(":")[0] for r in rows} >= {"", "PER", "LOC"}
    assert all(r["predicted"] in r["possible"].split("; ") for r in rows)
    facts = {f["name"]: f["value"] for f in blocks_of(result, "How sure answers are")[0]["facts"]}
    assert facts["Promised"] == "90 % of words of entities" and " words of entities (95 % interval " in facts["On the test texts"]
    new = "text\n" + "".join(f"{a} {b} likes {c} .\n" for a, b, c in zip(NAMES, SURNAMES * 2, TOWNS))
    asked = make_run({"new.csv": new}, run="ft-new", kind="predict", more={"model": {"path": "../ft-test/out/model", "run": "ft-test"}})
    assert run(str(asked), "local") == 0
    answer = json.loads((asked.parent / "result.json").read_text())
    schemas["result"].validate(answer)
    assert "LOC: Rome" in answer["prediction"]["samples"][0]["predicted"]
    assert blocks_of(answer, "Tags that would teach most") and (asked.parent / "out" / "next-labels.conll").read_text().count("\ttag?\n") > 10


def test_an_installed_encoder_is_finetuned_to_tag_words(make_run):
    from conftest import small_reviews

    first = make_run({"a.csv": small_reviews(60)}, run="ft-base", epochs=1, model="bert-tiny")
    assert run(str(first), "local") == 0
    shutil.copytree(first.parent / "out" / "model", first.parent.parent.parent / "models" / "org" / "tiny")
    spec = make_run({"train.conll": conll(40)}, epochs=1, model="org/tiny")
    assert run(str(spec), "local") == 0
    model = json.loads((spec.parent / "result.json").read_text())["model"]
    assert (model["base"], model["from_scratch"], model["kind"]) == ("org/tiny", False, "tokens")
