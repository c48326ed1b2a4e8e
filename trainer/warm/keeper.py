"""Keeps the warm process of a machine alive. It runs in a detached Ray actor without CPUs, and ends with it."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from trainer.environment import ENVIRONMENT
from trainer.memory import available
from trainer.warm import client, place

NEEDED_BYTES = 2_000_000_000  # of free memory: a warm process has 0.6 GB of its own, and must not be what makes trainings fail
LOOK_SECONDS = 5.0
SILENT_SECONDS = 20.0  # after which a warm process that does not answer is replaced
START_SECONDS = 180.0  # for its imports
SERVER = ("-B", "-m", "trainer.standby.server")
MAX_STARTS = 5  # of warm processes that end by themselves
# What Ray sets for this one process.
_OWN = ("RAY_JOB_ID", "RAY_RAYLET_PID", "RAY_JOB_CONFIG_JSON_ENV_VAR", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTHONBREAKPOINT")

# Of a container: its limit, what it uses, and the statistics that say how much of it is files that can go.
_CONTAINERS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat"),
)


def room() -> int:
    """The bytes of memory that are free on this machine and within its container, in which the head of Ray may run too."""
    free = available()
    for limit, used, statistics in _CONTAINERS:
        try:
            left = int(Path(limit).read_text()) - int(Path(used).read_text())
            files = dict(line.split() for line in Path(statistics).read_text().splitlines())
            free = min(free, left + int(files.get("inactive_file", 0)))
        except (OSError, ValueError):  # none of this kind, or no limit
            continue
    return free


class Keeper:
    """Starts the warm process, replaces it when it has died or hangs, and calls ``leave`` when it is no longer wanted."""

    def __init__(self, address: str, leave):
        self.address, self.leave = address, leave
        self.process: subprocess.Popen | None = None
        threading.Thread(target=self._keep, name="keeper", daemon=True).start()

    def _keep(self) -> None:
        try:
            for _ in range(MAX_STARTS):
                if room() < NEEDED_BYTES:
                    print("This machine has too little free memory for a warm process.", flush=True)
                    break
                self._start()
                self._watch()
                if self.process.returncode == 0:  # nobody has come for a while
                    break
        finally:
            self.leave()

    def _start(self) -> None:
        environment = {k: v for k, v in os.environ.items() if k not in _OWN}
        environment |= ENVIRONMENT | place.COPYABLE
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(place.ROOT), environment.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            [sys.executable, *SERVER, str(place.socket(self.address))],
            stdin=subprocess.PIPE, env=environment, cwd="/", start_new_session=True,
        )  # fmt: skip

    def _watch(self) -> None:
        """Wait until the process has ended; end it if it hangs."""
        silent_at = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LOOK_SECONDS)
                return
            if client.answers(self.address, LOOK_SECONDS):
                silent_at = time.monotonic() + SILENT_SECONDS
            elif time.monotonic() > silent_at:
                print("The warm process does not answer and is replaced.", flush=True)
                self.process.kill()
