"""What is delivered in place of the network alone: a score of pairs, or of nodes, from several models. Its file is fusion.json."""

from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.kinds.graph.comparison import fusion
from trainer.kinds.graph.comparison.fusion import MODEL, Fusion
from trainer.kinds.graph.comparison.neighbours import Neighbours
from trainer.run_folder import files

NAME = "fusion.json"
_BYTES = 100_000


@dataclass(frozen=True)
class PairScores:
    """Scores of pairs by ``fusion``. ``table`` is that of the network; None where the network is no part of it."""

    fusion: Fusion
    graph: Neighbours
    table: numpy.ndarray | None

    @property
    def network(self) -> bool:
        """Whether the network is part of it."""
        return MODEL in self.fusion.columns

    @property
    def parameters(self) -> int:
        return len(self.fusion.columns)

    def scores(self, source: numpy.ndarray, targets: numpy.ndarray) -> numpy.ndarray:
        """The scores of each source (n) with each of its targets (n x k)."""
        return self.fusion.scores(self.graph, self.table, source, targets)

    def save(self, folder: Path) -> None:
        files.write_json(folder / NAME, self.fusion.described())


def load(folder: Path, graph: Neighbours, table: numpy.ndarray | None) -> PairScores | None:
    """The scores that ``save`` wrote to ``folder``, on the nodes of ``graph``; None where the network alone was delivered.

    Raises OSError, KeyError, TypeError or ValueError for a file that is no such description.
    """
    if not (folder / NAME).exists():
        return None
    found = fusion.restored(files.read_json(folder / NAME, _BYTES))
    if unknown := set(found.columns) - {*graph.names, MODEL}:
        raise ValueError(f"the graph has no {sorted(unknown)[0]}")
    return PairScores(found, graph, table)
