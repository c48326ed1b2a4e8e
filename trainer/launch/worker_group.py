"""Two or more workers that train together: Ray actors that form one process group of torch."""

import os
import time
from datetime import timedelta
from pathlib import Path

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from trainer.errors import MachineLeaving, Paused, UserError
from trainer.launch import preflight, work
from trainer.launch.capacity import MAX_LOST_WORKERS, CapacityWait, WorkerRequest
from trainer.launch.outcome import Outcome
from trainer.launch.ray_actor import Worker, reason
from trainer.plan import Plan, Saved

EXCHANGE_SECONDS = 600  # how long workers wait for each other: longer than saving a large model takes
SILENT_SECONDS = 60.0  # after which a worker that does not answer is ended
OTHERS_SECONDS = 5.0  # after the first error, for the errors of the other workers, which may say more
LEAVING_SECONDS = 1.0  # between two questions to Ray whether a machine is about to shut down


class WorkerGroupLauncher:
    """Two or more workers: DDP over gloo on CPUs and NCCL on GPUs.

    The actors start before the plan is known, so that they do their imports while the driver prepares the data. They get their CPUs
    together or not at all. If a worker is lost or hangs, or if its machine is about to shut down, all workers are replaced and
    resume from the last checkpoint.
    """

    def __init__(self, request: WorkerRequest):
        self.request, self.events, self.workers, self.machine = request, request.events, request.workers, request.machine
        self.group: PlacementGroup | None = None
        self.actors: list = []

    def start(self) -> None:
        self.token = preflight.announce(self.request.work)
        self._start_workers()

    def _start_workers(self) -> None:
        request = self.request
        each = {"CPU": request.cpus, **({"GPU": 1} if request.gpu else {})}
        self.group = placement_group([each] * self.workers, strategy="PACK")
        options = {"num_cpus": request.cpus, "num_gpus": int(request.gpu), "max_restarts": 0}
        self.actors = [
            ray.remote(concurrency_groups={"health": 1})(GroupWorker)
            .options(**options, scheduling_strategy=PlacementGroupSchedulingStrategy(self.group, placement_group_bundle_index=rank))
            .remote(request.folder, request.work, rank, request.kind)
            for rank in range(self.workers)
        ]
        self.warm = [a.warm_up.remote(self.token, request.cpus, request.gpu) for a in self.actors]

    def train(self, plan: Plan) -> Outcome:
        shared = ray.put(plan)
        losses = 0
        while True:
            try:
                return self._train(shared)
            except MachineLeaving:  # its worker has warned the user
                pass
            except Exception as e:
                losses += 1
                if not _is_loss(e) or losses > MAX_LOST_WORKERS:
                    raise
                self.events.warning("worker_lost", f"A worker was lost ({reason(e)}); new ones take over.")
            self._end_workers()
            self._start_workers()

    def _train(self, plan: ray.ObjectRef) -> Outcome:
        """The outcome of one attempt. Raises the error that says most: one of the user, then the loss of a worker."""
        wait = CapacityWait(self.request, self.events)
        while ray.wait(self.warm, num_returns=self.workers, timeout=1.0)[1]:
            wait.check()
        devices = ray.get(self.warm)
        place = ray.get(self.actors[0].meeting_place.remote(self.workers))
        running = [a.train_together.remote(d, plan, self.workers, self.request.cpus, place) for a, d in zip(self.actors, devices, strict=True)]
        health = _Health(self.actors)
        left, outcome, errors = list(running), None, []
        end = float("inf")
        while left and time.monotonic() < end:
            done, left = ray.wait(left, num_returns=1, timeout=1.0)
            for one in done:
                try:
                    outcome = ray.get(one) or outcome
                except Exception as e:
                    errors.append(e)
                    end = min(end, time.monotonic() + OTHERS_SECONDS)
            health.check()
        if outcome is None:
            raise min(errors, key=_rank_of_error)
        return outcome

    def predict(self, saved: Saved):
        """The predictions of the champion, by the first worker: the training is over."""
        return ray.get(self.actors[0].predict.remote(ray.get(self.warm[0]), saved, self.events))

    def to_onnx(self, folder: Path, kind: str, target, inputs: dict) -> str:
        """By the first worker, as ``predict``."""
        return ray.get(self.actors[0].to_onnx.remote(ray.get(self.warm[0]), folder, kind, target, inputs))

    def _end_workers(self) -> None:
        for actor in self.actors:
            ray.kill(actor)
        if self.group is not None:
            remove_placement_group(self.group)

    def close(self) -> None:
        self._end_workers()
        ray.shutdown()


class GroupWorker(Worker):
    """The actor of one worker of several."""

    @ray.method(concurrency_group="health")
    def is_alive(self) -> bool:
        """Answers in a thread of its own, also while the worker trains."""
        return True

    def meeting_place(self, world: int) -> tuple[str, int]:
        """The address and the port of the store at which the workers of the group meet. Called on the first one."""
        import torch

        address = ray.util.get_node_ip_address()
        self.store = torch.distributed.TCPStore(
            address, 0, world, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=EXCHANGE_SECONDS)
        )
        return address, self.store.port

    def train_together(self, device: str, plan: Plan, world: int, threads: int, place: tuple[str, int]) -> Outcome | None:
        """The outcome on the first worker, None on the others."""
        import torch

        if device == "cuda":
            os.environ.setdefault("NCCL_SOCKET_IFNAME", "^lo,docker,veth")  # the interfaces on which no other machine can be reached
        patience = timedelta(seconds=EXCHANGE_SECONDS)
        if self.rank > 0:
            self.store = torch.distributed.TCPStore(*place, world, is_master=False, timeout=patience)
        backend = "nccl" if device == "cuda" else "gloo"
        torch.distributed.init_process_group(backend, store=self.store, rank=self.rank, world_size=world, timeout=patience)
        try:
            return work.train(plan, self.rank, world, device, threads, leaving=_Leaving())
        finally:
            torch.distributed.destroy_process_group()


class _Leaving:
    """Whether the machine of this process is about to shut down, as Kubernetes and autoscalers announce it to Ray."""

    def __init__(self):
        self.node, self.asked, self.answer = ray.get_runtime_context().get_node_id(), 0.0, False

    def __call__(self) -> bool:
        if not self.answer and time.monotonic() - self.asked >= LEAVING_SECONDS:
            self.asked = time.monotonic()
            # Ray's public function for it (ray.train.get_preemption_info) works in workers of Ray Train only, and asks this one.
            self.answer = self.node in ray._private.state.state.get_draining_nodes()
        return self.answer


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
    order = (UserError, (Paused, MachineLeaving), ray.exceptions.RayActorError)
    return next((i for i, kind in enumerate(order) if isinstance(error, kind)), len(order))
