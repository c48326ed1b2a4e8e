"""Launchers on Ray: one worker as an actor, several as a TorchTrainer of Ray Train V2. See the package for why there are two."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
import ray

from trainer.errors import Paused, UserError, no_gpu
from trainer.events import Events
from trainer.launch import log, preflight, work
from trainer.launch.work import ENVIRONMENT, Outcome
from trainer.plan import Plan, Saved

PATIENCE_SECONDS = 30.0  # before a person is told that the cluster is busy
END_SECONDS = 10.0  # for a finished trainer to wind up
MAX_LOSSES = 3  # of a worker, before the training is given up


def create(workers: int, threads: int, settings, kind: str, trains: bool, events: Events):
    """Connect to Ray (RAY_ADDRESS, else one on this machine, else a new one) and size the workers by its nodes."""
    ray.init(logging_level="warning", log_to_driver=False, runtime_env=_runtime_env())
    nodes = [n["Resources"] for n in ray.nodes() if n["Alive"]]
    gpu = _use_gpu(settings.use_gpu, nodes, workers, events)
    cpus = settings.cpus_per_worker or _cpus_each(nodes, workers, threads)
    places = sum(int(n.get("CPU", 0)) for n in nodes)
    if workers > places:
        events.warning("workers", f"{max(1, places)} instead of {workers} workers are used: the cluster has no more CPUs.")
        workers = max(1, places)
    events.phase("start", f"Asking Ray for {workers} worker{'s' * (workers > 1)} with {cpus} CPU{'s' * (cpus > 1)}{' and a GPU' if gpu else ''}{' each' * (workers > 1)}.")
    job = _Job(workers, cpus, gpu, kind, settings.max_minutes, events)
    if workers == 1:
        return OneWorker(job)
    return Several(job) if trains else Pool(job)


def _runtime_env() -> dict | None:
    """What the workers need to find this package. A Ray job brings its own environment, which must not be contradicted."""
    if "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ:
        return None
    here = str(Path(__file__).resolve().parent.parent)
    return {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))}}


def _use_gpu(wanted: str, nodes: list[dict], workers: int, events: Events) -> bool:
    gpus = int(sum(n.get("GPU", 0) for n in nodes))
    if wanted == "auto":
        gpu = gpus >= workers
        events.decision("device", "cuda" if gpu else "cpu", f"Training on {'GPU' if gpu else 'CPU'}: the cluster has {gpus or 'no'} GPU{'s' * (gpus != 1)}.")
        return gpu
    if wanted == "yes" and gpus < workers:
        events.warning("waiting_for_gpu", f"The cluster has {gpus or 'no'} GPUs now, but {workers} {'is' if workers == 1 else 'are'} needed; waiting for more.")
    return wanted == "yes"


def _cpus_each(nodes: list[dict], workers: int, threads: int) -> int:
    """The most whole CPUs, up to ``threads``, of which each worker can have as many. A cluster that grows later starts with 1."""
    for cpus in range(threads, 1, -1):
        if sum(int(n.get("CPU", 0)) // cpus for n in nodes) >= workers:
            return cpus
    return 1


@dataclass(frozen=True)
class _Job:
    """What both launchers need to know."""

    workers: int
    cpus: int
    gpu: bool
    kind: str
    max_minutes: int
    events: Events

    @property
    def folder(self) -> Path:
        return self.events.path.parent


class OneWorker:
    """One worker: an actor that imports while the driver prepares the data. Lost, it is started again and goes on from its checkpoint."""

    workers = 1

    def __init__(self, job: _Job, rank: int = 0):
        self.job, self.events, self.rank = job, job.events, rank

    def start(self, token: str = "") -> None:
        self.token = token or preflight.announce(self.job.folder)
        self._employ()

    def _employ(self) -> None:
        resources = {"num_cpus": self.job.cpus, "num_gpus": int(self.job.gpu)}
        self.actor = ray.remote(Worker).options(max_restarts=0, **resources).remote(str(self.job.folder), self.rank, self.job.kind)
        self.warm = self.actor.warm_up.remote(self.token, self.job.cpus, self.job.gpu)

    def train(self, plan: Plan) -> Outcome:
        return self._call("train", ray.put(plan), self.job.cpus)

    def estimate(self, plan: Plan) -> tuple[float, int]:
        return self._call("estimate", ray.put(plan))

    def predict(self, saved: Saved):
        return self._call("predict", ray.put(saved), self.events.attempt)

    def _call(self, method: str, *arguments):
        """The answer of the worker. A worker that is lost is replaced: what it does can be done again, and a training goes on."""
        for losses in range(MAX_LOSSES + 1):
            try:
                wait = _Wait(self.job, self.events)
                while not ray.wait([self.warm], timeout=PATIENCE_SECONDS)[0]:
                    wait.again()
                device = ray.get(self.warm)
                return ray.get(getattr(self.actor, method).remote(device, *arguments))
            except ray.exceptions.RayActorError as e:
                if losses == MAX_LOSSES or "creation task" in str(e):  # the second is a fault of ours, and the same every time
                    raise
                self.events.warning("worker_lost", f"A worker was lost ({_reason(e)}); another one takes over.")
                self._employ()
        raise AssertionError("unreachable")

    def close(self) -> None:
        ray.shutdown()


class Worker:
    """The actor of OneWorker."""

    def __init__(self, folder: str, rank: int, kind: str):
        self.folder, self.rank, self.kind = folder, rank, kind
        log.redirect(Path(folder) / "logs", rank)

    def warm_up(self, token: str, threads: int, gpu: bool) -> str:
        preflight.shared(Path(self.folder), token)
        return work.warm_up(self.folder, self.rank, threads, gpu, self.kind)

    def train(self, device: str, plan: Plan, threads: int) -> Outcome:
        return work.train(plan, rank=0, world=1, device=device, threads=threads)

    def estimate(self, device: str, plan: Plan) -> tuple[float, int]:
        return work.estimate(plan, device)

    def predict(self, device: str, saved: Saved, attempt: int):
        return work.predict(saved, self.folder, attempt, device, tells=self.rank == 0)


class Pool:
    """Several workers that predict, each a part of the rows. The first one's progress stands for that of all."""

    def __init__(self, job: _Job):
        self.job, self.workers = job, job.workers
        self.members = [OneWorker(job, rank) for rank in range(job.workers)]

    def start(self) -> None:
        token = preflight.announce(self.job.folder)
        for member in self.members:
            member.start(token)

    def predict(self, saved: Saved):
        parts = [replace(saved, rows=rows) for rows in saved.rows.parts(self.workers)]
        with ThreadPoolExecutor(self.workers) as threads:
            found = list(threads.map(lambda member, part: member.predict(part), self.members, parts))
        return numpy.concatenate([outputs for outputs, _ in found]), found[0][1]

    def close(self) -> None:
        ray.shutdown()


