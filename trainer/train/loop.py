"""The training loop. It is independent of the launcher: the same ``train`` runs in a plain process and in Ray actors.

All randomness is a function of the seed and the step, and everything else that a step depends on is in the checkpoint. So a
training that is killed and resumed ends with the same weights, bit for bit with one worker on CPUs.
"""

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from trainer.core.plan import CHECKPOINTS, Plan
from trainer.errors import MachineLeaving, Paused, Regrouping, UserError, count, some
from trainer.models import transformer
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.train import batches, checkpoint, estimate, evaluate, frozen, parts
from trainer.train.average import MovingAverage
from trainer.train.checkpoint import Checkpoints
from trainer.train.consensus import Consensus
from trainer.train.objective import Objective
from trainer.train.optimize import Optimization
from trainer.train.position import Position
from trainer.train.progress import TENSORBOARD, ProgressReporter
from trainer.train.rate import learning_rate
from trainer.train.step import Stepper

ALL_DONE, EARLY, TIME_LIMIT, STOPPED, DIVERGED = "all epochs done", "early stopping", "time limit", "stopped by a person", "diverged"
AFTER = "stop_after reached"
CHECKPOINT_SECONDS = 300.0  # between two checkpoints, if the evaluations are further apart
SETTLED, GAIN = 5, 0.01  # evaluations with a perfect score without such a gain of the loss, after which a training ends
BETWEEN_SAVES_SECONDS = 2.0  # if evaluations follow each other faster, only the best models are saved


@dataclass
class Context:
    """Where a worker runs. ``leaving`` says whether its machine is about to shut down. ``most`` is the largest number of workers that the
    training may have, where it changes; 0 where it does not."""

    rank: int
    world: int
    device: torch.device
    threads: int
    most: int = 0
    leaving: Callable[[], bool] = lambda: False


@dataclass
class Trained:
    """The result of the loop, the same on all ranks. ``model`` holds the best weights."""

    model: torch.nn.Module
    learning_rate: float
    accumulation: int
    precision: str
    estimate_seconds: float
    stopped: str
    epochs: float
    position: Position
    waiting_seconds: float
    gradient_bytes: int

    @property
    def rate(self) -> float:
        """Rows a second, over all workers."""
        return self.position.rows_seen / self.position.seconds if self.position.seconds else 0.0


def train(ctx: Context, plan: Plan, events: Events) -> Trained:
    """Train by ``plan`` until all epochs are done, the model stops improving, the time limit is reached, or the run is stopped.

    At least one evaluation is made. Resumes from the newest complete checkpoint of the same training, if there is one. Raises
    UserError if the run is stopped before the first step.
    """
    training = Training(ctx, plan, events)
    training.resume()
    training.check_not_stopped()
    if ctx.rank == 0 or training.stepper.is_spread:
        training.announce()
    with stop.pausable(Path(plan.work)) if ctx.rank == 0 else contextlib.nullcontext():
        stopped = training.run()
    return training.finish(stopped)


