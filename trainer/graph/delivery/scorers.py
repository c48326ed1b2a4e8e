"""What gives scores to pairs of nodes: the network by its table of all nodes, or what else is delivered."""

from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.graph import score
from trainer.graph.delivery.likeliest import Scorer
from trainer.graph.delivery.stored import Stored
from trainer.graph.rivals import delivered
from trainer.graph.rivals.neighbours import Neighbours


@dataclass(frozen=True)
class ByTable:
    """Scores by the table of all nodes, which the network has made."""

    table: numpy.ndarray

    def scores(self, source: numpy.ndarray, targets: numpy.ndarray) -> numpy.ndarray:
        return score.candidates(self.table, source, targets)


def load(folder: Path, table: numpy.ndarray | None, store: Stored) -> Scorer:
    """What gives scores to pairs in the folder of a model. Raises OSError, ValueError, KeyError or TypeError for other files."""
    found = delivered.load(folder, Neighbours(store.indptr, store.indices, store.x), table)
    if found is None and table is None:
        raise ValueError("it has neither a network nor other scores")
    if found is not None and found.network and table is None:
        raise ValueError("its network is missing")
    return found or ByTable(numpy.asarray(table))
