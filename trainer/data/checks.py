"""The results of the checks before the training, including those that passed."""

from trainer.run_folder.events import Events


class Checks:
    """Collects the checks of the result and the rows that were left out. A warning is also an event."""

    def __init__(self, events: Events):
        self.events = events
        self.entries: list[dict] = []
        self.dropped: list[tuple[str, int]] = []

    def ok(self, code: str, text: str) -> None:
        self.entries.append({"code": code, "level": "ok", "text": text})

    def warning(self, code: str, text: str) -> None:
        self.entries.append({"code": code, "level": "warning", "text": text})
        self.events.warning(code, text)

    def drop(self, reason: str, rows: int) -> None:
        """Note that ``rows`` rows were left out."""
        if rows:
            self.dropped.append((reason, rows))
