"""One run of the trainer of a checkout: its folder, its spec.json, its process, and the hashes of what it wrote."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

TIMEOUT_SECONDS = 900
# The defaults of the short form, as the service writes them.
_DEFAULTS = {
    "task": "auto", "model": "auto", "data_file": "", "text_column": "", "label_column": "", "epochs": 3, "batch_size": 32,
    "learning_rate": 0, "max_length": 0, "num_workers": 0, "use_gpu": "auto", "max_minutes": 60, "seed": 42, "run_name": "",
}  # fmt: skip
_OF_EVERY_RUN = {"use_gpu": "no", "cpus_per_worker": 1}


def write_spec(trainer: Path, folder: Path, kind: str, settings: dict, files: dict, versions: dict | None = None) -> Path:
    """Write the inputs and spec.json of a run into ``folder``, in the newest form that this function and the checkout ``trainer`` know.

    ``versions`` are the entries ``model`` or ``champion``. This is the only place that knows the form of spec.json.
    """
    inputs = []
    for number, (name, content) in enumerate(files.items()):
        data = content.encode() if isinstance(content, str) else content
        target = folder / "inputs" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        inputs.append({"id": f"file{number}", "name": name, "path": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    schema = json.loads((trainer / "trainer" / "schema" / "spec.schema.json").read_text())["properties"]["schema"]
    settings = _OF_EVERY_RUN | settings
    options = {
        2: {"parameters": settings, "defaults": _DEFAULTS if kind == "train" else {}},
        3: {"settings": {name.rpartition(".")[2]: value for name, value in settings.items()}, "sources": {}},
    }
    known = set(schema.get("enum", [schema.get("const")])) & options.keys()
    if not known:
        raise SystemExit(f"The trainer of {trainer} reads spec.json with {schema}; teach write_spec in {__file__} to write it.")
    spec = {
        "schema": max(known), "kind": kind, "run": folder.name, "attempt": 1, "dataset": {"id": "d1", "name": "A dataset"},
        **options[max(known)], "inputs": inputs, **(versions or {}),
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec, indent=1))
    return folder / "spec.json"


def start(trainer: Path, spec: Path, launcher: str) -> subprocess.Popen:
    """Start the run as the service does, with one thread and nothing of this process's environment that could change what it does."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    env = {**kept, **threads, "PYTHONPATH": str(trainer), "RAY_ADDRESS": "local", "WARM_WORKERS": "0", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "trainer", "run", str(spec), "--launcher", launcher]
    with open(spec.parent / "printed.txt", "a") as printed:
        return subprocess.Popen(command, env=env, cwd=spec.parent, stdout=printed, stderr=subprocess.STDOUT)


def carry_out(trainer: Path, spec: Path, launcher: str) -> dict:
    """Run it to its end and describe it: exit code, hashes of the inputs and of what it wrote, and the seconds that it took."""
    began = time.monotonic()
    process = start(trainer, spec, launcher)
    try:
        code = process.wait(TIMEOUT_SECONDS)
    finally:
        process.kill()
    folder = spec.parent
    model = folder / "out" / "model"
    saved = sorted(model.rglob("*.safetensors"))
    return {
        "code": code,
        "inputs": _sha256_of_all(sorted(i["sha256"] for i in json.loads(spec.read_text())["inputs"])),
        "base": _sha256_of_all(sha256(f) for f in sorted((folder.parent.parent / "models").rglob("*")) if f.is_file()),
        "weights": {f.relative_to(model).as_posix(): sha256(f) for f in saved},
        "tensors": {f.relative_to(model).as_posix(): _sha256_of_tensors(f) for f in saved},
        "predictions": sha256(predictions) if (predictions := folder / "out" / "predictions.csv").exists() else "",
        "seconds": round(time.monotonic() - began, 1),
    }


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _sha256_of_tensors(file: Path) -> str:
    """As sha256, whatever the order of the names in the header: safetensors writes metadata in an order that changes from run to run."""
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    return hashlib.sha256(json.dumps(json.loads(data[8:start]), sort_keys=True).encode() + data[start:]).hexdigest()


def _sha256_of_all(hashes) -> str:
    return hashlib.sha256("".join(hashes).encode()).hexdigest()
