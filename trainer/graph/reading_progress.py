"""How far an installed model is with the texts of nodes. It says before it starts how long that takes, and a user can stop it."""

import time
from pathlib import Path

from trainer.errors import count
from trainer.run_folder import stop
from trainer.run_folder.events import Events, progress_interval

INTERVAL_SECONDS = 3.0  # between two progress events, at the beginning


class ReadingProgress:
    """Tells ``events`` of the reading, in the phase in which the data is prepared. ``folder`` is that of the run."""

    def __init__(self, events: Events, folder: Path):
        self.events, self.folder = events, folder
        self.began = self.last = time.monotonic()

    def begins(self, name: str, texts: int, seconds: float) -> None:
        """The model ``name`` starts to read ``texts`` different texts, which will take about ``seconds``."""
        from trainer.train.estimate import spelled  # torch, which reads the texts in any case

        text = f"{name} reads {count(texts, 'different text')} of nodes, which takes about {spelled(seconds)}."
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
