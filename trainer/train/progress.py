"""Reports the progress of a training: events for the service and the user, scalars for TensorBoard."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from trainer.errors import count
from trainer.run_folder.events import Events, progress_interval
from trainer.run_folder.tensorboard import TensorBoardLog
from trainer.train import estimate
from trainer.train.position import Position

TENSORBOARD = "tensorboard"  # the folder of scalars in the run folder
PROGRESS_SECONDS = 2.0  # between two progress events, at the beginning


class ProgressReporter:
    """Reports a training of ``steps`` steps in ``epochs`` epochs, and writes scalars into ``folder``. Only the first worker reports anything.

    ``thing`` is what a row is called, in the singular.
    """

    def __init__(self, ctx, folder: Path, events: Events, epochs: int, steps: int, thing: str):
        self.is_active, self.device, self.world = ctx.rank == 0, ctx.device, ctx.world
        self.events, self.epochs, self.steps, self.thing = events, epochs, steps, thing
        self.tensorboard = TensorBoardLog(folder) if self.is_active else None
        self.meter = Meter(ctx.device)
        self.began = self.last_progress = time.monotonic()
        self.expected, self.first = 0.0, (0, 0.0)  # the estimated seconds; the first step of this start and its time

    def warning(self, code: str, text: str) -> None:
        if self.is_active:
            self.events.warning(code, text)

    def estimated(self, rows: int, at: Position, seconds: float, most: float) -> None:
        """Report the estimated ``seconds`` of the rest of the training, of which ``most`` are allowed."""
        self.expected = seconds
        if not self.is_active:
            return
        all_of_it = f"{count(rows, self.thing)} and up to {count(self.epochs, 'epoch')} take"
        what = f"The remaining {self.steps - at.step} of {self.steps} steps take" if at.step else all_of_it
        where = f"{count(self.world, 'worker')} on {self.device.type.upper()}"
        self.events.decision("estimate", round(seconds, 1), f"{what} about {estimate.spelled(seconds)} with {where}.")
        if seconds > most:
            self.events.warning(
                "time_limit",
                f"The training needs about {estimate.spelled(seconds)}, more than the {estimate.spelled(most)} that max_minutes leaves: it will stop "
                "early with its best model. "
                "Increase max_minutes, or set fewer epochs, a smaller max_examples or a smaller model.",
            )

    def keeps(self, seconds: float, base: str) -> None:
        """Report that ``seconds`` of the time limit are kept to try ``base`` as it is; nothing for 0."""
        if seconds and self.is_active:
            text = f"A training of {base} does not fit into max_minutes, so about {estimate.spelled(seconds)} are kept to try it as it is, too."
            self.events.decision("candidates", [f"{base} (frozen)"], text)

    def chose(self, decisions: Iterable[tuple[str, Any, str]]) -> None:
        """Report what was chosen for the device: names, choices, sentences."""
        for decision in decisions if self.is_active else ():
            self.events.decision(*decision)

    def begins(self, rows: int, rate: float, why_rate: str) -> None:
        if not self.is_active:
            return
        if why_rate:
            self.events.decision("learning_rate", rate, why_rate)
        self.events.phase("train", f"Training on {count(rows, self.thing)} for up to {count(self.epochs, 'epoch')}.")

    def resumes(self, epoch: float, step: int) -> None:
        if self.is_active:
            self.events.resume(epoch, step, f"The training resumes from the checkpoint at step {step} of {self.steps}.")
            self.tensorboard.resumed(step)

    def stepped(self, at: Position, loss: torch.Tensor, rate: float, most: float) -> None:
        """Record the loss of a step, and report the progress from time to time."""
        self.meter.add(loss)
        begins = not self.first[0]
        if begins:
            self.first = at.step, time.monotonic()
        now = time.monotonic()
        if self.is_active and (begins or now - self.last_progress >= progress_interval(now - self.began, PROGRESS_SECONDS)):
            self.progress(at, rate, most)

    def progress(self, at: Position, rate: float, most: float) -> None:
        """Report the progress. ``rate`` is the learning rate, ``most`` the seconds until the time limit."""
        if not self.is_active:
            return
        self.last_progress = time.monotonic()
        loss, speed = self.meter.mean(), at.rows_seen / at.seconds if at.seconds else 0.0
        epoch = min(self.epochs, 1 + (at.step - 1) * self.epochs // self.steps)
        left = max(0.0, min(self._left(at), most))
        self.events.progress(epoch, self.epochs, at.step, self.steps, loss=loss, learning_rate=rate, samples_per_second=speed, eta_seconds=left)
        self.tensorboard.add(at.step, {"loss/step": loss, "learning_rate": rate, "samples_per_second": speed})

    def _left(self, at: Position) -> float:
        """Seconds until all epochs are done, by the pace of this start including evaluations. The first step is a warm-up, so after it
        the estimate is returned."""
        step, when = self.first
        return (self.steps - at.step) * (time.monotonic() - when) / (at.step - step) if at.step > step > 0 else self.expected

    def measured(self, epoch: float, step: int, loss: float, summary: dict[str, float]) -> None:
        if self.is_active:
            self.events.eval(epoch, step, "train", {"loss": loss})
            self.events.eval(epoch, step, "validation", summary)
            self.tensorboard.add(step, {"loss/train": loss, **{f"validation/{k}": v for k, v in summary.items()}})

    def saving(self) -> None:
        """A checkpoint is about to be saved."""

    def saved(self, epoch: float, step: int, path: str) -> None:
        self.events.checkpoint(epoch, step, path)

    def best(self, at: Position, metric: str) -> None:
        if self.is_active:
            self.events.best(at.best_epoch, at.best_step, metric, at.best_value)

    def close(self) -> None:
        if self.is_active:
            self.tensorboard.close()


class Meter:
    """The mean loss since the last progress event, kept on the device: reading it at every step would wait for a GPU."""

    def __init__(self, device: torch.device):
        self.sum, self.count = torch.zeros((), device=device), 0

    def add(self, loss: torch.Tensor) -> None:
        self.sum, self.count = self.sum + loss, self.count + 1

    def mean(self) -> float | None:
        """The mean since the last call; None if there was no step."""
        mean = self.sum.item() / self.count if self.count else None
        self.sum, self.count = torch.zeros_like(self.sum), 0
        return mean
