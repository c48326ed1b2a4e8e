"""The stored graph together with new nodes and their edges."""

from pathlib import Path

import numpy
import pyarrow

from trainer.kinds.graph.delivery import stored
from trainer.kinds.graph.delivery.stored import Stored
from trainer.kinds.graph.graph import Graph


def write(path: Path, known: Stored, ids: list[str], x: numpy.ndarray, source: numpy.ndarray, target: numpy.ndarray) -> None:
    """Write ``known`` with the new nodes ``ids`` and their features, which follow the others in number, and with edges between any nodes."""
    rows = numpy.repeat(numpy.arange(known.nodes, dtype=numpy.int32), numpy.diff(known.indptr))
    once = rows < known.indices
    pairs = numpy.stack([numpy.minimum(source, target), numpy.maximum(source, target)]).astype(numpy.int32)
    pairs = numpy.unique(pairs[:, pairs[0] != pairs[1]], axis=1)
    weight = None
    if known.weights is not None:  # a new edge weighs as much as the others do on average
        mean = float(known.weights.mean()) if len(known.weights) else 1.0
        weight = numpy.concatenate([known.weights[once], numpy.full(pairs.shape[1], mean, numpy.float32)])
    whole = Graph(
        pyarrow.concat_arrays([known.ids.cast(pyarrow.large_string()), pyarrow.array(ids, pyarrow.large_string())]),
        numpy.concatenate([rows[once], pairs[0]]),
        numpy.concatenate([known.indices[once], pairs[1]]),
        weight=weight,
        x=None if known.x is None else numpy.concatenate([known.x, x.astype(known.x.dtype)]),
    )
    stored.write(path, whole)
