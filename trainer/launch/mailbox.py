"""Passes the plan from the driver to the workers of a TorchTrainer, and the outcome back.

Its process imports this module only. The plan is a reference and the outcome is pickled, because reading either would import torch,
which costs seconds of processor time while the workers start.
"""

import asyncio


class Mailbox:
    """The actor that holds both. It lives on the node of the driver, so that it is not lost with a worker."""

    def __init__(self):
        self.ready, self.plan, self.fetches = asyncio.Event(), None, 0
        self.finished, self.outcome = asyncio.Event(), b""

    async def post(self, plan: list) -> None:
        """Keep the plan, a reference in a list: Ray would replace a bare reference with its object."""
        self.plan = plan
        self.ready.set()

    async def fetch(self):
        """A reference to the plan, as soon as it is posted."""
        await self.ready.wait()
        self.fetches += 1
        return self.plan[0]

    async def fetched(self) -> int:
        return self.fetches

    async def finish(self, outcome: bytes) -> None:
        """Keep the first outcome: of rank 0, or a UserError or Paused of any worker."""
        if not self.finished.is_set():
            self.outcome = outcome
            self.finished.set()

    async def result(self) -> bytes:
        """The pickled outcome, as soon as there is one."""
        await self.finished.wait()
        return self.outcome
