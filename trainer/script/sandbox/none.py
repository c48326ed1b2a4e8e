"""No sandbox: the script runs as a child of this process. For the code of trusted users, where the administrator allows it."""

import contextlib
import os
import resource
import signal
import subprocess
import threading
from collections.abc import Sequence

from trainer.script.jail import HOME, RUN, Jail
from trainer.script.sandbox import Ended


class NoSandbox:
    name = "none"
    version = ""
    network = True

    def refused(self) -> str | None:
        return None

    def start(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int) -> "Child":
        """Start the script in its tree. There are no places inside: paths in ``argv`` and the environment become those of this machine."""
        places = sorted(
            [(RUN, str(jail.tree)), (HOME, str(jail.home)), *((inside, str(there)) for there, inside in jail.reads)], key=lambda p: -len(p[0])
        )
        environment = {name: _here(value, places) for name, value in jail.environment.items()}
        process = subprocess.Popen(
            [_here(word, places) for word in argv],
            cwd=jail.tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            close_fds=True,
        )
        return Child(process)


def _here(text: str, places: list[tuple[str, str]]) -> str:
    for inside, there in places:
        text = text.replace(inside, there)
    return text


class Child:
    """A process and its group."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        self.ended: Ended | None = None
        self.lock = threading.Lock()

    def signal(self, number: int) -> None:
        self._send(number)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def poll(self) -> Ended | None:
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> Ended | None:
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        with self.lock:
            if self.ended is None:
                self._send(signal.SIGKILL)  # what the script has left behind
                used = resource.getrusage(resource.RUSAGE_CHILDREN)
                exit = (code, None) if code >= 0 else (None, -code)
                self.ended = Ended(*exit, peak_memory_bytes=used.ru_maxrss * 1024, cpu_seconds=used.ru_utime + used.ru_stime)
        return self.ended

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)
