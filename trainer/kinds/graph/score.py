"""Scores of pairs of nodes from the table of all nodes. Without torch.

A row of the table has the embedding of a node, and then what it adds to the score of each edge from it, and of each edge to it.
"""

import numpy as np

EXTRA = 2  # columns of the table beside the embedding
_BLOCK = 4_000_000  # products at once


def pairs(table: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The score of each pair (float64)."""
    found = np.empty(len(source), np.float64)
    step = max(1, _BLOCK // table.shape[1])
    for a in range(0, len(source), step):
        one, other = np.asarray(table[source[a : a + step]], np.float32), np.asarray(table[target[a : a + step]], np.float32)
        found[a : a + step] = np.einsum("ij,ij->i", one[:, :-EXTRA], other[:, :-EXTRA]) + one[:, -2] + other[:, -1]
    return found


def candidates(table: np.ndarray, source: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The scores of each source with each of its own ``targets`` (sources x k; float32)."""
    found = np.empty(targets.shape, np.float32)
    step = max(1, _BLOCK // max(1, targets.shape[1] * table.shape[1]))
    for a in range(0, len(source), step):
        one, others = np.asarray(table[source[a : a + step]], np.float32), np.asarray(table[targets[a : a + step]], np.float32)
        products = np.matmul(others[:, :, :-EXTRA], one[:, :-EXTRA, None])[:, :, 0]
        found[a : a + step] = products + one[:, -2, None] + others[:, :, -1]
    return found
