"""The table of all nodes, layer by layer: each layer is computed for all nodes, with all their neighbours, before the next one.

This is exact, and takes a fraction of the time of drawing a neighbourhood for each node.
"""

import contextlib
import os
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.functional import embedding_bag

from trainer.kinds.graph import sampler
from trainer.kinds.graph.sage import Sage
from trainer.kinds.graph.store import Store

BLOCK = 20_000  # nodes at once
# Bytes of the outputs of a layer, from which they are in a file: with several workers sooner, so that each computes a share of it.
IN_MEMORY, IN_MEMORY_OF_ONE = 256_000_000, 2_000_000_000


class Layers:
    """Where the outputs of layers are kept while a table is made: in memory, or in files of ``folder`` that all workers write."""

    def __init__(self, folder: Path, rank: int, world: int):
        self.folder, self.rank, self.world = folder, rank, world

    def room(self, name: str, rows: int, width: int) -> tuple[np.ndarray, bool]:
        """An array for the outputs of a layer, and whether all workers share it."""
        if 4 * rows * width < (IN_MEMORY if self.world > 1 else IN_MEMORY_OF_ONE):
            return np.empty((rows, width), np.float32), False
        place = self.folder / f"{name}.npy"
        if self.rank == 0:
            with contextlib.suppress(FileNotFoundError):
                place.unlink()  # of an earlier table: who still maps it keeps it
            np.lib.format.open_memmap(place, mode="w+", dtype=np.float32, shape=(rows, width)).flush()
        self.wait()
        return np.lib.format.open_memmap(place, mode="r+"), True

    def written(self, made: np.ndarray) -> np.ndarray:
        """A shared array after all workers have written their part. It is opened again: only then does a network volume show it."""
        assert isinstance(made, np.memmap)
        if self.world > 1:
            made.flush()
            self.wait()
        return np.load(str(made.filename), mmap_mode="c", allow_pickle=False)

    def remove(self, made: np.ndarray) -> None:
        """Remove the file of an array, if it has one."""
        self.wait()
        if isinstance(made, np.memmap) and self.rank == 0:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(str(made.filename))

    def wait(self) -> None:
        if self.world > 1:
            dist.barrier()


def table(model: Sage, store: Store, device: torch.device, layers: Layers, block: int = BLOCK) -> np.ndarray:
    """The row of each node (float32, nodes x width): see ``Sage.settled``. Each of several workers computes a share of a large table,
    and all get the whole. A large table is a mapped file; the caller removes it with ``layers.remove``."""
    model.eval()
    n, width = store.nodes, model.sizes["hidden"]
    before = store.x
    with torch.inference_mode():
        for number in range(len(model.own)):
            last = number == len(model.own) - 1
            extra = model.settled(torch.zeros(1, width, device=device)).shape[1] - width if last else 0
            made, shared = layers.room("table" if last else f"layer-{number % 2}", n, width + extra)
            first, end = (n * layers.rank // layers.world, n * (layers.rank + 1) // layers.world) if shared else (0, n)
            source = torch.from_numpy(before)
            resident = source.to(device) if device.type != "cpu" else source
            for a in range(first, end, block):
                b = min(a + block, end)
                found = model.layer(number, resident[a:b].float(), _near(model, store, resident, a, b, device))
                made[a:b] = (model.settled(found) if last else found).cpu().numpy()
            done = layers.written(made) if shared else made
            if number:
                layers.remove(before)
            before = done
    return before


def _near(model: Sage, store: Store, rows: torch.Tensor, a: int, b: int, device: torch.device) -> torch.Tensor:
    """The neighbours of the nodes from ``a`` up to ``b``, combined."""
    start = store.indptr[a : b + 1] - store.indptr[a]
    places = slice(int(store.indptr[a]), int(store.indptr[b]))
    bag = torch.from_numpy(store.indices[places]).to(device)
    if not len(bag):
        return torch.zeros(b - a, rows.shape[1], device=device)
    share = None
    if store.weights is not None and model.mode != "max":
        weights = np.asarray(store.weights[places])
        share = torch.from_numpy(weights if model.mode == "sum" else sampler.normalised(weights, start[:-1])).to(device)
    offsets = torch.from_numpy(start[:-1].astype(np.int32)).to(device)
    mode = model.mode if share is None else "sum"
    return embedding_bag(bag, rows, offsets, mode=mode, per_sample_weights=None if share is None else share.to(rows.dtype)).float()
