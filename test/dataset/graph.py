#!/usr/bin/env python3
"""Generate a graph with features, for tests and benchmarks.

    python3 test/dataset/graph.py OUT --shape communities --nodes 4000 --degree 10
    python3 test/dataset/graph.py OUT --shape citations --nodes 2927963 --degree 20.9 --communities 4000 --format parquet

writes OUT/edges.csv (``source,target``, and ``time`` with --times) and OUT/nodes.csv (``id,f0,f1,...``, and ``group`` with --labels), or
the same as Parquet files, and prints what is known about the graph as one JSON object. Needs numpy and pyarrow. The same arguments make
the same graph.

communities  Both ends of an edge are drawn from one community with probability ``inside``, else from everywhere. The features of a node
             are the centre of its community with noise. Nothing but the communities tells edges from other pairs, so the best AUC and
             the best accuracy against random pairs are known: see ``Known``.
citations    Node t cites older nodes, most of them in its community and rather the oldest ones, and sometimes what a cited node cites.
             So the graph has an order in time, a heavy tail of degrees, and triangles, as real citations have.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy

BLOCK = 50_000  # nodes whose features are in memory at once


@dataclass(frozen=True)
class Known:
    """What no scorer can beat on held-out edges beside as many random pairs: by AUC, and by accuracy at the best threshold."""

    auc: float
    accuracy: float


@dataclass(frozen=True)
class Made:
    """A graph: ``source`` and ``target`` of each edge, each pair of nodes once, and the community of each node.

    ``time`` is the time of each edge, or None. ``known`` is None where no bound is known.
    """

    nodes: int
    source: numpy.ndarray
    target: numpy.ndarray
    community: numpy.ndarray
    time: numpy.ndarray | None = None
    known: Known | None = None


def communities(nodes: int, edges: int, count: int, inside: float, random: numpy.random.Generator) -> Made:
    """At most ``edges`` undirected edges: loops are dropped, and pairs that are drawn again are merged."""
    community = random.integers(0, count, nodes)
    order = numpy.argsort(community, kind="stable")
    first = numpy.searchsorted(community[order], numpy.arange(count + 1))
    source = random.integers(0, nodes, edges)
    own = community[source]
    near = order[first[own] + (random.random(edges) * (first[own + 1] - first[own])).astype(numpy.int64)]
    target = numpy.where(random.random(edges) < inside, near, random.integers(0, nodes, edges))
    source, target = unique(numpy.minimum(source, target), numpy.maximum(source, target), nodes)
    return Made(nodes, source, target, community, known=bound(community, count, inside))


def bound(community: numpy.ndarray, count: int, inside: float) -> Known:
    """The best scorer of pairs says whether both nodes are in one community. Its answer holds for ``same`` of the edges, and by chance
    for ``chance`` of the random pairs. Half of the ties count for the AUC."""
    chance = float(((numpy.bincount(community, minlength=count) / len(community)) ** 2).sum())
    same = inside + (1 - inside) * chance
    return Known(same * (1 - chance) + (same * chance + (1 - same) * (1 - chance)) / 2, (same + 1 - chance) / 2)


def citations(nodes: int, edges: int, count: int, inside: float, copied: float, random: numpy.random.Generator) -> Made:
    """About ``edges`` directed edges from newer to older nodes, ``copied`` of which follow an edge of the node that was cited at first."""
    community = random.integers(0, count, nodes)
    order = numpy.argsort(community, kind="stable")
    first = numpy.searchsorted(community[order], numpy.arange(count + 1))
    elders = numpy.empty(nodes, numpy.int64)  # of the same community
    elders[order] = numpy.arange(nodes) - first[community[order]]
    source = numpy.repeat(numpy.arange(nodes), random.geometric(nodes / edges, nodes))
    near = (random.random(len(source)) < inside) & (elders[source] > 0)
    choices = numpy.where(near, elders[source], source)
    rank = (choices * random.random(len(source)) ** 2).astype(numpy.int64)  # the oldest are cited most
    target = numpy.where(near, order[numpy.minimum(first[community[source]] + rank, nodes - 1)], rank)
    source, target = unique(source, target, nodes)
    begin = numpy.searchsorted(source, numpy.arange(nodes + 1))
    cited = begin[target + 1] - begin[target]
    follows = (random.random(len(source)) < copied) & (cited > 0)
    other = target[numpy.minimum(begin[target] + (random.random(len(source)) * cited).astype(numpy.int64), len(source) - 1)]
    source, target = unique(source, numpy.where(follows, other, target), nodes)
    return Made(nodes, source, target, community, time=source)


def unique(source: numpy.ndarray, target: numpy.ndarray, nodes: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Each pair once, in order, without loops."""
    keys = (source * nodes + target)[source != target]
    keys.sort()
    keys = keys[numpy.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    return keys // nodes, keys % nodes


def features(made: Made, width: int, noise: float, seed: int):
    """Blocks of features, in the order of the nodes. Each number has a variance of about one."""
    random = numpy.random.default_rng([seed, 1])
    centres = random.standard_normal((int(made.community.max()) + 1, width), numpy.float32)
    for start in range(0, made.nodes, BLOCK):
        own = made.community[start : start + BLOCK]
        block = random.standard_normal((len(own), width), numpy.float32)
        yield ((centres[own] + noise * block) / numpy.sqrt(1 + noise * noise)).astype(numpy.float32)


def make(args: argparse.Namespace) -> Made:
    """The graph that the arguments of the command line describe."""
    random, edges = numpy.random.default_rng(args.seed), round(args.nodes * args.degree / 2)
    if args.shape == "communities":
        return communities(args.nodes, edges, args.communities, args.inside, random)
    return citations(args.nodes, edges, args.communities, args.inside, args.copied, random)


def write(made: Made, args: argparse.Namespace) -> None:
    """Write the two tables. Only one block of features is in memory at once."""
    import pyarrow

    args.out.mkdir(parents=True, exist_ok=True)
    edges = {"source": made.source, "target": made.target}
    if args.times and made.time is not None:
        edges["time"] = made.time
    with writer(args.out / f"edges.{args.format}", schema := pyarrow.schema([(n, pyarrow.int64()) for n in edges])) as out:
        out.write_table(pyarrow.table(edges, schema))
    fields = [("id", pyarrow.int64())] + [(f"f{i}", pyarrow.float32()) for i in range(args.features)]
    if args.labels:
        fields.append(("group", pyarrow.string()))
    schema, start = pyarrow.schema(fields), 0
    with writer(args.out / f"nodes.{args.format}", schema) as out:
        for block in features(made, args.features, args.noise, args.seed):
            ids = numpy.arange(start, start := start + len(block))
            columns = [ids, *(numpy.ascontiguousarray(column) for column in block.round(4).T)]
            if args.labels:
                columns.append([f"group {c % args.labels}" for c in made.community[ids]])
            out.write_table(pyarrow.table(columns, schema=schema))


def writer(path: Path, schema):
    """What writes a table by its parts, as CSV or as Parquet."""
    if path.suffix == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(path, schema, write_options=csv.WriteOptions(quoting_style="needed"))
    from pyarrow import parquet

    return parquet.ParquetWriter(path, schema, compression="zstd", compression_level=1)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write into; made if missing")
    parser.add_argument("--shape", choices=["communities", "citations"], default="communities")
    parser.add_argument("--nodes", type=int, default=4000)
    parser.add_argument("--degree", type=float, default=10.0, help="mean degree, before loops and duplicates are dropped")
    parser.add_argument("--communities", type=int, default=10)
    parser.add_argument("--inside", type=float, default=None, help="share of edges within a community: 0.9, or 0.8 of citations")
    parser.add_argument("--copied", type=float, default=0.3, help="share of citations that follow one of the cited node")
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--noise", type=float, default=3.0, help="of the features, beside the distance of the centres")
    parser.add_argument("--labels", type=int, default=0, help="number of groups of communities to write as labels; 0 writes none")
    parser.add_argument("--times", action="store_true", help="write the time of each citation")
    parser.add_argument("--format", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--seed", type=int, default=7)
    return parser


def main() -> None:
    args = options().parse_args()
    if args.inside is None:
        args.inside = 0.9 if args.shape == "communities" else 0.8
    made = make(args)
    write(made, args)
    print(json.dumps({"nodes": made.nodes, "edges": len(made.source), "best": asdict(made.known) if made.known else None}))


if __name__ == "__main__":
    main()
