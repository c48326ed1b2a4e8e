"""The process of a worker, as its Ray actor sees it: a copy of the warm process, or the actor's own process."""

import os
import queue
import socket
import threading
from typing import Protocol

from trainer.warm import client, wire


class WorkerProcess(Protocol):
    def call(self, parts: list) -> list:
        """``launch.worker.Worker.call`` in this process."""

    def is_alive(self) -> bool:
        """True once the process has answered; it may never do so."""

    def leave(self) -> None:
        """Tell the worker that its machine is about to shut down."""


def create(address: str, warm: bool, worker: dict) -> WorkerProcess:
    """The process of a worker with these arguments on this machine of the Ray at ``address``."""
    if warm:
        try:
            return Copy(*client.start(address, {"do": "work", "worker": worker}, (1, 2)))
        except client.Unavailable as e:
            print(f"Worker {worker['rank']} starts cold: {e}.", flush=True)
    else:
        client.dismiss(address)
    return Own(worker)


class Own:
    """This process. It does its imports now."""

    def __init__(self, worker: dict):
        from trainer.launch.worker import Worker

        self.worker = Worker(**worker)

    def call(self, parts: list) -> list:
        return self.worker.call(parts)

    def is_alive(self) -> bool:
        return True

    def leave(self) -> None:
        self.worker.leave()


class Copy:
    """A copy of the warm process. This process ends when it does, so that Ray reports the loss; it ends when this process does."""

    def __init__(self, to: socket.socket, process: int):
        self.to, self.process = to, process
        self.answers: queue.SimpleQueue = queue.SimpleQueue()
        self.pongs: queue.SimpleQueue = queue.SimpleQueue()
        self.writing = threading.Lock()
        threading.Thread(target=self._listen, name="copy", daemon=True).start()

    def call(self, parts: list) -> list:
        self._send(wire.CALL, parts)
        kind, found = self.answers.get()
        if kind == wire.ERROR:
            raise wire.unpack(found)
        return found

    def is_alive(self) -> bool:
        self._send(wire.PING)
        return self.pongs.get()

    def leave(self) -> None:
        self._send(wire.LEAVING)

    def _send(self, kind: int, parts=()) -> None:
        try:
            with self.writing:
                wire.send(self.to, kind, parts)
        except OSError:
            os._exit(1)

    def _listen(self) -> None:
        while (message := wire.receive(self.to)) is not None and message[0] != wire.EXIT:
            kind, parts = message
            if kind == wire.PONG:
                self.pongs.put(True)
            else:
                self.answers.put((kind, parts))
        os._exit(1)
