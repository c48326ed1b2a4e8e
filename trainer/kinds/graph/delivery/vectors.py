"""embeddings.parquet: the id and the vector of each node."""

from pathlib import Path

import numpy
import pyarrow
from pyarrow import parquet

from trainer.kinds.graph.graph import Graph

BYTES = 1 << 30  # the largest file that is delivered
_AT_ONCE = 50_000  # nodes of a row group


def size(nodes: int, width: int) -> int:
    """About how many bytes the file has."""
    return nodes * (2 * width + 16)


def write(path: Path, graph: Graph, vectors: numpy.ndarray) -> dict:
    """Write the file, if it is small enough. Gives the ``embeddings`` of result.json.

    The columns are ``id`` (text) and ``vector`` (a list of float16 of fixed length), in the order of the nodes; of a bipartite graph also
    ``side`` (source or target), since ids of both sides may be the same.
    """
    rows, width = vectors.shape
    found = {"rows": rows, "width": width, "bytes": size(rows, width), "delivered": False}
    if found["bytes"] > BYTES:
        return {**found, "why": f"The vectors of all nodes would take more than {BYTES >> 30} GB. The lines of Python beside the model compute them."}
    columns = [("id", pyarrow.string()), *[("side", pyarrow.string())] * bool(graph.left), ("vector", pyarrow.list_(pyarrow.float16(), width))]
    form = pyarrow.schema(columns)
    with parquet.ParquetWriter(path, form, compression="zstd", use_dictionary=False) as writer:
        for start in range(0, rows, _AT_ONCE):
            part = numpy.asarray(vectors[start : start + _AT_ONCE], numpy.float16)
            values = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(part.reshape(-1)), width)
            sides = pyarrow.array(["source" if start + i < graph.left else "target" for i in range(len(part))]) if graph.left else None
            ids = graph.ids.slice(start, len(part)).cast(pyarrow.string())
            writer.write_batch(pyarrow.record_batch([ids, *([] if sides is None else [sides]), values], schema=form))
    return {**found, "bytes": path.stat().st_size, "delivered": True}
