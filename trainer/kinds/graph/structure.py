"""Features of nodes from the edges alone, for graphs whose nodes have none. They rank edges better than a learnt vector for each node."""

import numpy as np

from trainer.kinds.graph.store import Store

MANY = 500_000  # nodes, from which the features are narrower
_POWERS = (2, 4)  # of the walk. Odd ones are left out: the first one says of each pair whether it is joined, which is to be predicted.
_BLOCK = 16  # columns at once, so that few copies are in memory


def width(nodes: int) -> int:
    """The number of features: with 257, edges of citation graphs without features are ranked better than with 129, which takes half of the memory."""
    return 257 if nodes < MANY else 129


def features(store: Store, seed: int) -> np.ndarray:
    """The logarithm of the degree, and where a node lies in the graph (float32, nodes x width).

    Random vectors are averaged over the nodes that are an even number of steps away, so that nodes with the same surroundings have
    similar vectors (fast random projection, Chen et al. 2019). Nodes without edges have zeros.
    """
    from scipy import sparse

    degrees = store.degrees()
    n = store.nodes
    weights = np.ones(len(store.indices), np.float32) if store.weights is None else np.asarray(store.weights, np.float32)
    walk = sparse.csr_matrix((weights, store.indices, store.indptr), shape=(n, n))
    total = np.asarray(walk.sum(axis=1)).ravel()
    walk.data = walk.data / np.repeat(np.maximum(total, 1e-12), degrees).astype(np.float32)
    found = np.zeros((n, width(n)), np.float32)
    found[:, 0] = _standard(np.log1p(degrees))
    random = np.random.default_rng([seed, 0x7374])
    size = (width(n) - 1) // len(_POWERS)
    for start in range(0, size, _BLOCK):
        columns = slice(start, min(start + _BLOCK, size))
        # Hubs are near to everything, so their random vectors count less.
        spread = random.standard_normal((n, columns.stop - columns.start), np.float32)
        spread /= np.sqrt(np.maximum(degrees, 1)).astype(np.float32)[:, None]
        for step in range(1, _POWERS[-1] + 1):
            spread = walk @ spread
            if step in _POWERS:
                at = 1 + _POWERS.index(step) * size
                found[:, at + columns.start : at + columns.stop] = spread
    for i in range(len(_POWERS)):
        part = found[:, 1 + i * size : 1 + (i + 1) * size]
        part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-12) / np.sqrt(np.float32(size))
    return found


def _standard(values: np.ndarray) -> np.ndarray:
    return ((values - values.mean()) / max(float(values.std()), 1e-6)).astype(np.float32)
