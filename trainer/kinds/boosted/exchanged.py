"""The scores of a forest for rows some of whose cells are exchanged: only the paths that ask about these cells are followed again."""

import numpy

from trainer.kinds.boosted.forest import Forest


class Paths:
    """The paths of ``cells`` (rows x columns, see ``Forest.scores``) through ``forest``."""

    def __init__(self, forest: Forest, cells: numpy.ndarray):
        self._forest, self._cells = forest, cells
        self._scores = forest.scores(cells)
        trees = len(forest.roots)
        node = numpy.tile(forest.roots, len(cells))
        leaf = forest.leaves()
        asked: dict[int, list[numpy.ndarray]] = {}
        active = numpy.flatnonzero(~leaf[node])
        while len(active):
            here = node[active]
            features = forest.feature[here]
            order = numpy.argsort(features, kind="stable")
            found, starts = numpy.unique(features[order], return_index=True)
            for column, pairs in zip(found.tolist(), numpy.split(active[order], starts[1:]), strict=True):
                asked.setdefault(column, []).append(pairs)
            node[active] = here = forest.children(here, cells[active // trees, features])
            active = active[~leaf[here]]
        self._values = forest.value[node]
        self._asking = {column: numpy.unique(numpy.concatenate(pairs)) for column, pairs in asked.items()}  # rows times trees
        self._leaf = leaf

    def scores(self, columns: numpy.ndarray, rows: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
        """The scores of ``rows`` when their cells in ``columns`` are those of ``others``, one for each row."""
        forest, trees, outputs = self._forest, len(self._forest.roots), len(self._forest.start)
        found = self._scores[rows]
        asking = [self._asking[c] for c in columns.tolist() if c in self._asking]
        if not asking:
            return found
        pairs = numpy.unique(numpy.concatenate(asking)) if len(asking) > 1 else asking[0]
        first, last = (numpy.searchsorted(pairs, r * trees) for r in (rows, rows + 1))
        place = numpy.repeat(numpy.arange(len(rows)), last - first)  # the row of ``rows`` that each path is of
        within = numpy.arange(len(place)) - numpy.repeat(numpy.cumsum(last - first) - (last - first), last - first)
        path = pairs[numpy.repeat(first, last - first) + within]
        tree, node = path % trees, forest.roots[path % trees]
        is_changed = numpy.zeros(self._cells.shape[1], bool)
        is_changed[columns] = True
        active = numpy.flatnonzero(~self._leaf[node])
        while len(active):
            here = node[active]
            features = forest.feature[here]
            of = numpy.where(is_changed[features], others[place[active]], rows[place[active]])
            node[active] = here = forest.children(here, self._cells[of, features])
            active = active[~self._leaf[here]]
        rise = forest.value[node] - self._values[path]
        found += numpy.bincount(place * outputs + tree % outputs, rise, len(rows) * outputs).reshape(-1, outputs)
        return found
