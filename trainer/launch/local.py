"""A launcher that does everything in the process of the driver, without Ray: for jobs of the command line with one worker."""

import os
import signal
from collections.abc import Iterable
from pathlib import Path

from trainer import gc_pause
from trainer.core.kind import Kind
from trainer.core.plan import Plan, Saved
from trainer.errors import no_gpu
from trainer.launch import pieces, work
from trainer.launch.capacity import Machine
from trainer.launch.outcome import Outcome, Trial
from trainer.run_folder import stop
from trainer.run_folder.events import Events


class LocalLauncher:
    workers = 1
    machine = Machine()

    def __init__(self, use_gpu: str, threads: int, kind: str, events: Events):
        self.use_gpu, self.kind, self.events, self.on_gpu = use_gpu, kind, events, use_gpu == "yes"
        self.threads = min(threads, len(os.sched_getaffinity(0)))

    def start(self) -> None:
        """Does nothing: a single process cannot import and prepare at the same time."""

    def train(self, plan: Plan) -> Outcome:
        """Train in this process. On SIGTERM the training is paused, not interrupted, so that it saves a checkpoint."""
        before = signal.signal(signal.SIGTERM, lambda *_: stop.pause(Path(plan.work), seconds=0))
        try:
            return work.train(plan, rank=0, world=1, device=self._device(), threads=self.threads)
        finally:
            signal.signal(signal.SIGTERM, before)

    def estimate(self, plan: Plan) -> Trial:
        return work.estimate(plan, self._device())

    def predict(self, saved: Saved):
        return work.predict(saved, self.events, self._device())

    def spread(self, work_pieces: Iterable[pieces.Piece], count: int, tick: pieces.Tick) -> None:
        """See ``pieces.Spreading``."""
        pieces.in_turn(work_pieces, tick, self._device(), self.events)

    def to_onnx(self, folder: Path, kind: Kind, target, inputs: dict) -> str:
        return work.to_onnx(folder, kind, target, inputs, str(self.events.lease.folder))

    def _device(self) -> str:
        os.environ["OMP_NUM_THREADS"] = str(self.threads)
        with gc_pause.importing():
            import torch

        if self.use_gpu == "yes" and not torch.cuda.is_available():
            raise no_gpu()
        gpu = self.use_gpu != "no" and torch.cuda.is_available()
        return work.warm_up(str(self.events.lease.folder), 0, self.threads, gpu, self.kind)

    def close(self) -> None:
        """Does nothing: there are no workers."""
