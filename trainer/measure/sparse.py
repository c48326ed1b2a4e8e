"""Matrices that are mostly zero, row after row, and the two products that a linear model needs."""

from dataclasses import dataclass

import numpy


@dataclass(frozen=True)
class Sparse:
    """A matrix in compressed rows: row i has ``values[offsets[i]:offsets[i + 1]]`` in ``columns`` of the same range."""

    offsets: numpy.ndarray  # int64, one more than rows
    columns: numpy.ndarray  # int32
    values: numpy.ndarray  # float32
    width: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: numpy.ndarray) -> "Sparse":
        """The matrix of ``rows``, given by their numbers."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        offsets = numpy.append(0, numpy.cumsum(lengths))
        entries = numpy.arange(offsets[-1]) + numpy.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Sparse(offsets, self.columns[entries], self.values[entries], self.width)

    def __matmul__(self, weights: numpy.ndarray) -> numpy.ndarray:
        """The product with a dense matrix (width x any), in its type. One column at a time keeps the memory at one number per entry."""
        result = numpy.zeros((len(self), weights.shape[1]), weights.dtype)
        filled = numpy.flatnonzero(numpy.diff(self.offsets))  # reduceat gives an empty row its successor's first entry
        starts = self.offsets[filled]
        if len(filled):
            for k, column in enumerate(numpy.ascontiguousarray(weights.T)):
                result[filled, k] = numpy.add.reduceat(column[self.columns] * self.values, starts)
        return result

    @property
    def T(self) -> "Sparse":  # noqa: N802 - numpy's name
        """The matrix turned over, under the name that dense ones have for it."""
        order = numpy.argsort(self.columns, kind="stable")
        rows = numpy.repeat(numpy.arange(len(self), dtype=numpy.int32), numpy.diff(self.offsets))
        offsets = numpy.append(0, numpy.cumsum(numpy.bincount(self.columns, minlength=self.width)))
        return Sparse(offsets, rows[order], self.values[order], len(self))


Features = numpy.ndarray | Sparse  # rows x width
