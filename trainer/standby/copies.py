"""A copy of the warm process: it takes the place of a driver or of a worker."""

import json
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
import traceback

from trainer.warm import wire

_pools: list = []  # the thread pools of the libraries, found before the fork


def prepare() -> None:
    """In the warm process: find the thread pools of the libraries that are loaded."""
    from threadpoolctl import ThreadpoolController

    _pools.append(ThreadpoolController())


def live(asker: socket.socket, request: dict, outputs: list[int]) -> None:
    """The life of a copy, right after the fork. Does not return."""
    code = 1
    try:
        _become(request, outputs)
        if _has_lost_its_gpus():
            os._exit(1)
        wire.send(asker, wire.GO, [json.dumps({"process": os.getpid()}).encode()])
        asker.settimeout(None)
        if wire.receive(asker) is None:  # the asker has given up, and starts its own process
            os._exit(0)
        code = {"drive": _drive, "work": _work}[request["do"]](asker, request)
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if request.get("do") == "drive":
            try:
                wire.send(asker, wire.EXIT, [str(code).encode()])
            except OSError:
                pass
        os._exit(code)


def _become(request: dict, outputs: list[int]) -> None:
    """Take over what makes a process of the asker's: environment, folder, outputs, signals, numbers of threads."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, output in zip((1, 2), outputs, strict=True):
        os.dup2(output, number)
        os.close(output)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.umask(request["mask"])
    os.chdir(request["folder"])
    random.seed()
    _pools[0].limit(limits=_threads())


def _has_lost_its_gpus() -> bool:
    """Whether an import in the warm process has used CUDA, which no copy can do after that."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda._is_in_bad_fork()


def _threads() -> int:
    """How many threads the libraries use in a process of this environment."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return int(text) if text.isdecimal() and int(text) else len(os.sched_getaffinity(0))


def _drive(asker: socket.socket, request: dict) -> int:
    from trainer.run import run

    threading.Thread(target=_end_with, args=(asker,), name="asker", daemon=True).start()
    return run(request["spec"], "ray")


def _end_with(asker: socket.socket) -> None:
    while wire.receive(asker) is not None:
        pass
    os._exit(1)


def _work(asker: socket.socket, request: dict) -> int:
    """Carry out the calls of the actor that this process works for, in the main thread, one after the other."""
    from trainer.launch.worker import Worker

    worker = Worker(**request["worker"])
    calls: queue.SimpleQueue = queue.SimpleQueue()
    writing = threading.Lock()

    def listen() -> None:
        while (message := wire.receive(asker)) is not None:
            kind, parts = message
            if kind == wire.PING:
                with writing:
                    wire.send(asker, wire.PONG)
            elif kind == wire.LEAVING:
                worker.leave()
            else:
                calls.put(parts)
        os._exit(1)

    threading.Thread(target=listen, name="actor", daemon=True).start()
    while True:
        kind, parts = _carry_out(worker, calls.get())
        with writing:
            wire.send(asker, kind, parts)


def _carry_out(worker, parts: list) -> tuple[int, list]:
    try:
        return wire.RESULT, worker.call(parts)
    except Exception as e:
        traceback.print_exc()
        try:
            return wire.ERROR, wire.pack(e)
        except Exception:  # some errors hold what cannot be sent
            return wire.ERROR, wire.pack(RuntimeError(f"{type(e).__name__}: {e}"))
