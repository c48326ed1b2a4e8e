"""The files of the linear baseline, for users who prefer it. Plain tensors and JSON: a pickle of scikit-learn could run any code."""

import json
from pathlib import Path

from safetensors import numpy as safetensors

from trainer.measure.linear import Linear
from trainer.measure.tfidf import TfIdf
from trainer.run_folder import files


def save(folder: Path, linear: Linear, description: dict, tfidf: TfIdf | None = None) -> None:
    """Write weights.safetensors, config.json (``description`` beside the number of classes) and, for texts, terms.json."""
    folder.mkdir(exist_ok=True)
    files.write_bytes(folder / "weights.safetensors", safetensors.save({"weights": linear.weights, "bias": linear.bias}))
    files.write_json(folder / "config.json", {**description, "classes": linear.classes})
    if tfidf is not None:
        terms = dict(zip(tfidf.terms, tfidf.frequencies, strict=True))
        files.write_json(folder / "terms.json", {"texts": tfidf.texts, "word": tfidf.WORD, "terms": terms})


def load(folder: Path) -> tuple[Linear, dict, TfIdf | None]:
    """What ``save`` wrote: the model, the description, and for texts the terms in the order of the weights."""
    tensors = safetensors.load_file(folder / "weights.safetensors")
    description = json.loads((folder / "config.json").read_text("utf-8"))
    linear = Linear(tensors["weights"], tensors["bias"], description.pop("classes"))
    if not (folder / "terms.json").exists():
        return linear, description, None
    stored = json.loads((folder / "terms.json").read_text("utf-8"))
    return linear, description, TfIdf(list(stored["terms"]), list(stored["terms"].values()), stored["texts"])
