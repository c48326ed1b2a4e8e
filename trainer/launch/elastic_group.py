"""Workers that train together and whose number changes: it follows the machines of the cluster."""

import time

import ray

from trainer.errors import count
from trainer.launch import actor as actors
from trainer.launch.capacity import CapacityWait, WorkerRequest
from trainer.launch.worker_group import WorkerGroupLauncher
from trainer.run_folder import stop

JOIN_SECONDS = 10.0  # that a start waits for further workers after the fewest are ready
STEADY_SECONDS = 60.0  # that a group trains before it lets others join: a new start costs about ten


class ElasticGroupLauncher(WorkerGroupLauncher):
    """A group that begins with the workers for which there are machines, at least ``fewest``.

    All are requested at once and each on its own, so an autoscaler sees what is missing. When more are ready, the group saves a checkpoint and
    starts again with them; when a machine leaves or is lost, it goes on without it. The global batches are the same for any number of workers.
    ``workers`` is the number of the present group.
    """

    after_loss = "the training goes on from its last checkpoint with the workers for which there are machines"

    def __init__(self, request: WorkerRequest, fewest: int):
        super().__init__(request)
        self.fewest, self.began = fewest, 0.0

    def _start_workers(self) -> None:
        request = self.request
        stop.regroup(request.work, wanted=False)
        self.actors = [actors.start(request, rank) for rank in range(request.workers)]
        self.warm = [actors.call(a, "warm_up", self.token, request.cpus, request.gpu) for a in self.actors]

    def _ready(self) -> list[tuple]:
        wait, enough = CapacityWait(self.request, self.events), None
        while (here := ray.wait(self.warm, num_returns=self.request.workers, timeout=1.0))[1]:
            if len(here[0]) < self.fewest:
                wait.check()
                enough = None
            elif enough is None:
                enough = time.monotonic()
            elif time.monotonic() - enough >= JOIN_SECONDS:
                break
        ready = [pair for pair in zip(self.actors, self.warm, strict=True) if pair[1] in here[0]]
        self.began, self.workers = time.monotonic(), len(ready)
        why = f"{count(self.workers, 'worker')} of {self.request.workers} now."
        if self.workers < self.request.workers:
            why += " Others join when the cluster has machines for them."
        self.events.decision("workers", self.workers, why)
        return ready

    def _look(self) -> None:
        """Ask the group to save itself when others could join."""
        if not self._was_steady() or self.workers == self.request.workers:
            return
        missing = [warm for warm in self.warm if warm not in [w for _, w in self.members]]
        if ray.wait(missing, timeout=0)[0]:
            stop.regroup(self.request.work, wanted=True)

    def _was_steady(self) -> bool:
        return time.monotonic() - self.began > STEADY_SECONDS
