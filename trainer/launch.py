"""Launchers: where and with how many workers a plan is carried out.

All have the same three methods. ``start`` asks for the workers, which begin their slow imports; the driver prepares the data
meanwhile; ``train`` hands over the plan and waits; ``close`` lets go of everything.

Start-up is imports: torch and transformers cost each process several CPU seconds, and a run of Ray Train's TorchTrainer has
five such processes (driver, controller, two helpers and the worker). So one worker is a plain Ray actor, which is all that one
worker needs: no process group, no controller. Two and more are a TorchTrainer with DDP. Both call the same function, with the
same results for the same seed and number of workers.
"""

import os
from typing import Protocol

from trainer.catalogue import Base
from trainer.errors import no_gpu
from trainer.events import Events
from trainer.plan import Plan
from trainer.spec import Parameters
from trainer.work import Outcome, train_and_test, warm_up

MAX_THREADS = 8  # more do not make models of this size faster


class Launcher(Protocol):
    workers: int

    def start(self) -> None: ...

    def train(self, plan: Plan) -> Outcome: ...

    def close(self) -> None: ...


def create(name: str, parameters: Parameters, base: Base, data_bytes: int, events: Events) -> Launcher:
    """The launcher for ``name`` (ray or local). Small data gets fewer workers than asked: each must have rows to work on."""
    threads = 1 if base.is_small else MAX_THREADS
    if name == "local":
        return Local(parameters.use_gpu, threads)
    workers = max(1, parameters.num_workers)
    fewer = max(1, min(workers, data_bytes // 4096))
    if fewer < workers:
        events.decision("workers", fewer, f"{fewer} instead of {workers} workers are used, because the data is too small to share.")
    from trainer import rays

    return rays.create(fewer, threads, parameters.use_gpu, parameters.max_minutes, events)


class Local:
    """Everything in this process: for tests, and for a look without Ray."""

    workers = 1

    def __init__(self, use_gpu: str, threads: int):
        self.use_gpu, self.threads = use_gpu, threads

    def start(self) -> None:
        """Nothing: a process cannot import and prepare at the same time."""

    def train(self, plan: Plan) -> Outcome:
        threads = min(self.threads, len(os.sched_getaffinity(0)))
        os.environ["OMP_NUM_THREADS"] = str(threads)
        import torch

        if self.use_gpu == "yes" and not torch.cuda.is_available():
            raise no_gpu()
        device = warm_up(threads, gpu=self.use_gpu != "no" and torch.cuda.is_available())
        return train_and_test(plan, rank=0, world=1, device=device, threads=threads)

    def close(self) -> None:
        """Nothing to let go of."""
