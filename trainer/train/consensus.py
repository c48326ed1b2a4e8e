"""What all workers must do after the same step: stop, or save. Each may see another clock, so they ask one another."""

import time
from pathlib import Path

import torch

from trainer.plan import Plan
from trainer.run_folder import stop

LOOK_SECONDS = 0.5
MOST_STEPS = 8  # after which several workers ask one another, where these take less than LOOK_SECONDS
WISHES = ("pause", "leave", "stop", "time", "save")  # the most urgent first


class Agreement:
    """What the workers of the training by ``plan`` decide together."""

    def __init__(self, ctx, plan: Plan):
        self.ctx, self.folder, self.work = ctx, Path(plan.folder), Path(plan.work)
        self.looked, self.told = 0.0, ""
        self.asked, self.step, self.next = time.monotonic(), 0, 0

    def wish(self, step: int, time_over: bool, save_due: bool) -> str:
        """One of WISHES, or "" to go on; the same on all workers."""
        if self.ctx.world > 1 and step < self.next:
            return ""
        # Files and Ray are asked now and then only, and Ray by all workers together.
        now = time.monotonic()
        due = now - self.looked >= LOOK_SECONDS
        if due:
            self.looked = now
            self.told = stop.PAUSE if stop.is_paused(self.work) else stop.asked(self.folder)
        pace = (now - self.asked) / max(1, step - self.step)
        pause, keep, late, save, due, pace = self._most(self.told == stop.PAUSE, self.told == stop.KEEP, time_over, save_due, due, pace)
        self.asked, self.step, self.next = now, step, step + max(1, min(MOST_STEPS, int(LOOK_SECONDS / max(pace, 1e-6))))
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
            torch.distributed.broadcast_object_list(decided, device=self.ctx.device)
        return decided[0]

    def _most(self, *values: float) -> list[float]:
        """The highest of each value over all workers, which for a wish is whether any has it."""
        if self.ctx.world == 1:
            return list(values)
        votes = torch.tensor(values, dtype=torch.float32, device=self.ctx.device)
        torch.distributed.all_reduce(votes, op=torch.distributed.ReduceOp.MAX)
        return votes.tolist()
