"""What a worker does, in whichever process: a Ray actor's own, or a copy of the warm process. It does not know Ray."""

import os
import threading
from pathlib import Path

from trainer.core.kind import Kind
from trainer.core.plan import Plan, Saved
from trainer.environment import ENVIRONMENT
from trainer.launch import preflight, work, worker_log
from trainer.launch.outcome import Outcome, Trial
from trainer.launch.pieces import Piece
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease
from trainer.warm import wire


class Worker:
    """Worker number ``rank`` of the run in ``folder``, whose start has the folder ``work``. ``address`` is that of this machine."""

    def __init__(self, folder: str, work: str, rank: int, kind: str, address: str):
        self.work, self.rank, self.kind, self.address = Path(work), rank, kind, address
        self.leaving = threading.Event()
        files.share()
        worker_log.redirect(Path(folder) / "logs", rank)

    def call(self, parts: list) -> list:
        """Call the method that the first of ``parts`` names with the arguments in it. If there are more parts, they are its second argument.
        Returns the result in parts."""
        name, *arguments = wire.unpack(parts[:1])
        if parts[1:]:
            arguments.insert(1, wire.unpack(parts[1:]))
        return wire.pack(getattr(self, name)(*arguments))

    def leave(self) -> None:
        """This machine is about to shut down. May be called from another thread."""
        self.leaving.set()

    def warm_up(self, token: str, threads: int, gpu: bool) -> str:
        preflight.shared(self.work, token)
        return work.warm_up(str(self.work), self.rank, threads, gpu, self.kind)

    def train(self, device: str, plan: Plan, threads: int) -> Outcome:
        return work.train(plan, rank=0, world=1, device=device, threads=threads)

    def estimate(self, device: str, plan: Plan) -> Trial:
        return work.estimate(plan, device)

    def predict(self, device: str, saved: Saved, events: Events):
        return work.predict(saved, events, device, reports=self.rank == 0)

    def prepare(self, token: str, threads: int, gpu: bool) -> str:
        """Be ready for pieces of work that need no network; returns the name of the device."""
        preflight.shared(self.work, token)
        preflight.writable(self.work, self.rank)
        os.environ.update(ENVIRONMENT)
        return "cuda" if gpu else "cpu"

    def piece(self, device: str, piece: Piece, events: Events) -> None:
        with Lease(self.work).watched():
            piece.carried_out(device, events)

    def to_onnx(self, device: str, folder: Path, kind: Kind, target, inputs: dict) -> str:
        return work.to_onnx(folder, kind, target, inputs, str(self.work))

    def meeting_place(self, world: int) -> tuple[str, int]:
        """The address and the port of the store at which the workers of the group meet. Called on the first one."""
        from trainer.launch import process_group

        self.store = process_group.store(self.address, 0, world, first=True)
        return self.address, self.store.port

    def train_together(self, device: str, plan: Plan, rank: int, world: int, most: int, threads: int, place: tuple[str, int]) -> Outcome | None:
        """The outcome on the first worker, None on the others. ``rank`` is the place in this group of ``world`` workers, of ``most`` that it may
        have."""
        import torch

        from trainer.launch import process_group

        if rank > 0:
            self.store = process_group.store(*place, world, first=False)
        process_group.join(device, rank, world, self.store)
        try:
            return work.train(plan, rank, world, device, threads, most=most, leaving=self.leaving.is_set)
        finally:
            torch.distributed.destroy_process_group()
