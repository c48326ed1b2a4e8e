"""What all workers must do after the same step: stop, or save. Each may see another clock, so they ask one another."""

import time
from pathlib import Path

import torch

CLOCK_STEPS = 8  # several workers ask one another every so many steps
LOOK_SECONDS = 0.5
WISHES = ("pause", "stop", "time", "save")  # the most urgent first
PAUSE, KEEP = "pause", "keep"  # what the stop file may hold


class Agreement:
    """Watches the time, and the file ``stop`` through which a training is told to pause (and be started again) or to stop and keep its best model."""

    def __init__(self, ctx, stop: Path):
        self.ctx, self.stop = ctx, stop
        self.looked, self.told = 0.0, ""

    def wish(self, step: int, time_over: bool, save_due: bool) -> str:
        """One of WISHES, or "" to go on; the same on all workers."""
        if self.ctx.world > 1 and step % CLOCK_STEPS:
            return ""
        told = self._told()
        wanted = (told == PAUSE, told == KEEP, time_over, save_due)
        if self.ctx.world > 1:
            votes = torch.tensor(wanted, dtype=torch.float32, device=self.ctx.device)
            torch.distributed.all_reduce(votes, op=torch.distributed.ReduceOp.MAX)
            wanted = votes.tolist()
        return next((wish for wish, wanted in zip(WISHES, wanted, strict=True) if wanted), "")

    def wait(self) -> None:
        """Return when all workers have come here."""
        if self.ctx.world > 1:
            torch.distributed.barrier()

    def _told(self) -> str:
        """What the stop file says. The volume is asked now and then only."""
        if not self.told and time.monotonic() - self.looked >= LOOK_SECONDS:
            self.looked = time.monotonic()
            try:
                self.told = self.stop.read_text(encoding="utf-8").strip()
            except OSError:
                pass
        return self.told
