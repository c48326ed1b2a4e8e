"""Figures of the training on graphs, on a generated graph: python graph.py [rate|workers|table|start|whole]... [--nodes 300000].

rate      edges a second with one thread, and the share of drawing neighbours and reading features, of computing, and of the optimizer
workers   the rate of two workers divided by that of one, each with one thread
table     the seconds and the memory of computing the embeddings of all nodes
start     the seconds from the driver's start to the first step, from a dataset with that many nodes, on a Ray that this starts
whole     a whole training of --epochs epochs by the command of the trainer: its seconds by phase, its score, and the peak memory of all of
          its processes together

--folder keeps the generated graph for the next call. Rates vary with what else the machine does, so two figures are compared in turns.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
ROUNDS = 3
WARM_UP = 3  # steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", default=["rate", "workers", "table"])
    parser.add_argument("--nodes", type=int, default=300_000)
    parser.add_argument("--degree", type=float, default=20.9)
    parser.add_argument("--features", type=int, default=128)
    for name, value in (("batch", 1024), ("negatives", 512), ("hidden", 128), ("steps", 12), ("epochs", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--fanout", default="10,10")
    parser.add_argument("--edges", type=int, default=0, help="edges of an epoch of the whole training; 0 takes all, at most 2 million")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench") as temporary:
        folder = (args.folder or Path(temporary)) / f"graph-{args.nodes}-{args.degree:g}-{args.features}"
        for figure in args.figures:
            {"rate": rate, "workers": workers, "table": table, "start": start, "whole": whole}[figure](args, folder)


def dataset(args, folder: Path) -> Path:
    """The graph as a dataset."""
    place = folder / "dataset"
    if not (place / "nodes.parquet").exists():
        shape = ["--shape", "citations", "--nodes", str(args.nodes), "--degree", str(args.degree), "--features", str(args.features)]
        shape += ["--communities", str(max(2, args.nodes // 750)), "--format", "parquet"]
        began = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
        made = subprocess.run([sys.executable, ROOT / "test/dataset/graph.py", place, *shape], check=True, capture_output=True, text=True).stdout
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"generated {made.strip()}: {used.ru_utime + used.ru_stime - began[1].ru_utime - began[1].ru_stime:.0f} s of CPU", flush=True)
    return place


def stored(args, folder: Path):
    """The graph as the files that workers map."""
    import numpy
    import pyarrow.parquet as parquet

    from trainer.kinds.graph import store as stores

    place = folder / "store"
    if not (place / "train.npy").exists():
        source = dataset(args, folder)
        edges = parquet.read_table(source / "edges.parquet")
        ends = numpy.stack([edges["source"].to_numpy().astype(numpy.int32), edges["target"].to_numpy().astype(numpy.int32)], axis=1)
        x = numpy.lib.format.open_memmap(folder / "x.npy", mode="w+", dtype=numpy.float32, shape=(args.nodes, args.features))
        at = 0
        for block in parquet.ParquetFile(source / "nodes.parquet").iter_batches(50_000):
            for i in range(args.features):
                x[at : at + len(block), i] = block.column(i + 1).to_numpy()
            at += len(block)
        x.flush()
        began = time.process_time()
        stores.build(place, args.nodes, ends[:, 0], ends[:, 1], None, x)
        print(f"files of {len(ends)} edges: {time.process_time() - began:.1f} s of CPU", flush=True)
        numpy.save(place / "train.npy", ends)
    return stores.Store(place)


def steps(rank: int, world: int, args, folder: Path, out: str) -> None:
    """A worker that takes steps, and writes what each round of them took."""
    import numpy
    import torch

    torch.set_num_threads(1)
    if world > 1:
        torch.distributed.init_process_group("gloo", init_method=f"file://{out}.meet", rank=rank, world_size=world)
    stepper, optimization, rows, timed = training(rank, world, args, stored(args, folder))
    random = numpy.random.default_rng(0)
    found, number = [], 0
    for turn in range(ROUNDS + 1):  # the first one warms up
        if world > 1:
            torch.distributed.barrier()
        timed.seconds.clear()
        began, cpu = time.monotonic(), time.process_time()
        for _ in range(args.steps if turn else WARM_UP):
            stepper.step(rows, random.integers(0, len(rows), args.batch), number)
            before = time.process_time()
            optimization.step(number)
            timed.add("optimizer", time.process_time() - before)
            number += 1
        found.append({"wall": time.monotonic() - began, "cpu": time.process_time() - cpu, **timed.seconds})
    private, shared = memory("self")
    Path(f"{out}.{rank}").write_text(json.dumps({"rounds": found[1:], "private": private, "shared": shared}))
    if world > 1:
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


class Timed:
    """Seconds of CPU by their names."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    def add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def watch(self, owner, name: str, label: str) -> None:
        """Count the seconds of the method ``name`` of ``owner``."""
        inner = getattr(owner, name)

        def watched(*values, **more):
            before = time.process_time()
            try:
                return inner(*values, **more)
            finally:
                self.add(label, time.process_time() - before)

        setattr(owner, name, watched)


