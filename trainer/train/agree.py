"""What all workers must do after the same step: stop, or save. Each may see another clock, so they ask one another."""

import time
from pathlib import Path

import torch

from trainer import stop
from trainer.plan import Plan

CLOCK_STEPS = 8  # several workers ask one another every so many steps
LOOK_SECONDS = 0.5
WISHES = ("pause", "leave", "stop", "time", "save")  # the most urgent first


class Agreement:
    """What the workers of the training by ``plan`` decide together."""

    def __init__(self, ctx, plan: Plan):
        self.ctx, self.folder, self.work = ctx, Path(plan.folder), Path(plan.work)
        self.looked, self.told = 0.0, ""

    def wish(self, step: int, time_over: bool, save_due: bool) -> str:
        """One of WISHES, or "" to go on; the same on all workers."""
        if self.ctx.world > 1 and step % CLOCK_STEPS:
            return ""
        # Files and Ray are asked now and then only, and Ray by all workers together.
        due = time.monotonic() - self.looked >= LOOK_SECONDS
        if due:
            self.looked = time.monotonic()
            self.told = stop.PAUSE if stop.is_paused(self.work) else stop.asked(self.folder)
        pause, keep, late, save, due = self._any(self.told == stop.PAUSE, self.told == stop.KEEP, time_over, save_due, due)
        leave = due and self.ctx.leaving()
        return next((wish for wish, wanted in zip(WISHES, (pause, leave, keep, late, save), strict=True) if wanted), "")

    def wait(self) -> None:
        """Return when all workers have come here."""
        if self.ctx.world > 1:
            torch.distributed.barrier()

    def first(self, decide):
        """What the first worker decides, for all: each may see another state of the volume."""
        decided = [decide() if self.ctx.rank == 0 else None]
        if self.ctx.world > 1:
            torch.distributed.broadcast_object_list(decided)
        return decided[0]

    def _any(self, *wanted: bool) -> list[bool]:
        """Of each wish, whether any worker has it."""
        if self.ctx.world == 1:
            return list(wanted)
        votes = torch.tensor(wanted, dtype=torch.float32, device=self.ctx.device)
        torch.distributed.all_reduce(votes, op=torch.distributed.ReduceOp.MAX)
        return [bool(vote) for vote in votes.tolist()]
