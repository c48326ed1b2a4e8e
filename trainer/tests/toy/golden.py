"""What a training and a prediction of signals write, kept for the tests of the service: it must show a kind of data that it does not know.

``python -m trainer.tests.toy`` writes the files again.
"""

import hashlib
import json
from pathlib import Path

from trainer.run import run

FOLDER = Path(__file__).parent / "golden"
TRAINING, PREDICTION = "ft-toy", "pr-toy"
FILES = {
    "result.json": f"{TRAINING}/result.json",
    "trainer.json": f"{TRAINING}/out/model/trainer.json",
    "prediction.json": f"{PREDICTION}/result.json",
}

MEASURED = {
    "node": "a-node", "seconds": 2.5, "estimate_seconds": 2.0, "cpu_seconds": 2.0, "samples_per_second": 1000.0,
    "peak_memory_bytes": 500_000_000, "file_memory_bytes": 200_000_000,
}  # fmt: skip


def made(volume: Path, training: str, asked: str) -> dict[str, dict]:
    """The documents of a training on the signals ``training`` and of a prediction for ``asked``, carried out below ``volume``."""
    runs = volume / "runs"
    _carry_out(runs / TRAINING, {"kind": "train", "parameters": {"epochs": 20}, "defaults": {"max_minutes": 60}}, "signals.toy", training)
    version = {"path": f"../{TRAINING}/out/model", "run": TRAINING, "name": "signals", "version": 1}
    _carry_out(runs / PREDICTION, {"kind": "predict", "parameters": {}, "defaults": {}, "model": version}, "new.toy", asked)
    documents = {name: json.loads((runs / file).read_text()) for name, file in FILES.items()}
    documents["result.json"]["hardware"] |= {"cpu": "A processor", "cores": 2, "memory_bytes": 8 << 30}
    for document in documents.values():
        _forget_the_machine(document)
    return documents


def shape(document) -> set[str]:
    """The places in a document that hold a value, with the sort of the value; the entries of a list count as one."""
    if isinstance(document, dict):
        return {f".{name}{place}" for name, value in document.items() for place in shape(value)}
    if isinstance(document, list):
        return {f"[]{place}" for value in document for place in shape(value)} or {"[]"}
    return {" number" if isinstance(document, (int, float)) and not isinstance(document, bool) else f" {type(document).__name__}"}


def _forget_the_machine(document) -> None:
    """Put the same into every part of ``document`` that differs from run to run."""
    for name, part in document.items() if isinstance(document, dict) else enumerate(document):
        if name in MEASURED:
            document[name] = MEASURED[name]
        elif isinstance(part, (dict, list)):
            _forget_the_machine(part)


def _carry_out(folder: Path, spec: dict, name: str, content: str) -> None:
    data = content.encode()
    (folder / "inputs").mkdir(parents=True)
    (folder / "inputs" / name).write_bytes(data)
    source = {"id": "file0", "name": name, "path": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    head = {"schema": 2, "run": folder.name, "attempt": 1, "dataset": {"id": "d1", "name": "Signals"}, "inputs": [source]}
    (folder / "spec.json").write_text(json.dumps({**head, **spec}))
    if run(str(folder / "spec.json"), "local") != 0:
        raise RuntimeError((folder / "log.txt").read_text())
