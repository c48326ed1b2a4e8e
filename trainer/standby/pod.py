"""``python -m trainer.standby.pod ROLE``: the warm process of a pod whose cluster belongs to one run.

The pod starts it before Ray, so that it does the imports of its ROLE, driver or worker, while the cluster forms. Nobody replaces it: a run that
finds it dead or hanging starts cold. It ends with its pod.
"""

import io
import os
import socket
import sys
import time

from trainer.warm import place

ADDRESS = ""  # the pod counts, not the address of its Ray, which is not there yet
HEAD_SECONDS = 60.0  # of waiting for the head of Ray
LOOK_SECONDS = 0.1


def main(role: str) -> None:
    if not place.pod():
        sys.exit(f"{place.POD} must be set.")
    if role == "driver":
        await_head(os.environ.get("RAY_ADDRESS", ""))
    os.environ.update(place.COPYABLE)  # before NumPy is loaded
    from trainer.environment import ENVIRONMENT
    from trainer.standby import server

    os.environ.update(ENVIRONMENT)  # before torch and transformers are
    for output in (sys.stdout, sys.stderr):
        assert isinstance(output, io.TextIOWrapper)
        output.reconfigure(write_through=True)  # as PYTHONUNBUFFERED, which comes too late for this process
    server.main(str(place.socket(ADDRESS)), role)


def await_head(address: str) -> None:
    """Wait until the head of Ray listens at ``address``: all workers wait for it, and imports beside its start would delay it on busy cores.

    While the workers start, the head has nothing else to do. KubeRay sets the address in the pod; without one nobody waits.
    """
    host, _, port = address.rpartition(":")
    end = time.monotonic() + HEAD_SECONDS
    while port.isdecimal() and time.monotonic() < end:
        try:
            socket.create_connection((host, int(port)), timeout=1.0).close()
            return
        except OSError:
            time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1])
