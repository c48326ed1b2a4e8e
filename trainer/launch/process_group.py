"""The process group in which several workers exchange gradients: NCCL on GPUs, gloo on CPUs."""

import os
from datetime import timedelta

import torch

EXCHANGE_SECONDS = 600  # how long workers wait for each other: longer than saving a large model takes
_PATIENCE = timedelta(seconds=EXCHANGE_SECONDS)


def store(address: str, port: int, world: int, first: bool) -> torch.distributed.TCPStore:
    """The store at which ``world`` workers meet, of which the ``first`` one has it. Port 0 chooses a free port."""
    return torch.distributed.TCPStore(address, port, world, is_master=first, wait_for_workers=False, timeout=_PATIENCE)


def join(device: str, rank: int, world: int, meeting: torch.distributed.TCPStore) -> None:
    """Become worker ``rank`` of the group. Returns when all workers are there."""
    if device == "cuda":
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "^lo,docker,veth")  # the interfaces on which no other machine can be reached
    backend = "nccl" if device == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, store=meeting, rank=rank, world_size=world, timeout=_PATIENCE)
