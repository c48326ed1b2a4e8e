"""events.jsonl: the progress of a run, for the service and the user.

The driver writes events before and after the work of the workers; in between, rank 0 does. So there is one writer at any time,
which matters on network file systems, where appending from several machines is not atomic. The file is opened for every line,
because closing it makes the line visible to readers on other machines (NFS close-to-open).

The service reads lines of up to 64 KiB and keeps a hundred warnings and a hundred decisions of an attempt. The writer stays below
these limits: texts and lists are cut, and warnings and decisions over the limits are only printed.

The lease is checked before every line. A start that loses its lease right after the check may add one last line between the lines
of the new start. It is a complete line of the same run, which readers accept.
"""

import datetime
import json
import math
import os
import sys
from pathlib import Path

from trainer.errors import UserError, one_line
from trainer.run_folder.lease import Lease

TEXT, WORD, ENTRIES = 600, 200, 100  # limits: characters of a sentence, characters of a name, entries of a list
MAX_NOTES, MAX_ALIKE = 50, 10  # warnings (or decisions) of one process in all, and of one kind
LINE_BYTES = 48 << 10
MAX_INTERVAL, INTERVAL_SHARE = 30.0, 0.001  # of progress events: seconds, and share of the elapsed time


class Events:
    """Writes the events of one attempt, and prints the important ones to the log.

    Raises OSError if the disk is full, and LeaseLost if another start has taken over.
    """

    def __init__(self, path: Path, attempt: int, lease: Lease | None = None):
        self.path, self.attempt, self.lease = path, attempt, lease
        self.warnings: list[dict] = []
        self.decisions: list[dict] = []

    def phase(self, phase: str, text: str) -> None:
        self._write("phase", phase=phase, text=one_line(text, TEXT))
        _say(text)

    def decision(self, what: str, choice, why: str) -> None:
        _say(why)
        decided = {"what": one_line(what, WORD), "choice": _cut(choice), "why": one_line(why, TEXT)}
        self._note(
            "decision", self.decisions, "what", decided, {"choice": "", "why": "There are more decisions of this kind; the log lists all of them."}
        )

    def warning(self, code: str, text: str) -> None:
        _say(f"Warning: {text}")
        warned = {"code": code, "text": one_line(text, TEXT)}
        self._note("warning", self.warnings, "code", warned, {"text": "There are more warnings of this kind; the log lists all of them."})

    def resume(self, epoch: float, step: int, text: str) -> None:
        self._write("resume", epoch=epoch, step=step, text=one_line(text, TEXT))
        _say(text)

    def progress(self, epoch: int | None, epochs: int | None, step: int | None, steps: int | None, **more: float) -> None:
        """Progress in steps of the whole training. ``more`` holds loss, learning_rate, samples_per_second and eta_seconds.

        For a script, what its output does not tell is None; then ``fraction`` is of the epochs, or absent.
        """
        known = {n: v for n, v in {"epoch": epoch, "epochs": epochs, "step": step, "steps": steps}.items() if v is not None}
        done = next(((at, of) for at, of in ((step, steps), (epoch, epochs)) if at is not None and of), None)
        share = {} if done is None else {"fraction": min(1.0, done[0] / done[1])}
        self._write("progress", **known, **share, **_finite(more))

    def eval(self, epoch: float | None, step: int | None, split: str, metrics: dict[str, float], printed: bool = False, model: str = "") -> None:
        """An evaluation. ``printed`` says that the log has it already, from a script; it may not know epoch and step. ``model`` names one of several
        models that are fitted at once, without epochs."""
        known = {n: v for n, v in {"epoch": epoch, "step": step}.items() if v is not None}
        self._write("eval", **known, **({"model": model} if model else {}), split=split, metrics=_finite(metrics))
        if not printed:
            what = model or ("Evaluation" if not epoch else f"Epoch {epoch:g}")
            _say(f"{what}, {split}: " + ", ".join(f"{k} {v:.4f}" for k, v in metrics.items()))

    def best(self, epoch: float, step: int, metric: str, value: float) -> None:
        self._write("best", epoch=epoch, step=step, metric=metric, value=value)

    def metrics(self, metric_info: list[dict]) -> None:
        """What the metrics of the evaluations are, once before the first."""
        self._write("metrics", metric_info=metric_info)

    def checkpoint(self, epoch: float, step: int, path: str) -> None:
        self._write("checkpoint", epoch=epoch, step=step, path=path)

    def trial(self, trial: int, trials: int, state: str, fraction: float, **more) -> None:
        """One trial of a search of ``trials`` trials: running, or what became of it. ``fraction`` is of the whole search."""
        texts = {n: one_line(v, TEXT) for n, v in more.items() if isinstance(v, str)}
        numbers = {n: v for n, v in more.items() if isinstance(v, int)}
        rest = _finite({n: v for n, v in more.items() if isinstance(v, float)})
        self._write("trial", trial=trial, trials=trials, state=state, fraction=min(1.0, round(fraction, 6)), **texts, **numbers, **rest)
        if state != "running":
            loss = f", validation loss {more['loss']:.4f}" if "loss" in more else ""
            _say(f"Trial {trial} ({more['settings']}): {state}{loss}.")

    def resource(self, device: str, workers: int, **more) -> None:
        self._write("resource", device=device, workers=workers, **more)

    def started(self, start: int, resumed_from: str = "") -> None:
        """A script begins its start number ``start`` of this run, with its files as they were in the checkpoint ``resumed_from``."""
        self._write("started", start=start, **({"resumed_from": one_line(resumed_from, TEXT)} if resumed_from else {}))

    def scalar(self, name: str, step: int, value: float) -> None:
        """One number that a script has reported. Written rarely: result.json has the whole series."""
        if math.isfinite(value):
            self._write("scalar", name=one_line(name, WORD), step=step, value=float(f"{value:.6g}"))

    def snapshot(self, path: str, size: int, step: int | None) -> None:
        """A complete checkpoint of a script was copied; ``path`` is its file or folder as the script calls it."""
        self._write("snapshot", path=one_line(path, TEXT), size=size, **({} if step is None else {"step": step}))

    def finding(self, id: str, file: str, line: int, severity: str, text: str) -> None:
        """One finding of the check of a script's code."""
        self._write("finding", id=id, file=one_line(file, WORD), line=line, severity=severity, text=one_line(text, TEXT))

    def error(self, error: UserError) -> None:
        self._write("error", **error.fields())

    def done(self, seconds: float) -> None:
        self._write("done", seconds=round(seconds, 3))
        _say(f"Done after {seconds:.1f} s.")

    def _note(self, kind: str, noted: list[dict], name: str, entry: dict, more: dict) -> None:
        """Keep and write an entry, up to the limits. The last entry within the limits gets the text ``more`` instead of its own."""
        alike = sum(n[name] == entry[name] for n in noted)
        if alike >= MAX_ALIKE or len(noted) >= MAX_NOTES:
            return
        if alike == MAX_ALIKE - 1 or len(noted) == MAX_NOTES - 1:
            entry = {**entry, **more}
        noted.append(entry)
        self._write(kind, **entry)

    def _write(self, kind: str, **fields) -> None:
        now = datetime.datetime.now(datetime.UTC)
        time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"time": time, "attempt": self.attempt, "kind": kind}
        line = _line({**head, **fields})
        if len(line) > LINE_BYTES and "choice" in fields:  # a list of very long names, or of names in multi-byte characters
            line = _line({**head, **fields, "choice": "too long to list"})
        if self.lease is not None:
            self.lease.check()
        _append(self.path, line)


