"""Messages between processes of one user on one machine, and values in parts.

A message is a kind of one byte and any number of parts. Large arrays of a value are parts of their own, so that they are not copied while
the value is pickled. Both ends are this program and the same user: pickles come from nobody else.
"""

import pickle
import socket
import struct
from collections.abc import Sequence

CALL, RESULT, ERROR, PING, PONG, LEAVING, GO, EXIT = b"crepolgx"  # the kinds
_HEAD = struct.Struct("<BI")
_SIZE = struct.Struct("<Q")


def pack(value) -> list:
    """``value`` as parts: its pickle, and the buffers of its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return [head, *(b.raw() for b in buffers)]


def unpack(parts: Sequence):
    """The value of ``parts``. Its arrays use their memory and cannot be changed, like those that Ray hands over."""
    return pickle.loads(parts[0], buffers=[memoryview(p).toreadonly() for p in parts[1:]])


def send(to: socket.socket, kind: int, parts: Sequence = ()) -> None:
    """Raises OSError if the other end is gone."""
    sizes = [memoryview(p).nbytes for p in parts]
    to.sendall(_HEAD.pack(kind, len(sizes)) + b"".join(_SIZE.pack(s) for s in sizes))
    for part in parts:
        to.sendall(part)


def receive(source: socket.socket) -> tuple[int, list] | None:
    """The next message; None where the other end is gone."""
    try:
        kind, count = _HEAD.unpack(_exactly(source, _HEAD.size))
        sizes = [_SIZE.unpack(_exactly(source, _SIZE.size))[0] for _ in range(count)]
        return kind, [_exactly(source, size) for size in sizes]
    except (EOFError, ConnectionError):
        return None


def _exactly(source: socket.socket, size: int) -> bytearray:
    found = bytearray(size)
    view = memoryview(found)
    while view:
        got = source.recv_into(view)
        if not got:
            raise EOFError
        view = view[got:]
    return found
