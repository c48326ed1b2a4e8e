"""Workers that need no other ones: one that trains, or several that predict."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy
import ray

from trainer.core.kind import Kind
from trainer.core.plan import Plan, Saved
from trainer.launch import actor as actors, connection, preflight
from trainer.launch.capacity import MAX_LOST_WORKERS, CapacityWait, WorkerRequest
from trainer.launch.outcome import Outcome, Trial
from trainer.launch.pieces import Piece, Tick, by_all


class SingleWorkerLauncher:
    """One worker: an actor that does its imports while the driver prepares the data.

    A lost worker is replaced, and the new one resumes from the last checkpoint.
    """

    workers = 1

    def __init__(self, request: WorkerRequest, rank: int = 0):
        self.request, self.events, self.rank = request, request.events, rank
        self.machine, self.on_gpu = request.machine, request.gpu

    def start(self, token: str = "") -> None:
        self.token = token or preflight.announce(self.request.work)
        self._start_worker()

    def _start_worker(self) -> None:
        self.actor = actors.start(self.request, self.rank)
        begin = "warm_up" if self.request.network else "prepare"
        self.warm = actors.call(self.actor, begin, self.token, self.request.cpus, self.request.gpu)

    def train(self, plan: Plan) -> Outcome:
        return self._call("train", self.request.cpus, shared=plan)

    def estimate(self, plan: Plan) -> Trial:
        return self._call("estimate", shared=plan)

    def predict(self, saved: Saved):
        return self._call("predict", self.events, shared=saved)

    def piece(self, piece: Piece) -> None:
        """Carry out one piece."""
        self._call("piece", self.events, shared=piece)

    def spread(self, pieces: Iterable[Piece], count: int, tick: Tick) -> None:
        """See ``pieces.Spreading``."""
        by_all([self.piece], pieces, tick)

    def to_onnx(self, folder: Path, kind: Kind, target, inputs: dict) -> str:
        return self._call("to_onnx", folder, kind, target, inputs)

    def _call(self, method: str, *arguments, shared=None):
        """The result of the worker. A lost worker is replaced: its work can be repeated, and a training resumes from its checkpoint."""
        parts = None if shared is None else actors.share(shared)
        for losses in range(MAX_LOST_WORKERS + 1):
            try:
                wait = CapacityWait(self.request, self.events)
                while not ray.wait([self.warm], timeout=1.0)[0]:
                    wait.check()
                device = actors.get(self.warm)
                return actors.get(actors.call(self.actor, method, device, *arguments, shared=parts))
            except ray.exceptions.RayActorError as e:
                if losses == MAX_LOST_WORKERS or "creation task" in str(e):  # a failed creation is a bug and would fail again
                    raise
                self.events.warning("worker_lost", f"A worker was lost ({reason(e)}); a new one takes over.")
                self._start_worker()
        raise AssertionError("unreachable")

    def close(self) -> None:
        connection.close()


class WorkerPool:
    """Several workers that each predict a part of the rows. Only the first one reports its progress."""

    def __init__(self, request: WorkerRequest):
        self.request, self.workers, self.machine, self.on_gpu = request, request.workers, request.machine, request.gpu
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

    def spread(self, pieces: Iterable[Piece], count: int, tick: Tick) -> None:
        """See ``pieces.Spreading``. A worker that is lost is replaced, and only its piece is carried out again."""
        by_all([member.piece for member in self.members], pieces, tick)

    def close(self) -> None:
        connection.close()


def reason(error: Exception) -> str:
    """Why a worker was lost, in a few words."""
    text = str(error)
    if "OOM" in text or "memory" in text.lower():
        return "its machine ran out of memory"
    return "its machine is gone" if "node" in text.lower() and "died" in text.lower() else "its process ended"
