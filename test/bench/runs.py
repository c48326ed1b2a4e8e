"""Runs of the trainer in this process, for benchmarks that look at the results of many. The folder of the project must be in sys.path."""

import contextlib
import hashlib
import io
import json
import sys
from pathlib import Path

from trainer.run import run


def result(folder: Path, contents: dict[str, bytes], parameters: dict, kind: str = "train", model: str = "") -> dict:
    """result.json of one run in ``folder`` on files by their names, with the version in the folder ``model`` for a prediction. Ends the
    program with the log where the run fails."""
    (folder / "inputs").mkdir(parents=True)
    inputs = []
    for i, (name, content) in enumerate(contents.items()):
        (folder / "inputs" / str(i)).write_bytes(content)
        inputs.append({"id": str(i), "name": name, "path": str(i), "size": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    spec = {
        "schema": 2, "run": folder.name, "attempt": 1, "kind": kind, "dataset": {"id": "d", "name": "rows"}, "inputs": inputs,
        "parameters": parameters, "defaults": {"max_minutes": 60}, **({"model": {"run": "ft-1", "path": model}} if model else {}),
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(str(folder / "spec.json"), "local")
    if code:
        sys.exit(f"a run failed:\n{said.getvalue()}")
    return json.loads((folder / "result.json").read_text())
