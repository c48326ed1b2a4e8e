"""Asks the warm process of this machine for a copy of itself."""

import contextlib
import json
import os
import signal
import socket
import struct
import time

from trainer.warm import place, wire

ANSWER_SECONDS = 3.0  # after which a warm process counts as hanging
IMPORT_SECONDS = 60.0  # of waiting for the imports of the warm process of a pod, which began before this process
LOOK_SECONDS = 0.02
_ENDED = "the warm process of this machine has ended"
_OWNER = struct.Struct("3i")  # process, user and group at the other end of a socket


class Unavailable(Exception):
    """There is no warm process to have. The text says why, for the log."""


def start(address: str, job: dict, outputs: tuple[int, int]) -> tuple[socket.socket, int]:
    """A copy that does ``job`` with the environment, folder and user mask of this process, and writes to ``outputs``.

    Returns the connection to it and its process id. The copy ends when the connection is closed. Raises Unavailable.
    """
    try:
        return _start(address, job, outputs)
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise Unavailable(f"the warm process of this machine does not answer ({type(e).__name__})") from e


def answers(address: str, seconds: float) -> bool:
    """Whether the warm process of this machine answers."""
    try:
        _ping(address, seconds)
    except (OSError, Unavailable):
        return False
    return True


def dismiss(address: str) -> None:
    """End the warm process of this pod: its run does not use it, and needs its memory. Copies are left alone."""
    path = place.socket(address)
    if place.pod() and place.is_private(path.parent) and (process := place.holder(path)) is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)


def connected(address: str, seconds: float, import_seconds: float = 0.0) -> socket.socket:
    """A connection to the warm process. ``import_seconds`` is how many seconds it may still need for its imports."""
    path = place.socket(address)
    if not path.exists():
        raise Unavailable("this machine has no warm process")
    if not place.is_private(path.parent):
        raise Unavailable("others can enter the folder of the warm process")
    to = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        to.settimeout(seconds)
        _connect(to, path, import_seconds)
        _, user, _ = _OWNER.unpack(to.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _OWNER.size))
        if user != os.geteuid():
            raise Unavailable("the warm process is that of another user")
    except BaseException:
        to.close()
        raise
    return to


def _connect(to: socket.socket, path, import_seconds: float) -> None:
    end = time.monotonic() + import_seconds
    while True:
        try:
            return to.connect(str(path))
        except ConnectionRefusedError:  # it is dead, or not yet ready
            if time.monotonic() > end or place.holder(path) is None:
                raise
            time.sleep(LOOK_SECONDS)


def _start(address: str, job: dict, outputs: tuple[int, int]) -> tuple[socket.socket, int]:
    mask = os.umask(0o022)
    os.umask(mask)
    # A stopped process must not be sent the outputs: it would hold them open, and who reads them would wait for their end.
    _ping(address, ANSWER_SECONDS, IMPORT_SECONDS if place.pod() else 0.0)
    to = connected(address, ANSWER_SECONDS)
    try:
        _ask(to, {**job, "environment": dict(os.environ), "folder": os.getcwd(), "mask": mask}, outputs)
        ready = wire.receive(to)
        if ready is None:
            raise Unavailable(_ENDED)
        process = json.loads(bytes(ready[1][0]))["process"]
        to.settimeout(None)
        wire.send(to, wire.GO)  # a copy whose asker has given up does nothing
    except BaseException:
        to.close()
        raise
    return to, process


def _ping(address: str, seconds: float, import_seconds: float = 0.0) -> None:
    with connected(address, seconds, import_seconds) as to:
        _ask(to, {"do": "ping"}, ())
        if wire.receive(to) is None:
            raise Unavailable(_ENDED)


def _ask(to: socket.socket, job: dict, outputs: tuple[int, ...]) -> None:
    body = json.dumps(job).encode()
    socket.send_fds(to, [struct.pack("<Q", len(body))], list(outputs))
    to.sendall(body)
