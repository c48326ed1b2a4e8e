"""Workers that are plain Ray actors: one that trains, or some that predict."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy
import ray

from trainer.launch import preflight, work, worker_log
from trainer.launch.capacity import MAX_LOSSES, Job, Wait
from trainer.launch.work import Outcome, Trial
from trainer.plan import Plan, Saved
from trainer.run_folder import files
from trainer.run_folder.events import Events


class OneWorker:
    """One worker: an actor that imports while the driver prepares the data. Lost, it is started again and goes on from its checkpoint."""

    workers = 1

    def __init__(self, job: Job, rank: int = 0):
        self.job, self.events, self.rank = job, job.events, rank

    def start(self, token: str = "") -> None:
        self.token = token or preflight.announce(self.job.work)
        self._employ()

    def _employ(self) -> None:
        resources = {"num_cpus": self.job.cpus, "num_gpus": int(self.job.gpu)}
        self.actor = ray.remote(Worker).options(max_restarts=0, **resources).remote(self.job.folder, self.job.work, self.rank, self.job.kind)
        self.warm = self.actor.warm_up.remote(self.token, self.job.cpus, self.job.gpu)

    def train(self, plan: Plan) -> Outcome:
        return self._call("train", ray.put(plan), self.job.cpus)

    def estimate(self, plan: Plan) -> Trial:
        return self._call("estimate", ray.put(plan))

    def predict(self, saved: Saved):
        return self._call("predict", ray.put(saved), self.events)

    def _call(self, method: str, *arguments):
        """The answer of the worker. A worker that is lost is replaced: what it does can be done again, and a training goes on."""
        for losses in range(MAX_LOSSES + 1):
            try:
                wait = Wait(self.job, self.events)
                while not ray.wait([self.warm], timeout=1.0)[0]:
                    wait.again()
                device = ray.get(self.warm)
                return ray.get(getattr(self.actor, method).remote(device, *arguments))
            except ray.exceptions.RayActorError as e:
                if losses == MAX_LOSSES or "creation task" in str(e):  # the second is a fault of ours, and the same every time
                    raise
                self.events.warning("worker_lost", f"A worker was lost ({_reason(e)}); a new one takes over.")
                self._employ()
        raise AssertionError("unreachable")

    def close(self) -> None:
        ray.shutdown()


class Worker:
    """The actor of OneWorker."""

    def __init__(self, folder: Path, work: Path, rank: int, kind: str):
        self.work, self.rank, self.kind = work, rank, kind
        files.share()
        worker_log.redirect(folder / "logs", rank)

    def warm_up(self, token: str, threads: int, gpu: bool) -> str:
        preflight.shared(self.work, token)
        return work.warm_up(str(self.work), self.rank, threads, gpu, self.kind)

    def train(self, device: str, plan: Plan, threads: int) -> Outcome:
        return work.train(plan, rank=0, world=1, device=device, threads=threads)

    def estimate(self, device: str, plan: Plan) -> Trial:
        return work.estimate(plan, device)

    def predict(self, device: str, saved: Saved, events: Events):
        return work.predict(saved, events, device, tells=self.rank == 0)


class Pool:
    """Several workers that predict, each a part of the rows. The first one's progress stands for that of all."""

    def __init__(self, job: Job):
        self.job, self.workers = job, job.workers
        self.members = [OneWorker(job, rank) for rank in range(job.workers)]

    def start(self) -> None:
        token = preflight.announce(self.job.work)
        for member in self.members:
            member.start(token)

    def predict(self, saved: Saved):
        parts = [replace(saved, rows=rows) for rows in saved.rows.parts(self.workers)]
        with ThreadPoolExecutor(self.workers) as threads:
            found = list(threads.map(lambda member, part: member.predict(part), self.members, parts))
        return numpy.concatenate([outputs for outputs, _ in found]), found[0][1]

    def close(self) -> None:
        ray.shutdown()


def _reason(error: Exception) -> str:
    """Why a worker was lost, in a few words."""
    text = str(error)
    if "OOM" in text or "memory" in text.lower():
        return "its machine ran out of memory"
    return "its machine is gone" if "node" in text.lower() and "died" in text.lower() else "its process ended"
