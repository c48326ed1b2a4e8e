"""Carries out a run in a copy of the warm process, for as long as this process lives."""

import json
import os
import select
import signal
import socket
import sys

from trainer.warm import client, place, wire

MAX_SPEC = 64 << 20
END_SECONDS = 60.0  # after the end of a copy, for the warm process to say its exit code


def run(spec: str) -> int | None:
    """The exit code of the run, or None where it has to be carried out in this process: scripts of users always are."""
    if not place.is_used() or not _is_ours(spec):
        return None
    try:
        to, process = client.start(os.environ.get("RAY_ADDRESS", ""), {"do": "drive", "spec": os.path.abspath(spec)}, (1, 2))
    except client.Unavailable as e:
        print(f"This program starts cold: {e}.", flush=True)
        return None
    with to:
        return _code(to, _handle(process))


def prepare_next(spec: str) -> None:
    """After a run in this process: let the machines get warm processes for the next one, unless they have them."""
    if not place.wanted() or not _is_ours(spec) or client.answers(os.environ["RAY_ADDRESS"], client.ANSWER_SECONDS):
        return
    from trainer.launch import connection

    try:
        connection.open()
        connection.close()
    except Exception as e:  # the run itself is over, and well
        print(f"No warm process could be requested: {type(e).__name__}.", flush=True)


def _is_ours(spec: str) -> bool:
    """Whether the run has no code of a user."""
    try:
        with open(spec, "rb") as file:
            return json.loads(file.read(MAX_SPEC))["kind"] in ("train", "predict")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False  # this process says what is wrong with it


def _handle(process: int) -> int | None:
    """A handle of the copy, to which SIGTERM is passed on from now; None for one that has ended."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return None

    def forward(*_) -> None:
        try:
            signal.pidfd_send_signal(handle, signal.SIGTERM)
        except ProcessLookupError:
            pass

    signal.signal(signal.SIGTERM, forward)
    return handle


def _code(to: socket.socket, handle: int | None) -> int:
    """The exit code of the copy. It says this itself; for one that was killed the warm process does, unless it hangs."""
    if handle is not None:
        _await(to, handle)
    to.settimeout(END_SECONDS)
    try:
        message = wire.receive(to)
    except TimeoutError:
        message = None
    if message is not None and message[0] == wire.EXIT:
        return int(bytes(message[1][0]))
    print("The warm process of this run was lost.", file=sys.stderr, flush=True)
    return 1


def _await(to: socket.socket, handle: int) -> None:
    """Wait until the copy or the warm process says something, or the copy has ended."""
    poll = select.poll()
    poll.register(to, select.POLLIN)
    poll.register(handle, select.POLLIN)
    poll.poll()
