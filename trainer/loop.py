"""The training loop. It knows nothing of who launched it: the same ``train`` runs plainly, in a Ray actor and in Ray Train."""

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F

from trainer import batches, checkpoint, evaluate, model as models
from trainer.errors import UserError
from trainer.events import Events
from trainer.plan import Plan

METRIC = "accuracy"  # of validation, by which the best epoch is chosen
ALL_DONE, EARLY, TIME_LIMIT = "all epochs done", "early stopping", "time limit"
PATIENCE = 3  # epochs without a better validation accuracy before training stops
WARM_UP = 0.06  # share of the steps
WEIGHT_DECAY = 0.01
MAX_NORM = 1.0
# A small model from scratch jumps about from step to step, and the epoch that happens to measure best on few validation rows
# is often not. The running average of its weights is measured and kept instead: on SST-2, test accuracies were 0.79 to 0.81
# with it (six runs) and 0.78 to 0.80 without (three).
AVERAGE = 0.995
PROGRESS_SECONDS = 2.0
CLOCK_STEPS = 8  # several workers agree on the time limit every so many steps


@dataclass
class Context:
    """Where a worker runs. ``report`` tells the launcher the figures of an epoch, on every rank."""

    rank: int
    world: int
    device: torch.device
    threads: int
    report: Callable[[dict], None] = lambda _: None


@dataclass
class Trained:
    """What came of the loop, the same on all ranks. The best weights lie in the checkpoint; ``model`` has the last ones."""

    model: torch.nn.Module
    learning_rate: float
    best_epoch: int = 0
    best_step: int = 0
    best: tuple[float, float] = (-1.0, -math.inf)  # validation accuracy, and minus the loss to break ties
    epochs: int = 0
    steps: int = 0
    rows: int = 0
    seconds: float = 0.0  # spent in training steps
    stopped: str = ALL_DONE

    @property
    def rate(self) -> float:
        """Rows a second, over all workers."""
        return self.rows / self.seconds if self.seconds else 0.0


def train(ctx: Context, plan: Plan, events: Events) -> Trained:
    """Train by ``plan`` until all epochs are done, nothing improves, or the time is over; at least one epoch is measured."""
    deadline = time.monotonic() + 60 * plan.max_minutes
    torch.manual_seed(plan.seed)
    model = models.build(plan).to(ctx.device)
    rate = plan.learning_rate or _choose_rate(ctx, plan, model, events)
    torch.manual_seed(plan.seed + ctx.rank)  # every worker drops out other units
    if ctx.rank == 0:
        events.phase("train", f"Training on {len(plan.splits['train'])} rows for up to {plan.epochs} epochs.")
    run = _Run(ctx, plan, events, model, rate, deadline)
    for epoch in range(1, plan.epochs + 1):
        loss = run.epoch(epoch)
        run.measure(epoch, loss)
        if run.out.stopped != ALL_DONE:
            break
    return run.out


def _choose_rate(ctx: Context, plan: Plan, model: torch.nn.Module, events: Events) -> float:
    rate, why = models.learning_rate(plan.base_folder is None, models.parameters(model))
    if ctx.rank == 0:
        events.decision("learning_rate", rate, why)
    return rate


