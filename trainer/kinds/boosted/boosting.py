"""Fits gradient-boosted trees by scikit-learn, with bounded work, and takes the trees out of its model as arrays."""

from dataclasses import dataclass, replace

import numpy

from trainer.kinds.boosted.forest import Forest

ROUNDS, PATIENCE = 500, 15  # the most rounds, and those without improvement after which the fit stops
_LEVELS, _CELL_SECONDS = 6, 2.5e-9  # a row is counted once on each level of a tree; on one slow core
_BIN_SECONDS, _LEAF_SECONDS = 4e-9, 3e-5
_MAX_HISTOGRAMS = 400_000_000  # bytes: scikit-learn keeps a histogram of every column for every leaf
_BIN_BYTES = 20
_BINS = 255
_FASTEST = 0.1  # rate of learning


@dataclass(frozen=True)
class Shape:
    """The settings of one fit."""

    learning_rate: float
    leaves: int
    rows_per_leaf: int
    l2: float
    columns: float  # share of the columns that each node may ask about


# The first is scikit-learn's own default. The second is slower, and its nodes see a part of the columns: it is better on most tables (ADR 37).
SHAPES = (Shape(0.1, 31, 20, 0.0, 1.0), Shape(0.05, 31, 10, 5.0, 0.4))


@dataclass(frozen=True)
class Rows:
    """Cells (rows x columns), targets (int64 classes, or float64 numbers) and the weight of each row."""

    cells: numpy.ndarray
    targets: numpy.ndarray
    weights: numpy.ndarray | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def chosen(self, rows: numpy.ndarray) -> "Rows":
        return Rows(self.cells[rows], self.targets[rows], None if self.weights is None else self.weights[rows])


@dataclass(frozen=True)
class Boosted:
    """The forest up to the best round, the classes that its outputs stand for, and the loss on the validation rows after each round, from
    0 rounds. ``whole`` is the forest with the rounds that came after the best one."""

    forest: Forest
    present: numpy.ndarray
    losses: numpy.ndarray
    whole: Forest

    @property
    def rounds(self) -> int:
        return len(self.forest.roots) // len(self.forest.start)


def seconds(shape: Shape, rows: int, columns: int, outputs: int) -> float:
    """The assumed seconds of one round, on one slow core."""
    return outputs * (rows * columns * _LEVELS * _CELL_SECONDS + shape.leaves * (columns * _BINS * _BIN_SECONDS + _LEAF_SECONDS))


def faster(shape: Shape, rounds: int) -> Shape:
    """``shape`` with the rate at which so many rounds learn about as much as ``ROUNDS`` of its own, up to ``_FASTEST``."""
    return replace(shape, learning_rate=max(shape.learning_rate, min(_FASTEST, shape.learning_rate * ROUNDS / rounds)))


