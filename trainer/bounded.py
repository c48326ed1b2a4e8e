"""Running a helper program on untrusted input: with limits, without the environment of this process, and with a time limit."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence


class Failed(Exception):
    """The program was ended by a limit or a crash, or printed more than is read. The message is the end of a sentence: "it …"."""


class Crashed(Failed):
    """The program read or wrote memory that is not its own: what it was given is damaged, or made to do that."""


def run(arguments: Sequence[str], given: bytes, seconds: float, memory_bytes: int, output_bytes: int) -> bytes:
    """What Python prints with ``arguments`` and the standard input ``given``. Its exit code does not matter. Raises Failed.

    ``seconds`` limits its time and the time of its processor, ``memory_bytes`` its address space.
    """
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out:
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", "-W", "ignore", *arguments], stdin=stdin, stdout=out, stderr=subprocess.DEVNULL, env=environment, cwd="/"
        )
        try:
            limits = {resource.RLIMIT_AS: memory_bytes, resource.RLIMIT_FSIZE: output_bytes, resource.RLIMIT_CPU: int(seconds) + 1}
            for limit, value in {**limits, resource.RLIMIT_CORE: 0}.items():
                resource.prlimit(process.pid, limit, (value, value))
            code = process.wait(seconds)
        except (subprocess.TimeoutExpired, ProcessLookupError) as e:
            raise Failed("it took too long") from e
        finally:
            process.kill()
            process.wait()
        if -code in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL):
            raise Crashed(f"it was ended by signal {-code}")
        if code < 0:
            raise Failed(f"it was ended by signal {-code}")
        out.seek(0)
        return out.read(output_bytes)
