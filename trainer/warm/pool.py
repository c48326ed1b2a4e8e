"""The warm processes of a Ray: one detached actor on each of at most WARM_WORKERS machines keeps one."""

import hashlib
import os
import sys

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from trainer.warm import place

NAMESPACE = "clowder-ray-warm"
MAX_RESTARTS = 10  # of a keeper that was lost


class KeeperActor:
    """Pickled by value: the process that Ray gives it does not know this package yet. It holds no CPU."""

    def __init__(self, root: str, environment: dict, address: str):
        os.environ.update(environment)
        sys.path.insert(0, root)
        sys.dont_write_bytecode = True
        from trainer.warm.keeper import Keeper

        own = ray.get_runtime_context().current_actor
        self.keeper = Keeper(address, lambda: ray.kill(own, no_restart=True))


def renew(environment: dict[str, str]) -> None:
    """Let each machine that should have a warm process get one, and end those of other versions. Returns at once. Needs a
    connection to Ray. ``environment`` is what the service has set for the processes of runs.

    Machines are chosen in an order that is the same for all, beginning with that of the head, where drivers run.
    """
    most = place.wanted()
    if not most:
        return
    address = os.environ["RAY_ADDRESS"]
    present = {n["name"] for n in ray.util.list_named_actors(all_namespaces=True) if n["namespace"] == NAMESPACE}
    nodes = sorted((n for n in ray.nodes() if n["Alive"]), key=lambda n: ("node:__internal_head__" not in n["Resources"], n["NodeID"]))[:most]
    wanted = {_name(node["NodeID"]): node["NodeID"] for node in nodes}
    for name in present - set(wanted):
        if name.startswith(_owner()):
            _end(name)
    for name in (n for n in wanted if n not in present):
        _begin(name, wanted[name], environment, address)


def _owner() -> str:
    """Names keepers of all versions of one service: their folders are side by side on its volume."""
    return hashlib.sha256(f"{os.environ['RAY_ADDRESS']}\0{place.ROOT.parent}".encode()).hexdigest()[:12]


def _name(node: str) -> str:
    version = hashlib.sha256(f"{place.ROOT}\0{place.ROOT.stat().st_ino}".encode()).hexdigest()[:12]
    return f"{_owner()}-{version}-{node}"


def _begin(name: str, node: str, environment: dict[str, str], address: str) -> None:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    options = {"name": name, "namespace": NAMESPACE, "lifetime": "detached", "num_cpus": 0, "max_restarts": MAX_RESTARTS}
    try:
        actor = ray.remote(KeeperActor).options(**options, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False))
        actor.remote(str(place.ROOT), environment, address)
    except ValueError:  # another run has begun it at this moment
        pass


def _end(name: str) -> None:
    try:
        ray.kill(ray.get_actor(name, namespace=NAMESPACE), no_restart=True)
    except ValueError:  # it has ended by itself
        pass
