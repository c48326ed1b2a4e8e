"""Two or more workers that train together: Ray actors that form one process group of torch."""

import time
from pathlib import Path

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from trainer.core.kind import Kind
from trainer.core.plan import Plan, Saved
from trainer.errors import MachineLeaving, Paused, Regrouping, UserError
from trainer.launch import actor as actors, connection, preflight
from trainer.launch.capacity import MAX_LOST_WORKERS, CapacityWait, WorkerRequest
from trainer.launch.outcome import Outcome
from trainer.launch.ray_actor import reason

SILENT_SECONDS = 60.0  # after which a worker that does not answer is ended
OTHERS_SECONDS = 5.0  # after the first error, for the errors of the other workers, which may say more


class WorkerGroupLauncher:
    """Two or more workers: DDP over gloo on CPUs and NCCL on GPUs.

    The actors start before the plan is known, so that they do their imports while the driver prepares the data. They get their CPUs
    together or not at all. If a worker is lost or hangs, or if its machine is about to shut down, all workers are replaced and
    resume from the last checkpoint.
    """

    after_loss = "new ones take over"

    def __init__(self, request: WorkerRequest):
        self.request, self.events, self.workers = request, request.events, request.workers
        self.machine, self.on_gpu = request.machine, request.gpu
        self.group: PlacementGroup | None = None
        self.actors: list = []
        self.members: list[tuple] = []  # of the actors, those that train, each with the reference that gives its device

    def start(self) -> None:
        self.token = preflight.announce(self.request.work)
        self._start_workers()

    def _start_workers(self) -> None:
        request = self.request
        each = {"CPU": request.cpus, **({"GPU": 1} if request.gpu else {})}
        self.group = placement_group([each] * self.workers, strategy="PACK")
        self.actors = [
            actors.start(request, rank, scheduling_strategy=PlacementGroupSchedulingStrategy(self.group, placement_group_bundle_index=rank))
            for rank in range(self.workers)
        ]
        self.warm = [actors.call(a, "warm_up", self.token, request.cpus, request.gpu) for a in self.actors]

    def train(self, plan: Plan) -> Outcome:
        shared = actors.share(plan)
        losses = 0
        while True:
            try:
                return self._train(shared)
            except (MachineLeaving, Regrouping):  # its worker has warned the user
                pass
            except Exception as e:
                losses = 1 if self._was_steady() else losses + 1
                if not _is_loss(e) or losses > MAX_LOST_WORKERS:
                    raise
                self.events.warning("worker_lost", f"A worker was lost ({reason(e)}); {self.after_loss}.")
            self._end_workers()
            self._start_workers()

    def _train(self, plan: list) -> Outcome:
        """The outcome of one attempt. Raises the error that says most: one of the user, then the loss of a worker."""
        self.members = self._ready()
        devices, world = [actors.get(warm) for _, warm in self.members], len(self.members)
        place = actors.get(actors.call(self.members[0][0], "meeting_place", world))
        running = [
            actors.call(actor, "train_together", device, rank, world, self.request.workers, self.request.cpus, place, shared=plan, together=True)
            for rank, ((actor, _), device) in enumerate(zip(self.members, devices, strict=True))
        ]
        health = _Health([actor for actor, _ in self.members])
        left, outcome, errors = list(running), None, []
        end = float("inf")
        while left and time.monotonic() < end:
            done, left = ray.wait(left, num_returns=1, timeout=1.0)
            for one in done:
                try:
                    outcome = actors.get(one) or outcome
                except Exception as e:
                    errors.append(e)
                    end = min(end, time.monotonic() + OTHERS_SECONDS)
            health.check()
            self._look()
        if outcome is None:
            raise min(errors, key=_rank_of_error)
        return outcome

    def _ready(self) -> list[tuple]:
        """The workers that train next, each with the reference that gives its device, once they are ready."""
        wait = CapacityWait(self.request, self.events)
        while ray.wait(self.warm, num_returns=self.workers, timeout=1.0)[1]:
            wait.check()
        return list(zip(self.actors, self.warm, strict=True))

    def _look(self) -> None:
        """Called about once a second while the workers train."""

    def _was_steady(self) -> bool:
        """Whether the workers trained for so long that earlier losses do not count any more."""
        return False

    def predict(self, saved: Saved):
        """The predictions of the champion, by the first worker: the training is over."""
        actor, warm = self.members[0]
        return actors.get(actors.call(actor, "predict", actors.get(warm), self.events, shared=actors.share(saved)))

    def to_onnx(self, folder: Path, kind: Kind, target, inputs: dict) -> str:
        """By the first worker, as ``predict``."""
        actor, warm = self.members[0]
        return actors.get(actors.call(actor, "to_onnx", actors.get(warm), folder, kind, target, inputs))

    def _end_workers(self) -> None:
        for actor in self.actors:
            ray.kill(actor)
        if self.group is not None:
            remove_placement_group(self.group)

    def close(self) -> None:
        self._end_workers()
        connection.close()


class _Health:
    """Ends workers that have not answered for SILENT_SECONDS, so that the group starts again."""

    def __init__(self, actors: list):
        self.actors = actors
        self.asked = [(a.is_alive.remote(), time.monotonic()) for a in actors]

    def check(self) -> None:
        """Call about once a second."""
        now = time.monotonic()
        for i, actor in enumerate(self.actors):
            answer, since = self.asked[i]
            if ray.wait([answer], timeout=0)[0]:  # also where the worker is gone: its training has told so
                self.asked[i] = actor.is_alive.remote(), now
            elif now - since > SILENT_SECONDS:
                ray.kill(actor)


def _is_loss(error: Exception) -> bool:
    """Whether other workers can do better: a worker is gone, or it was left alone by one that is. A failed creation would fail again."""
    if isinstance(error, (UserError, Paused)) or "creation task" in str(error):
        return False
    return isinstance(error, (ray.exceptions.RayActorError, RuntimeError)) or isinstance(getattr(error, "cause", None), RuntimeError)


def _rank_of_error(error: Exception) -> int:
    """What is told first of several errors: of the user, that the training ends on purpose, that a worker is lost, any other."""
    order = (UserError, (Paused, MachineLeaving, Regrouping), ray.exceptions.RayActorError)
    return next((i for i, kind in enumerate(order) if isinstance(error, kind)), len(order))
