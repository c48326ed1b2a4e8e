"""Runs torchrun in the sandbox and passes on what each rank prints, so that lines of different ranks never mix.

As a program: clowder_ranks.py TORCHRUN… -- SCRIPT…. Each rank is this file again, which sends its output into a named pipe of its own and
becomes the script. The output arrives on standard output as frames: a header with rank and length, then the bytes.
"""

import os
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import threading

HEADER = struct.Struct(">4sHI")  # magic, rank, length
MAGIC = b"\0CLR"
LAUNCHER = 0xFFFF  # the rank of what torchrun itself prints
LEFT_SECONDS = 5.0  # for output that is still on its way when torchrun has ended


def main(argv: list[str]) -> int:
    at = argv.index("--")
    launcher, script = argv[:at], argv[at + 1 :]
    folder = tempfile.mkdtemp(prefix="ranks-")
    ranks = range(int(launcher[launcher.index("--nproc-per-node") + 1]))
    first = len(ranks) * int(launcher[launcher.index("--node-rank") + 1])
    pipes = {}
    for local in ranks:
        os.mkfifo(f"{folder}/{local}")
        # Open for reading and writing: neither side waits for the other, and the pipe does not end between two starts of a rank.
        pipes[os.open(f"{folder}/{local}", os.O_RDWR | os.O_NONBLOCK)] = first + local
    reading, writing = os.pipe()
    child = subprocess.Popen([*launcher, __file__, "--rank", folder, *script], stdin=subprocess.DEVNULL, stdout=writing, stderr=writing)
    os.close(writing)
    pipes[reading] = LAUNCHER
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda number, _: child.send_signal(number))
    ended = threading.Event()
    passing = threading.Thread(target=pass_on, args=(pipes, ended))
    passing.start()
    code = child.wait()
    ended.set()
    passing.join(LEFT_SECONDS)
    return code if code >= 0 else 128 - code


def pass_on(pipes: dict[int, int], ended: threading.Event) -> None:
    """Copy from all pipes to standard output until torchrun has ended and nothing is left."""
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while True:
            was_ended = ended.is_set()
            ready = selector.select(0.2)
            if not ready and was_ended:
                return
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fd)
                    continue
                send(pipes[key.fd], data)


def send(rank: int, data: bytes) -> None:
    data = HEADER.pack(MAGIC, rank, len(data)) + data
    while data:
        data = data[os.write(1, data) :]


def become_script(folder: str, script: list[str]) -> None:
    """Replace this process, one rank, by the script. Its output goes into its own pipe."""
    pipe = os.open(f"{folder}/{os.environ['LOCAL_RANK']}", os.O_WRONLY)
    os.dup2(pipe, 1)
    os.dup2(pipe, 2)
    os.close(pipe)
    os.execv(sys.executable, [sys.executable, "-u", *script])


if __name__ == "__main__":
    if sys.argv[1] == "--rank":
        become_script(sys.argv[2], sys.argv[3:])
    sys.exit(main(sys.argv[1:]))
