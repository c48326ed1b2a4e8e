"""One start of a script in its sandbox: passing its output on, and ending it when its time is over or somebody asks for it."""

import contextlib
import os
import selectors
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from trainer.config.jail import Jail
from trainer.script import reasons
from trainer.script.lines import Lines
from trainer.script.sandbox import Ended, Running, Sandbox

HEADER, MAGIC, LAUNCHER = struct.Struct(">4sHI"), b"\0CLR", 0xFFFF  # as inside/clowder_ranks.py writes them
LOOK_SECONDS = 0.5  # between two looks at the requests to stop
LEFT_SECONDS = 2.0  # for output that is still in the pipe when the script has ended
LAUNCHER_BYTES = 1 << 16
_PIECE = 1 << 18
_PIPE_BYTES = 1 << 20

# keep: deliver what is there. pause: end, to be started again. leave: the same, but this machine is stopped within seconds.
Request = Literal["", "keep", "pause", "leave"]
LEAVE_SECONDS = 1.5
Stopped = Literal["user", "time", "paused", None]


@dataclass(frozen=True)
class Finished:
    """The end of one start: ``stopped`` says who ended it early, ``seconds`` how long it took."""

    ended: Ended
    stopped: Stopped
    seconds: float


def run(
    sandbox: Sandbox,
    jail: Jail,
    argv: Sequence[str],
    lines: Lines,
    framed: bool,
    requested: Callable[[], Request],
    tick: Callable[[float], None] = lambda seconds: None,
) -> Finished:
    """Run ``argv`` to its end and pass its output on to ``lines``. ``framed`` says that clowder_ranks.py has framed the output.

    The script is asked to end by SIGTERM when ``requested`` says so or after ``jail.limits.seconds``, and killed ``grace_seconds`` later.
    ``tick`` gets the seconds since the start about twice a second. If anything raises here, everything in the sandbox is killed.
    """
    reading, writing = os.pipe()
    with contextlib.suppress(OSError):
        import fcntl

        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    began = time.monotonic()
    try:
        running = sandbox.start(jail, argv, writing, writing)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    output = _Frames(lines) if framed else _Plain(lines)
    try:
        stopped = _pump(running, reading, jail, output, requested, tick, began)
        ended = running.wait(None)
        if stopped is None and ended.exceeded == "time":  # the sandbox looks more often
            stopped = "time"
        if ended.code != 0:
            output.end()
            if stopped is None and requested() in ("pause", "leave"):  # the same signal may have reached the sandbox at the same moment
                stopped = "paused"
        return Finished(ended, stopped, time.monotonic() - began)
    except BaseException:
        running.kill()
        running.wait(LEFT_SECONDS)
        raise
    finally:
        os.close(reading)


def _pump(running: Running, pipe: int, jail: Jail, output: "_Plain", requested, tick, began: float) -> Stopped:
    """Pass the output on until the script has ended. Returns who ended it early."""
    stopped: Stopped = None
    kill_at, look_at, quiet, over = float("inf"), began, False, False
    os.set_blocking(pipe, False)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            ready = selector.select(0.05 if over else LOOK_SECONDS)
            data = os.read(pipe, _PIECE) if ready else b""
            if ready and not data:
                return stopped  # every process that could print has ended
            output.feed(data) if data else None
            now = time.monotonic()
            if now < look_at:
                continue
            look_at = now + (LEFT_SECONDS / 20 if over else LOOK_SECONDS)
            if over and (not data or now > kill_at):
                return stopped
            if not over and running.poll() is not None:
                over, kill_at, look_at = True, now + LEFT_SECONDS, now
                continue
            if not data:
                output.idle() if not quiet else None
            quiet = not data
            tick(now - began)
            request = requested()
            if request == "leave":
                kill_at = min(kill_at, now + LEAVE_SECONDS)
            if stopped is None and (reason := _why(jail, request, now - began)):
                stopped, kill_at = reason, min(kill_at, now + jail.limits.grace_seconds)
                running.signal(signal.SIGTERM)
            if now > kill_at:
                running.kill()


def _why(jail: Jail, request: Request, seconds: float) -> Stopped:
    """Who wants the script to end now."""
    if request == "keep":
        return "user"
    if request:
        return "paused"
    return "time" if jail.limits.seconds and seconds > jail.limits.seconds else None


class _Plain:
    """The output of one process."""

    def __init__(self, lines: Lines):
        self.lines = lines

    def feed(self, data: bytes) -> None:
        self.lines.feed(data, 0)

    def idle(self) -> None:
        self.lines.idle()

    def end(self) -> None:
        """Call this when nothing more comes from a script that has failed."""


class _Frames(_Plain):
    """The output of several ranks in frames. What is no frame is shown as it is: a script can write to the pipe of others.

    What torchrun itself says is shown only if no rank has said why it failed: its report would hide that at the end of the log.
    """

    def __init__(self, lines: Lines):
        super().__init__(lines)
        self.rest = b""
        self.launcher = b""
        self.ranks: set[int] = set()

    def feed(self, data: bytes) -> None:
        self.rest += data
        for rank, part in self._parts():
            if rank == LAUNCHER:
                self.launcher = (self.launcher + part)[-LAUNCHER_BYTES:]
            else:
                self.ranks.add(rank)
                self.lines.feed(part, rank)

    def end(self) -> None:
        if self.launcher and not any(reasons.trace(self.lines.last(rank)) for rank in self.ranks):
            self.lines.feed(self.launcher, "launcher")

    def _parts(self) -> Iterator[tuple[int, bytes]]:
        while len(self.rest) >= HEADER.size:
            magic, rank, length = HEADER.unpack_from(self.rest)
            if magic != MAGIC or length > 1 << 20:
                at = self.rest.find(MAGIC, 1)
                at = len(self.rest) if at < 0 else at
                part, self.rest = self.rest[:at], self.rest[at:]
                yield LAUNCHER, part
                continue
            end = HEADER.size + length
            if len(self.rest) < end:
                return
            part, self.rest = self.rest[HEADER.size : end], self.rest[end:]
            yield rank, part
