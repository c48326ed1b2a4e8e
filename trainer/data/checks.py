"""The results of the checks before the training, including those that passed."""

import collections
from collections.abc import Iterable

from trainer.data.cut import Cut
from trainer.errors import some
from trainer.run_folder.events import Events


class Checks:
    """Collects the checks of the result, the rows that were left out, and how the test rows were chosen. A warning is also an event."""

    def __init__(self, events: Events):
        self.events = events
        self.entries: list[dict] = []
        self.dropped: list[tuple[str, int]] = []
        self.not_read: list[tuple[str, str]] = []  # names of files, each with the reason
        self.cut = Cut()

    def ok(self, code: str, text: str) -> None:
        self.entries.append({"code": code, "level": "ok", "text": text})

    def warning(self, code: str, text: str) -> None:
        self.entries.append({"code": code, "level": "warning", "text": text})
        self.events.warning(code, text)

    def drop(self, reason: str, rows: int) -> None:
        """Note that ``rows`` rows were left out."""
        if rows:
            self.dropped.append((reason, rows))

    def ignore(self, files: Iterable[tuple[str, str]]) -> None:
        """Note the names of the files of the dataset that are not read, each with the reason, and say so once."""
        self.not_read += files
        if self.not_read:
            listed = [f"{name} ({reason})" for name, reason in self.not_read]
            self.events.decision("ignored_files", listed[:1000], f"Not used: {by_reason(self.not_read)}.")


def by_reason(files: Iterable[tuple[str, str]]) -> str:
    """Names of files by the reason, for a sentence: some of each."""
    names = collections.defaultdict(list)
    for name, reason in files:
        names[reason].append(name)
    return "; ".join([f"{some(of, 3)} ({reason})" for reason, of in names.items()][:6])
