"""Reports the progress of one trial: as part of the whole search, with the evaluations kept for the report."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from trainer.search.trials import Record
from trainer.train.position import Position
from trainer.train.progress import TENSORBOARD, ProgressReporter

if TYPE_CHECKING:
    from trainer.search.run import Runner


class TrialReporter(ProgressReporter):
    """The events of a trial are ``trial`` events. Its evaluations are kept in ``record``; the scalars are in a folder of their own."""

    def __init__(self, runner: "Runner", number: int, record: Record, epochs: int, steps: int):
        self.runner, self.number, self.record = runner, number, record
        plan = runner.plan
        folder = Path(plan.folder) / TENSORBOARD / f"trial-{number:02d}"
        super().__init__(runner.ctx, folder, runner.events, epochs, steps, plan.kind.thing(plan.task))

    def estimated(self, rows: int, at: Position, seconds: float, most: float) -> None:
        """Says nothing: the search has an estimate of its own."""

    def begins(self, rows: int, rate: float, why_rate: str) -> None:
        """Says nothing: a trial is not a phase."""

    def resumes(self, epoch: float, step: int) -> None:
        """Forget the evaluations after the checkpoint, which are made again."""
        self.record.history = [h for h in self.record.history if h["step"] <= step]
        if self.tensorboard is not None:
            self.tensorboard.resumed(step)

    def progress(self, at: Position, rate: float, most: float) -> None:
        self.last_progress = time.monotonic()
        loss = self.meter.mean()
        if self.tensorboard is not None:
            self.tensorboard.add(at.step, {"loss/step": loss, "learning_rate": rate})
        self.runner.progress(self.number, at.step * self.epochs / self.steps)

    def measured(self, epoch: float, step: int, loss: float, summary: dict[str, float]) -> None:
        self.record.history.append({"epoch": epoch, "step": step, "train_loss": loss, "metrics": summary})
        if self.tensorboard is not None:
            self.tensorboard.add(step, {"loss/train": loss, **{f"validation/{k}": v for k, v in summary.items()}})

    def saving(self) -> None:
        self.runner.save()  # before the checkpoint, so that every evaluation before it is known

    def saved(self, epoch: float, step: int, path: str) -> None:
        """Says nothing: the state of the search names what there is."""

    def best(self, at: Position, metric: str) -> None:
        """Says nothing: the best model of a trial is not that of the search."""
