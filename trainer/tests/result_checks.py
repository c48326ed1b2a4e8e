"""What every finished run must have kept of its promises, whatever it was to do."""

import csv
import hashlib
import itertools
import json
import math
import os
from pathlib import Path

from conftest import events_of
from PIL import Image

PHASES = ["start", "prepare", "train", "test", "export"]
LEFT_BY_NOBODY = {".pt", ".pth", ".bin", ".pkl", ".tmp"}
OF_A_MODEL = {
    "text": {"model.safetensors", "config.json", "trainer.json", "tokenizer.json"},
    "image": {"model.safetensors", "config.json", "trainer.json", "preprocessor_config.json"},
    "table": {"model.safetensors", "config.json", "trainer.json"},
    "language": {"trainer.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"},
}


OF_AN_ESTIMATOR = {"weights.safetensors", "config.json", "trainer.json"}


def result_of(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text())


def error_of(folder: Path) -> dict:
    return json.loads((folder / "error.json").read_text())


def codes(result: dict) -> list[str]:
    return [w["code"] for w in result["warnings"]]


def setting(result: dict, name: str) -> tuple:
    """Value and source of a setting as it was used."""
    return next((s["value"], s["source"]) for s in result["settings"] if s["name"] == name)


def blocks_of(result: dict, section: str) -> list[dict]:
    """The blocks of a section; empty where the result has no such section."""
    return next((s["blocks"] for s in result.get("sections", []) if s["title"] == section), [])


def facts_of(result: dict, section: str) -> dict[str, str]:
    return {f["name"]: f["value"] for b in blocks_of(result, section) for f in b.get("facts", [])}


def asked_of(prediction: dict) -> dict[str, str]:
    """What a prediction says of its question."""
    return {f["name"]: f["value"] for f in prediction.get("facts", [])}


def predictions(folder: Path) -> list[dict]:
    with open(folder / "out" / "predictions.csv", newline="") as f:
        return list(csv.DictReader(f))


def artifact_hashes(folder: Path) -> dict[str, str]:
    return {a["path"]: a["sha256"] for a in result_of(folder)["artifacts"]}


def weights(folder: Path) -> str:
    return result_of(folder)["model"]["weights_sha256"]


def check_training(folder: Path, schemas) -> dict:
    """What a training of any kind of data promises of its files; returns result.json."""
    result = check_files(folder, schemas)
    assert result["kind"] == "training"
    metrics = json.loads((folder / "out" / "metrics.json").read_text())
    schemas["metrics"].validate(metrics)
    assert metrics == result["metrics"]
    assert result["metric"] in metrics["validation"]
    assert (folder / "out" / "model" / "trainer.json").is_file()
    assert result["model"]["weights_sha256"] in {a["sha256"] for a in result["artifacts"] if a["path"].endswith(".safetensors")}
    _check_workers(result)
    return result


def check_success(folder: Path, schemas) -> dict:
    """Everything that a training on rows, files or sentences promises of its files; returns result.json."""
    result = check_training(folder, schemas)
    names = {a["path"].removeprefix("out/model/") for a in result["artifacts"] if a["path"].startswith("out/model/")}
    chosen = [c for c in result.get("candidates", []) if c["chosen"]]
    estimated = bool(chosen) and chosen[0]["sort"] == "estimator"
    assert [c["base"] for c in chosen] in ([], [result["model"]["base"]])
    of_it = OF_AN_ESTIMATOR if estimated else OF_A_MODEL[result["model"]["kind"]]
    assert of_it <= names
    learnt = next((n for n in ("adapter_model.safetensors", "head.safetensors") if n in names), None)
    weights_file = learnt or next((n for n in of_it if n.endswith(".safetensors")), "model.safetensors")
    assert result["model"]["weights_sha256"] == artifact_hashes(folder)[f"out/model/{weights_file}"]
    _check_metrics(result)
    _check_answers(folder, result)
    _check_events(folder, estimated)
    return result