def _append(path: Path, line: bytes) -> None:
    """Append a line. If a killed process left an incomplete line, end that one first."""
    with open(path, "ab+") as f:
        if f.seek(0, os.SEEK_END):
            f.seek(-1, os.SEEK_END)
            line = line if f.read(1) == b"\n" else b"\n" + line
        f.write(line)


def progress_interval(elapsed: float, least: float) -> float:
    """The seconds between two progress events after ``elapsed`` seconds. A job of a week writes about ten thousand events."""
    return max(least, min(MAX_INTERVAL, INTERVAL_SHARE * elapsed))


def _line(event: dict) -> bytes:
    text = json.dumps(event, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"  # a file name may contain an unpaired surrogate


def _cut(choice):
    """``choice`` with shortened texts and lists."""
    if isinstance(choice, str):
        return one_line(choice, WORD)
    if isinstance(choice, dict):
        return {one_line(str(name), WORD): _cut(value) for name, value in list(choice.items())[:ENTRIES]}
    if isinstance(choice, (list, tuple)):
        more = len(choice) - ENTRIES
        return [_cut(value) for value in choice[:ENTRIES]] + ([f"and {more} more"] if more > 0 else [])
    return choice


def _finite(values: dict[str, float]) -> dict[str, float]:
    """The finite entries of ``values``, rounded to six digits. JSON has no NaN and no infinity."""
    return {k: float(f"{v:.6g}") for k, v in values.items() if v is not None and math.isfinite(v)}


def _say(text: str) -> None:
    print(text, file=sys.stdout, flush=True)
