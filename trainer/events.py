"""events.jsonl: what the service and the user learn of a run while it goes on.

The driver writes events until it hands over to the workers and after they are done; in between, rank 0 does. There is thus
one writer at any time, which matters on network file systems, where appending is not atomic between machines. The file is
opened for every line: closing it is what makes a line visible to readers on other machines (NFS close-to-open).

A start that was overtaken finds that out before it writes. Should it be overtaken in that very moment, its last line stands among
those of the other start: a whole line of the same run, which readers take for a look back.
"""

import datetime
import json
import math
import os
import sys
from pathlib import Path

from trainer.errors import UserError
from trainer.lease import Lease


class Events:
    """Writes the events of one attempt, and prints those that a person wants to read in the log.

    Writing an event never fails a run by itself, except that a full disk is reported as such, and a lost lease as Overtaken.
    """

    def __init__(self, path: Path, attempt: int, lease: Lease | None = None):
        self.path, self.attempt, self.lease = path, attempt, lease
        self.warnings: list[dict] = []
        self.decisions: list[dict] = []

    def phase(self, phase: str, text: str) -> None:
        self._write("phase", phase=phase, text=text)
        _say(text)

    def decision(self, what: str, choice, why: str) -> None:
        self.decisions.append({"what": what, "choice": choice, "why": why})
        self._write("decision", what=what, choice=choice, why=why)
        _say(why)

    def warning(self, code: str, text: str) -> None:
        self.warnings.append({"code": code, "text": text})
        self._write("warning", code=code, text=text)
        _say(f"Warning: {text}")

    def resume(self, epoch: float, step: int, text: str) -> None:
        self._write("resume", epoch=epoch, step=step, text=text)
        _say(text)

    def progress(self, epoch: int, epochs: int, step: int, steps: int, **more: float) -> None:
        """Progress in steps of the whole training. ``more`` holds loss, learning_rate, samples_per_second and eta_seconds."""
        self._write("progress", epoch=epoch, epochs=epochs, step=step, steps=steps, fraction=min(1.0, step / steps), **_finite(more))

    def eval(self, epoch: float, step: int, split: str, metrics: dict[str, float]) -> None:
        self._write("eval", epoch=epoch, step=step, split=split, metrics=_finite(metrics))
        _say(f"Epoch {epoch:g}, {split}: " + ", ".join(f"{k} {v:.4f}" for k, v in metrics.items()))

    def best(self, epoch: float, step: int, metric: str, value: float) -> None:
        self._write("best", epoch=epoch, step=step, metric=metric, value=value)

    def checkpoint(self, epoch: float, step: int, path: str) -> None:
        self._write("checkpoint", epoch=epoch, step=step, path=path)

    def resource(self, device: str, workers: int, **more) -> None:
        self._write("resource", device=device, workers=workers, **more)

    def error(self, error: UserError) -> None:
        self._write("error", **error.fields())

    def done(self, seconds: float) -> None:
        self._write("done", seconds=round(seconds, 3))
        _say(f"Done after {seconds:.1f} s.")

    def _write(self, kind: str, **fields) -> None:
        now = datetime.datetime.now(datetime.UTC)
        time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": time, "attempt": self.attempt, "kind": kind, **fields}, ensure_ascii=False, allow_nan=False)
        if self.lease is not None:
            self.lease.check()
        _append(self.path, line.encode("utf-8") + b"\n")


def _append(path: Path, line: bytes) -> None:
    """Add a line, after ending one that a killed process began."""
    with open(path, "ab+") as f:
        if f.seek(0, os.SEEK_END):
            f.seek(-1, os.SEEK_END)
            line = line if f.read(1) == b"\n" else b"\n" + line
        f.write(line)


def _finite(values: dict[str, float]) -> dict[str, float]:
    """``values`` without those that JSON cannot hold, at a precision that a person and a chart can use."""
    return {k: float(f"{v:.6g}") for k, v in values.items() if v is not None and math.isfinite(v)}


def _say(text: str) -> None:
    print(text, file=sys.stdout, flush=True)
