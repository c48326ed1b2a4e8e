"""What a script prints: bytes of pipes in, lines of log.txt and of the progress out.

A script prints anything: lines without an end, bars that are drawn over and over, bytes that are no UTF-8, sequences that move the cursor.
Memory stays bounded by one line for each source, and the time for a line does not depend on what is in it.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Hashable
from pathlib import Path

from trainer.run_folder.lease import Lease
from trainer.script.log_file import LogFile
from trainer.script.progress import Progress

LINE_BYTES = 16 << 10  # of a line; the rest of it is left out
BAR_SECONDS = 1.0  # between two stored states of a bar that is drawn over and over
UNDERSTOOD_PER_SECOND, LATEST = 200, 50  # lines that the progress sees at most; of a flood it sees the last ones of each second
UNDERSTANDING_SECONDS = 0.1  # of each second: a line that is made to be slow must not hold up the others
LAST_LINES = 60  # of each source, for error messages
_SOURCES = 1024  # more than any run has processes
# The sequences of a terminal (ECMA-48, and the titles of xterm), and all control characters besides tab and the ends of lines.
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n\r]{0,2048}(?:\x07|\x1b\\)?|[@-Z\\^_]|[ -/]{1,8}[0-~])?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_CONTROL_BYTES = bytes({*range(32), 127} - set(b"\t\n\r"))
_ENDS = re.compile(r"\r\n|\n|\r")
_DRAWN = re.compile(r"[\s─-╿▀-▟=+|*_.#-]*")


class Lines:
    """Writes what arrives into ``path``, at most ``limit`` bytes (0: no limit), and passes the lines on to ``progress``.

    ``feed`` takes the bytes of a source: the rank of a process, or any other name for one stream. With ``prefix``, a line begins with the
    source in brackets. ``count`` is the number of lines, ``dropped`` the number of bytes that are not in the file. States of a bar that
    the next state has replaced do not count as either. Only one thread may call it.
    """

    def __init__(
        self,
        path: Path,
        limit: int,
        progress: Progress | None = None,
        prefix: bool = False,
        lease: Lease | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.progress, self.prefix, self.clock = progress, prefix, clock
        self.count = 0
        self._log = LogFile(path, limit, lease)
        self._cut = 0
        self._sources: dict[Hashable, _Source] = {}
        self._waiting: deque[str] = deque(maxlen=LATEST)
        self._understood, self._spent, self._second = 0, 0.0, clock()

    @property
    def dropped(self) -> int:
        return self._log.dropped + self._cut

    def feed(self, data: bytes, rank: Hashable = 0) -> None:
        """Take the next bytes of ``rank``, in pieces of any size."""
        source = self._sources.get(rank)
        if source is None:
            if len(self._sources) >= _SOURCES:
                self._cut += len(data)
                return
            source = self._sources[rank] = _Source(f"[{rank}] " if self.prefix else "")
        self._write(source, self._complete(source, data))

    def idle(self) -> None:
        """Call this when nothing has arrived for about a second: what is shown at the moment, for example a bar, is understood now."""
        for source in self._sources.values():
            if source.rest and self.progress is not None:
                self.progress.line(_plain(bytes(source.rest)).strip("\r\n"))
        self._catch_up()

    def last(self, rank: Hashable = None) -> list[str]:
        """The last lines of ``rank``, or of the lowest one that printed anything, without those that only draw a frame or a bar."""
        if rank is None:
            rank = min((r for r, s in self._sources.items() if s.last), key=lambda r: (str(type(r)), r), default=0)
        source = self._sources.get(rank)
        return [line for line in source.last if not _DRAWN.fullmatch(line)] if source else []

    def close(self) -> None:
        """Write what has no end of line yet. Nothing may be fed afterwards."""
        for source in self._sources.values():
            if source.rest or source.bar is not None:
                self._write(source, (bytes(source.rest) or source.bar.encode("utf-8", "replace")) + b"\n")
                source.rest.clear()
        self._catch_up()
        self._log.close()

    def _complete(self, source: "_Source", data: bytes) -> bytes:
        """The complete lines in what ``source`` has sent. The rest is kept, up to the length of a line."""
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1  # the last \r may be the first half of \r\n
        if source.rest.endswith(b"\r") and data and not end and data[0] != 10:
            data, source.rest = bytes(source.rest) + data, bytearray()
            end = data.rfind(b"\r", 0, len(data) - 1) + 1
        if not end:
            source.rest += data
            self._cut_rest(source)
            return b""
        lines = bytes(source.rest) + data[:end]
        source.rest = bytearray(data[end:])
        self._cut_rest(source)
        return lines

    def _cut_rest(self, source: "_Source") -> None:
        if (more := len(source.rest) - LINE_BYTES) > 0:
            self._cut += more - source.rest.endswith(b"\r")
            source.rest = source.rest[:LINE_BYTES] + (b"\r" if source.rest.endswith(b"\r") else b"")

    def _write(self, source: "_Source", data: bytes) -> None:
        if not data:
            return
        text = _plain(data)
        out: list[str] = []
        shown: list[str] = []
        at = 0
        for found in _ENDS.finditer(text):
            line, at = text[at : found.start()], found.end()
            if found[0] == "\r":
                self._overwritten(source, line, out, shown)
                continue
            if source.bar is not None and not line:  # the bar stays: nothing has been drawn over it
                line = source.bar
            source.bar = None
            line = self._bounded(line)
            out.append(f"{source.prefix}{line}\n")
            shown.append(line)
        self.count += sum(line.endswith("\n") for line in out)
        source.last.extend(line for line in shown[-LAST_LINES:] if line.strip())
        self._log.write("".join(out).encode("utf-8", "replace"))
        self._understand(shown)

    def _overwritten(self, source: "_Source", line: str, out: list[str], shown: list[str]) -> None:
        """A line over which the next one is drawn: stored once in a while."""
        if not line.strip():  # a bar that is wiped out
            return
        line = self._bounded(line)
        shown.append(line)
        now = self.clock()
        if now - source.stored < BAR_SECONDS:
            source.bar = line
            return
        source.stored, source.bar = now, None
        out.append(f"{source.prefix}{line}\n")

    def _bounded(self, line: str) -> str:
        if len(line) * 4 <= LINE_BYTES or len(encoded := line.encode("utf-8", "replace")) <= LINE_BYTES:
            return line
        self._cut += len(encoded) - LINE_BYTES
        return encoded[:LINE_BYTES].decode("utf-8", "ignore")

    def _understand(self, lines: list[str]) -> None:
        if self.progress is None or not lines:
            return
        if (now := self.clock()) - self._second >= 1.0:
            self._catch_up()
            self._second = now
        for at, line in enumerate(lines):
            if self._understood >= UNDERSTOOD_PER_SECOND or self._spent >= UNDERSTANDING_SECONDS:
                self._waiting.extend(lines[max(at, len(lines) - LATEST) :])
                return
            self.progress.line(line)
            self._understood += 1
            now, before = self.clock(), now
            self._spent += now - before

    def _catch_up(self) -> None:
        """Let the progress see the last lines of a flood."""
        self._understood, self._spent = 0, 0.0
        while self._waiting:
            self.progress.line(self._waiting.popleft())


class _Source:
    """What one process has printed: the beginning of a line, the state of a bar that was not stored, and the last lines."""

    def __init__(self, prefix: str):
        self.prefix = prefix
        self.rest = bytearray()
        self.bar: str | None = None
        self.stored = float("-inf")
        self.last: deque[str] = deque(maxlen=LAST_LINES)


def _plain(data: bytes) -> str:
    """``data`` as text without the sequences and characters that control a terminal."""
    if data.isascii() and len(data) == len(data.translate(None, _CONTROL_BYTES)):  # nearly always, and much faster
        return data.decode("ascii")
    return _CONTROL.sub("", data.decode("utf-8", "replace"))
