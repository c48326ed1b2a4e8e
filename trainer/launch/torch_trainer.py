"""Two or more workers that train together: a TorchTrainer of Ray Train V2."""

import os
import threading

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from trainer.errors import MachineLeaving, Paused, UserError
from trainer.launch import preflight, work, worker_log
from trainer.launch.capacity import MAX_LOST_WORKERS, CapacityWait, WorkerRequest
from trainer.launch.mailbox import Mailbox
from trainer.launch.outcome import Outcome
from trainer.launch.work import ENVIRONMENT
from trainer.plan import Plan
from trainer.run_folder import files

END_SECONDS = 10.0  # for a finished trainer to shut down
EXCHANGE_SECONDS = 600  # how long workers wait for each other: longer than saving a large model takes
RAY_FOLDER = "train"  # in the folder of the start: the state of Ray Train


class TorchTrainerLauncher:
    """Two or more workers: TorchTrainer with DDP, over gloo on CPUs and NCCL on GPUs.

    The trainer starts before the plan is known, so that its processes do their imports while the driver prepares the data. A small
    actor passes the plan to the workers and the outcome to the driver, so no file on a network file system has to be polled. If a
    worker is lost, all workers are restarted and resume from the last checkpoint.
    """

    def __init__(self, request: WorkerRequest):
        self.request, self.events, self.workers = request, request.events, request.workers
        self.error: BaseException | None = None
        self.finished = False

    def start(self) -> None:
        os.environ.update(ENVIRONMENT)
        self.token = preflight.announce(self.request.work)
        # On the node of the driver: without CPUs of its own it could be placed on the node of a worker and be lost with it.
        beside = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self.mailbox = ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=beside).remote()
        self.thread = threading.Thread(target=self._fit, daemon=True)
        self.thread.start()

    def _fit(self) -> None:
        try:
            from ray.train import FailureConfig, RunConfig, ScalingConfig
            from ray.train.torch import TorchConfig, TorchTrainer

            (self.request.work / RAY_FOLDER).mkdir()  # Ray would create it for its own user only
            each = {"CPU": self.request.cpus, **({"GPU": 1} if self.request.gpu else {})}
            retries = FailureConfig(max_failures=MAX_LOST_WORKERS)
            TorchTrainer(
                run_worker,
                train_loop_config={
                    "mailbox": self.mailbox, "threads": self.request.cpus, "gpu": self.request.gpu, "kind": self.request.kind,
                    "folder": self.request.folder, "work": self.request.work, "token": self.token,
                },
                torch_config=TorchConfig(timeout_s=EXCHANGE_SECONDS),
                scaling_config=ScalingConfig(num_workers=self.workers, use_gpu=self.request.gpu, resources_per_worker=each),
                # In a folder shared by several starts, Ray Train would find the result of an earlier start and return it.
                run_config=RunConfig(storage_path=str(self.request.work), name=RAY_FOLDER, failure_config=retries),
            ).fit()  # fmt: skip
        except Exception as e:
            self.error = e

    def train(self, plan: Plan) -> Outcome:
        ray.get(self.mailbox.post.remote([ray.put(plan)]))
        wait = CapacityWait(self.request, self.events)
        result = self.mailbox.result.remote()
        while not ray.wait([result], timeout=1.0)[0]:
            if not self.thread.is_alive():
                raise self.error or RuntimeError("the workers ended without a result")
            if not ray.get(self.mailbox.fetched.remote()):
                wait.check()
        outcome = ray.cloudpickle.loads(ray.get(result))
        self.finished = True
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        """Wait for a finished trainer to end. Disconnecting from Ray earlier would crash this process before it reports its result.
        If the trainer is still working, the connection ends with the process."""
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
    except MachineLeaving as e:
        # Ray Train starts other workers for any error, but does not count this one.
        raise ray.exceptions.RayActorError(error_msg="the machine of a worker is about to shut down", preempted=True) from e
    except (UserError, Paused) as e:
        # A UserError would occur again, and a pause is intended. Without an exception here, Ray does not restart the workers.
        ray.get(mailbox.finish.remote(ray.cloudpickle.dumps(e)))
        return
    if outcome is not None:
        ray.get(mailbox.finish.remote(ray.cloudpickle.dumps(outcome)))
