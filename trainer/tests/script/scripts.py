"""Small scripts as users write them, and how to run one."""

import json
from pathlib import Path

from trainer import run

PRINTS = "print('step 1: loss 0.5')\n"
WRITES = """
import json, os
os.makedirs("out", exist_ok=True)
json.dump({"accuracy": 0.9, "note": "x"}, open("out/metrics.json", "w"))
open("model.txt", "w").write("weights")
"""
LIMIT_SECONDS = 300  # of a machine that many others use
SPEC = {"sandbox": "none", "check": "report", "limits": {}}


def spec_of(make_run, files: dict, limits: dict | None = None, sandbox: str = "none", checkpoint_seconds: float = 60, **parameters) -> Path:
    """The spec.json of a run."""
    script = {**SPEC, "sandbox": sandbox, "checkpoint_seconds": checkpoint_seconds, "limits": {"grace_seconds": 2, **(limits or {})}}
    more = {"script": script}
    return make_run(files, kind="script", more=more, **parameters)


def carry_out(spec: Path, code: int = run.OK) -> dict:
    """Run it here, and give the document that it leaves: result.json after a success, error.json otherwise."""
    assert run.run(str(spec), "local") == code
    return json.loads((spec.parent / ("result.json" if code == run.OK else "error.json")).read_text())


def log_of(spec: Path) -> str:
    return (spec.parent / "log.txt").read_text()