def training(rank: int, world: int, args, store):
    """The trainer's own step on the edges of ``store``."""
    import numpy
    import torch

    from trainer.config.options import options
    from trainer.core import registry
    from trainer.core.plan import Rows
    from trainer.kinds.graph.rows import Drawn, Edges
    from trainer.kinds.graph.target import Links
    from trainer.train.objective import Objective
    from trainer.train.optimize import Optimization
    from trainer.train.step import Stepper

    settings = SimpleNamespace(**{o.name: o.default for o in options("train").values()})
    settings.compile = "no"
    torch.manual_seed(0)
    model = network(args)
    place = store.folder / "train.npy"
    count = len(numpy.load(place, mmap_mode="r"))
    fanout = tuple(int(n) for n in args.fanout.split(","))
    edges = Edges(store, Drawn(fanout, "mean", args.negatives), place, count, store.folder / "measured")
    timed = Timed()
    timed.watch(edges, "batch", "batch")
    timed.watch(edges, "_features", "features")
    rows = Rows(edges, numpy.zeros(count, numpy.int8))
    base = SimpleNamespace(is_small=True, fresh=True)
    plan = SimpleNamespace(kind=registry.of("graph"), settings=settings, base=base, splits={"train": rows}, folder=str(store.folder))
    stepper = Stepper(SimpleNamespace(rank=rank, world=world, device=torch.device("cpu"), threads=1), plan, model, Objective(Links()))
    stepper.begin()
    return stepper, Optimization(model, settings, 1e-3, 10_000, stepper.scaler), rows, timed


def network(args):
    from trainer.kinds.graph.sage import Sage

    shape = {"width": args.features, "hidden": args.hidden, "layers": len(args.fanout.split(",")), "aggregation": "mean", "dropout": 0.3}
    return Sage(**shape, decoder="cosine", outputs=0, directed=False)


def measured(world: int, args, folder: Path) -> list[dict]:
    """What each of ``world`` workers measured."""
    import torch.multiprocessing as processes

    stored(args, folder)
    with tempfile.TemporaryDirectory(prefix="bench") as out:
        processes.spawn(steps, (world, args, folder, f"{out}/worker"), nprocs=world)
        return [json.loads(Path(f"{out}/worker.{rank}").read_text()) for rank in range(world)]


def rate(args, folder: Path) -> None:
    found = measured(1, args, folder)[0]
    best = min(found["rounds"], key=lambda r: r["cpu"])
    edges = args.steps * args.batch
    drawing = best["batch"] - best.get("features", 0.0)
    parts = {"drawing neighbours": drawing, "features": best.get("features", 0.0), "optimizer": best["optimizer"]}
    parts["model"] = best["cpu"] - sum(parts.values())
    words = ", ".join(f"{name} {1000 * seconds / args.steps:.1f} ms" for name, seconds in parts.items())
    walls = sorted(edges / r["wall"] for r in found["rounds"])
    print(f"{args.nodes} nodes, {args.batch} edges a step, fanout {args.fanout}, {args.hidden} hidden, one thread:")
    print(f"  {edges / best['cpu']:.0f} edges for each second of CPU ({edges / drawing:.0f} with drawing alone); a step: {words}")
    print(f"  {statistics.median(walls):.0f} edges a second of the clock ({walls[0]:.0f} to {walls[-1]:.0f})")
    print(f"  memory of the worker: {found['private'] / 1e9:.2f} GB of its own, {found['shared'] / 1e9:.2f} GB of files", flush=True)


