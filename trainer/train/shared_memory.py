"""The mean of the gradients over workers on CPUs: through memory that they share on one machine, else over gloo.

On one machine gloo sends over TCP, which for a small model costs as much as a second worker saves: docs/adr/0010.
"""

import mmap
import os
import time
import uuid

import torch
import torch.distributed as dist

SLOT = 2_000_000  # numbers that each worker lays down at once
_BYTES = 4  # of a number: on CPUs gradients are float32


class Exchange:
    """How workers exchange ``size`` gradients. ``seconds`` is how long this one was at it, waiting included."""

    def __init__(self, rank: int, world: int, size: int):
        self.world, self.seconds = world, 0.0
        self.shared = meet(rank, world, min(size, SLOT))

    @property
    def bucket_cap_mb(self) -> int | None:
        """How much DDP is to exchange at once; None leaves that to DDP. Nothing is gained by computing on during an exchange that takes
        the processor itself: then it is all of them."""
        return 1_000_000 if self.shared else None

    def hook(self, model: torch.nn.parallel.DistributedDataParallel) -> None:
        """Make ``model`` exchange its gradients here."""
        model.register_comm_hook(self, _shared_mean if self.shared else _sent_mean)


class Shared:
    """Memory of ``world`` workers with two slots for each. While some still read one, all may write the other."""

    def __init__(self, memory: mmap.mmap, rank: int, world: int):
        self.slots = torch.frombuffer(memory, dtype=torch.float32).view(2, world, -1)
        self.rank, self.turn, self.here = rank, 0, torch.zeros(1)

    def average(self, values: torch.Tensor) -> None:
        """Make ``values`` their mean over the workers: the same bits on all of them, whoever comes first."""
        for part in values.split(self.slots.shape[2]):
            first, second, *others = slots = self.slots[self.turn, :, : len(part)]
            torch.div(part, len(slots), out=slots[self.rank])
            dist.all_reduce(self.here)  # nobody reads before all have written
            torch.add(first, second, out=part)
            for other in others:
                part += other
            self.turn = 1 - self.turn


def meet(rank: int, world: int, slot: int) -> Shared | None:
    """Memory that all workers share, with slots of so many numbers; None on every worker where there is none for all.

    Nothing of it is left when they end, however that is: it is a file without a name, which others open through the first worker.
    """
    size = 2 * world * slot * _BYTES
    memory = _offer(size) if rank == 0 else None
    place = [memory and memory[1]]
    dist.broadcast_object_list(place)
    mapped = _map(*place[0], size) if place[0] else None
    common = torch.tensor([mapped is not None], dtype=torch.int32)
    dist.all_reduce(common, op=dist.ReduceOp.MIN)
    if memory:
        os.close(memory[0])
    return Shared(mapped, rank, world) if common.item() else None


def _offer(size: int) -> tuple[int, tuple[str, str]] | None:
    """A new piece of memory as an open file, and where others find it under which name. None where this system has no such thing."""
    if not hasattr(os, "memfd_create"):
        return None
    handle = os.memfd_create(f"gradients-{uuid.uuid4().hex}")
    try:
        os.posix_fallocate(handle, 0, size)  # rather an error here than a crash at the first write
        place = f"/proc/{os.getpid()}/fd/{handle}"
        return handle, (place, os.readlink(place))
    except OSError:
        os.close(handle)
        return None


def _map(place: str, name: str, size: int) -> mmap.mmap | None:
    """The memory at ``place``; None where this process is on another machine or in another container, and something else is there."""
    try:
        if os.readlink(place) != name:
            return None
        handle = os.open(place, os.O_RDWR)
        try:
            return mmap.mmap(handle, size)
        finally:
            os.close(handle)
    except OSError:
        return None


def _shared_mean(exchange: Exchange, bucket):
    began = time.monotonic()
    exchange.shared.average(bucket.buffer())
    exchange.seconds += time.monotonic() - began
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def _sent_mean(exchange: Exchange, bucket):
    began = time.monotonic()

    def done(future):
        exchange.seconds += time.monotonic() - began
        return future.value()[0]

    return dist.all_reduce(bucket.buffer().div_(exchange.world), async_op=True).get_future().then(done)
