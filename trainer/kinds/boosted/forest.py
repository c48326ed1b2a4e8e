"""A forest of decision trees as arrays of nodes: its prediction, its file, and the checks of a file from an untrusted source."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
from safetensors import numpy as safetensors

from trainer.run_folder import files

WEIGHTS = "weights.safetensors"
MAX_CATEGORIES = 254  # of a column that the trees tell apart; scikit-learn keeps them in 256 bits
MAX_DEPTH = 64  # far more than a tree of this trainer has: a path costs time for every row
MAX_NODES = 20_000_000
_WORDS = 8  # of 32 bits, one bit for each category
_AT_ONCE = 500_000  # rows times trees
_MANY = 5_000_000  # rows times trees that numpy answers in about as many seconds as scikit-learn takes to be imported
_COMPILED = 50_000  # rows times trees from which scikit-learn is faster where it is imported


@dataclass(frozen=True)
class Forest:
    """Trees whose leaves are added up. Tree i belongs to output i modulo the number of outputs.

    The children of a node stand behind it. A leaf is its own child. The left child gets the numbers up to the threshold, and the
    categories whose bit is set. An empty cell (NaN) goes where ``missing_left`` says.
    """

    start: numpy.ndarray  # outputs float64: what the leaves are added to
    roots: numpy.ndarray  # trees int32: the first node of each tree
    feature: numpy.ndarray  # nodes int32: the column that the node asks about
    value: numpy.ndarray  # nodes float64: the threshold, or the value of a leaf
    left: numpy.ndarray  # nodes int32
    right: numpy.ndarray  # nodes int32
    missing_left: numpy.ndarray  # nodes uint8
    subset: numpy.ndarray  # nodes int32: the row of ``categories`` that says which go left; -1 for a question about a number
    categories: numpy.ndarray  # subsets x 8 uint32

    def scores(self, cells: numpy.ndarray) -> numpy.ndarray:
        """The sums of the leaves (rows x outputs) for ``cells`` (rows x columns float64, categories by number).

        Those of many rows are found by scikit-learn, and have the same bits.
        """
        outputs, trees = len(self.start), len(self.roots)
        found = numpy.repeat(self.start[None, :], len(cells), axis=0)
        if len(cells) * trees > (_COMPILED if "sklearn.ensemble" in sys.modules else _MANY):
            from trainer.kinds.boosted import compiled

            for tree, leaves in enumerate(compiled.leaves(self, cells)):
                found[:, tree % outputs] += leaves
            return found
        step = max(1, _AT_ONCE // max(1, trees))
        for first in range(0, len(cells), step) if trees else ():
            part = slice(first, first + step)
            leaves = self._leaves(cells[part])
            for tree in range(0, trees, outputs):  # one after another, in the order of the training: sums of floats depend on it
                found[part] += leaves[:, tree : tree + outputs]
        return found

    def _leaves(self, cells: numpy.ndarray) -> numpy.ndarray:
        """The value of the leaf of every row in every tree."""
        trees = len(self.roots)
        node = numpy.tile(self.roots, len(cells))
        leaf = self.leaves()
        active = numpy.flatnonzero(~leaf[node])
        while len(active):
            here = node[active]
            node[active] = here = self.children(here, cells[active // trees, self.feature[here]])
            active = active[~leaf[here]]
        return self.value[node].reshape(len(cells), trees)

    def leaves(self) -> numpy.ndarray:
        """Whether each node is a leaf."""
        return self.left == numpy.arange(len(self.left))

    def children(self, nodes: numpy.ndarray, asked: numpy.ndarray) -> numpy.ndarray:
        """The children of ``nodes`` that rows go to by their cells ``asked``, one for each node."""
        left = asked <= self.value[nodes]
        if len(self.categories):
            of_category = numpy.flatnonzero(self.subset[nodes] >= 0)
            left[of_category] = self._contains(self.subset[nodes[of_category]], asked[of_category])
        left = numpy.where(numpy.isnan(asked), self.missing_left[nodes] != 0, left)
        return numpy.where(left, self.left[nodes], self.right[nodes])

    def _contains(self, subset: numpy.ndarray, category: numpy.ndarray) -> numpy.ndarray:
        number = numpy.nan_to_num(category).astype(numpy.int64)
        return (self.categories[subset, number >> 5] >> (number & 31).astype(numpy.uint32)) & 1 == 1

    def first(self, rounds: int) -> "Forest":
        """The forest of the first ``rounds``: of the first trees of each output."""
        trees = min(len(self.roots), rounds * len(self.start))
        end = int(self.roots[trees]) if trees < len(self.roots) else len(self.feature)
        nodes = {name: getattr(self, name)[:end] for name in OF_NODES}
        subsets = int(nodes["subset"].max(initial=-1)) + 1
        return replace(self, roots=self.roots[:trees], categories=self.categories[:subsets], **nodes)

    def tensors(self) -> dict[str, numpy.ndarray]:
        """The arrays by their names."""
        return {name: numpy.ascontiguousarray(getattr(self, name)) for name in _TYPES}

    def save(self, folder: Path) -> None:
        files.write_bytes(folder / WEIGHTS, safetensors.save(self.tensors()))


_TYPES = {
    "start": numpy.float64, "roots": numpy.int32, "feature": numpy.int32, "value": numpy.float64, "left": numpy.int32, "right": numpy.int32,
    "missing_left": numpy.uint8, "subset": numpy.int32, "categories": numpy.uint32,
}  # fmt: skip
OF_NODES = ("feature", "value", "left", "right", "missing_left", "subset")


def load(folder: Path, outputs: int, known: list[int]) -> Forest:
    """The forest in ``folder``: see ``restored``. Raises OSError, too."""
    return restored(safetensors.load_file(folder / WEIGHTS), outputs, known)


def restored(tensors: dict[str, numpy.ndarray], outputs: int, known: list[int]) -> Forest:
    """The forest of ``tensors``, which must have ``outputs``. ``known`` is the number of categories of each column, 0 for numbers.

    Raises ValueError or KeyError unless every path of every tree ends after a few nodes inside the arrays.
    """
    forest = Forest(**{name: tensors[name] for name in _TYPES})
    _check_shapes(forest, outputs)
    _check_nodes(forest, numpy.asarray(known, numpy.int64))
    _check_depth(forest)
    return forest


def _check_shapes(forest: Forest, outputs: int) -> None:
    for name, dtype in _TYPES.items():
        tensor = getattr(forest, name)
        if tensor.dtype != dtype or tensor.ndim != (2 if name == "categories" else 1):
            raise ValueError(f"{name} has the wrong shape or type")
    nodes = len(forest.feature)
    if any(len(getattr(forest, name)) != nodes for name in OF_NODES):
        raise ValueError("the arrays of nodes have different lengths")
    if nodes > MAX_NODES or len(forest.start) != outputs or len(forest.roots) % max(1, outputs) or forest.categories.shape[1] != _WORDS:
        raise ValueError("the number of trees, nodes or outputs is wrong")
    if not (numpy.isfinite(forest.start).all() and numpy.isfinite(forest.value[forest.leaves()]).all()):
        raise ValueError("a leaf is not a number")


def _check_nodes(forest: Forest, known: numpy.ndarray) -> None:
    """Raise ValueError unless children, columns and subsets exist, and a column of categories is only asked for categories."""
    nodes, place = len(forest.feature), numpy.arange(len(forest.feature))
    if len(forest.roots) and not (forest.roots.min() >= 0 and forest.roots.max() < nodes):
        raise ValueError("a tree begins outside the nodes")
    inner = ~forest.leaves()
    left, right = forest.left[inner], forest.right[inner]
    if (forest.right[~inner] != place[~inner]).any() or (left <= place[inner]).any() or (right <= place[inner]).any():
        raise ValueError("a child stands before its node")
    if len(left) and max(left.max(), right.max()) >= nodes:
        raise ValueError("a child is outside the nodes")
    feature, subset = forest.feature[inner], forest.subset[inner]
    if len(feature) and not (feature.min() >= 0 and feature.max() < len(known)):
        raise ValueError("a node asks about a column that does not exist")
    if len(subset) and not (subset.min() >= -1 and subset.max() < len(forest.categories)):
        raise ValueError("a node names a subset that does not exist")
    if ((subset >= 0) != (known[feature] > 0)).any():
        raise ValueError("a node asks a column of numbers for a category")


def _check_depth(forest: Forest) -> None:
    leaf = forest.leaves()
    nodes = numpy.unique(forest.roots)
    for _ in range(MAX_DEPTH):
        nodes = nodes[~leaf[nodes]]
        if not len(nodes):
            return
        nodes = numpy.unique(numpy.concatenate([forest.left[nodes], forest.right[nodes]]))
    if not leaf[nodes].all():
        raise ValueError("a tree is too deep")
