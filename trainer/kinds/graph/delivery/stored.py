"""graph.safetensors: the graph beside a model, which predictions read.

It has the neighbours of each node by all known edges (training, validation and test), the features, and the ids. Scores of the test rows
are from training edges alone; a prediction may use what is known.
"""

import contextlib
import json
from functools import cached_property
from pathlib import Path

import numpy
import pyarrow
from pyarrow import compute

from trainer.kinds.graph import store
from trainer.kinds.graph.graph import Graph

NAME = "graph.safetensors"
BYTES = 300 << 20  # a larger one is not in model.zip
_HEADER = 1 << 20
_TYPES = {"I64": numpy.int64, "I32": numpy.int32, "F32": numpy.float32, "F16": numpy.float16, "U8": numpy.uint8}
_FORMS = {"indptr": ("I64", 1), "indices": ("I32", 1), "weights": ("F32", 1), "x": ("", 2), "ids": ("U8", 1), "id_ends": ("I64", 1)}
_AT_ONCE = 1 << 22


class Stored:
    """The graph in a file that ``write`` made, mapped. It has what trainer.kinds.graph.store.Store has."""

    def __init__(self, tensors: dict[str, numpy.ndarray]):
        self.indptr, self.indices = tensors["indptr"], tensors["indices"]
        self.weights, self.x = tensors.get("weights"), tensors.get("x")
        self._id_bytes, self._id_ends = tensors["ids"], tensors["id_ends"]

    @property
    def nodes(self) -> int:
        return len(self.indptr) - 1

    def degrees(self) -> numpy.ndarray:
        return numpy.diff(self.indptr)

    @cached_property
    def ids(self) -> pyarrow.Array:
        """The id of each node. Raises ValueError where they are no texts."""
        ends = numpy.concatenate([[0], self._id_ends]).astype(numpy.int64)
        found = pyarrow.LargeStringArray.from_buffers(self.nodes, pyarrow.py_buffer(ends), pyarrow.py_buffer(numpy.ascontiguousarray(self._id_bytes)))
        found.validate(full=True)  # pyarrow.ArrowInvalid is a ValueError
        return found

    def numbers(self, ids: list[str], first: int = 0, end: int | None = None) -> numpy.ndarray:
        """The number of the node of each id (int64), -1 where there is none among the nodes from ``first`` up to ``end``."""
        inside = self.ids.slice(first, None if end is None else end - first)
        found = compute.index_in(pyarrow.array(ids, pyarrow.large_string()), inside).fill_null(-1).to_numpy(zero_copy_only=False).astype(numpy.int64)
        return numpy.where(found >= 0, found + first, -1)


def write(path: Path, graph: Graph) -> int:
    """Write ``graph`` with all its edges; gives the bytes of the file. Large features are copied in parts."""
    work = path.parent / "all-edges"
    built = store.build(work, graph.nodes, graph.source, graph.target, graph.weight, None)
    ids = graph.ids.cast(pyarrow.large_string())
    ends = numpy.cumsum(compute.binary_length(ids).to_numpy(zero_copy_only=False), dtype=numpy.int64)
    text = numpy.frombuffer("".join(ids.to_pylist()).encode(), numpy.uint8)
    tensors = {"indptr": built.indptr, "indices": built.indices, "id_ends": ends, "ids": text}
    if built.weights is not None:
        tensors["weights"] = numpy.asarray(built.weights, numpy.float32)
    if graph.x is not None:
        tensors["x"] = graph.x
    _save(path, tensors)
    for file in sorted(work.iterdir()):
        file.unlink()
    work.rmdir()
    return path.stat().st_size


def load(path: Path) -> Stored:
    """Map the graph in a file from an untrusted source. Raises OSError or ValueError unless it is one."""
    tensors = _mapped(path)
    if missing := {"indptr", "indices", "ids", "id_ends"} - tensors.keys():
        raise ValueError(f"the graph has no {min(missing)}")
    indptr, indices = tensors["indptr"], tensors["indices"]
    nodes = len(indptr) - 1
    if nodes < 1 or indptr[0] != 0 or indptr[-1] != len(indices) or (numpy.diff(indptr) < 0).any():
        raise ValueError("the neighbours of its nodes do not follow each other")
    for start in range(0, len(indices), _AT_ONCE):
        part = indices[start : start + _AT_ONCE]
        if part.min() < 0 or part.max() >= nodes:
            raise ValueError("it has edges to nodes that it lacks")
    ends = tensors["id_ends"]
    if len(ends) != nodes or (numpy.diff(ends, prepend=0) < 0).any() or ends[-1] != len(tensors["ids"]):
        raise ValueError("its ids do not follow each other")
    if ("weights" in tensors and len(tensors["weights"]) != len(indices)) or ("x" in tensors and len(tensors["x"]) != nodes):
        raise ValueError("its features or weights do not fit its nodes and edges")
    return Stored(tensors)


def _save(path: Path, tensors: dict[str, numpy.ndarray]) -> None:
    """Write a safetensors file without a copy of the tensors in memory: features may be a file themselves."""
    names = {numpy.dtype(t): name for name, t in _TYPES.items()}
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))  # so that each one is aligned
    header, place = {}, 0
    for name in order:
        header[name] = {
            "dtype": names[tensors[name].dtype],
            "shape": list(tensors[name].shape),
            "data_offsets": [place, place + tensors[name].nbytes],
        }
        place += tensors[name].nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            rows = max(1, _AT_ONCE // max(1, tensors[name][:1].nbytes))
            for start in range(0, len(tensors[name]), rows):
                file.write(numpy.ascontiguousarray(tensors[name][start : start + rows]).tobytes())


def _mapped(path: Path) -> dict[str, numpy.ndarray]:
    """The tensors of a safetensors file, each mapped copy on write. Raises ValueError for anything but the tensors of a graph."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _HEADER:
            raise ValueError("the header of the graph is too long")
        header = json.loads(file.read(length))
    size = path.stat().st_size - 8 - length
    found: dict[str, numpy.ndarray] = {}
    for name, form in header.items():
        if name == "__metadata__":
            continue
        dtype, dimensions = _FORMS.get(name, ("", 0))
        kind, shape, (begin, end) = form["dtype"], tuple(form["shape"]), form["data_offsets"]
        if len(shape) != dimensions or not all(isinstance(s, int) and s >= 0 for s in (*shape, begin, end)):
            raise ValueError(f"the graph has a tensor {name} of another form")
        if kind not in _TYPES or (dtype or kind) != kind or (not dtype and not kind.startswith("F")):
            raise ValueError(f"the tensor {name} of the graph is of another type")
        count = shape[0] if len(shape) == 1 else shape[0] * shape[1]
        if end > size or end - begin != count * numpy.dtype(_TYPES[kind]).itemsize:
            raise ValueError(f"the tensor {name} of the graph lies outside of the file")
        with contextlib.suppress(ValueError):  # an empty tensor cannot be mapped
            found[name] = numpy.memmap(path, _TYPES[kind], "c", 8 + length + begin, shape)
        found.setdefault(name, numpy.zeros(shape, _TYPES[kind]))
    return found
