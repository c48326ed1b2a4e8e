"""Finds the graph of a dataset in whichever form it has, and reads it."""

from pathlib import Path

import pyarrow
import pyarrow.compute

from trainer.config.spec import Spec
from trainer.data import chosen, names
from trainer.data.checks import Checks
from trainer.data.sources import Sources
from trainer.errors import some
from trainer.gc_pause import paused
from trainer.kinds.graph import encoded_texts
from trainer.kinds.graph.graph import Graph
from trainer.kinds.graph.reading import Found, detect, formats, loading, matching, matrices, nodes, refusals, whole
from trainer.kinds.graph.reading.raw import Nodes
from trainer.kinds.graph.reading_progress import ReadingProgress


def find(sources: Sources, settings, checks: Checks, work: Path) -> Found | None:
    asked = detect.is_asked(settings)
    wanted = settings.edges_file.strip()
    file = formats.find(sources, settings, wanted)
    if file is not None:
        found = Found(file=file, why=f"The dataset is read as a graph: {file.name} is {file.title}.")
        used = {file.name}
    else:
        read_as, matrix = matrices.as_edges(sources, settings, work)
        looked = detect.look(read_as, settings)
        tables = detect.find(read_as, settings, looked) if looked else None
        if tables is None:
            _check_pickles(sources, asked)
            if asked:
                raise refusals.no_edges([s.name for s in sources.tables], "")
            return None
        words = _word_lists(sources, tables, settings)
        found = Found(tables=tables, words=words, why=detect.reasons(tables))
        used = {*tables.files, *(w.file for w in words)}
        if matrix:
            checks.events.decision("matrix", tables.edges[0].head.name, matrix)
    checks.events.decision("kind", "graph", found.why)
    for source in (*sources.tables, *sources.graphs):
        if source.name not in used:
            sources.ignored.add(source.name, "not part of the graph")
    if unused := [s.name for s in sources.tables if s.name not in used]:
        checks.warning(
            "unused_tables",
            f"No column of {some(unused)} has the ids of the nodes, so what is in {'it' if len(unused) == 1 else 'them'} is not used.",
        )
    checks.ignore(sources.ignored.items())
    return found


@paused()
def load(found: Found, settings, checks: Checks, work: Path, spec: Spec) -> Graph:
    if found.file is not None:
        raw = formats.read(found.file, settings, checks, work)
    else:
        raw = loading.raw(found.tables, found.words, settings, checks, work)
    encoder = encoded_texts.find(spec.models, settings.text_encoder) if settings.text_encoder else None
    graph = whole.graph(raw, settings, checks, work, encoder, ReadingProgress(checks.events, spec.folder, work))
    chosen.check(spec.inputs, {"train": range(graph.edges), **(graph.given or {})}, checks.not_read)
    return graph


def _check_pickles(sources: Sources, asked: bool) -> None:
    """Raise UserError for a dataset whose graph is in pickles, if it has nothing else."""
    found = [n for n in sources.ignored.names() if formats.is_pickled(n)]
    if found and (asked or not (sources.tables or sources.images or sources.tokens)):
        raise refusals.pickled(found)


def _word_lists(sources: Sources, tables, settings) -> list[Nodes]:
    """The words of nodes in JSON objects that have the ids of the edges as keys."""
    if settings.nodes_file.strip().lower() == "none":
        return []
    documents = [s for s in sources.tables if names.extension(s.name) == "json" and s.name not in tables.files]
    ends = pyarrow.concat_arrays(list(detect.ends_of(tables.edges))).unique() if documents else None
    found = []
    for source in documents:
        read = nodes.word_lists(source, settings)
        if read is not None and pyarrow.compute.mean(pyarrow.compute.is_in(ends, value_set=read.ids)).as_py() >= matching.MATCHES:
            found.append(read)
    return found
