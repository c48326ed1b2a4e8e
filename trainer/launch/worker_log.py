"""The log of a worker: everything that its process prints, in its own file on the shared volume.

The process writes to the file directly, so the log is complete even after a crash.
"""

import faulthandler
import os
import sys
from pathlib import Path

_redirected: list = []  # the file of this process, once it has one


class _Prefixed:
    """A text stream that begins every line with the worker's name."""

    def __init__(self, stream, prefix: str):
        self._stream, self._prefix, self._fresh = stream, prefix, True

    def write(self, text: str) -> int:
        for line in text.splitlines(keepends=True):
            self._stream.write((self._prefix if self._fresh else "") + line)
            self._fresh = line.endswith("\n")
        self._stream.flush()
        return len(text)

    def __getattr__(self, name: str):
        return getattr(self._stream, name)


def redirect(folder: Path, rank: int) -> None:
    """Redirect all output of this process to ``folder``/rank-<rank>.txt, including native code and the trace of a hard crash.

    Only for processes of workers. A second call changes nothing.
    """
    if _redirected:
        return
    folder.mkdir(parents=True, exist_ok=True)
    file = open(folder / f"rank-{rank}.txt", "a", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - open until the process ends
    _redirected.append(file)
    os.dup2(file.fileno(), 1)
    os.dup2(file.fileno(), 2)
    sys.stdout = sys.stderr = _Prefixed(file, f"[rank {rank}] ")
    faulthandler.enable(file)
