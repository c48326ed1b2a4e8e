"""No sandbox: the script runs as a child of this process. For the code of trusted users, where the administrator allows it.

The environment is cleaned, the limits hold, and nothing outlives the run. Files, network and processes of the machine are open to it.
"""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from trainer.config.jail import HOME, RUN, Jail
from trainer.script.sandbox import cgroup, watch
from trainer.script.sandbox.supervise import Launch, Supervised

REAPER = Path(__file__).with_name("reaper.py")


class NoSandbox:
    name: str = "none"
    version: str = ""
    network: bool = True

    def refused(self) -> str | None:
        return None

    def has_places(self) -> bool:
        return False

    def start(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int) -> Supervised:
        """Start the script in its tree. There are no places inside: paths in ``argv`` and the environment become those of this machine."""
        return Supervised(Child(jail, argv, stdout, stderr), jail)


class Child(Launch):
    """A script below a reaper, which holds what the script starts."""

    def __init__(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int):
        self._jail, self._output = jail, (stdout, stderr)
        places = sorted(
            [(RUN, str(jail.tree)), (HOME, str(jail.home)), *((inside, str(there)) for there, inside in jail.reads)], key=lambda p: -len(p[0])
        )
        self._argv = [_here(word, places) for word in argv]
        self._environment = {name: _here(value, places) for name, value in jail.environment.items()}
        self._process: subprocess.Popen | None = None
        self._control = self._status = -1

    def start(self, group: cgroup.Group | None) -> subprocess.Popen:
        controlled, self._control = os.pipe()
        self._status, status = os.pipe()
        try:
            self._process = process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(REAPER), str(controlled), str(status), *self._argv],
                cwd=self._jail.tree,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=self._output[0],
                stderr=self._output[1],
                pass_fds=(controlled, status),
                start_new_session=True,
            )
        finally:
            os.close(controlled)
            os.close(status)
        try:
            self._restrict(process.pid, group)
            os.write(self._control, b"g")
        except BaseException:
            process.kill()
            process.wait()
            raise
        return process

    def members(self) -> list[int]:
        return watch.descendants(self._process.pid)

    def signal(self, number: int) -> None:
        os.write(self._control, bytes([number]))

    def destroy(self) -> None:
        """The reaper ends everything below it after the script itself."""
        if self._control >= 0:
            with contextlib.suppress(OSError):
                self.signal(signal.SIGKILL)

    def outcome(self, status: int, killed: bool) -> tuple[int | None, int | None, str]:
        said = os.read(self._status, 64).split()
        if not said:  # the script has killed the reaper
            return None, signal.SIGKILL, "The script ended the process that watches it."
        code = int(said[0])
        return (None, -code, "") if code < 0 else (code, None, "")

    def close(self) -> None:
        for handle in (self._control, self._status):
            if handle >= 0:
                os.close(handle)
        self._control = self._status = -1

    def _restrict(self, pid: int, group: cgroup.Group | None) -> None:
        limits = self._jail.limits
        if group is not None:
            group.add(pid)
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        if limits.file_bytes:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (limits.file_bytes, limits.file_bytes))
        if limits.processes and group is None:  # counted for the user on the whole machine
            most = limits.processes + watch.threads_of_user(os.geteuid())
            hard = resource.prlimit(pid, resource.RLIMIT_NPROC)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, resource.RLIMIT_NPROC, (most, most))
        with contextlib.suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "w") as score:
            score.write("1000")  # the kernel ends scripts before the services of the machine


def _here(text: str, places: list[tuple[str, str]]) -> str:
    for inside, there in places:
        text = text.replace(inside, there)
    return text