def check_files(folder: Path, schemas) -> dict:
    """What all kinds of results have in common: valid, complete, and nothing left over."""
    result = result_of(folder)
    schemas["result"].validate(result)
    for event in events_of(folder):
        schemas["event"].validate(event)
    assert events_of(folder)[-1]["kind"] == "done"
    assert not (folder / "error.json").exists()
    listed = {a["path"] for a in result["artifacts"]}
    assert listed == {p.relative_to(folder).as_posix() for p in (folder / "out").rglob("*") if p.is_file()}
    for a in result["artifacts"]:
        data = (folder / a["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (a["size"], a["sha256"])
    for a in shown(result):
        with Image.open(folder / a["path"]) as image:
            assert (image.format, bool(a["title"])) == ("PNG", True)
            assert max(image.size) <= 4096 and a["size"] <= 4 << 20  # of what the service draws
    assert not [p for p in folder.rglob("*") if p.suffix in LEFT_BY_NOBODY and folder / "inputs" not in p.parents]
    return result


def shown(result: dict) -> list[dict]:
    """The files of a result that are pictures to be seen where the results are."""
    return [a for a in result["artifacts"] if a.get("shown")]


def _check_metrics(result: dict) -> None:
    rows = result["data"]["rows"]
    for split in ("train", "validation", "test"):
        for name, score in result["metrics"][split].items():
            # Of the training rows fewer may be measured: long texts can be left out, and of very many some are enough. A language model
            # from scratch is measured on the blocks of one stream.
            is_stream = result["task"] == "text-generation" and result["model"]["from_scratch"]
            assert score["n"] == rows[split] or (split == "train" and score["n"] > 0 and (is_stream or score["n"] < rows[split])), (split, name)
            assert score["low"] <= score["value"] + 1e-9, (split, name)
            assert score["value"] <= score["high"] + 1e-9, (split, name)
            assert all(map(math.isfinite, score.values())), (split, name)
    baselines = {b["name"]: b for b in result["metrics"]["baselines"]}
    if result["task"] == "text-generation":
        return
    assert set(baselines) == {"constant", "linear"}
    for baseline in baselines.values():
        assert set(baseline["test"]) & {"accuracy", "rmse", "f1_micro"}
        assert all(score["n"] == rows["test"] for score in baseline["test"].values())


def _check_workers(result: dict) -> None:
    """No worker says that it used more cores than there are: what it did before the training is not counted."""
    workers = result["training"]["per_worker"]
    assert [w["rank"] for w in workers] == list(range(result["training"]["workers"]))
    for w in workers:
        assert 0 < w["cpu_seconds"] <= os.cpu_count() * w["seconds"] + 0.1
        assert w["peak_memory_bytes"] > 50_000_000  # Python, numpy and torch alone are as large


def _check_answers(folder: Path, result: dict) -> None:
    """predictions.csv, the metrics and what the report shows say the same."""
    said, n = predictions(folder), result["data"]["rows"]["test"]
    assert len(said) == n
    if result["task"] == "text-generation":
        return
    assert ("regression" in result) == result["task"].endswith("regression")
    if result["task"].endswith("regression"):
        squares = [(float(r["label"]) - float(r["predicted"])) ** 2 for r in said]
        rmse = result["metrics"]["test"]["rmse"]["value"]
        assert math.isclose(math.sqrt(sum(squares) / n), rmse, rel_tol=1e-3)
        return
    right = sum(r["label"] == r["predicted"] for r in said)
    if result["task"].endswith("multi-label-classification"):
        assert math.isclose(right / n, result["metrics"]["test"]["exact_rows"]["value"])
        return
    assert math.isclose(right / n, result["metrics"]["test"]["accuracy"]["value"])
    confusion, labels = result["confusion"], result["model"]["labels"]
    assert [sum(row) for row in confusion] == [sum(r["label"] == label for r in said) for label in labels]
    assert sum(confusion[i][i] for i in range(len(labels))) == right
    wrong = {(r["file"], r["row"]) for r in said if r["label"] != r["predicted"]}
    assert {(m["file"], str(m["row"])) for m in result["mistakes"]} <= wrong


def _check_events(folder: Path, estimated: bool) -> None:
    events = events_of(folder)
    assert "not_measured" not in {e.get("code") for e in events}
    of_a_network = set() if estimated else {"progress", "best", "checkpoint"}
    assert {"phase", "decision", "eval", "resource"} | of_a_network <= {e["kind"] for e in events}
    last = max(i for i, e in enumerate(events) if e.get("phase") == "start")
    phases = [e["phase"] for e in events[last:] if e["kind"] == "phase"]
    assert [p for p, _ in itertools.groupby(phases)] == PHASES  # a worker that takes over trains again
