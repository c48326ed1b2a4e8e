"""The starts of the script of a run, over all attempts: starts.json in the run folder."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from trainer.run_folder import files
from trainer.run_folder.lease import Lease
from trainer.script.sandbox import Ended

FILE = "starts.json"
SAVE_SECONDS = 10.0  # a start that is lost counts at most so much too little towards the time limit
_BYTES = 1 << 20
MAX_STARTS = 200  # in the list


@dataclass(frozen=True)
class Start:
    """One start: ``exit`` is that of result.json; without code and signal while it runs, and to the end if it was lost."""

    attempt: int
    start: int
    resumed_from: str | None
    seconds: float
    exit: dict


LOST: dict = {"code": None, "signal": None}


def exit_of(ended: Ended) -> dict:
    """The exit as in result.json."""
    return {"code": ended.code, "signal": ended.signal, **({"exceeded": ended.exceeded} if ended.exceeded else {})}


class Starts:
    """All starts of a run. ``begin`` adds one; it is on disk before the script runs."""

    def __init__(self, folder: Path, lease: Lease):
        self.path, self.lease = folder / FILE, lease
        self.list = _read(self.path)
        self.saved = 0.0

    @property
    def seconds(self) -> float:
        """That the script has run in all starts."""
        return sum(s.seconds for s in self.list)

    def begin(self, attempt: int, resumed_from: str | None) -> Start:
        number = 1 + max((s.start for s in self.list), default=0)
        self.list = [*self.list[-MAX_STARTS:], Start(attempt, number, resumed_from, 0.0, LOST)]
        self._save()
        self.saved = 0.0
        return self.list[-1]

    def tick(self, seconds: float) -> None:
        """Note how long the last start has run. The file is written every few seconds."""
        self.list[-1] = replace(self.list[-1], seconds=round(seconds, 3))
        if seconds - self.saved >= SAVE_SECONDS:
            self.saved = seconds
            self._save()

    def end(self, seconds: float, ended: Ended) -> None:
        self.list[-1] = replace(self.list[-1], seconds=round(seconds, 3), exit=exit_of(ended))
        self._save()

    def listed(self) -> list[dict]:
        return [asdict(s) for s in self.list]

    def _save(self) -> None:
        self.lease.write_json(self.path, self.listed())


def _read(path: Path) -> list[Start]:
    """The starts so far; none if the file is missing or damaged."""
    try:
        return [Start(**s) for s in files.read_json(path, _BYTES)]
    except (OSError, ValueError, TypeError):
        return []