class Several:
    """Two or more workers: TorchTrainer with DDP, over gloo on CPUs and NCCL on GPUs.

    The trainer is started before the plan is known, so that its processes import while the driver prepares the data. The plan
    reaches the workers, and the outcome the driver, through a small actor: no file to poll for on a network file system. When a
    worker is lost, all are started again and go on from their checkpoint.
    """

    def __init__(self, job: _Job):
        self.job, self.events, self.workers = job, job.events, job.workers
        self.error: BaseException | None = None
        self.finished = False

    def start(self) -> None:
        os.environ.update(ENVIRONMENT)
        self.token = preflight.announce(self.job.folder)
        self.mailbox = ray.remote(Mailbox).options(num_cpus=0).remote()
        self.thread = threading.Thread(target=self._fit, daemon=True)
        self.thread.start()

    def _fit(self) -> None:
        try:
            from ray.train import FailureConfig, RunConfig, ScalingConfig
            from ray.train.torch import TorchTrainer

            each = {"CPU": self.job.cpus, **({"GPU": 1} if self.job.gpu else {})}
            TorchTrainer(
                run_worker,
                train_loop_config={
                    "mailbox": self.mailbox, "threads": self.job.cpus, "gpu": self.job.gpu, "kind": self.job.kind,
                    "folder": str(self.job.folder), "token": self.token,
                },
                scaling_config=ScalingConfig(num_workers=self.workers, use_gpu=self.job.gpu, resources_per_worker=each),
                run_config=RunConfig(
                    storage_path=str(self.job.folder / "train"), name=f"attempt-{self.events.attempt}", failure_config=FailureConfig(max_failures=MAX_LOSSES)
                ),
            ).fit()  # fmt: skip
        except Exception as e:
            self.error = e

    def train(self, plan: Plan) -> Outcome:
        ray.get(self.mailbox.post.remote(plan))
        wait, posted = _Wait(self.job, self.events), time.monotonic()
        result = self.mailbox.result.remote()
        while not ray.wait([result], timeout=1.0)[0]:
            if not self.thread.is_alive():
                raise self.error or RuntimeError("the workers ended without a result")
            if time.monotonic() - posted > PATIENCE_SECONDS and not ray.get(self.mailbox.fetched.remote()):
                wait.again()
        outcome = ray.get(result)
        if isinstance(outcome, Exception):
            raise outcome
        self.finished = True
        return outcome

    def close(self) -> None:
        """Let the trainer end by itself where it is about to: to leave Ray under its feet could crash this process."""
        self.thread.join(END_SECONDS if self.finished else 0)
        ray.shutdown()


