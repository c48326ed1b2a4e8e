"""Averages the gradients of the workers on CPUs: through shared memory on one machine, otherwise through gloo.

On one machine gloo sends over TCP, which for a small model costs as much time as a second worker saves: docs/adr/0010.
"""

import mmap
import os
import time
import uuid
from dataclasses import dataclass

import torch
import torch.distributed as dist

SLOT = 2_000_000  # numbers that each worker writes at once
_BYTES = 4  # of a number: on CPUs gradients are float32


class GradientExchange:
    """The communication hook of DistributedDataParallel for ``size`` gradients.

    ``seconds`` is the time that this worker has spent in it, including the time spent waiting for the others.
    """

    def __init__(self, rank: int, world: int, size: int):
        self.world, self.seconds = world, 0.0
        self.shared = connect(rank, world, min(size, SLOT))

    @property
    def bucket_cap_mb(self) -> int | None:
        """The bucket size for DDP; None keeps its default. Copying through shared memory needs the CPU itself, so overlapping it with
        the backward pass gains nothing, and one bucket holds all gradients."""
        return 1_000_000 if self.shared else None

    def register(self, model: torch.nn.parallel.DistributedDataParallel) -> None:
        model.register_comm_hook(self, _average_shared if self.shared else _average_over_gloo)


class SharedSlots:
    """Shared memory with two slots for each of ``world`` workers. All may write one slot while some still read the other."""

    def __init__(self, memory: mmap.mmap, rank: int, world: int):
        self.slots = torch.frombuffer(memory, dtype=torch.float32).view(2, world, -1)
        self.rank, self.turn, self.barrier = rank, 0, torch.zeros(1)

    def average(self, values: torch.Tensor) -> None:
        """Replace ``values`` by their mean over the workers. All workers get the same bits, because all add in the order of the ranks."""
        for part in values.split(self.slots.shape[2]):
            first, second, *others = slots = self.slots[self.turn, :, : len(part)]
            torch.div(part, len(slots), out=slots[self.rank])
            dist.all_reduce(self.barrier)  # nobody reads before all have written
            torch.add(first, second, out=part)
            for other in others:
                part += other
            self.turn = 1 - self.turn


@dataclass(frozen=True)
class _Offer:
    """Memory that the first worker has opened as file ``handle``. The others open it by ``path`` and check that it is called ``name``."""

    handle: int
    path: str
    name: str


def connect(rank: int, world: int, slot: int) -> SharedSlots | None:
    """Shared memory for all workers, with slots of ``slot`` numbers; None on every worker if one of them cannot reach it.

    The memory is a file without a name that the others open through the first worker, so it disappears when they end, even by a kill.
    """
    size = 2 * world * slot * _BYTES
    offer = _offer(size) if rank == 0 else None
    place = [(offer.path, offer.name) if offer else None]
    dist.broadcast_object_list(place)
    mapped = _map(*place[0], size) if place[0] else None
    common = torch.tensor([mapped is not None], dtype=torch.int32)
    dist.all_reduce(common, op=dist.ReduceOp.MIN)
    if offer:
        os.close(offer.handle)
    return SharedSlots(mapped, rank, world) if common.item() else None


def _offer(size: int) -> _Offer | None:
    """New memory of ``size`` bytes; None on systems without memfd_create."""
    if not hasattr(os, "memfd_create"):
        return None
    handle = os.memfd_create(f"gradients-{uuid.uuid4().hex}")
    try:
        os.posix_fallocate(handle, 0, size)  # an error here is better than a crash at the first write
        path = f"/proc/{os.getpid()}/fd/{handle}"
        return _Offer(handle, path, os.readlink(path))
    except OSError:
        os.close(handle)
        return None


def _map(path: str, name: str, size: int) -> mmap.mmap | None:
    """The memory at ``path``; None on another machine or in another container, where the path leads to something else."""
    try:
        if os.readlink(path) != name:
            return None
        handle = os.open(path, os.O_RDWR)
        try:
            return mmap.mmap(handle, size)
        finally:
            os.close(handle)
    except OSError:
        return None


def _average_shared(exchange: GradientExchange, bucket):
    began = time.monotonic()
    exchange.shared.average(bucket.buffer())
    exchange.seconds += time.monotonic() - began
    done: torch.futures.Future = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def _average_over_gloo(exchange: GradientExchange, bucket):
    began = time.monotonic()

    def done(future):
        exchange.seconds += time.monotonic() - began
        return future.value()[0]

    return dist.all_reduce(bucket.buffer().div_(exchange.world), async_op=True).get_future().then(done)
