"""Whole runs in one process, without Ray."""

import csv
import hashlib
import json

import pytest
from conftest import TRAINER, events_of, small_reviews

from trainer.run import run


def artifact_hashes(folder):
    return {a["path"]: a["sha256"] for a in json.loads((folder / "result.json").read_text())["artifacts"]}


def check_success(folder, schemas) -> dict:
    """Everything that a run promises of its files; returns result.json."""
    result = json.loads((folder / "result.json").read_text())
    schemas["result"].validate(result)
    schemas["metrics"].validate(json.loads((folder / "out" / "metrics.json").read_text()))
    assert json.loads((folder / "out" / "metrics.json").read_text()) == result["metrics"]
    for event in events_of(folder):
        schemas["event"].validate(event)
    assert not (folder / "error.json").exists()
    listed = {a["path"] for a in result["artifacts"]}
    assert listed == {p.relative_to(folder).as_posix() for p in (folder / "out").rglob("*") if p.is_file()}
    for a in result["artifacts"]:
        data = (folder / a["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (a["size"], a["sha256"])
    assert {"model.safetensors", "config.json", "tokenizer.json", "labels.json"} <= {p.rpartition("/")[2] for p in listed}
    assert not [p for p in folder.rglob("*") if p.suffix in (".pt", ".bin", ".pkl", ".tmp")]
    rows = result["data"]["rows"]
    for split in ("train", "validation", "test"):
        accuracy = result["metrics"][split]["accuracy"]
        assert accuracy["n"] == rows[split]
        assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    confusion = result["confusion"]
    assert sum(map(sum, confusion)) == rows["test"]
    assert sum(confusion[i][i] for i in range(len(confusion))) == round(result["metrics"]["test"]["accuracy"]["value"] * rows["test"])
    kinds = [e["kind"] for e in events_of(folder)]
    assert kinds[-1] == "done"
    assert {"phase", "decision", "progress", "eval", "best", "checkpoint", "resource"} <= set(kinds)
    assert [e["phase"] for e in events_of(folder) if e["kind"] == "phase"][-5:] == ["start", "prepare", "train", "test", "export"]
    return result


def test_the_bundled_reviews_are_learnt_without_any_setting(make_run, reviews, schemas):
    spec = make_run(reviews)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85
    assert result["metrics"]["test"]["accuracy"]["value"] <= 0.95 + 0.01  # what the label noise allows
    assert result["model"]["from_scratch"] is True
    assert result["data"]["text_columns"] == ["review"]
    assert result["data"]["label_column"] == "sentiment"
    assert "from_scratch" in [w["code"] for w in result["warnings"]]
    assert "Epoch 1, validation" in (spec.parent / "log.txt").read_text()
    assert json.loads((spec.parent / "checkpoints" / "index.json").read_text())["best"] == f"epoch-{result['best_epoch']:04d}"


def test_the_exported_model_predicts_what_the_predictions_say(make_run, schemas):
    from transformers import pipeline

    spec = make_run({"all.csv": small_reviews(200)}, epochs=2)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    out = spec.parent / "out"
    with open(out / "predictions.csv", newline="") as f:
        predictions = list(csv.DictReader(f))
    assert len(predictions) == result["data"]["rows"]["test"]
    classify = pipeline("text-classification", model=str(out / "model"), device=-1)
    for row, said in zip(predictions, classify([r["text"] for r in predictions], truncation=True), strict=True):
        assert said["label"] == row["predicted"]
        assert said["score"] == pytest.approx(float(row["confidence"]), abs=2e-3)


def test_two_runs_with_one_seed_have_the_same_bytes_and_another_seed_has_not(make_run):
    hashes = []
    for name, seed in (("ft-one", 42), ("ft-two", 42), ("ft-three", 43)):
        spec = make_run({"all.csv": small_reviews()}, run=name, seed=seed, epochs=1)
        assert run(str(spec), "local") == 0
        hashes.append({p: h for p, h in artifact_hashes(spec.parent).items() if p.startswith("out/model/") or p == "out/predictions.csv"})
    assert hashes[0] == hashes[1]
    assert hashes[0]["out/model/model.safetensors"] != hashes[2]["out/model/model.safetensors"]


def test_a_finished_run_is_not_done_again_but_a_damaged_one_is(make_run, schemas):
    spec = make_run({"all.csv": small_reviews()}, epochs=1)
    assert run(str(spec), "local") == 0
    before = (spec.parent / "result.json").read_bytes(), (spec.parent / "events.jsonl").read_bytes()
    assert run(str(spec), "local") == 0
    assert before == ((spec.parent / "result.json").read_bytes(), (spec.parent / "events.jsonl").read_bytes())
    (spec.parent / "out" / "metrics.json").write_text("{}")
    (spec.parent / "out" / "stale.txt").write_text("from an older attempt")
    (spec.parent / "error.json").write_text("{}")
    assert run(str(spec), "local") == 0
    check_success(spec.parent, schemas)
    assert not (spec.parent / "out" / "stale.txt").exists()


def test_the_time_limit_stops_cleanly_and_keeps_the_best(make_run, schemas, monkeypatch):
    from trainer import loop

    spec = make_run({"all.csv": small_reviews(200)}, epochs=50, max_minutes=1)
    clock = iter(range(0, 10**6, 10))  # each look at the clock costs ten seconds
    monkeypatch.setattr(loop.time, "monotonic", lambda: float(next(clock)))
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["training"]["stopped"] == "time limit"
    assert result["best_epoch"] == 1


def test_training_stops_early_when_nothing_improves(make_run, schemas, monkeypatch):
    from trainer import evaluate

    real, calls = evaluate.measure, []

    def worse_every_time(model, data, *args):
        found = real(model, data, *args)
        calls.append(1)
        return evaluate.Measured([[len(data), 0], [0, 0]], float(len(calls)), found.predicted, found.confidence) if len(calls) <= 4 else found

    monkeypatch.setattr(evaluate, "measure", worse_every_time)
    spec = make_run({"all.csv": small_reviews()}, epochs=10)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert (result["training"]["stopped"], result["training"]["epochs"], result["best_epoch"]) == ("early stopping", 4, 1)


def test_several_files_formats_and_earlier_results_are_sorted_out(make_run, schemas):
    lines = small_reviews(160).splitlines()
    header, rows = lines[0], list(csv.reader(lines[1:]))
    jsonl = "".join(json.dumps({"ID": int(i), "Review": r, "Sentiment": s}) + "\n" for i, r, s in rows[:60])
    tsv = "sentiment\treview\n" + "".join(f"{s}\t{r}\n" for _, r, s in rows[60:110])
    spec = make_run(
        {
            "train/a.jsonl": jsonl,
            "train/b.tsv": tsv.encode("utf-16"),
            "my-dev.csv": "\n".join([header, *lines[111:136]]),
            "test.csv": "\n".join([header, *lines[136:], "999,,positive", "1000,a text without a label,"]),
            "prices.csv": "item,price\npen,2\ncup,5\n",
            "README.md": "# Reviews",
            "notes.txt": "just some words",
            "finetune/earlier/train.csv": "review,sentiment\nx,y\n",
            "predictions.csv": "file,row,text,label,predicted,confidence\na,1,b,c,d,1\n",
        },
        epochs=1,
    )
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["data"]["files"] == ["my-dev.csv", "test.csv", "train/a.jsonl", "train/b.tsv"]
    assert result["data"]["rows"] == {"train": 110, "validation": 25, "test": 25}
    assert "empty_rows" in [w["code"] for w in result["warnings"]]
    ignored = next(e["choice"] for e in events_of(spec.parent) if e.get("what") == "ignored_files")
    assert {i.split(" (")[0] for i in ignored} == {"prices.csv", "README.md", "notes.txt", "finetune/earlier/train.csv", "predictions.csv"}


def test_long_texts_are_cut_and_a_class_of_numbers_keeps_its_order(make_run, schemas):
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
    rows = "".join(f"{' '.join(words[: 3 + i % 7])} {words[i % 3]} {i},{(i % 3) * 5}\n" for i in range(90))
    spec = make_run({"data.csv": f"text,label\n{rows}{'word ' * 5000},0\n"}, epochs=1, max_length=700)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["model"]["labels"] == ["0", "5", "10"]
    assert result["model"]["max_length"] == 512
    assert result["data"]["truncated_share"] == pytest.approx(1 / 91, abs=1e-4)


def test_nothing_of_the_product_names_a_machine_or_an_index():
    for file in [*TRAINER.glob("*.py"), *TRAINER.glob("requirements*")]:
        text = file.read_text()
        assert "/tmp/" not in text, file
        assert "index-url" not in text, file
        assert "pypi.org" not in text, file
