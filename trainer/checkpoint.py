"""Checkpoints of a run: weights as safetensors, complete or not there at all.

A checkpoint is written into a temporary folder, synced and renamed; checkpoints/index.json is written after that, and only
what it lists counts. One checkpoint, the best so far, is kept.
"""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_model, save_model

from trainer import files


def save(folder: Path, model: torch.nn.Module, epoch: int, step: int, metrics: dict[str, float]) -> Path:
    """Save ``model`` as the best of the run. After it returns the checkpoint is on disk and listed; older ones are gone."""
    final = folder / f"epoch-{epoch:04d}"
    temporary = folder / f".{final.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    save_model(model, str(temporary / "model.safetensors"), metadata={"format": "pt"})
    files.write_json(temporary / "state.json", {"epoch": epoch, "step": step, "metrics": metrics})
    files.publish_folder(temporary, final)
    files.write_json(folder / "index.json", {"best": final.name, "checkpoints": [final.name]})
    for old in folder.glob("epoch-*"):
        if old != final:
            shutil.rmtree(old, ignore_errors=True)
    return final


def load_best(folder: Path, model: torch.nn.Module) -> dict:
    """Load the listed best weights into ``model`` and return their state (epoch, step, metrics)."""
    best = folder / json.loads((folder / "index.json").read_text(encoding="utf-8"))["best"]
    load_model(model, str(best / "model.safetensors"))
    return json.loads((best / "state.json").read_text(encoding="utf-8"))