class _Run:
    """The state of one training on one worker."""

    def __init__(self, ctx: Context, plan: Plan, events: Events, model: torch.nn.Module, rate: float, deadline: float):
        self.ctx, self.plan, self.events, self.deadline = ctx, plan, events, deadline
        self.data = plan.splits["train"]
        self.model = self.wrapped = model
        if ctx.world > 1:
            # Base models may have parts that a classifier does not use.
            self.wrapped = torch.nn.parallel.DistributedDataParallel(model, find_unused_parameters=plan.base_folder is not None)
        self.average = copy.deepcopy(model).requires_grad_(False) if plan.base_folder is None else None
        self.out = Trained(model, rate)
        self.batch_size = max(plan.batch_size, ctx.world)
        self.steps = math.ceil(len(self.data) / self.batch_size) * plan.epochs
        warm_up = max(1, round(WARM_UP * self.steps))
        self.optimizer = torch.optim.AdamW(_groups(model), lr=rate)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: min((s + 1) / warm_up, max(0.0, (self.steps - s) / max(1, self.steps - warm_up)))
        )
        self.meter = _Meter(ctx.device)

    def epoch(self, epoch: int) -> float:
        """Train one epoch, or as much of it as the time allows; returns its mean loss."""
        self.wrapped.train()
        before, began = self.out.seconds, time.monotonic()
        total, rows = torch.zeros((), device=self.ctx.device), 0
        for batch in batches.training(self.data, self.batch_size, self.plan.seed, epoch):
            loss = self._step(batch)
            total, rows = total + loss * len(batch), rows + len(batch)
            self.out.steps, self.out.rows = self.out.steps + 1, self.out.rows + len(batch)
            self.out.seconds = before + time.monotonic() - began
            if self.meter.due(loss, self.out.steps) and self.ctx.rank == 0:
                self._progress(epoch)
            if self._time_over():
                self.out.stopped = TIME_LIMIT
                break
        self.out.epochs = epoch
        if self.ctx.world > 1:
            torch.distributed.all_reduce(total)
            total /= self.ctx.world
        mean = total.item() / rows
        if not math.isfinite(mean):
            raise UserError(
                "diverged",
                f"The training diverged in epoch {epoch}: its loss is no longer a number.",
                "Set a smaller learning_rate, or 0 to have it chosen.",
                f"The learning rate was {self.out.learning_rate:g}.",
            )
        if self.ctx.rank == 0:
            self._progress(epoch)
        return mean

    def _step(self, batch) -> torch.Tensor:
        """One step on a global batch; returns this worker's part of its loss, so that the mean over the workers is the loss."""
        mine = batches.share(batch, self.ctx.rank, self.ctx.world)
        inputs, labels = batches.tensors(self.data, mine, self.plan.pad_id, self.ctx.device)
        # DDP takes the mean of the gradients over the workers. Weighted so, it is the gradient of the mean over the rows,
        # whatever the number of workers and however unevenly a last batch is shared.
        summed = F.cross_entropy(self.wrapped(**inputs).logits.float(), labels, reduction="sum")
        loss = summed * self.ctx.world / max(len(batch), self.ctx.world)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        self.optimizer.step()
        self.schedule.step()
        if self.average is not None:
            _blend(self.average, self.model, min(AVERAGE, (1 + self.out.steps) / (10 + self.out.steps)))
        return loss.detach()

    def _progress(self, epoch: int) -> None:
        spent, done = self.out.seconds, self.out.steps
        self.events.progress(
            epoch,
            self.plan.epochs,
            done,
            self.steps,
            loss=self.meter.mean(),
            learning_rate=self.schedule.get_last_lr()[0],
            samples_per_second=self.out.rate,
            eta_seconds=(self.steps - done) * spent / done,
        )

    def _time_over(self) -> bool:
        """Whether the time limit is reached. Several workers ask each other, for all must stop after the same step."""
        if self.ctx.world == 1:
            return time.monotonic() > self.deadline
        if self.out.steps % CLOCK_STEPS:
            return False
        over = torch.tensor(float(time.monotonic() > self.deadline), device=self.ctx.device)
        torch.distributed.all_reduce(over, op=torch.distributed.ReduceOp.MAX)
        return bool(over.item())

    def measure(self, epoch: int, loss: float) -> None:
        """Measure the model on the validation rows, keep it if it is the best, and see whether to go on."""
        model = self.model if self.average is None else self.average
        found = evaluate.measure(
            model, self.plan.splits["validation"], len(self.plan.labels), self.plan.pad_id, self.ctx.device, self.ctx.rank, self.ctx.world
        ).summary()
        out = self.out
        better = (found["accuracy"], -found["loss"]) > out.best or not out.best_epoch
        if better:
            out.best, out.best_epoch, out.best_step = (found["accuracy"], -found["loss"]), epoch, out.steps
        elif out.stopped == ALL_DONE and epoch - out.best_epoch >= PATIENCE and epoch < self.plan.epochs:
            out.stopped = EARLY
        if self.ctx.rank == 0:
            self.events.eval(epoch, out.steps, "train", {"loss": loss})
            self.events.eval(epoch, out.steps, "validation", found)
            if better:
                path = checkpoint.save(Path(self.plan.folder) / "checkpoints", model, epoch, out.steps, found)
                self.events.checkpoint(epoch, out.steps, path.relative_to(self.plan.folder).as_posix())
                self.events.best(epoch, out.steps, METRIC, found["accuracy"])
        self.ctx.report({"epoch": epoch, "train_loss": loss, **{f"validation_{k}": v for k, v in found.items()}})


class _Meter:
    """The mean loss since the last progress event, kept on the device: reading it at every step would wait for a GPU."""

    def __init__(self, device: torch.device):
        self.total, self.count, self.told = torch.zeros((), device=device), 0, time.monotonic()

    def due(self, loss: torch.Tensor, step: int) -> bool:
        """Take in the loss of a step. True after the first step and then every PROGRESS_SECONDS."""
        self.total, self.count = self.total + loss, self.count + 1
        return step == 1 or time.monotonic() - self.told >= PROGRESS_SECONDS

    def mean(self) -> float | None:
        """The mean, to be told now; None where no step came since the last time."""
        mean = self.total.item() / self.count if self.count else None
        self.total, self.count, self.told = torch.zeros_like(self.total), 0, time.monotonic()
        return mean


def _groups(model: torch.nn.Module) -> list[dict]:
    """Weight decay for matrices only: biases and norms are not to be pulled towards zero."""
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    return [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]


@torch.no_grad()
def _blend(average: torch.nn.Module, model: torch.nn.Module, keep: float) -> None:
    """Move ``average`` towards ``model``: it keeps the share ``keep`` of itself."""
    torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 1 - keep)
