"""A graph as files: its neighbours in compressed rows, and the features of its nodes.

All workers of a machine map the same files, so that they share one copy in memory.
"""

import contextlib
import os
from functools import cached_property
from pathlib import Path

import numpy as np

INDPTR, INDICES, WEIGHTS, X = "indptr.npy", "indices.npy", "weights.npy", "x.npy"


class Store:
    """The graph in ``folder``. Files are opened at their first use. A copy that travels to another process has the path only."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)

    def __getstate__(self) -> dict:
        return {"folder": self.folder}

    @cached_property
    def nodes(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def indptr(self) -> np.ndarray:
        """Where the neighbours of each node begin in ``indices`` (int64, nodes + 1)."""
        return self._mapped(INDPTR)

    @cached_property
    def indices(self) -> np.ndarray:
        """The neighbours of all nodes, in ascending order for each node (int32)."""
        return self._mapped(INDICES)

    @cached_property
    def weights(self) -> np.ndarray | None:
        """The weight of each entry of ``indices`` (float32); None for a graph without weights."""
        return self._mapped(WEIGHTS) if (self.folder / WEIGHTS).exists() else None

    @cached_property
    def x(self) -> np.ndarray:
        """The features of the nodes (nodes x features; float32 or float16)."""
        return self._mapped(X)

    def degrees(self) -> np.ndarray:
        return np.diff(self.indptr)

    def _mapped(self, name: str) -> np.ndarray:
        # Copy on write: torch wraps such an array without a warning, and the pages stay shared until somebody writes, which nobody does.
        return np.load(self.folder / name, mmap_mode="c", allow_pickle=False)


def build(folder: Path, nodes: int, source: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None, x: np.ndarray | None = None) -> Store:
    """Write the graph with these edges, each in both directions, into the new folder ``folder``.

    A pair that is joined in both directions counts as one neighbour, with the sum of both weights. For ``x`` see ``add_features``.
    """
    from scipy import sparse  # half a second

    folder.mkdir(parents=True)
    ones = np.ones(len(source), np.int8) if weight is None else weight.astype(np.float32)
    half = sparse.coo_matrix((ones, (source, target)), shape=(nodes, nodes))
    both = (half + half.T).tocsr()
    both.sort_indices()
    np.save(folder / INDPTR, both.indptr.astype(np.int64))
    np.save(folder / INDICES, both.indices.astype(np.int32, copy=False))
    if weight is not None:
        np.save(folder / WEIGHTS, both.data)
    store = Store(folder)
    if x is not None:
        add_features(store, x)
    return store


def add_features(store: Store, x: np.ndarray) -> None:
    """Write the features of the nodes. A mapped .npy file is linked instead of copied where it lies on the same volume."""
    place = store.folder / X
    if isinstance(x, np.memmap) and x.flags.c_contiguous:
        with contextlib.suppress(OSError, ValueError, EOFError):  # another volume, or no .npy file
            whole = np.load(str(x.filename), mmap_mode="r", allow_pickle=False)
            if whole.shape == x.shape and whole.dtype == x.dtype:
                os.link(str(x.filename), place)
                return
    np.save(place, np.ascontiguousarray(x))
