"""The Ray actor of a worker: it has the CPUs and GPUs, and a process that does the work.

The actor is pickled by value and needs no environment of its own, so Ray can give it one of its waiting processes; a process with another
environment would have to be started first, which takes a second.
"""

import os
import pickle
import sys
import threading

import numpy
import ray

from trainer.launch import connection
from trainer.launch.capacity import WorkerRequest
from trainer.warm import place, wire

LEAVING_SECONDS = 1.0  # between two questions to Ray whether a machine is about to shut down


class WorkerActor:
    """Passes calls on to the process of the worker. Values travel in parts (``trainer/warm/wire.py``), which are not understood here."""

    def __init__(self, root: str, environment: dict, address: str, warm: bool, worker: dict):
        os.environ.update(environment)
        sys.path.insert(0, root)
        sys.dont_write_bytecode = True  # that folder must have its own files only
        from trainer.launch import worker_process

        self.process = worker_process.create(address, warm, {**worker, "address": ray.util.get_node_ip_address()})

    def call(self, *parts) -> list:
        head, *arrays = self.process.call(list(parts))
        return [bytes(head), *(numpy.frombuffer(a, numpy.uint8) for a in arrays)]

    def call_together(self, *parts) -> list:
        """A call during which the worker is told if its machine is about to shut down, as Kubernetes and autoscalers announce it to Ray."""
        ended = threading.Event()
        threading.Thread(target=self._watch, args=(ended,), name="leaving", daemon=True).start()
        try:
            return self.call(*parts)
        finally:
            ended.set()

    @ray.method(concurrency_group="health")
    def is_alive(self) -> bool:
        """Answers in a thread of its own, also while the worker trains."""
        return self.process.is_alive()

    def _watch(self, ended: threading.Event) -> None:
        node = ray.get_runtime_context().get_node_id()
        while not ended.wait(LEAVING_SECONDS):
            # Ray's public function for it (ray.train.get_preemption_info) works in workers of Ray Train only, and asks this one.
            if node in ray._private.state.state.get_draining_nodes():
                self.process.leave()
                return


def start(request: WorkerRequest, rank: int, **options):
    """Worker number ``rank`` as an actor, with the resources of ``request`` and more ``options`` of Ray."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    resources = {"num_cpus": request.cpus, "num_gpus": int(request.gpu), "max_restarts": 0}
    worker = {"folder": str(request.folder), "work": str(request.work), "rank": rank, "kind": request.kind}
    actor = ray.remote(concurrency_groups={"health": 1})(WorkerActor).options(**resources, **options)
    return actor.remote(str(place.ROOT), connection.environment(), os.environ.get("RAY_ADDRESS", ""), request.warm, worker)


def share(value) -> list:
    """``value`` in the memory of Ray, for any number of calls."""
    head, *arrays = wire.pack(value)
    return [ray.put(head), *(ray.put(numpy.frombuffer(a, numpy.uint8)) for a in arrays)]


def call(actor, name: str, *arguments, shared: list | None = None, together: bool = False):
    """Call a method of ``launch.worker.Worker``. A value from ``share`` is its second argument."""
    method = actor.call_together if together else actor.call
    return method.remote(pickle.dumps((name, *arguments)), *(shared or ()))


def get(answer):
    """What a call has given, or one error of several."""
    return wire.unpack(ray.get(answer))
