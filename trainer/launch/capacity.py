"""What the launchers on Ray have in common: which workers a run needs, and how long it waits for them."""

import time
from dataclasses import dataclass
from pathlib import Path

from trainer.errors import UserError, count, no_gpu
from trainer.run_folder import stop
from trainer.run_folder.events import Events

NOTICE_SECONDS = 30.0  # before the user is told that the cluster is busy
MAX_LOST_WORKERS = 3  # before the run fails


@dataclass(frozen=True)
class Machine:
    """The machine with the most workers of a run: how many these are, and its bytes of memory, None where it is the machine of the driver."""

    workers: int = 1
    memory: int | None = None


def fullest(nodes: list[dict], workers: int, cpus: int, gpu: bool) -> Machine:
    """The machine that gets the most of ``workers``, which Ray puts close together. ``nodes`` are the resources of the machines; ``cpus`` are
    those of each worker. The memory of a machine is what it had free when Ray started there."""

    def places(node: dict) -> int:
        free = int(node.get("CPU", 0)) // max(1, cpus)
        return min(free, int(node.get("GPU", 0))) if gpu else free

    if len(nodes) < 2:
        return Machine(workers)
    most = min(workers, max(1, *map(places, nodes)))
    sizes = [int(n.get("memory", 0) + n.get("object_store_memory", 0)) for n in nodes if places(n) >= most]
    return Machine(most, min(sizes, default=0) or None)


@dataclass(frozen=True)
class WorkerRequest:
    """The workers of a run: how many, with how many ``cpus`` each, and for which ``kind`` of data.

    ``max_minutes`` is how long the run waits for them. ``warm`` allows copies of the warm process. ``network`` says whether they need what
    networks need.
    """

    workers: int
    cpus: int
    gpu: bool
    kind: str
    max_minutes: int
    events: Events
    machine: Machine = Machine()
    warm: bool = False
    network: bool = True

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.events.path.parent

    @property
    def work(self) -> Path:
        """The folder of this start."""
        return self.events.lease.folder


class CapacityWait:
    """A wait for workers: warns once when the cluster is busy, and fails after the time limit of the run."""

    def __init__(self, request: WorkerRequest, events: Events):
        self.gpu, self.events, self.limit = request.gpu, events, 60.0 * request.max_minutes
        self.began, self.warned = time.monotonic(), False

    def check(self) -> None:
        """Call about once a second while the workers are missing. Raises UserError after the limit, or when the run is stopped."""
        stop.check(self.events.path.parent)
        waited = time.monotonic() - self.began
        if waited > self.limit:
            raise self._gave_up()
        if not self.warned and waited > NOTICE_SECONDS:
            self.warned = True
            self.events.warning("waiting", f"Waiting for a free {'GPU' if self.gpu else 'CPU'}: the cluster is busy or still starting.")

    def _gave_up(self) -> UserError:
        why = f"The cluster had no free capacity for {count(round(self.limit / 60), 'minute')}."
        if self.gpu:
            return no_gpu(why)
        return UserError("no_capacity", "No worker could be started on the cluster.", "Set a smaller num_workers, or try again later.", why)
