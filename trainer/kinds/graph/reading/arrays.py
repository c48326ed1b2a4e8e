"""Graphs as sparse matrices: Matrix Market files, and npz files of SciPy or with features and labels. Nothing is unpickled."""

import re
import zipfile
import zlib

import numpy
import pyarrow

from trainer.core.input import Input
from trainer.data.formats.memory import MEMORY_SHARE, too_large
from trainer.kinds.graph.reading import columns as columns_of, refusals
from trainer.kinds.graph.reading.nodes import from_words
from trainer.kinds.graph.reading.raw import Nodes, Raw
from trainer.memory import memory

_CSR = ("indices", "indptr", "shape", "data")
_PREFIXES = ("adj_", "adj_matrix.", "adj.", "")
_FEATURES = ("attr_", "attr_matrix.", "attr.", "features_", "feat_")
_EDGES = ("edge_index", "edges", "edge_list")
_LABELS = ("labels", "label", "y")
_MATRIX = re.compile(r"%%matrixmarket\s+matrix\s+(\w+)\s+(\w+)\s+(\w+)", re.IGNORECASE)


def matrix_market(source: Input, settings, checks, work) -> Raw:
    """A square matrix is a graph, any other a bipartite one."""
    from scipy import io

    with open(source.file, "rb") as f:
        head = f.read(1 << 16).decode("latin-1")
    match = _MATRIX.match(head)
    if match is None or match[1].lower() != "coordinate" or match[2].lower() == "complex":
        raise refusals.unreadable(
            source.name, "Matrix Market", "has no sparse matrix of real numbers, which begins with %%MatrixMarket matrix coordinate"
        )
    if 64 * source.size > 8 * memory():
        raise too_large(source.name, "A matrix is read as a whole.")
    sizes = next((line.split() for line in head.split("\n")[1:] if line.strip() and not line.startswith("%")), [])
    if len(sizes) != 3 or not all(s.isdecimal() for s in sizes) or int(sizes[2]) > source.size or max(int(s) for s in sizes[:2]) >= 2**31:
        raise refusals.unreadable(source.name, "Matrix Market", "states sizes that cannot be right")
    try:
        matrix = io.mmread(str(source.file), spmatrix=True).tocoo()
    except (ValueError, OverflowError, MemoryError, OSError) as e:
        raise refusals.unreadable(source.name, "Matrix Market", "is damaged") from e
    rows, columns = matrix.shape
    source_ids, target_ids = _counted(matrix.row + 1), _counted(matrix.col + 1)
    weight = None if match[2].lower() == "pattern" else matrix.data.astype(numpy.float64)
    found = Raw((source.name,), source_ids, target_ids, ("row", "column"), weight)
    if match[3].lower() != "general":
        found.directed, found.direction = False, f"the matrix is {match[3].lower()}"
    if rows == columns:
        found.nodes = [Nodes(source.name, pyarrow.array(numpy.arange(1, rows + 1)).cast(pyarrow.string()))]
    else:
        _two_sides(found)
    return found


def _two_sides(found: Raw) -> None:
    from trainer.kinds.graph.reading import bipartite

    found.bipartite = True
    found.prefixes = (bipartite.prefix(found.ends[0]), bipartite.prefix(found.ends[1]))
    found.source, found.target = (bipartite.prefixed(e, n) for e, n in zip((found.source, found.target), found.ends))


def _counted(numbers: numpy.ndarray) -> columns_of.Ids:
    return columns_of.of_numbers(numbers.astype(numpy.int64))


def is_graph(source: Input) -> bool:
    """Whether the names of the arrays in an npz file are those of a graph."""
    names = _names(source)
    return any(all(f"{p}{k}" in names for k in _CSR[:3]) for p in _PREFIXES) or any(e in names for e in _EDGES)


def _names(source: Input) -> set[str]:
    try:
        with zipfile.ZipFile(source.file) as archive:
            return {i.filename.removesuffix(".npy") for i in archive.infolist()[:1000]}
    except (zipfile.BadZipFile, OSError, ValueError):
        return set()


def npz(source: Input, settings, checks, work) -> Raw:
    """A matrix of edges in the arrays of SciPy, or a list of edges; perhaps features, labels and names of the nodes."""
    with _Arrays(source) as arrays:
        a, b, weight, size = _edges(source, arrays)
        names = next((arrays.read(k) for k in ("node_names", "idx_to_node", "ids", "node_ids") if k in arrays), None)
        ids = _node_ids(names, size)
        codes = columns_of.of_texts(ids)
        if len(codes.values) < size:
            raise refusals.unreadable(source.name, "npz", "names two nodes alike")
        source_ids, target_ids = (columns_of.of_texts(ids, e.astype(numpy.int32)) for e in (a, b))
        table = _features(source, arrays, ids, size)
        labels = next((arrays.read(k) for k in _LABELS if k in arrays), None)
        if labels is not None and labels.ndim == 1 and len(labels) == size:
            table.cells["label"] = pyarrow.array([_text(v) for v in labels.tolist()], pyarrow.large_string())
    found = Raw((source.name,), source_ids, target_ids, ("source", "target"), weight)
    found.nodes = [table]
    return found


