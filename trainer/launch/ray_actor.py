"""Workers that need no other ones: one that trains, or several that predict."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy
import ray

from trainer.launch import preflight, work, worker_log
from trainer.launch.capacity import MAX_LOST_WORKERS, CapacityWait, WorkerRequest
from trainer.launch.outcome import Outcome, Trial
from trainer.plan import Plan, Saved
from trainer.run_folder import files
from trainer.run_folder.events import Events


class SingleWorkerLauncher:
    """One worker: an actor that does its imports while the driver prepares the data.

    A lost worker is replaced, and the new one resumes from the last checkpoint.
    """

    workers = 1

    def __init__(self, request: WorkerRequest, rank: int = 0):
        self.request, self.events, self.rank, self.machine = request, request.events, rank, request.machine

    def start(self, token: str = "") -> None:
        self.token = token or preflight.announce(self.request.work)
        self._start_worker()

    def _start_worker(self) -> None:
        resources = {"num_cpus": self.request.cpus, "num_gpus": int(self.request.gpu)}
        worker = ray.remote(Worker).options(max_restarts=0, **resources)
        self.actor = worker.remote(self.request.folder, self.request.work, self.rank, self.request.kind)
        self.warm = self.actor.warm_up.remote(self.token, self.request.cpus, self.request.gpu)

    def train(self, plan: Plan) -> Outcome:
        return self._call("train", ray.put(plan), self.request.cpus)

    def estimate(self, plan: Plan) -> Trial:
        return self._call("estimate", ray.put(plan))

    def predict(self, saved: Saved):
        return self._call("predict", ray.put(saved), self.events)

    def to_onnx(self, folder: Path, kind: str, target, inputs: dict) -> str:
        return self._call("to_onnx", folder, kind, target, inputs)

    def _call(self, method: str, *arguments):
        """The result of the worker. A lost worker is replaced: its work can be repeated, and a training resumes from its checkpoint."""
        for losses in range(MAX_LOST_WORKERS + 1):
            try:
                wait = CapacityWait(self.request, self.events)
                while not ray.wait([self.warm], timeout=1.0)[0]:
                    wait.check()
                device = ray.get(self.warm)
                return ray.get(getattr(self.actor, method).remote(device, *arguments))
            except ray.exceptions.RayActorError as e:
                if losses == MAX_LOST_WORKERS or "creation task" in str(e):  # a failed creation is a bug and would fail again
                    raise
                self.events.warning("worker_lost", f"A worker was lost ({reason(e)}); a new one takes over.")
                self._start_worker()
        raise AssertionError("unreachable")

    def close(self) -> None:
        ray.shutdown()


class Worker:
    """The actor of SingleWorkerLauncher."""

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
        return work.predict(saved, events, device, reports=self.rank == 0)

    def to_onnx(self, device: str, folder: Path, kind: str, target, inputs: dict) -> str:
        return work.to_onnx(folder, kind, target, inputs, str(self.work))


class WorkerPool:
    """Several workers that each predict a part of the rows. Only the first one reports its progress."""

    def __init__(self, request: WorkerRequest):
        self.request, self.workers, self.machine = request, request.workers, request.machine
        self.members = [SingleWorkerLauncher(request, rank) for rank in range(request.workers)]

    def start(self) -> None:
        token = preflight.announce(self.request.work)
        for member in self.members:
            member.start(token)

    def predict(self, saved: Saved):
        parts = [replace(saved, rows=rows) for rows in saved.rows.parts(self.workers)]
        with ThreadPoolExecutor(self.workers) as threads:
            found = list(threads.map(lambda member, part: member.predict(part), self.members, parts))
        return numpy.concatenate([outputs for outputs, _ in found]), found[0][1]

    def close(self) -> None:
        ray.shutdown()


def reason(error: Exception) -> str:
    """Why a worker was lost, in a few words."""
    text = str(error)
    if "OOM" in text or "memory" in text.lower():
        return "its machine ran out of memory"
    return "its machine is gone" if "node" in text.lower() and "died" in text.lower() else "its process ended"
