"""The machines of a cluster with those that its autoscaler can add."""

import json
import os

import ray

GROWS_TO = "CLUSTER_GROWS_TO"  # set by the service: {"workers": 3, "each": {"CPU": 1, "GPU": 0, "memory": 4294967296}}


def nodes() -> list[dict]:
    """The resources of the machines that are there, and of those that an autoscaler starts once workers ask for them. Needs a
    connection to Ray."""
    return grown([n["Resources"] for n in ray.nodes() if n["Alive"]], os.environ.get(GROWS_TO, ""))


def grown(present: list[dict], grows_to: str) -> list[dict]:
    """``present`` with the machines that are still missing of those in ``grows_to``, the value of ``CLUSTER_GROWS_TO``. A head without CPUs
    is none of them."""
    if not grows_to:
        return present
    wanted = json.loads(grows_to)
    missing = wanted["workers"] - sum(n.get("CPU", 0) > 0 for n in present)
    return present + [wanted["each"]] * max(0, missing)
