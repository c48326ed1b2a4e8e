"""How far an installed model is with the texts of nodes. It says before it starts how long that takes, a user can stop it, and a later start
of the run goes on where this one ended."""

import hashlib
import time
from pathlib import Path

import numpy

from trainer.errors import count
from trainer.run_folder import files, stop
from trainer.run_folder.events import Events, progress_interval
from trainer.run_folder.lease import Lease

FOLDER = "texts"  # in the run folder: the vectors of texts, in parts
INTERVAL_SECONDS = 3.0  # between two progress events, at the beginning
_SUM = hashlib.sha256().digest_size


class ReadingProgress:
    """Tells ``events`` of the reading, in the phase in which the data is prepared. ``folder`` is that of the run, and ``work`` that of this
    start, which has the lease."""

    def __init__(self, events: Events, folder: Path, work: Path):
        self.events, self.folder, self.lease = events, folder, Lease(work)
        self.began = self.last = time.monotonic()

    def kept(self, name: str, rows: int, width: int) -> numpy.ndarray | None:
        """The vectors (float32, rows x width) that an earlier start has kept under this name; None where it has not, or where they are damaged."""
        size = 4 * rows * width
        try:
            content = files.read_bytes(self._place(name), _SUM + size)
        except (OSError, ValueError):
            return None
        values = memoryview(content)[_SUM:]
        if len(values) != size or hashlib.sha256(values).digest() != content[:_SUM]:
            return None
        return numpy.frombuffer(values, "<f4").reshape(rows, width)

    def keep(self, name: str, vectors: numpy.ndarray) -> None:
        """Keep vectors (float32) under a name for a later start. They are on disk when this returns."""
        values = numpy.ascontiguousarray(vectors, "<f4").tobytes()
        made = self.lease.folder / f"{FOLDER}-{name}"
        files.write_bytes(made, hashlib.sha256(values).digest() + values)
        self.lease.publish(made, self._place(name))

    def _place(self, name: str) -> Path:
        return self.folder / FOLDER / name

    def begins(self, name: str, texts: int, kept: int, seconds: float) -> None:
        """The model ``name`` starts to read ``texts`` different texts, which will take about ``seconds``; ``kept`` others were read before."""
        from trainer.train.estimate import spelled  # torch, which reads the texts in any case

        text = f"{name} reads {count(texts, 'different text')} of nodes, which takes about {spelled(seconds)}."
        if kept:
            text += f" {count(kept, 'other')} {'was' if kept == 1 else 'were'} read by an earlier start of this run."
        self.events.decision("reading_seconds", round(seconds, 1), text)
        self.events.phase("prepare", text)
        self.began = self.last = time.monotonic()

    def read(self, done: int, of: int) -> None:
        """``done`` of ``of`` tokens are read. Raises UserError if the run is to stop."""
        stop.check(self.folder)
        now = time.monotonic()
        if done < of and now - self.last < progress_interval(now - self.began, INTERVAL_SECONDS):
            return
        self.last = now
        self.events.progress(None, None, done, of, eta_seconds=(of - done) * (now - self.began) / done)
        if done == of:
            self.events.phase("prepare", "The texts are read. Preparing the graph.")
