"""What all workers do after the same step: stop, or save. Their clocks and views of the volume differ, so they vote."""

import time
from pathlib import Path

import torch

from trainer.core.plan import Plan
from trainer.run_folder import stop

LOOK_SECONDS = 0.5  # between two looks at the files and at Ray
MOST_STEPS = 8  # between two votes of several workers, if the steps take less than LOOK_SECONDS
SIGNALS = ("pause", "leave", "stop", "time", "regroup", "save")  # the most urgent first


class Consensus:
    """The common decisions of the workers that train by ``plan``."""

    def __init__(self, ctx, plan: Plan):
        self.ctx, self.folder, self.work = ctx, Path(plan.folder), Path(plan.work)
        self.looked, self.requested = 0.0, ""
        self.voted, self.step, self.next = time.monotonic(), 0, 0

    def signal(self, step: int, time_over: bool, save_due: bool) -> str:
        """One of SIGNALS, or "" to continue; the same on all workers."""
        if self.ctx.world > 1 and step < self.next:
            return ""
        now = time.monotonic()
        due = now - self.looked >= LOOK_SECONDS
        if due:
            self.looked = now
            self.requested = stop.PAUSE if stop.is_paused(self.work) else stop.requested(self.folder)
        pace = (now - self.voted) / max(1, step - self.step)
        leaving = due and self.ctx.leaving()
        others = due and stop.is_regrouping(self.work)
        votes = self._highest(self.requested == stop.PAUSE, leaving, self.requested == stop.KEEP, time_over, others, save_due, pace)
        *wanted, pace = votes
        self.voted, self.step, self.next = now, step, step + max(1, min(MOST_STEPS, int(LOOK_SECONDS / max(pace, 1e-6))))
        return next((signal for signal, vote in zip(SIGNALS, wanted, strict=True) if vote), "")

    def wait(self) -> None:
        """Return when all workers have come here."""
        if self.ctx.world > 1:
            torch.distributed.barrier()

    def from_first(self, decide):
        """The result of ``decide()`` on the first worker, for all: each worker may see another state of the volume."""
        decided = [decide() if self.ctx.rank == 0 else None]
        if self.ctx.world > 1:
            torch.distributed.broadcast_object_list(decided, device=self.ctx.device)
        return decided[0]

    def _highest(self, *values: float) -> list[float]:
        """The highest of each value over all workers; for a flag, whether it is set on any worker."""
        if self.ctx.world == 1:
            return list(values)
        votes = torch.tensor(values, dtype=torch.float32, device=self.ctx.device)
        torch.distributed.all_reduce(votes, op=torch.distributed.ReduceOp.MAX)
        return votes.tolist()
