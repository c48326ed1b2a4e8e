"""The leaves of many rows in a forest, by scikit-learn's compiled code: numpy needs five times as long."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from trainer.kinds.boosted.forest import Forest


def leaves(forest: "Forest", cells: numpy.ndarray) -> Iterator[numpy.ndarray]:
    """The value of the leaf of each row of ``cells``, one tree after another. Each is valid until the next one is asked for.

    scikit-learn has no public way to ask trees that it has not fitted: a test compares the values with those of numpy.
    """
    from sklearn.ensemble._hist_gradient_boosting._predictor import _predict_from_raw_data
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    # Its trees begin at node 0. No node has the first node of all as a child, so a place before it can hold the root of each tree in turn.
    nodes = numpy.zeros(len(forest.feature) + 1, PREDICTOR_RECORD_DTYPE)
    rest, of_category = nodes[1:], forest.subset >= 0
    rest["value"], rest["num_threshold"], rest["feature_idx"] = forest.value, forest.value, forest.feature
    rest["left"], rest["right"], rest["is_leaf"] = forest.left + 1, forest.right + 1, forest.leaves()
    rest["missing_go_to_left"], rest["is_categorical"] = forest.missing_left, of_category
    rest["bitset_idx"] = numpy.where(of_category, forest.subset, 0)
    subsets = numpy.ascontiguousarray(forest.categories)
    every = numpy.full((1, subsets.shape[1]), numpy.iinfo(numpy.uint32).max, numpy.uint32)  # a subset says of all categories where they go
    columns, found = numpy.zeros(cells.shape[1], numpy.uint32), numpy.empty(len(cells))
    for root in forest.roots:
        nodes[0] = rest[root]
        _predict_from_raw_data(nodes, cells, subsets, every, columns, 1, found)
        yield found