def run_worker(config: dict) -> None:
    """The training function of TorchTrainer, on every worker."""
    from ray import train

    context, mailbox, folder = train.get_context(), config["mailbox"], Path(config["folder"])
    rank = context.get_world_rank()
    log.redirect(folder / "logs", rank)
    try:
        preflight.shared(folder, config["token"])
        device = work.warm_up(str(folder), rank, config["threads"], config["gpu"], config["kind"])
        plan = ray.get(ray.get(mailbox.fetch.remote()))
        if config["gpu"]:
            from ray.train.torch import get_device

            device = str(get_device())
        outcome = work.train(plan, rank, context.get_world_size(), device, config["threads"], train.report)
    except (UserError, Paused) as e:
        # What a person must mend is the same the next time, and so is a wish to pause: the workers end well, so that Ray does not
        # start them again.
        ray.get(mailbox.finish.remote(e))
        return
    if outcome is not None:
        ray.get(mailbox.finish.remote(outcome))


class Mailbox:
    """The actor through which driver and workers exchange plan and outcome. The plan is kept as a reference, not unpacked."""

    def __init__(self):
        import asyncio

        self.ready, self.plan, self.fetches = asyncio.Event(), None, 0
        self.finished, self.outcome = asyncio.Event(), None

    async def post(self, plan) -> None:
        self.plan = [ray.put(plan)]
        self.ready.set()

    async def fetch(self):
        """A reference to the plan, once it is there."""
        await self.ready.wait()
        self.fetches += 1
        return self.plan[0]

    async def fetched(self) -> int:
        return self.fetches

    async def finish(self, outcome) -> None:
        self.outcome = outcome
        self.finished.set()

    async def result(self):
        """What the worker of rank 0 handed over, once it did; the first UserError or wish to pause of any of them."""
        await self.finished.wait()
        return self.outcome


class _Wait:
    """Patience with a busy cluster: tells once that it is, and gives up after the run's own time limit."""

    def __init__(self, job: _Job, events: Events):
        self.began, self.limit, self.gpu, self.events, self.told = time.monotonic(), 60.0 * job.max_minutes, job.gpu, events, False

    def again(self) -> None:
        """Called each time that the workers are still not there. Raises UserError when the limit is over."""
        if time.monotonic() - self.began > self.limit:
            why = f"The cluster had no room for {self.limit / 60:.0f} minutes."
            raise no_gpu(why) if self.gpu else UserError("no_capacity", "No worker could be started on the cluster.", "Set fewer workers, or try again later.", why)
        if not self.told:
            self.told = True
            self.events.warning("waiting", f"Waiting for a free {'GPU' if self.gpu else 'CPU'}: the cluster is busy or still starting.")


def _reason(error: Exception) -> str:
    """Why a worker was lost, in a few words."""
    text = str(error)
    if "OOM" in text or "memory" in text.lower():
        return "the memory of its machine was used up"
    return "its machine is gone" if "node" in text.lower() and "died" in text.lower() else "its process ended"
