"""Lets processes import modules without end, sends each SIGTERM at a random moment, and prints how many ended in which way, as JSON.

python terminated_imports.py TRIES SEED
"""

import collections
import importlib
import json
import os
import random
import select
import signal
import sys

from trainer import termination

MODULES = ("argparse", "csv", "difflib", "html.parser", "ipaddress", "smtplib", "tarfile", "xml.dom.minidom")
LONGEST_MILLISECONDS = 60  # until the signal
PATIENCE_SECONDS = 300.0
ENDED = 143


def main(tries: int, seed: int) -> None:
    sys.dont_write_bytecode = True  # as in drivers, which then compile what the volume has no compiled files of
    chance = random.Random(seed)
    ends = collections.Counter(one(chance.uniform(0, LONGEST_MILLISECONDS)) for _ in range(tries))
    print(json.dumps(ends))


def one(milliseconds: float) -> str:
    """How a process ends that gets SIGTERM after that time."""
    ready, says_ready = os.pipe()
    process = os.fork()
    if process == 0:
        with termination.listening():
            os.write(says_ready, b"x")
            import_without_end()
        os._exit(ENDED)
    os.close(says_ready)
    os.read(ready, 1)
    os.close(ready)
    handle = os.pidfd_open(process)
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    ended.poll(milliseconds)
    signal.pidfd_send_signal(handle, signal.SIGTERM)
    lost = not ended.poll(1000 * PATIENCE_SECONDS)
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    os.close(handle)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return "lost" if lost else "terminated" if status == ENDED else f"ended with {status}"


def import_without_end() -> None:
    while True:
        for name in MODULES:
            for known in [m for m in sys.modules if m.partition(".")[0] == name.partition(".")[0]]:
                del sys.modules[known]
            importlib.import_module(name)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
