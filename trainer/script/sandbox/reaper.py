"""Holds a script that has no sandbox of its own: starts it, passes signals on, and ends all that it leaves behind.

Run as a program: ``python -I -S reaper.py CONTROL STATUS PROGRAM ARGUMENT...``. CONTROL is a pipe: the first byte starts the script, each
other byte is the number of a signal for it, and its end (the parent is gone) ends everything. STATUS receives the code of the end as a
line. Processes that leave the process group or the session of the script still belong to this process, because it adopts orphans.
It imports nothing of the project, so that it starts in milliseconds.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

_SET_NO_NEW_PRIVS, _SET_CHILD_SUBREAPER = 38, 36
_KILL_SECONDS = 30.0


def main(control: int, status: int, argv: list[str]) -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # programs with setuid bits give no rights
    for handle in (control, status):
        os.set_inheritable(handle, False)
    if not os.read(control, 1):
        return
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    default = [signal.SIGPIPE, signal.SIGXFSZ]  # Python ignores these for itself
    try:
        child = os.posix_spawnp(argv[0], argv, os.environ, setpgroup=0, setsigdef=default)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os.write(status, b"127\n")
        return
    ended = None
    while ended is None:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            os.read(woken, 512)
            ended = reaped(child)
        elif control in ready:
            numbers = os.read(control, 16)
            if not numbers:
                break
            for number in numbers:
                with contextlib.suppress(OSError):
                    os.kill(child, number)
    kill_all()
    with contextlib.suppress(OSError):
        os.write(status, f"{-signal.SIGKILL if ended is None else ended}\n".encode())


def reaped(child: int) -> int | None:
    """Collect processes that have ended. The code of ``child``, negative for a signal, if it is one of them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
    return code


def kill_all() -> None:
    """Stop all processes below this one, so that none starts another, then kill them, until there are none."""
    end = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < end:
        below = descendants()
        if not below:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.002)


def descendants() -> list[int]:
    found = children(os.getpid())
    for parent in found:  # grows while it is read
        found += children(parent)
    return found


def children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as listed:
                found += [int(child) for child in listed.read().split()]
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
