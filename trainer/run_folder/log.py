"""log.txt: a copy of everything that the driver prints, and that Ray prints for the workers, written immediately."""

import contextlib
import faulthandler
import sys
from pathlib import Path

# print() of Python 3.11 holds no reference to sys.stdout while it writes. A stream that is freed when the streams are restored
# crashes a thread that prints at that moment, so every stream that was installed is kept until the process ends.
_INSTALLED: list["_Tee"] = []


class _Tee:
    """A text stream that writes to another stream and, unbuffered, to the log, so that a crash loses nothing."""

    def __init__(self, stream, log):
        self._stream, self._log = stream, log
        _INSTALLED.append(self)

    def write(self, text: str) -> int:
        # A print must not fail the run because the disk is full or the log is already closed.
        with contextlib.suppress(OSError, ValueError):
            self._log.write(text.encode(errors="backslashreplace"))
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str):
        return getattr(self._stream, name)


@contextlib.contextmanager
def copied_to(path: Path):
    """Inside this context, standard output, standard error and the trace of a hard crash are also written to ``path``."""
    with open(path, "ab", buffering=0) as log:
        out, err = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _Tee(out, log), _Tee(err, log)
        faulthandler.enable(log)
        try:
            yield
        finally:
            faulthandler.disable()
            sys.stdout, sys.stderr = out, err
