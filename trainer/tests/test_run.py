"""Whole runs of texts in one process, without Ray."""

import csv
import json

import pytest
from conftest import TRAINER, events_of, small_reviews
from result_checks import artifact_hashes, check_files, check_success, codes, predictions, result_of, setting
from small_datasets import flowers, table

from trainer.export.display import escape_formula
from trainer.run import run
from trainer.targets.classes import Classes
from trainer.tests.zoo.names import MANIFEST

pytestmark = pytest.mark.usefixtures("networks_only")


def test_the_bundled_reviews_are_learned_with_default_settings(make_run, reviews, schemas):
    spec = make_run(reviews)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85
    assert result["metrics"]["test"]["accuracy"]["value"] <= 0.95 + 0.01  # what the label noise allows
    assert result["model"]["from_scratch"] is True
    assert result["data"]["input_columns"] == ["review"]
    assert result["data"]["label_column"] == "sentiment"
    assert "from_scratch" in codes(result)
    assert setting(result, "learning_rate") == (0.001, "chosen")
    assert setting(result, "epochs") == (3, "default")
    assert result["estimate_seconds"] > 0
    assert "Epoch 1, validation" in (spec.parent / "log.txt").read_text()
    assert json.loads((spec.parent / "checkpoints" / "index.json").read_text())["best"] == f"step-{result['best_step']:09d}"


def test_two_runs_with_one_seed_have_the_same_bytes_and_another_seed_has_not(make_run):
    hashes = []
    for name, seed in (("ft-one", 42), ("ft-two", 42), ("ft-three", 43)):
        spec = make_run({"all.csv": small_reviews()}, run=name, seed=seed, epochs=1)
        assert run(str(spec), "local") == 0
        hashes.append({p: h for p, h in artifact_hashes(spec.parent).items() if p != "out/model/trainer.json"})  # it names the run
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
    from trainer.train import loop

    spec = make_run({"all.csv": small_reviews(200)}, epochs=50, max_minutes=1)
    monkeypatch.setattr(loop.Training, "_spent", lambda self: 10.0 * self.at.step)  # each step costs ten seconds
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["training"]["stopped"] == "time limit"
    assert result["training"]["steps"] == 7
    assert result["best_step"] in (5, 7)  # the end of the first epoch, and where the time was over


def test_training_stops_early_when_nothing_improves(make_run, schemas, monkeypatch):
    real, calls = Classes.summary, []

    def worse_every_time(*args):
        calls.append(1)
        return {**real(*args), "loss": float(len(calls))}

    monkeypatch.setattr(Classes, "summary", worse_every_time)
    spec = make_run({"all.csv": small_reviews()}, epochs=10, more_options="metric: loss")
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
            "finetune/earlier/manifest.json": MANIFEST,
            "finetune/earlier/predictions.csv": "review,sentiment\nx,y\n",
            "predictions.csv": "file,row,text,label,predicted,confidence\na,1,b,c,d,1\n",
        },
        epochs=1,
    )
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["data"]["files"] == ["my-dev.csv", "test.csv", "train/a.jsonl", "train/b.tsv"]
    assert result["data"]["rows"] == {"train": 110, "validation": 25, "test": 25}
    assert "empty_rows" in codes(result)
    ignored = next(e["choice"] for e in events_of(spec.parent) if e.get("what") == "ignored_files")
    assert {i.split(" (")[0] for i in ignored} == {
        *("prices.csv", "README.md", "notes.txt", "predictions.csv"),
        *("finetune/earlier/manifest.json", "finetune/earlier/predictions.csv"),
    }


def test_long_texts_are_cut_and_a_class_of_numbers_keeps_its_order(make_run, schemas):
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
    rows = "".join(f"{' '.join(words[: 3 + i % 7])} {words[i % 3]} {i},{(i % 3) * 5}\n" for i in range(90))
    spec = make_run({"data.csv": f"text,label\n{rows}{'word ' * 5000},0\n"}, epochs=1, max_length=700)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["model"]["labels"] == ["0", "5", "10"]
    assert result["model"]["max_length"] == 512
    assert result["data"]["truncated_share"] == pytest.approx(1 / 91, abs=1e-4)


