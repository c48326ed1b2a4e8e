"""Running a helper program on untrusted input: with limits, without the environment of this process, and with a time limit."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence

_MEMORY_BYTES, _OUTPUT_BYTES = 3 << 30, 64 << 20


class Failed(Exception):
    """The program was ended by a limit or a crash, or printed more than is read."""


def run(arguments: Sequence[str], given: bytes, seconds: float) -> bytes:
    """What Python prints with ``arguments`` and the standard input ``given``. Its exit code does not matter. Raises Failed."""
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out:
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", "-W", "ignore", *arguments], stdin=stdin, stdout=out, stderr=subprocess.DEVNULL, env=environment, cwd="/"
        )
        try:
            limits = {resource.RLIMIT_AS: _MEMORY_BYTES, resource.RLIMIT_FSIZE: _OUTPUT_BYTES, resource.RLIMIT_CPU: int(seconds) + 1}
            for limit, value in limits.items():
                resource.prlimit(process.pid, limit, (value, value))
            code = process.wait(seconds)
        except (subprocess.TimeoutExpired, ProcessLookupError) as e:
            raise Failed("it took too long") from e
        finally:
            process.kill()
            process.wait()
        if code < 0:
            raise Failed(f"it was ended by signal {-code}")
        out.seek(0)
        return out.read(_OUTPUT_BYTES)