def workers(args, folder: Path) -> None:
    ratios, cpu_ratios = [], []
    for _ in range(ROUNDS):
        alone, both = measured(1, args, folder), measured(2, args, folder)
        ratios.append(fastest(alone, "wall") / fastest(both, "wall"))
        cpu_ratios.append(fastest(alone, "cpu") / fastest(both, "cpu"))
    for name, found in (("the clock", ratios), ("CPU of the slower worker", cpu_ratios)):
        print(f"two workers / one worker by seconds of {name}: {statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})", flush=True)


def fastest(found: list[dict], what: str) -> float:
    """The seconds of the fastest round, of its slowest worker."""
    return min(max(worker["rounds"][i][what] for worker in found) for i in range(ROUNDS))


def table(args, folder: Path) -> None:
    import torch

    from trainer.kinds.graph import inference

    store = stored(args, folder)
    torch.set_num_threads(1)
    model = network(args)
    layers = inference.Layers(store.folder, 0, 1)
    began = time.process_time()
    made = inference.table(model, store, torch.device("cpu"), layers)
    seconds = time.process_time() - began
    layers.remove(made)
    private, shared = memory("self")
    print(f"embeddings of {args.nodes} nodes: {seconds:.1f} s of CPU, {private / 1e9:.2f} GB of memory, {shared / 1e9:.2f} GB of files", flush=True)


def start(args, folder: Path) -> None:
    from training import Bench, ray

    with tempfile.TemporaryDirectory(prefix="bench") as out, ray(out) as address:
        bench = Bench(Path(out), dataset(args, folder), address, "auto")
        options = {"epochs": 1, "edges_per_epoch": 20 * args.batch, "eval_negatives": 100}
        bench.first_step("ray", **options)  # so that the files of the libraries are in memory
        runs = [bench.first_step("ray", **options) for _ in range(ROUNDS)]
    line = ", ".join(f"{name} {statistics.median(r[name] for r in runs):.1f} s" for name in ("start", "prepare", "train", "first step"))
    print(f"{args.nodes} nodes, from the driver's start: {line}", flush=True)


def whole(args, folder: Path) -> None:
    import threading

    from training import Bench

    source = dataset(args, folder)
    peak, ended = [0, 0], threading.Event()

    def watch() -> None:
        while not ended.wait(1.0):
            private, shared = memory("children")
            peak[0], peak[1] = max(peak[0], private + shared), max(peak[1], private)

    with tempfile.TemporaryDirectory(prefix="bench", dir=folder) as out:
        thread = threading.Thread(target=watch)
        thread.start()
        try:
            found = Bench(Path(out), source, "", "auto").run("local", epochs=args.epochs, max_minutes=600, edges_per_epoch=args.edges)
        finally:
            ended.set()
            thread.join()
    test, training = found["metrics"]["test"], found["training"]
    scores = ", ".join(f"{name} {test[name]['value']:.3f}" for name in ("mrr", "auc", "accuracy") if name in test)
    print(f"{args.nodes} nodes: {found['wall']:.0f} s, training {training['seconds']:.0f} s ({training['samples_per_second']:.0f} edges/s), {scores}")
    print(f"  from the driver's start: {', '.join(f'{name} {seconds:.0f} s' for name, seconds in found['times'].items())}")
    print(f"  peak memory: {peak[1] / 1e9:.1f} GB of the processes alone, {peak[0] / 1e9:.1f} GB with the files that they map", flush=True)


def memory(whose: str) -> tuple[int, int]:
    """The bytes of memory of this process or of its children: their own, and their share of files that they map."""
    pids = ["self"]
    if whose == "children":
        parents = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[status.parent.name] = status.read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
        pids, above = [], {str(Path("/proc/self").resolve().name)}
        while above:
            above = {pid for pid, parent in parents.items() if parent in above}
            pids += above
    own = files = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        except OSError:
            continue
        sizes = {line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines}
        own += sizes["Pss_Anon"]
        files += sizes["Pss"] - sizes["Pss_Anon"]
    return own, files


if __name__ == "__main__":
    main()