class Training:
    """The state of one training on one worker."""

    def __init__(self, ctx: Context, plan: Plan, events: Events, folder: str = CHECKPOINTS, reporter: ProgressReporter | None = None):
        """``folder`` is the place of the checkpoints in the run folder."""
        self.ctx, self.plan, self.settings = ctx, plan, plan.settings
        self.used = 0.0  # seconds of the time limit that earlier trainings took
        self.began, self.before = time.monotonic(), 0.0
        self.data = plan.splits["train"]
        torch.manual_seed(self.settings.seed)
        self.model = plan.kind.build(plan).to(ctx.device)
        has_head = not self.settings.freeze_encoder or transformer.freeze(self.model)
        self.average = MovingAverage(self.model) if plan.base.fresh else None
        self.objective = Objective(plan.target, plan.weights, self.settings.label_smoothing)
        size = transformer.parameters(self.model)
        self.rate, self.why_rate = (self.settings.learning_rate, "") if self.settings.learning_rate else learning_rate(plan.base.fresh, size)
        self.batch_size = max(self.settings.batch_size, ctx.world, ctx.most)
        self.per_epoch = math.ceil(self.data.per_epoch / self.batch_size)
        self.steps = self.per_epoch * self.settings.epochs
        self.stops = batches.evaluated(self.per_epoch, self.settings.evals_per_epoch)
        self.end = batches.last_step(self.per_epoch, self.stops, self.settings.epochs, self.settings.stop_after)
        self.stepper = Stepper(ctx, plan, self.model, self.objective)
        self.optimization = Optimization(self.model, self.settings, self.rate, self.steps, self.stepper.scaler)
        self.checkpoints = Checkpoints(Path(plan.folder) / folder, plan.digest, self.settings.keep_checkpoints, events.lease)
        self.consensus = Consensus(ctx, plan)
        self.reporter = reporter or ProgressReporter(ctx, Path(plan.folder) / TENSORBOARD, events, self.settings.epochs, self.steps, plan.thing)
        if not has_head:
            self.reporter.warning("freeze_encoder", "This model has no encoder to freeze, so all its weights are trained.")
        self.at = Position()
        self.order: tuple[int, list] = (-1, [])
        self.estimate = 0.0
        self.saved, self.saved_step = time.monotonic(), -1

    def resume(self) -> None:
        """Load the newest complete checkpoint. The first worker chooses it for all."""
        found = self.consensus.from_first(self._newest)
        if found is None:
            return
        folder, state = found
        self.at = checkpoint.restore(folder, state, self.model, self._averaged(), self.optimization.optimizer)
        self.before, self.saved_step = self.at.spent, self.at.step
        self.at.resumed += 1
        self.stepper.restore(self.at)
        self.reporter.resumes(self._epoch(), self.at.step)

    def _newest(self) -> tuple[Path, dict] | None:
        damaged: list[str] = []
        foreign: list[str] = []
        found = self.checkpoints.newest(damaged, foreign)
        instead = "an earlier one is used" if found else "the training starts from the beginning"
        if damaged:
            self.reporter.warning("checkpoint_damaged", f"{count(len(damaged), 'checkpoint')} ({some(damaged, 3)}) cannot be read; {instead}.")
        if foreign:
            text = (
                f"{count(len(foreign), 'checkpoint')} ({some(foreign, 3)}) cannot be used because the data or the settings have changed; {instead}."
            )
            self.reporter.warning("checkpoint_foreign", text)
        return found

    def check_not_stopped(self) -> None:
        if self.at.step == 0 and self.consensus.from_first(lambda: stop.requested(Path(self.plan.folder))) == stop.KEEP:
            raise stop.nothing_to_keep()

    def announce(self) -> None:
        seconds = self.estimated()
        if self.ctx.device.type == "cpu" and seconds > self.plan.kind.longest_on_cpus:
            raise UserError(
                "too_long",
                f"This would take about {round(seconds / 3600)} hours on {count(self.ctx.threads * self.ctx.world, 'CPU')}.",
                "Choose a smaller model, fewer rows (data.max_examples), or wait for a GPU (use_gpu: yes).",
            )
        self.reporter.chose(self.plan.kind.device_decisions(self.model, self.plan))
        self.reporter.begins(self.data.per_epoch, self.rate, self.why_rate)

    def estimated(self) -> float:
        """The estimated seconds of the rest of the training. It is also reported to the user."""
        rest = (self.end - self.at.step) / max(1, self.steps)
        whole = estimate.seconds(self.stepper, self.data, self.plan.splits["validation"], self.batch_size, self.settings, self.ctx)
        self.estimate = rest * whole
        kept = frozen.reserved(self.plan, self.estimate, self._left(), self.ctx.world)
        self.used += kept
        self.reporter.keeps(kept, self.plan.base.name)
        self.reporter.estimated(self.data.per_epoch, self.at, self.estimate, self._left())
        return self.estimate

    def run(self, evaluations: int | None = None) -> str:
        """Train until the training ends or has made that many evaluations. Returns the reason to stop, or ALL_DONE."""
        stopped = self.stop_reason()
        while stopped == ALL_DONE and self.at.measured < self.end and (evaluations is None or self.at.evaluations < evaluations):
            stopped = self.interval()
        return stopped

    def keep(self) -> None:
        """Save a checkpoint of this position, unless there is one."""
        if self.saved_step != self.at.step:
            self._save()

    def interval(self) -> str:
        """Train up to the next evaluation or a signal to stop, then evaluate. Returns the reason to stop, or ALL_DONE."""
        try:
            return self._interval()
        except UserError as e:
            if e.code != DIVERGED or not self.at.best_step:
                raise
            self.reporter.warning(DIVERGED, f"{e.what} The best model so far, from epoch {self.at.best_epoch:g}, is kept. {e.do}")
            return DIVERGED

    def _interval(self) -> str:
        stopped = ALL_DONE
        until = self._next_evaluation()
        self.stepper.begin()
        while self.at.step < until:
            began = time.monotonic()
            loss = self._step()
            self.at.seconds += time.monotonic() - began
            left = self._left()
            self.reporter.stepped(self.at, loss, self.optimization.rate, left)
            signal = self.consensus.signal(self.at.step, left < 0, time.monotonic() - self.saved > CHECKPOINT_SECONDS)
            if signal in ("pause", "leave", "regroup"):
                self._save()
                raise self._end_of_start(signal)
            if signal == "save":
                self._save()
            elif signal:
                stopped = TIME_LIMIT if signal == "time" else STOPPED
                break
        self.reporter.progress(self.at, self.optimization.rate, self._left())
        self._measure()
        return stopped if stopped != ALL_DONE else self.stop_reason()

    def stop_reason(self) -> str:
        """EARLY if the position calls for early stopping, AFTER at the end that stop_after sets, else ALL_DONE."""
        patience = self.settings.early_stopping_patience
        if self.at.step >= self.end:
            return AFTER if self.end < self.steps else ALL_DONE
        return EARLY if patience and (self.at.since_best >= patience or self.at.settled >= SETTLED) else ALL_DONE

    def finish(self, stopped: str) -> Trained:
        self.checkpoints.load_best(self.at.best_step, self.model)
        if (parts := self.stepper.accumulation) > self.settings.gradient_accumulation:
            self.reporter.warning("memory", f"The GPU did not have enough memory for a whole batch, so each batch was computed in {parts} parts.")
        self.reporter.close()
        return Trained(
            self.model, self.rate, self.stepper.accumulation, self.stepper.precision, self.estimate, stopped,
            round(self._epoch(), 3), self.at, self.stepper.waiting_seconds(), self.stepper.gradient_bytes(),
        )  # fmt: skip

    def _step(self) -> torch.Tensor:
        """One step on a global batch; returns the mean loss of this worker's rows."""
        epoch, place = divmod(self.at.step, self.per_epoch)
        if self.order[0] != epoch:
            self.order = (epoch, batches.epoch(self.data, self.batch_size, self.settings.seed, epoch + 1))
        batch = self.order[1][place]
        loss = self.stepper.step(self.data, batch, self.at.step)
        self.optimization.step(self.at.step)
        self.at.step += 1
        self.at.rows += len(batch)
        self.at.rows_seen += len(batch)
        if self.average is not None:
            self.average.follow(self.at.step)
        return loss

    def _measure(self) -> None:
        """Evaluate the model on the validation rows, and save a checkpoint."""
        loss = self._finite(self.stepper.mean_loss(self.at))
        average = self._averaged()
        model = self.model if average is None else average
        found = evaluate.answers(model, self.plan.splits["validation"], self.plan.target, self.ctx.device, self.ctx.rank, self.ctx.world)
        _, decided = self.plan.target.decided({"validation": found})
        summary = self.plan.target.summary(decided["validation"])
        best = self._judge(summary)
        self.at.measured = self.at.step
        self.reporter.measured(self._epoch(), self.at.step, loss, summary)
        if best or self.ctx.world > 1 or time.monotonic() - self.saved > BETWEEN_SAVES_SECONDS:
            self._save()
        if best:
            self.reporter.best(self.at, self.plan.metric)

    def _judge(self, summary: dict[str, float]) -> bool:
        """Record and return whether this is the best model so far, by the metric and then by the loss."""
        at = self.at
        at.evaluations += 1
        if self.plan.metric not in summary:
            raise UserError(
                "unmeasurable",
                f"The metric {self.plan.metric} cannot be computed on the validation rows.",
                "Choose another metric, or add rows of every class.",
                f"Metrics that can be computed: {some(summary)}.",
            )
        sign = 1 if self.plan.target.metrics[self.plan.metric].higher_is_better else -1
        value, loss = summary[self.plan.metric], summary["loss"]
        best = at.best_value is None or (sign * value, -loss) > (sign * at.best_value, -at.best_loss)
        if best:
            at.best_step, at.best_epoch, at.best_value, at.best_loss = at.step, self._epoch(), value, loss
        at.since_best = 0 if best else at.since_best + 1
        if not self.plan.target.metrics[self.plan.metric].is_perfect(value):
            at.settled, at.settled_loss = 0, None
        elif at.settled_loss is None or loss < at.settled_loss - GAIN:
            at.settled, at.settled_loss = 0, loss
        else:
            at.settled += 1
        return best

    def _save(self) -> None:
        self.saved, self.saved_step = time.monotonic(), self.at.step
        self.at.total, self.at.spent = self._finite(self.stepper.total()), self._spent()
        if self.stepper.scaler is not None:
            self.at.scaler = self.stepper.scaler.state_dict()
        made = self._parts_of_all() if parts.are_in(self.model) else None
        if self.ctx.rank == 0:
            self.reporter.saving()
            optimizer = self.optimization.optimizer
            path = (
                self.checkpoints.complete(made, self.at, optimizer)
                if made
                else self.checkpoints.save(self.at, self.model, self._averaged(), optimizer)
            )
            self.reporter.saved(self._epoch(), self.at.step, path.relative_to(self.plan.folder).as_posix())
        self.consensus.wait()  # no worker continues before the checkpoint exists

    def _parts_of_all(self) -> Path:
        """The folder of a checkpoint into which each worker has written what it holds."""
        made: Path = self.consensus.from_first(lambda: self.checkpoints.begin(self.at.step))
        checkpoint.write_part(made, self.model, self.optimization.optimizer, self.ctx.rank, self.ctx.world)
        self.consensus.wait()
        return made

    def _finite(self, loss: float) -> float:
        """``loss``. Raises UserError if it is not a number any more."""
        if math.isfinite(loss):
            return loss
        raise UserError(
            DIVERGED,
            f"The training diverged in epoch {math.ceil(self._epoch())}: its loss is no longer a number.",
            "Set a smaller learning_rate, or 0 to choose it automatically.",
            f"The learning rate was {self.rate:g}.",
        )

    def _end_of_start(self, signal: str) -> Exception:
        """What ends the work of these workers, after a checkpoint: others go on from it."""
        if signal == "pause":
            return Paused()
        if signal == "regroup":
            return Regrouping()
        self.reporter.warning(
            "machine_leaves", "A machine of the cluster is about to shut down: the training saves a checkpoint and continues on another machine."
        )
        return MachineLeaving()

    def _averaged(self) -> torch.nn.Module | None:
        return None if self.average is None else self.average.module

    def _epoch(self) -> float:
        return round(self.at.step / self.per_epoch, 4)

    def _spent(self) -> float:
        """Seconds of training, without the time between a kill and a restart."""
        return self.before + time.monotonic() - self.began

    def _left(self) -> float:
        """Seconds until the time limit."""
        return 60 * self.settings.max_minutes - self.used - self._spent()

    def _next_evaluation(self) -> int:
        """The step of the next evaluation. It is the current one if the training was interrupted right before its evaluation."""
        epoch, place = divmod(self.at.step - (self.at.step > self.at.measured), self.per_epoch)
        return epoch * self.per_epoch + next(s for s in self.stops if s > place)
