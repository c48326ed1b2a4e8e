"""The driver's part of a large prediction: which rows make a part, which parts are missing, and how they are joined."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy

from trainer.config.options import options
from trainer.core import mapped
from trainer.core.apart import Apart
from trainer.core.columnar import alone
from trainer.core.example import Example
from trainer.core.kind import Kind
from trainer.export.answer_lines import Layout, Marks
from trainer.export.finished import Answered
from trainer.launch.pieces import Piece, Spreading
from trainer.parted.pieces import LINES, OUTPUTS, VERSIONS, LinesOf, OutputsOf, Question
from trainer.run_folder import files, parts, stop
from trainer.run_folder.events import Events, progress_interval

LEAST = 100_000  # rows from which a prediction is answered in parts
PART = 20_000  # rows of a part
FOLDER = "answers"  # in the run folder
_FORM = 1  # of the parts
_PROGRESS_SECONDS = 2.0


def are_many(kind: Kind, examples: Sequence[Example]) -> bool:
    """Whether these examples are answered in parts."""
    return len(examples) >= LEAST and isinstance(kind, Apart) and kind.answered_apart


class Parted:
    """A prediction in parts. ``examples`` are all rows, and ``truth`` their encoded targets."""

    def __init__(self, question: Question, examples: Sequence[Example], truth: numpy.ndarray, launcher: Spreading, events: Events):
        self.question = replace(question, spec=replace(question.spec, inputs=(), not_read=()))  # which travels with each part
        self.examples, self.truth, self.launcher, self.events = examples, truth, launcher, events
        self.folder = question.spec.folder
        self.digest = _digest(question, len(examples))
        self.cuts = [slice(start, min(len(examples), start + PART)) for start in range(0, len(examples), PART)]

    def outputs(self) -> tuple[numpy.ndarray, dict[str, str]]:
        """The outputs for all rows, and the versions of the libraries that gave them. Raises UserError."""
        missing = [n for n in range(len(self.cuts)) if parts.read(self._place(n, OUTPUTS), OUTPUTS) is None]
        self._spread((self._outputs_of(n) for n in missing), missing, told=True)
        found: numpy.ndarray | None = None
        for n, cut in enumerate(self.cuts):
            part = self._read(n, OUTPUTS, OUTPUTS)
            if found is None:
                found = numpy.empty((len(self.examples), *part.shape[1:]), part.dtype)
            found[cut] = part
        assert found is not None
        return found, json.loads(self._read(0, OUTPUTS, VERSIONS).tobytes())

    def table(self, layout: Layout, answered: Answered, marks: Marks | None) -> Iterator[str]:
        """The text of predictions.csv, part by part."""
        missing = [n for n in range(len(self.cuts)) if parts.read(self._place(n, LINES), LINES) is None]
        self._spread((self._lines_of(n, layout, answered, marks) for n in missing), missing, told=False)
        for n in range(len(self.cuts)):
            yield self._read(n, LINES, LINES).tobytes().decode("utf-8")

    def remove(self) -> None:
        """Remove the parts: the results are there."""
        self.events.lease.remove(self.folder / FOLDER)

    def _outputs_of(self, n: int) -> OutputsOf:
        cut = self.cuts[n]
        return OutputsOf(self.question, alone(self.examples[cut]), self.truth[cut], self._place(n, OUTPUTS))

    def _lines_of(self, n: int, layout: Layout, answered: Answered, marks: Marks | None) -> LinesOf:
        cut = self.cuts[n]
        part = replace(
            answered, examples=alone(answered.examples[cut]), outputs=answered.outputs[cut], truth=answered.truth[cut], known=answered.known[cut]
        )
        return LinesOf(layout, part, None if marks is None else marks[cut], n == 0, self._place(n, LINES))

    def _spread(self, pieces: Iterable[Piece], missing: list[int], told: bool) -> None:
        """Carry out ``pieces``, which are the parts ``missing``. Their progress is ``told`` where they are what a person waits for."""
        before, began = len(self.cuts) - len(missing), time.monotonic()
        last = began

        def tick(done: int) -> None:
            nonlocal last
            stop.check(self.folder)
            now = time.monotonic()
            if now - last < progress_interval(now - began, _PROGRESS_SECONDS):
                return
            last = now
            mapped.rest()
            if not told:
                return
            rows = min(len(self.examples), (before + done) * PART)
            rate = max(1e-6, done * PART / (now - began))
            left = (len(self.examples) - rows) / rate
            self.events.progress(1, 1, rows, len(self.examples), samples_per_second=rate, eta_seconds=left)

        if missing:
            self.launcher.spread(pieces, len(missing), tick)

    def _place(self, n: int, what: str) -> Path:
        return self.folder / FOLDER / f"{self.digest}-{n}.{what}"

    def _read(self, n: int, what: str, name: str) -> numpy.ndarray:
        found = parts.read(self._place(n, what), name)
        if found is None:
            raise OSError(f"part {n} of the answers is gone from the shared folder, or damaged")
        return found


def _digest(question: Question, rows: int) -> str:
    """Says which model answers which data by which settings, and how it is cut."""
    spec, model, known = question.spec, question.model, options("predict")
    weights = [[f.name, files.sha256(f)] for f in sorted(model.folder.iterdir()) if f.is_file()]
    chosen = {s["name"]: s["value"] for s in question.settings.listed() if s["name"] in known and known[s["name"]].decides(s["value"])}
    data = [[i.name, i.size, i.sha256] for i in spec.inputs]
    text = json.dumps([_FORM, weights, data, chosen, rows, PART], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
