"""Launchers on Ray: one worker as an actor, several as a TorchTrainer of Ray Train V2. See launch.py for why there are two."""

import os
import threading
import time
from pathlib import Path

import ray

from trainer.errors import UserError, no_gpu
from trainer.events import Events
from trainer.plan import Plan
from trainer.work import ENVIRONMENT, Outcome, train_and_test, warm_up

PATIENCE_SECONDS = 30.0  # before a person is told that the cluster is busy
LOG_SECONDS = 0.5  # Ray looks for new lines of its workers a few times a second


def create(workers: int, threads: int, use_gpu: str, max_minutes: int, events: Events):
    """Connect to Ray (RAY_ADDRESS, else one on this machine, else a new one) and size the workers by its nodes."""
    ray.init(logging_level="warning", runtime_env=_runtime_env())
    nodes = [n["Resources"] for n in ray.nodes() if n["Alive"]]
    gpu = _use_gpu(use_gpu, nodes, workers, events)
    cpus = _cpus_each(nodes, workers, threads)
    places = sum(int(n.get("CPU", 0)) for n in nodes)
    if workers > places:
        events.warning("workers", f"{max(1, places)} instead of {workers} workers are used: the cluster has no more CPUs.")
        workers = max(1, places)
    events.phase("start", f"Asking Ray for {workers} worker{'s' * (workers > 1)} with {cpus} CPU{'s' * (cpus > 1)}{' and a GPU' if gpu else ''}{' each' * (workers > 1)}.")
    return OneWorker(cpus, gpu, max_minutes, events) if workers == 1 else Several(workers, cpus, gpu, max_minutes, events)


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


class OneWorker:
    """One worker: an actor that imports while the driver prepares the data."""

    workers = 1

    def __init__(self, cpus: int, gpu: bool, max_minutes: int, events: Events):
        self.cpus, self.gpu, self.limit, self.events = cpus, gpu, 60.0 * max_minutes, events

    def start(self) -> None:
        self.actor = ray.remote(Worker).options(num_cpus=self.cpus, num_gpus=int(self.gpu), max_restarts=0).remote()
        self.warm = self.actor.warm_up.remote(self.cpus, self.gpu)

    def train(self, plan: Plan) -> Outcome:
        plan_ref = ray.put(plan)
        wait = _Wait(self.limit, self.gpu, self.events)
        while not ray.wait([self.warm], timeout=PATIENCE_SECONDS)[0]:
            wait.again()
        device = ray.get(self.warm)
        return ray.get(self.actor.train.remote(plan_ref, device, self.cpus))

    def close(self) -> None:
        _disconnect()


class Worker:
    """The actor of OneWorker."""

    def warm_up(self, threads: int, gpu: bool) -> str:
        return warm_up(threads, gpu)

    def train(self, plan: Plan, device: str, threads: int) -> Outcome:
        return train_and_test(plan, rank=0, world=1, device=device, threads=threads)


class Several:
    """Two or more workers: TorchTrainer with DDP, over gloo on CPUs and NCCL on GPUs.

    The trainer is started before the plan is known, so that its processes import while the driver prepares the data. The plan
    reaches the workers, and the outcome the driver, through a small actor: no file to poll for on a network file system.
    """

    def __init__(self, workers: int, cpus: int, gpu: bool, max_minutes: int, events: Events):
        self.workers, self.cpus, self.gpu, self.limit, self.events = workers, cpus, gpu, 60.0 * max_minutes, events
        self.error: BaseException | None = None

    def start(self) -> None:
        os.environ.update(ENVIRONMENT)
        self.mailbox = ray.remote(Mailbox).options(num_cpus=0).remote()
        storage = Path(self.events.path).parent / "checkpoints"
        self.thread = threading.Thread(target=self._fit, args=(storage, f"attempt-{self.events.attempt}"), daemon=True)
        self.thread.start()

    def _fit(self, storage: Path, name: str) -> None:
        try:
            from ray.train import RunConfig, ScalingConfig
            from ray.train.torch import TorchTrainer

            TorchTrainer(
                run_worker,
                train_loop_config={"mailbox": self.mailbox, "threads": self.cpus, "gpu": self.gpu},
                scaling_config=ScalingConfig(num_workers=self.workers, use_gpu=self.gpu, resources_per_worker={"CPU": self.cpus, **({"GPU": 1} if self.gpu else {})}),
                run_config=RunConfig(storage_path=str(storage), name=name),
            ).fit()
        except Exception as e:
            self.error = e

    def train(self, plan: Plan) -> Outcome:
        ray.get(self.mailbox.post.remote(plan))
        wait = _Wait(self.limit, self.gpu, self.events)
        while self.thread.is_alive():
            self.thread.join(PATIENCE_SECONDS)
            if self.thread.is_alive() and not ray.get(self.mailbox.fetched.remote()):
                wait.again()
        outcome = ray.get(self.mailbox.result.remote())
        if isinstance(outcome, UserError):
            raise outcome
        if self.error is not None:
            raise self.error
        return outcome

    def close(self) -> None:
        _disconnect()


def run_worker(config: dict) -> None:
    """The training function of TorchTrainer, on every worker."""
    device = warm_up(config["threads"], config["gpu"])
    from ray import train

    context, mailbox = train.get_context(), config["mailbox"]
    plan = ray.get(ray.get(mailbox.fetch.remote()))
    if config["gpu"]:
        from ray.train.torch import get_device

        device = str(get_device())
    try:
        outcome = train_and_test(plan, context.get_world_rank(), context.get_world_size(), device, config["threads"], train.report)
    except UserError as e:
        ray.get(mailbox.finish.remote(e))
        raise
    if outcome is not None:
        ray.get(mailbox.finish.remote(outcome))


class Mailbox:
    """The actor through which driver and workers exchange plan and outcome. The plan is kept as a reference, not unpacked."""

    def __init__(self):
        import asyncio

        self.ready, self.plan, self.fetches, self.outcome = asyncio.Event(), None, 0, None

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

    async def result(self):
        return self.outcome


def _disconnect() -> None:
    """Leave Ray, which ends our workers. What they printed last is still under way to the log for a moment."""
    time.sleep(LOG_SECONDS)
    ray.shutdown()


class _Wait:
    """Patience with a busy cluster: tells once that it is, and gives up after the run's own time limit."""

    def __init__(self, limit: float, gpu: bool, events: Events):
        self.began, self.limit, self.gpu, self.events, self.told = time.monotonic(), limit, gpu, events, False

    def again(self) -> None:
        """Called each time that the workers are still not there. Raises UserError when the limit is over."""
        if time.monotonic() - self.began > self.limit:
            why = f"The cluster had no room for {self.limit / 60:.0f} minutes."
            raise no_gpu(why) if self.gpu else UserError("no_capacity", "No worker could be started on the cluster.", "Set fewer workers, or try again later.", why)
        if not self.told:
            self.told = True
            self.events.warning("waiting", f"Waiting for a free {'GPU' if self.gpu else 'CPU'}: the cluster is busy or still starting.")
