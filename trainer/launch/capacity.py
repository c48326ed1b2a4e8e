"""What the launchers on Ray share: how many workers of which size there are to be, and patience with a busy cluster."""

import time
from dataclasses import dataclass
from pathlib import Path

from trainer.errors import UserError, count, no_gpu
from trainer.run_folder import stop
from trainer.run_folder.events import Events

PATIENCE_SECONDS = 30.0  # before a person is told that the cluster is busy
MAX_LOSSES = 3  # of a worker, before its work is given up


@dataclass(frozen=True)
class Job:
    """What both launchers need to know."""

    workers: int
    cpus: int
    gpu: bool
    kind: str
    max_minutes: int
    events: Events

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.events.path.parent

    @property
    def work(self) -> Path:
        """The folder of this start."""
        return self.events.lease.folder


class Wait:
    """Patience with a busy cluster: tells once that it is, and gives up after the run's own time limit."""

    def __init__(self, job: Job, events: Events):
        self.began, self.limit, self.gpu, self.events, self.told = time.monotonic(), 60.0 * job.max_minutes, job.gpu, events, False

    def again(self) -> None:
        """Called every second or so while the workers are not there. Raises UserError when the limit is over, or when told to stop."""
        stop.check(self.events.path.parent)
        if time.monotonic() - self.began > self.limit:
            why = f"The cluster had no free capacity for {count(round(self.limit / 60), 'minute')}."
            raise (
                no_gpu(why)
                if self.gpu
                else UserError("no_capacity", "No worker could be started on the cluster.", "Set a smaller num_workers, or try again later.", why)
            )
        if not self.told and time.monotonic() - self.began > PATIENCE_SECONDS:
            self.told = True
            self.events.warning("waiting", f"Waiting for a free {'GPU' if self.gpu else 'CPU'}: the cluster is busy or still starting.")
