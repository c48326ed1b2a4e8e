"""From the files of a dataset to a graph. Runs in the driver, without torch.

``find`` says whether the dataset is a graph, from the first rows of its files and the ids of its edges; a close call is asked back.
``load`` reads it. Both raise UserError for everything that only the user can fix, and give an event and a sentence for each decision.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trainer.config.spec import Spec
from trainer.core.kind import Kind
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.sources import Sources
from trainer.kinds.graph.graph import Graph

if TYPE_CHECKING:
    from trainer.kinds.graph.reading.detect import Tables
    from trainer.kinds.graph.reading.formats import GraphFile


SURE = FORM + 0.1


@dataclass
class Found:
    """Where the graph of a dataset is: in ``tables``, or in one ``file`` of a graph format."""

    tables: "Tables | None" = None
    file: "GraphFile | None" = None
    words: list = field(default_factory=list)  # of nodes, from files that are no tables
    why: str = ""


def find(sources: Sources, settings, checks: Checks, work: Path) -> Found | None:
    """Where the graph of a dataset is; None where it is none. The files that are then not used are named among the ignored."""
    from trainer.kinds.graph.reading import detect

    if not detect.is_allowed(settings):
        return None
    from trainer.kinds.graph.reading import finding  # pyarrow, which other data need not wait for

    return finding.find(sources, settings, checks, work)


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """The claim of a graph. Its edges are what other kinds would read as rows, so it is surer than they are."""
    found = find(files.sources, settings, files.checks, files.spec.work)
    if found is None:
        return None
    used = {found.file.name} if found.file is not None else {*found.tables.files, *(w.file for w in found.words)}
    return Claim(kind, SURE, 0, "a graph", found, frozenset(used))


def load(found: Found, settings, checks: Checks, work: Path, spec: Spec) -> Graph:
    """The graph, with features in files below ``work`` where they are large."""
    from trainer.kinds.graph.reading import finding

    return finding.load(found, settings, checks, work, spec)
