"""Watches a script in its sandbox: one thread starts it, holds it to its limits, and waits for its end.

The thread matters: the kernel ends a sandbox with the thread that started it. So it lives as long as the script.
"""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
import traceback
from abc import ABC, abstractmethod

from trainer.config.jail import Jail, Limits
from trainer.errors import size_in_words
from trainer.script.sandbox import Ended, Exceeded, cgroup, watch

TICK_SECONDS = 0.25
DISK_SECONDS = 5.0
_SHARE = 20  # a look at the script takes at most one part of this of the time


class Launch(ABC):
    """How one kind of sandbox starts a script and reaches into it. Used by one thread, except ``signal`` and ``destroy``."""

    in_memory: tuple[str, ...] = ()  # folders inside whose files are in memory
    own_processes = 4  # processes and threads that are not of the script

    @abstractmethod
    def start(self, group: cgroup.Group | None) -> subprocess.Popen:
        """Start the script below its limits, inside ``group`` if there is one. Raises OSError or UserError; then nothing runs."""

    @abstractmethod
    def members(self) -> list[int]:
        """The processes of the sandbox, as this machine numbers them."""

    @abstractmethod
    def signal(self, number: int) -> None:
        """Send a signal to the script itself. Raises OSError."""

    @abstractmethod
    def destroy(self) -> None:
        """End every process in the sandbox. May be called again and from any thread."""

    @abstractmethod
    def outcome(self, status: int, killed: bool) -> tuple[int | None, int | None, str]:
        """The exit code and the signal of the script, and a text where the sandbox itself failed. ``status`` is of the launcher, and
        ``killed`` says whether ``destroy`` was called while it ran."""

    @abstractmethod
    def close(self) -> None:
        """Wait until nothing of the sandbox is left, and remove its temporary files."""


class Supervised:
    """A running script; see ``Running``."""

    def __init__(self, launch: Launch, jail: Jail):
        self._launch, self._jail, self._limits = launch, jail, jail.limits
        self._started, self._over = threading.Event(), threading.Event()
        self._failure: BaseException | None = None
        self._ended: Ended | None = None
        self._exceeded: Exceeded | None = None
        self._peak, self._cpu = 0, 0.0
        self._term_at: float | None = None
        self._killed = False
        self._look_at_disk = 0.0
        self._had = (0, 0)  # bytes and files before the start
        threading.Thread(target=self._keep, name="sandbox", daemon=True).start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure

    def signal(self, number: int) -> None:
        if not self._over.is_set():
            with contextlib.suppress(OSError):
                self._launch.signal(number)

    def kill(self) -> None:
        if not self._over.is_set():
            self._destroy()

    def poll(self) -> Ended | None:
        return self._ended

    def wait(self, seconds: float | None = None) -> Ended | None:
        self._over.wait(seconds)
        return self._ended

    def _keep(self) -> None:
        group = None
        try:
            folders = (self._jail.tree, self._jail.home)
            self._had = watch.disk(folders, 0)[:2]
            self._tree_device = os.stat(self._jail.tree).st_dev
            group = cgroup.make(self._limits, self._launch.own_processes)
            process = self._launch.start(group)
        except BaseException as error:
            self._failure = error
            with contextlib.suppress(Exception):
                self._launch.close()
            if group is not None:
                group.remove()
            self._started.set()
            return
        self._began = time.monotonic()
        self._look_at_disk = self._began + DISK_SECONDS
        self._started.set()
        try:
            self._ended = self._until_end(process, group)
        except BaseException as error:
            traceback.print_exc()  # for the log
            self._ended = Ended(None, signal.SIGKILL, None, f"The sandbox failed: {type(error).__name__}.")
        finally:
            self._over.set()

    def _until_end(self, process: subprocess.Popen, group: cgroup.Group | None) -> Ended:
        handle = os.pidfd_open(process.pid)
        try:
            ended = select.poll()
            ended.register(handle, select.POLLIN)
            pause = TICK_SECONDS
            while not ended.poll(pause * 1000):
                began = time.monotonic()
                self._look(group)
                pause = max(TICK_SECONDS, _SHARE * (time.monotonic() - began))
        finally:
            os.close(handle)
            self._launch.destroy()  # what the script has left behind; and all of it after an error of ours
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        code, number, text = self._launch.outcome(process.returncode, self._killed)
        self._launch.close()
        peak, cpu = max(self._peak, used.ru_maxrss << 10), max(self._cpu, used.ru_utime + used.ru_stime)
        if group is not None:
            if code != 0 and self._exceeded is None:
                self._exceeded = "memory" if group.out_of_memory() else "processes" if group.out_of_processes() else None
            peak = group.peak_memory() or peak
            group.remove()
        return Ended(code, number, self._exceeded, sentence(self._exceeded, self._limits) or text, peak, cpu)

    def _look(self, group: cgroup.Group | None) -> None:
        """Compare what the script uses with its limits; end it where it uses more."""
        now, limits = time.monotonic(), self._limits
        if self._term_at is not None and now >= self._term_at:
            self._destroy()
        elif self._term_at is None and 0 < limits.seconds <= now - self._began:
            self._exceeded = self._exceeded or "time"
            self._term_at = now + limits.grace_seconds
            self.signal(signal.SIGTERM)
        pids = self._launch.members()
        self._cpu = max(self._cpu, watch.cpu_seconds(pids))
        if group is not None:
            if group.out_of_memory():
                self._end("memory")
        else:
            self._look_at_memory(pids)
            if 0 < limits.processes < watch.threads(pids) - self._launch.own_processes:
                self._end("processes")
        if now >= self._look_at_disk:
            self._look_at_files(pids)
            self._look_at_disk = time.monotonic() + max(DISK_SECONDS, _SHARE * (time.monotonic() - now))

    def _look_at_memory(self, pids: list[int]) -> None:
        files = watch.in_memory_files(pids[-1], self._launch.in_memory) if pids else 0
        own, shared = watch.memory(pids, max(0, self._limits.memory_bytes - files) or 1 << 62)
        self._peak = max(self._peak, own + max(shared, files))
        if 0 < self._limits.memory_bytes < own + max(shared, files):
            self._end("memory")

    def _look_at_files(self, pids: list[int]) -> None:
        limits = self._limits
        size, count, seen = watch.disk((self._jail.tree, self._jail.home), self._had[1] + limits.files + 1 if limits.files else 0)
        if not seen or 0 < limits.files < count - self._had[1]:
            self._end("files")
        size += watch.deleted_files(pids, self._tree_device) - self._had[0]
        if 0 < limits.disk_bytes < size or watch.free_bytes(self._jail.tree) < watch.FREE_BYTES:
            self._end("disk")

    def _end(self, exceeded: Exceeded) -> None:
        self._exceeded = self._exceeded or exceeded
        self._destroy()

    def _destroy(self) -> None:
        self._killed = True
        self._launch.destroy()


def sentence(exceeded: Exceeded | None, limits: Limits) -> str:
    """What the limit was, for the user; empty without one."""
    if exceeded is None:
        return ""
    return {
        "memory": f"The script needed more memory than the {size_in_words(limits.memory_bytes)} that it may use.",
        "processes": f"The script started more than the {limits.processes:,} processes and threads that it may use.",
        "disk": f"The script wrote more than the {size_in_words(limits.disk_bytes)} that it may use, or the disk is full.",
        "files": f"The script made more than the {limits.files:,} files that it may make, or nested them too deeply to be read.",
        "time": f"The script ran into its time limit of {_duration(limits.seconds)}.",
    }[exceeded]


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.3g} minutes" if seconds >= 120 else f"{seconds:.3g} seconds"
