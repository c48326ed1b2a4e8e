"""Small graphs as files of a dataset, and a reader of them as a run has it."""

import io
import json
import random
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from pyarrow import parquet

from trainer.archive.budget import Budget
from trainer.config.options import options
from trainer.core.input import Input
from trainer.data import sources
from trainer.data.checks import Checks
from trainer.kinds.graph import reading
from trainer.kinds.graph.reading import heads
from trainer.kinds.graph.reading.raw import Nodes, Raw
from trainer.run_folder import lease as leases

NODES, EDGES = 60, 240


class RecordedChecks:
    """In place of Checks: what they were given."""

    def __init__(self):
        self.entries: list[tuple[str, str, str]] = []

    def ok(self, code, text) -> None:
        self.entries.append(("ok", code, text))

    def warning(self, code, text) -> None:
        self.entries.append(("warning", code, text))


class RecordedEvents:
    """Events that are kept as sentences by what they are about."""

    def __init__(self):
        self.sentences: dict[str, str] = {}
        self.warnings: dict[str, str] = {}
        self.phases: list[str] = []
        self.steps: list[tuple] = []

    def decision(self, what, _choice, why) -> None:
        self.sentences[what] = why

    def warning(self, code, text) -> None:
        self.warnings[code] = text

    def phase(self, _phase, text) -> None:
        self.phases.append(text)

    def progress(self, _epoch, _epochs, step, steps, **more) -> None:
        self.steps.append((step, steps, more))


def pairs(nodes: int = NODES, edges: int = EDGES, seed: int = 1) -> list[tuple[int, int]]:
    """Different edges without loops, each in one direction only, in any order, such that every node has one."""
    chance = random.Random(seed)
    found = {(i, (i + 1) % nodes) for i in range(nodes)}
    while len(found) < edges:
        a, b = chance.randrange(nodes), chance.randrange(nodes)
        if a != b and (b, a) not in found:
            found.add((a, b))
    listed = sorted(found)
    chance.shuffle(listed)
    return listed


def lines(rows, separator: str = ",", head: str = "") -> str:
    return "\n".join([*([head] if head else []), *(separator.join(map(str, row)) for row in rows)]) + "\n"


def npz(**arrays) -> bytes:
    data = io.BytesIO()
    numpy.savez(data, **arrays)
    return data.getvalue()


def csr(rows: list[tuple[int, int]], size: tuple[int, int]) -> dict[str, numpy.ndarray]:
    """The arrays of a matrix of ones in compressed rows."""
    order = sorted(set(rows))
    counts = numpy.bincount([a for a, _ in order], minlength=size[0])
    return {
        "data": numpy.ones(len(order)), "indices": numpy.array([b for _, b in order]), "indptr": numpy.concatenate([[0], numpy.cumsum(counts)]),
        "shape": numpy.array(size),
    }  # fmt: skip


def node_link(rows, directed=False, key="links") -> str:
    nodes = [{"id": f"n{i}", "kind": "ab"[i % 2], "size2": i * 0.5} for i in range(NODES)]
    return json.dumps({"directed": directed, "multigraph": False, "nodes": nodes, key: [{"source": f"n{a}", "target": f"n{b}"} for a, b in rows]})


@pytest.fixture
def source(tmp_path):
    """source(name, content) is a file of a dataset: a table of Arrow, bytes or a text."""

    def made(name: str, content) -> Input:
        file = tmp_path / name.replace("/", "-")
        if isinstance(content, pyarrow.Table):
            parquet.write_table(content, file)
        else:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Input(name, file, file.stat().st_size, "")

    return made


@pytest.fixture
def look(source):
    """look(content, name, **settings) is the beginning of a table."""
    return lambda content, name="e.csv", **given: heads.look(source(name, content), settings(**given))


def settings(**given) -> SimpleNamespace:
    return SimpleNamespace(**{n: o.default for n, o in options("train").items()} | given)


def read(folder, files: dict, **given):
    """The graph of the files and what was told of it; None for the graph where they are none."""
    inputs = []
    for i, (name, content) in enumerate(files.items()):
        target = folder / "inputs" / f"{i}-{name.replace('/', '-')}"
        target.parent.mkdir(exist_ok=True, parents=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        inputs.append(Input(name, target, target.stat().st_size, f"id{i}"))
    lease = leases.take(folder / "starts")
    spec = SimpleNamespace(inputs=inputs, not_read=(), folder=folder, work=lease.folder, budget=Budget(), models=folder)
    told, chosen = RecordedEvents(), settings(**given)
    checks = Checks(told)
    found = reading.find(sources.find(spec, chosen.data_file, told), chosen, checks, spec.work)
    told.checks = checks
    return (None if found is None else reading.load(found, chosen, checks, spec.work, spec)), told


def edges_of(graph) -> set[tuple[str, str]]:
    """The edges as pairs of ids; the smaller number first where they have no direction."""
    ids = graph.ids.to_pylist()
    return {(ids[a], ids[b]) for a, b in zip(graph.source.tolist(), graph.target.tolist())}


def matrix(head: str, *rows: str) -> str:
    return "\n".join([f"%%MatrixMarket matrix {head}", "% a comment", *rows]) + "\n"


def ends(raw: Raw) -> list[tuple[str, str]]:
    """The ids at both ends of each edge."""
    found = [e.values.cast(pyarrow.string()).take(pyarrow.array(e.codes)).to_pylist() for e in (raw.source, raw.target)]
    return list(zip(*found))


def cells(table: Nodes) -> dict:
    return {name: column.to_pylist() for name, column in table.cells.items()}