def test_a_dry_run_checks_everything_and_trains_nothing(make_run, schemas):
    spec = make_run({"all.csv": small_reviews(200)}, dry_run=True)
    assert run(str(spec), "local") == 0
    result = check_files(spec.parent, schemas)
    assert result["kind"] == "check"
    assert result["estimate_seconds"] > 0
    assert sum(result["data"]["rows"].values()) == 200
    assert next(c for c in result["checks"] if c["code"] == "worker")["text"].startswith("A worker was started; it trains on CPU")
    assert {"class_imbalance", "worker"} <= {c["code"] for c in result["checks"]}
    assert result["versions"]["torch"]
    assert result["hardware"]["cores"] >= 1
    assert result["artifacts"] == []
    assert not (spec.parent / "checkpoints").exists()
    assert not {"progress", "eval", "checkpoint"} & {e["kind"] for e in events_of(spec.parent)}


def test_the_image_of_the_pod_is_recorded_with_the_versions(make_run, monkeypatch):
    monkeypatch.setenv("RAY_IMAGE", "registry.example.org/ray@sha256:00")
    spec = make_run({"flowers.csv": flowers()}, epochs=1)
    assert run(str(spec), "local") == 0
    versions = result_of(spec.parent)["versions"]
    assert versions["image"] == "registry.example.org/ray@sha256:00"
    assert {"python", "torch", "ray", "safetensors"} <= set(versions)


def test_unicode_survives_from_the_table_to_the_predictions(make_run, schemas):
    words = {"größer": "ß-Klasse", "東京": "地名", "🙂": 'emoji, "quoted"'}
    rows = "".join(f'"{word} text number {i} {word}","{label.replace(chr(34), chr(34) * 2)}"\n' for i in range(40) for word, label in words.items())
    spec = make_run({"größe.csv": f"text,label\n{rows}"}, epochs=1)
    assert run(str(spec), "local") == 0
    check_success(spec.parent, schemas)
    assert {r["label"] for r in predictions(spec.parent)} == set(words.values())
    assert {r["file"] for r in predictions(spec.parent)} == {"größe.csv"}


def test_no_cell_of_the_data_becomes_a_formula_in_a_spreadsheet(make_run):
    head, *rows = csv.reader(small_reviews(100).splitlines())
    hostile = [[i, f"@{review}", label.replace("positive", "=positive")] for i, review, label in rows]
    spec = make_run({"all.csv": table(head, hostile)}, epochs=1, more_options="id_column: id")
    assert run(str(spec), "local") == 0
    assert set(result_of(spec.parent)["model"]["labels"]) == {"=positive", "negative"}
    said = predictions(spec.parent)
    assert {r["label"] for r in said} == {"'=positive", "negative"}
    assert all(r["content"].startswith("'@") for r in said)
    assert all(r["id"].isdigit() for r in said)
    assert all(float(r["confidence"]) >= float(r["probability of label"]) for r in said)


@pytest.mark.parametrize("cell", ["", "-", "+", "-1.5", "+2", "-1e-5", "a=b", "5", 5, -2.5])
def test_cells_that_are_no_formula_stay_as_they_are(cell):
    assert escape_formula(cell) == cell


@pytest.mark.parametrize("cell", ["=1+1", "+A1", "-A1", "@SUM(A1)", "\tx", "\r=x", '=HYPERLINK("http://x")', "--"])
def test_cells_that_begin_like_a_formula_are_text(cell):
    assert escape_formula(cell) == "'" + cell


def test_nothing_of_the_product_names_a_machine_or_an_index():
    for file in [*TRAINER.rglob("*.py"), *TRAINER.glob("requirements*")]:
        text = file.read_text()
        if "tests" not in file.parts:
            assert "/tmp/" not in text, file
        assert "index-" + "url" not in text, file
        assert "pypi" + ".org" not in text, file