def fit(train: Rows, validation: Rows | None, known: list[int], classes: int, shape: Shape, rounds: int, seed: int) -> Boosted:
    """Fit trees in at most ``rounds``: with validation rows, up to the round with the smallest loss on them.

    ``classes`` is 0 for regression. ``known`` is the number of categories of each column, 0 for numbers.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    present = numpy.unique(train.targets) if classes else numpy.zeros(1, numpy.int64)
    if classes and len(present) < 2:
        return _constant(present)
    if validation is not None and classes:  # scikit-learn knows no loss for a class that it was not fitted on
        validation = validation.chosen(numpy.flatnonzero(numpy.isin(validation.targets, present)))
    stops = validation is not None and len(validation) > 0
    model = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(
        learning_rate=shape.learning_rate,
        max_iter=rounds,
        max_leaf_nodes=shape.leaves,
        min_samples_leaf=min(shape.rows_per_leaf, max(1, len(train) // 10)),
        l2_regularization=shape.l2,
        max_features=shape.columns,
        max_bins=_bins(known, shape.leaves),
        categorical_features=[k > 0 for k in known],
        early_stopping=stops,
        n_iter_no_change=PATIENCE,
        random_state=seed,
    )
    more = {"X_val": validation.cells, "y_val": validation.targets, "sample_weight_val": validation.weights} if stops and validation else {}
    cells = train.cells
    if (empty := numpy.isnan(cells).all(axis=0)).any():  # scikit-learn refuses such a column
        cells = numpy.where(empty, 0.0, cells)
    model.fit(cells, train.targets, sample_weight=train.weights, **more)
    losses = -numpy.asarray(model.validation_score_) if stops else numpy.zeros(0)
    kept = int(losses.argmin()) if stops else model.n_iter_
    whole = _forest(model, known, [_found(column) if k else None for column, k in zip(cells.T, known, strict=True)])
    return Boosted(whole.first(kept), present, losses, whole)


def _found(column: numpy.ndarray) -> numpy.ndarray:
    """The categories that scikit-learn finds in a column, and numbers from 0 in this order."""
    return numpy.unique(column[~numpy.isnan(column)]).astype(numpy.int64)


def _bins(known: list[int], leaves: int) -> int:
    """The bins of each column, fewer for a very wide table, but never fewer than the categories of a column."""
    room = _MAX_HISTOGRAMS // (_BIN_BYTES * leaves * max(1, len(known)))
    return min(_BINS, max(2, room, *known, 2))


def _constant(present: numpy.ndarray) -> Boosted:
    none, whole = numpy.zeros(0), numpy.zeros(0, numpy.int32)
    forest = Forest(numpy.zeros(1), whole, whole, none, whole, whole, none.astype(numpy.uint8), whole, numpy.zeros((0, 8), numpy.uint32))
    return Boosted(forest, present, none, forest)


def _forest(model, known: list[int], found: list[numpy.ndarray | None]) -> Forest:
    """All rounds of ``model`` as arrays. ``found`` are the categories of each column that its training rows had.

    scikit-learn has no public way to read them: a test compares the predictions bit for bit.
    """
    # scikit-learn moves the columns of categories to the front.
    order = sorted(range(len(known)), key=lambda place: known[place] == 0)
    places = numpy.asarray(order, numpy.int64)
    trees = [tree for round_ in model._predictors for tree in round_]
    sizes = [len(t.nodes) for t in trees]
    firsts = numpy.cumsum([0, *sizes])[:-1].astype(numpy.int64)
    subsets = numpy.cumsum([0, *(len(t.raw_left_cat_bitsets) for t in trees)])[:-1]
    parts = [_nodes(t, int(first), int(subset), places) for t, first, subset in zip(trees, firsts, subsets, strict=True)]
    joined = {name: numpy.concatenate([p[name] for p in parts]) if parts else numpy.zeros(0) for name in _NODE_TYPES}
    bits = [numpy.asarray(t.raw_left_cat_bitsets, numpy.uint32).reshape(-1, 8) for t in trees]
    forest = Forest(
        start=numpy.asarray(model._baseline_prediction, numpy.float64).ravel(),
        roots=firsts.astype(numpy.int32),
        categories=numpy.concatenate([numpy.zeros((0, 8), numpy.uint32), *bits]),
        **{name: joined[name].astype(dtype) for name, dtype in _NODE_TYPES.items()},
    )
    return forest if all(f is None or len(f) == k for f, k in zip(found, known, strict=True)) else _renumbered(forest, found)


def _renumbered(forest: Forest, found: list[numpy.ndarray | None]) -> Forest:
    """``forest`` with its own numbers of categories, where scikit-learn numbered those that it found. A category that it did not find goes
    where an empty cell goes."""
    questions = numpy.flatnonzero(forest.subset >= 0)
    bits = numpy.unpackbits(forest.categories.astype("<u4").view(numpy.uint8), axis=1, bitorder="little").astype(bool)
    asked = bits.copy()
    for node in questions:
        own, subset = found[forest.feature[node]], forest.subset[node]
        assert own is not None
        asked[subset] = forest.missing_left[node] != 0
        asked[subset, own] = bits[subset, : len(own)]
    return replace(forest, categories=numpy.packbits(asked, axis=1, bitorder="little").view("<u4").astype(numpy.uint32))


_NODE_TYPES = {
    "feature": numpy.int32, "value": numpy.float64, "left": numpy.int32, "right": numpy.int32, "missing_left": numpy.uint8, "subset": numpy.int32,
}  # fmt: skip


def _nodes(tree, first: int, subset: int, places: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """The nodes of one tree of scikit-learn, the first of which becomes number ``first``."""
    nodes = tree.nodes
    leaf, own = nodes["is_leaf"] != 0, first + numpy.arange(len(nodes))
    of_category = ~leaf & (nodes["is_categorical"] != 0)
    return {
        "feature": numpy.where(leaf, 0, places[numpy.where(leaf, 0, nodes["feature_idx"])]),
        "value": numpy.where(leaf, nodes["value"], numpy.where(of_category, 0.0, nodes["num_threshold"])),
        "left": numpy.where(leaf, own, first + nodes["left"].astype(numpy.int64)),
        "right": numpy.where(leaf, own, first + nodes["right"].astype(numpy.int64)),
        "missing_left": numpy.where(leaf, 0, nodes["missing_go_to_left"]),
        "subset": numpy.where(of_category, subset + nodes["bitset_idx"].astype(numpy.int64), -1),
    }
