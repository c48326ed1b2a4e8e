"""Two and more workers that train together: a TorchTrainer of Ray Train V2."""

import asyncio
import os
import threading

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from trainer.errors import Leaving, Paused, UserError
from trainer.launch import preflight, work, worker_log
from trainer.launch.capacity import MAX_LOSSES, Job, Wait
from trainer.launch.work import ENVIRONMENT, Outcome
from trainer.plan import Plan
from trainer.run_folder import files

END_SECONDS = 10.0  # for a finished trainer to wind up
EXCHANGE_SECONDS = 600  # that workers wait for one another: longer than the first of them needs to save a large model
RAY_FOLDER = "train"  # where Ray Train keeps its own state, in the folder of the start


class Several:
    """Two or more workers: TorchTrainer with DDP, over gloo on CPUs and NCCL on GPUs.

    The trainer is started before the plan is known, so that its processes import while the driver prepares the data. The plan
    reaches the workers, and the outcome the driver, through a small actor: no file to poll for on a network file system. When a
    worker is lost, all are started again and go on from their checkpoint.
    """

    def __init__(self, job: Job):
        self.job, self.events, self.workers = job, job.events, job.workers
        self.error: BaseException | None = None
        self.finished = False

    def start(self) -> None:
        os.environ.update(ENVIRONMENT)
        self.token = preflight.announce(self.job.work)
        # Beside the driver: without CPUs of its own it could otherwise be put on the machine of a worker, and go with it.
        beside = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self.mailbox = ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=beside).remote()
        self.thread = threading.Thread(target=self._fit, daemon=True)
        self.thread.start()

    def _fit(self) -> None:
        try:
            from ray.train import FailureConfig, RunConfig, ScalingConfig
            from ray.train.torch import TorchConfig, TorchTrainer

            (self.job.work / RAY_FOLDER).mkdir()  # by Ray it would be made for its own user alone
            each = {"CPU": self.job.cpus, **({"GPU": 1} if self.job.gpu else {})}
            patience = FailureConfig(max_failures=MAX_LOSSES)
            TorchTrainer(
                run_worker,
                train_loop_config={
                    "mailbox": self.mailbox, "threads": self.job.cpus, "gpu": self.job.gpu, "kind": self.job.kind,
                    "folder": self.job.folder, "work": self.job.work, "token": self.token,
                },
                torch_config=TorchConfig(timeout_s=EXCHANGE_SECONDS),
                scaling_config=ScalingConfig(num_workers=self.workers, use_gpu=self.job.gpu, resources_per_worker=each),
                # By name and place Ray Train would find what an earlier start left, and end at once with its result.
                run_config=RunConfig(storage_path=str(self.job.work), name=RAY_FOLDER, failure_config=patience),
            ).fit()  # fmt: skip
        except Exception as e:
            self.error = e

    def train(self, plan: Plan) -> Outcome:
        ray.get(self.mailbox.post.remote(plan))
        wait = Wait(self.job, self.events)
        result = self.mailbox.result.remote()
        while not ray.wait([result], timeout=1.0)[0]:
            if not self.thread.is_alive():
                raise self.error or RuntimeError("the workers ended without a result")
            if not ray.get(self.mailbox.fetched.remote()):
                wait.again()
        outcome = ray.get(result)
        self.finished = True
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        """Let the trainer end by itself where it is about to. To leave Ray under its feet would crash this process before it said
        why it ended; where the trainer still works, the connection ends with the process."""
        self.thread.join(END_SECONDS if self.finished else 0)
        if not self.thread.is_alive():
            ray.shutdown()


def run_worker(config: dict) -> None:
    """The training function of TorchTrainer, on every worker."""
    from ray import train

    context, mailbox = train.get_context(), config["mailbox"]
    rank = context.get_world_rank()
    files.share()
    worker_log.redirect(config["folder"] / "logs", rank)
    try:
        preflight.shared(config["work"], config["token"])
        device = work.warm_up(str(config["work"]), rank, config["threads"], config["gpu"], config["kind"])
        plan = ray.get(ray.get(mailbox.fetch.remote()))
        if config["gpu"]:
            from ray.train.torch import get_device

            device = str(get_device())
        asks = {"report": train.report, "leaving": lambda: train.get_preemption_info() is not None}
        outcome = work.train(plan, rank, context.get_world_size(), device, config["threads"], **asks)
    except Leaving as e:
        # Ray Train starts other workers for any error, but does not count this one.
        raise ray.exceptions.RayActorError(error_msg="the machine of a worker is about to go", preempted=True) from e
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
        if not self.finished.is_set():
            self.outcome = outcome
            self.finished.set()

    async def result(self):
        """What the worker of rank 0 handed over, once it did; the first UserError or wish to pause of any of them."""
        await self.finished.wait()
        return self.outcome