def _text(value) -> str:
    return "" if value is None or value != value else value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _edges(source: Input, arrays: "_Arrays") -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray | None, int]:
    """Both ends of the edges, their weights, and the number of nodes."""
    for prefix in _PREFIXES:
        if all(f"{prefix}{k}" in arrays for k in _CSR[:3]):
            rows, columns, data, shape = _sparse(source, arrays, prefix)
            if shape[0] != shape[1]:
                raise refusals.unreadable(source.name, "npz", f"has a matrix of {shape[0]} by {shape[1]}, not of nodes by nodes")
            return rows, columns, None if data is None else data.astype(numpy.float64), shape[0]
    pairs = arrays.read(next(e for e in _EDGES if e in arrays))
    if pairs.ndim == 2 and pairs.shape[1] != 2:
        pairs = pairs.T
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or (pairs.size and pairs.min() < 0):
        raise refusals.unreadable(source.name, "npz", "has edges that are no pairs of whole numbers")
    features = next((arrays.read(k) for k in ("features", "x", "feat", "attr") if k in arrays), None)
    size = max(int(pairs.max(initial=-1)) + 1, len(features) if features is not None and features.ndim == 2 else 0)
    if size > 2**31 - 1 or size > 1000 * len(pairs) + 1_000_000:
        raise refusals.unreadable(source.name, "npz", "has edges with node numbers that are too large")
    return pairs[:, 0], pairs[:, 1], None, size


def _sparse(source: Input, arrays: "_Arrays", prefix: str):
    """The rows, columns and values of a matrix in compressed rows, checked."""
    indices, indptr, shape = (arrays.read(f"{prefix}{k}") for k in _CSR[:3])
    data = arrays.read(f"{prefix}data") if f"{prefix}data" in arrays else None
    good = bool(all(v.ndim == 1 and v.dtype.kind in "iu" for v in (indices, indptr, shape)) and len(shape) == 2)
    if good:
        rows, columns = int(shape[0]), int(shape[1])
        good = bool(len(indptr) == rows + 1 and indptr[0] == 0 and indptr[-1] == len(indices) and (indptr[1:] >= indptr[:-1]).all())
        good = good and bool(not len(indices) or 0 <= indices.min() <= indices.max() < columns)
    if not good or (data is not None and (data.shape != indices.shape or data.dtype.kind not in "biuf")):
        raise refusals.unreadable(source.name, "npz", f"has arrays {prefix}indices, {prefix}indptr and {prefix}shape that do not fit together")
    lengths = (indptr[1:] - indptr[:-1]).astype(numpy.int64)
    return numpy.repeat(numpy.arange(rows), lengths), indices.astype(numpy.int64), data, (rows, columns)


def _node_ids(names: numpy.ndarray | None, size: int) -> pyarrow.Array:
    if names is None or names.ndim != 1 or len(names) != size:
        return pyarrow.array(numpy.arange(size)).cast(pyarrow.string())
    return pyarrow.array([_text(v) for v in names.tolist()], pyarrow.string())


def _features(source: Input, arrays: "_Arrays", ids: pyarrow.Array, size: int) -> Nodes:
    for prefix in _FEATURES:
        if all(f"{prefix}{k}" in arrays for k in _CSR[:3]):
            rows, columns, data, shape = _sparse(source, arrays, prefix)
            if shape[0] != size:
                raise refusals.unreadable(source.name, "npz", f"has features of {shape[0]} nodes, but edges of {size}")
            words = pyarrow.array(numpy.arange(shape[1])).cast(pyarrow.string())
            return from_words(source.name, ids, rows, words, columns, numpy.ones(len(rows)) if data is None else data.astype(numpy.float64))
    dense = next((arrays.read(k) for k in ("features", "x", "feat", "attr", "attr_matrix") if k in arrays), None)
    if dense is None or dense.ndim != 2 or len(dense) != size or dense.dtype.kind not in "biuf":
        return Nodes(source.name, ids)
    return Nodes(source.name, ids, numbers=tuple(f"feature {i}" for i in range(dense.shape[1])), dense=dense.astype(numpy.float32))


class _Arrays:
    """The arrays of an npz file. The sizes in its headers are compared with those of the archive before anything is read."""

    def __init__(self, source: Input):
        self._source = source

    def __enter__(self) -> "_Arrays":
        try:
            self._zip = zipfile.ZipFile(self._source.file)
        except (zipfile.BadZipFile, OSError, ValueError) as e:
            raise refusals.unreadable(self._source.name, "npz", "is no archive of arrays") from e
        self._members = {i.filename.removesuffix(".npy"): i for i in self._zip.infolist()[:1000]}
        if sum(i.file_size for i in self._members.values()) > memory() // MEMORY_SHARE:
            raise too_large(self._source.name, "Its arrays are read as a whole.")
        return self

    def __exit__(self, *_) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> numpy.ndarray:
        """One array. Raises UserError for one of pickled objects, and for one that is damaged."""
        info, form = self._members[name], numpy.lib.format
        try:
            with self._zip.open(info) as file:
                header = {1: form.read_array_header_1_0, 2: form.read_array_header_2_0}.get(form.read_magic(file)[0])
                shape, _, kind = header(file) if header else ((), False, numpy.dtype(object))
            if kind.hasobject:
                raise refusals.pickled_array(self._source.name, name)
            if int(numpy.prod([int(s) for s in shape], dtype=object)) * kind.itemsize > info.file_size:
                raise refusals.unreadable(self._source.name, "npz", f"has an array {name} that is cut off")
            with self._zip.open(info) as file:
                return form.read_array(file, allow_pickle=False)
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, SyntaxError, zlib.error) as e:
            raise refusals.unreadable(self._source.name, "npz", f"has an array {name} that is damaged") from e
