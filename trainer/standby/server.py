"""The warm process of a machine: it does the slow imports once, and forks a copy of itself for each process of a run.

It has one thread, so that a fork is safe, and it runs nothing for a user: a copy does, and ends. The connection over which a copy was
asked for belongs to the asker's life: when it is closed, the copy is ended, also while it sleeps. Copies outlive this process.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from pathlib import Path

from trainer import gc_pause
from trainer.core import registry
from trainer.standby import copies
from trainer.warm import place, wire

IDLE_SECONDS = 2 * 3600.0  # without a copy, after which this process ends
REQUEST_SECONDS = 1.0  # to send a request, so that no asker keeps others waiting
MAX_REQUEST = 4 << 20

# What they import, as far as importing it starts no thread. Drivers do without torch.
DRIVER = (
    "ray", "ray.util.placement_group", "ray.util.scheduling_strategies", "pandas", "sklearn.linear_model", "sklearn.feature_extraction.text",
    "sklearn.metrics", "scipy.stats", "trainer.run", "trainer.training.prepare", "trainer.data", "trainer.data.sources",
    "trainer.kinds.graph.reading.detect", "trainer.training.search_setup", "trainer.training.baseline", "trainer.training.candidates",
    "trainer.predict", "trainer.kinds.text.words", "trainer.kinds.rows.reading", "trainer.kinds.rows.prediction", "trainer.kinds.tokens.reading",
    "trainer.kinds.image.encoder", "trainer.kinds.image.results", "trainer.kinds.tokens.encoder",
    "trainer.launch.ray_launcher", "trainer.measure.curves",
)  # fmt: skip
WORKER = (
    "torch", "torch.distributed", "safetensors.torch", "transformers", "tensorboardX", "trainer.launch.worker", "trainer.train.loop",
    "trainer.train.evaluate", "trainer.train.frozen", "trainer.train.shared_memory", "trainer.models.transformer", "trainer.kinds.graph.inference",
    *(f"{type(kind).__module__.rpartition('.')[0]}.network" for kind in registry.kinds().values()),
    *(kind.library for kind in registry.kinds().values() if kind.library),
)  # fmt: skip
MODULES = {"": (*DRIVER, *WORKER), "driver": DRIVER, "worker": WORKER}  # by the role of the machine; any process of a run where it has none


def main(path: str, role: str = "") -> None:
    """Serve at ``path``. A warm process with a ``role`` has no keeper: it ends with its pod."""
    listening = _listen(Path(path))
    held = place.hold(Path(path)) if role else None
    with gc_pause.importing():
        for name in MODULES[role]:
            try:
                importlib.import_module(name)
            except ImportError as e:  # the run that needs it says so better
                print(f"The warm process starts without {name}: {e}", flush=True)
        copies.prepare()
        gc.collect()  # what stays is not scanned in copies, which would write to memory that they share
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        sys.exit(f"A warm process has {threads} threads: it cannot be copied safely.")
    server = Server(listening, held)
    listening.listen(64)
    print("A warm process is ready.", flush=True)
    try:
        server.serve()
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _listen(path: Path) -> socket.socket:
    """A socket at ``path`` that nobody can connect to yet."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not place.is_private(path.parent):
        sys.exit("The folder of warm processes can be entered by others.")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    return listening


class Server:
    """Forks copies until the keeper, which holds the other end of the standard input, is gone or nobody has come for IDLE_SECONDS.

    Without a keeper, ``held`` is the handle of ``place.hold``.
    """

    def __init__(self, listening: socket.socket, held: int | None):
        self.listening, self.held = listening, held
        self.copies: dict[int, tuple[int, socket.socket]] = {}  # by the handle of the process: its id, and the connection of its asker
        self.poll = select.poll()
        self.poll.register(listening, select.POLLIN)
        if held is None:
            self.poll.register(sys.stdin.fileno(), select.POLLIN)
        self.used = time.monotonic()

    def serve(self) -> None:
        while self.copies or time.monotonic() - self.used < IDLE_SECONDS:
            for handle, _ in self.poll.poll(1000 * 60):
                if handle == self.listening.fileno():
                    self._accept()
                elif handle == sys.stdin.fileno():
                    return
                elif handle in self.copies:
                    self._end(handle)
                else:
                    self._ended_asker(handle)

    def _accept(self) -> None:
        asker, _ = self.listening.accept()
        keep = False
        try:
            asker.settimeout(REQUEST_SECONDS)
            request, outputs = _request(asker)
            if request["do"] == "ping":
                wire.send(asker, wire.PONG)
                return
            self._fork(asker, request, outputs)
            keep = True
        except (OSError, ValueError, KeyError, TypeError) as e:
            print(f"A request for a warm process was not understood: {e}", flush=True)
        finally:
            if not keep:
                asker.close()

    def _fork(self, asker: socket.socket, request: dict, outputs: list[int]) -> None:
        self.used = time.monotonic()
        process = os.fork()
        if process == 0:
            self.forget()
            copies.live(asker, request, outputs)
        for output in outputs:
            os.close(output)
        handle = os.pidfd_open(process)
        self.copies[handle] = process, asker
        self.poll.register(handle, select.POLLIN)
        self.poll.register(asker, select.POLLRDHUP)

    def forget(self) -> None:
        """In a copy: close everything that belongs to this process and to other copies. Their askers would not be seen to end otherwise."""
        self.listening.close()
        if self.held is not None:
            os.close(self.held)
        for handle, (_, asker) in self.copies.items():
            os.close(handle)
            asker.close()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def _ended_asker(self, asked: int) -> None:
        for handle, (_, asker) in self.copies.items():
            if asker.fileno() == asked:
                self.poll.unregister(asked)
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)

    def _end(self, handle: int) -> None:
        """A copy has ended."""
        process, asker = self.copies.pop(handle)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(KeyError):
            self.poll.unregister(asker)
        with contextlib.suppress(OSError):  # one that was killed, or ended at once, could not say so itself
            wire.send(asker, wire.EXIT, [str(status if status >= 0 else 128 - status).encode()])
        self.poll.unregister(handle)
        asker.close()
        os.close(handle)
        self.used = time.monotonic()


def _request(asker: socket.socket) -> tuple[dict, list[int]]:
    head, outputs, _, _ = socket.recv_fds(asker, 8, 2)
    try:
        (size,) = struct.unpack("<Q", head)
        if size > MAX_REQUEST:
            raise ValueError("it is too large")
        body = b""
        while len(body) < size:
            more = asker.recv(size - len(body))
            if not more:
                raise ValueError("it is cut off")
            body += more
        request = json.loads(body)
        if request["do"] != "ping" and len(outputs) != 2:
            raise ValueError("it names no outputs")
    except (struct.error, ValueError, KeyError) as e:
        for output in outputs:
            os.close(output)
        raise ValueError(str(e)) from e
    return request, outputs


if __name__ == "__main__":
    main(*sys.argv[1:])
