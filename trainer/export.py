"""The files that a run delivers, all below out/, and result.json, which says that they are complete."""

import csv
import io
import json
import shutil
from pathlib import Path

from trainer import card, files
from trainer.dataset import Dataset
from trainer.events import Events
from trainer.plan import Prepared
from trainer.spec import Spec
from trainer.work import Outcome

TASK, METRIC = "text-classification", "accuracy"
TEXT_LIMIT = 200  # characters of a text in predictions.csv
# What an installed model's tokenizer consists of, besides tokenizer.json, which is written anew.
_TOKENIZER_FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt")


def complete(spec: Spec, data: Dataset, prepared: Prepared, outcome: Outcome, workers: int, events: Events) -> dict:
    """Write everything that the worker did not, and result.json last. Returns the content of result.json.

    Killed before the end, it leaves no result.json, and the run may be started again.
    """
    out = spec.folder / "out"
    _tokenizer(prepared, out / "model")
    files.write_json(out / "model" / "labels.json", list(prepared.plan.labels))
    metrics = {"task": TASK, "metric": METRIC, "best_epoch": outcome.best_epoch, **outcome.reports}
    files.write_json(out / "metrics.json", metrics)
    files.write_text(out / "predictions.csv", predictions(data, outcome))
    result = _result(spec, data, prepared, outcome, workers, metrics, events)
    files.write_text(out / "model_card.md", card.text(spec, result))
    files.write_json(out / "manifest.json", _manifest(spec, prepared, outcome, result, events))
    result["artifacts"] = files.artifacts(spec.folder, out)
    files.write_json(spec.folder / "result.json", result)
    return result


def predictions(data: Dataset, outcome: Outcome) -> str:
    """predictions.csv: one line for each test row, in the order of the data."""
    lines = io.StringIO()
    table = csv.writer(lines, lineterminator="\n")
    table.writerow(["file", "row", "text", "label", "predicted", "confidence"])
    for row, predicted, confidence in zip(data.rows["test"], outcome.predicted, outcome.confidence, strict=True):
        text = " ".join(row.text.split())
        short = text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
        table.writerow([row.file, row.number, short, row.label, data.labels[predicted], f"{confidence:.4f}"])
    return lines.getvalue()


def _tokenizer(prepared: Prepared, folder: Path) -> None:
    """Write the tokenizer so that transformers loads it from ``folder``; texts are cut as they were in training."""
    tokenizer, base = prepared.tokenizer, prepared.base
    files.write_text(folder / "tokenizer.json", tokenizer.to_str(pretty=False))
    if base.folder is not None:
        for name in _TOKENIZER_FILES:
            if (base.folder / name).is_file():
                shutil.copyfile(base.folder / name, folder / name)
        return
    words = sorted(tokenizer.get_vocab().items(), key=lambda w: w[1])
    files.write_text(folder / "vocab.txt", "".join(f"{word}\n" for word, _ in words))
    settings = {
        "tokenizer_class": "BertTokenizerFast",
        "do_lower_case": True,
        "model_max_length": prepared.plan.max_length,
        **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")},
    }
    files.write_json(folder / "tokenizer_config.json", settings)


def _result(spec: Spec, data: Dataset, prepared: Prepared, outcome: Outcome, workers: int, metrics: dict, events: Events) -> dict:
    plan = prepared.plan
    return {
        "schema": 1,
        "run": spec.run,
        "attempt": spec.attempt,
        "task": TASK,
        "metric": METRIC,
        "best_epoch": outcome.best_epoch,
        "metrics": metrics,
        "model": {
            "base": plan.base,
            "from_scratch": plan.base_folder is None,
            "parameters": outcome.parameters,
            "labels": list(plan.labels),
            "max_length": plan.max_length,
        },
        "data": {
            "rows": {name: len(rows) for name, rows in data.rows.items()},
            "files": data.files,
            "text_columns": list(data.text_columns),
            "label_column": data.label_column,
            "labels": data.counts(),
            "truncated_share": round(prepared.truncated_share, 6),
        },
        "training": {
            "seed": plan.seed,
            "device": outcome.device,
            "workers": workers,
            "threads": outcome.threads,
            "seconds": outcome.seconds,
            "samples_per_second": outcome.samples_per_second,
            "peak_memory_bytes": outcome.peak_memory_bytes,
            "epochs": outcome.epochs,
            "learning_rate": outcome.learning_rate,
            "batch_size": plan.batch_size,
            "stopped": outcome.stopped,
        },
        "confusion": outcome.confusion,
        "versions": outcome.versions,
        "warnings": [*events.warnings, *outcome.warnings],
    }


def _manifest(spec: Spec, prepared: Prepared, outcome: Outcome, result: dict, events: Events) -> dict:
    """What it takes to do the run again: data by hash, settings as resolved, versions, seed, and why it was done so."""
    return {
        "schema": 1,
        "run": spec.run,
        "dataset": spec.dataset,
        "inputs": [{"name": i.name, "size": i.size, "sha256": i.sha256} for i in spec.inputs],
        "settings": {
            "task": TASK,
            "model": prepared.plan.base,
            "text_columns": result["data"]["text_columns"],
            "label_column": result["data"]["label_column"],
            "epochs": prepared.plan.epochs,
            "batch_size": prepared.plan.batch_size,
            "learning_rate": outcome.learning_rate,
            "max_length": prepared.plan.max_length,
            "num_workers": result["training"]["workers"],
            "device": outcome.device,
            "max_minutes": prepared.plan.max_minutes,
            "seed": prepared.plan.seed,
        },
        "rows": result["data"]["rows"],
        "versions": outcome.versions,
        "decisions": [*events.decisions, *outcome.decisions],
        "warnings": result["warnings"],
    }


def already_done(spec: Spec) -> bool:
    """Whether an earlier start finished this run: result.json is there and every file that it lists is as it says."""
    try:
        result = json.loads((spec.folder / "result.json").read_text(encoding="utf-8"))
        if result["run"] != spec.run or not result["artifacts"]:
            return False
        return all((spec.folder / a["path"]).stat().st_size == a["size"] and files.sha256(spec.folder / a["path"]) == a["sha256"] for a in result["artifacts"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
