"""``python -m trainer.warm.pod ROLE``: the warm process of a pod whose cluster belongs to one run.

The pod starts it before Ray, so that it does the imports of its ROLE, driver or worker, while the cluster forms. Nobody replaces it: a run that
finds it dead or hanging starts cold. It ends with its pod.
"""

import io
import os
import sys

from trainer.warm import place

ADDRESS = ""  # the pod counts, not the address of its Ray, which is not there yet


def main(role: str) -> None:
    if not place.pod():
        sys.exit(f"{place.POD} must be set.")
    os.environ.update(place.COPYABLE)  # before NumPy is loaded
    from trainer.launch.work import ENVIRONMENT
    from trainer.warm import server

    os.environ.update(ENVIRONMENT)  # before torch and transformers are
    for output in (sys.stdout, sys.stderr):
        assert isinstance(output, io.TextIOWrapper)
        output.reconfigure(write_through=True)  # as PYTHONUNBUFFERED, which comes too late for this process
    server.main(str(place.socket(ADDRESS)), role)


if __name__ == "__main__":
    main(sys.argv[1])
