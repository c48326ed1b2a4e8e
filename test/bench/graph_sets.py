"""Scores of trainings on graphs that you have, as one table: python graph_sets.py FOLDER... [--figures links edges nodes public] [--seeds 0,1,2].

Each FOLDER is a dataset with edges.csv and nodes.csv (and perhaps features.json), one column of which is a label. Each figure is a whole
training by the command of the trainer, with one thread, on 80 % of the edges or of the labelled nodes for each seed:

links     link prediction with the features of the nodes
edges     link prediction by the edges alone
nodes     node classification
public    node classification by the splits of FOLDER/public.csv (id,split)

The table has the mean over the seeds and the standard deviation of what was delivered, of the network alone, and of the simple model that
was best on the validation rows. --keep appends the scores of each run to a file, and runs that are in it are not run again.
"""

import argparse
import csv
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("edges.csv", "nodes.csv", "features.json")
TITLES = {"links": "links", "edges": "links by the edges alone", "nodes": "labels, random split", "public": "labels, public split"}
METRICS = {"links": ("auc", "mrr"), "edges": ("auc", "mrr"), "nodes": ("accuracy",), "public": ("accuracy",)}
NAMES = {"auc": "AUC", "mrr": "MRR", "accuracy": "accuracy"}
WITH_NETWORK = ("sage", "fusion")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--figures", nargs="+", choices=list(TITLES), default=["links", "edges", "nodes"])
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    kept = [json.loads(line) for line in args.keep.read_text().splitlines()] if args.keep and args.keep.exists() else []
    known = {(r["set"], r["figure"], r["seed"]): r for r in kept}
    found = []
    for folder in args.folders:
        for figure in args.figures:
            for seed in (int(s) for s in args.seeds.split(",")):
                if (run := known.get((folder.name, figure, seed))) is None:
                    run = {"set": folder.name, "figure": figure, "seed": seed, **trained(folder, figure, seed)}
                    if args.keep:
                        with args.keep.open("a") as out:
                            out.write(json.dumps(run) + "\n")
                found.append(run)
                print(line(run), file=sys.stderr, flush=True)
    print(table(found))


def trained(folder: Path, figure: str, seed: int) -> dict:
    """The scores of one training."""
    with tempfile.TemporaryDirectory(prefix="graph-sets") as temporary:
        place = Path(temporary) / "shared/runs/run"
        inputs = place / "inputs"
        inputs.mkdir(parents=True)
        for name in FILES[: 1 if figure == "edges" else None]:
            if (folder / name).exists():
                shutil.copyfile(folder / name, inputs / name)
        if figure == "public":
            add_split(inputs / "nodes.csv", folder / "public.csv")
        task = "link-prediction" if figure in ("links", "edges") else "node-classification"
        (place / "spec.json").write_text(json.dumps(specification(inputs, task, seed)))
        command = [sys.executable, "-m", "trainer", "run", str(place / "spec.json"), "--launcher", "local"]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **threads}, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{folder.name}, {figure}, seed {seed}: {(done.stdout + done.stderr)[-2000:]}")
        return scores(json.loads((place / "result.json").read_text()), METRICS[figure])


def specification(inputs: Path, task: str, seed: int) -> dict:
    listed = []
    for number, path in enumerate(sorted(inputs.iterdir())):
        content = path.read_bytes()
        listed.append({"id": f"f{number}", "name": path.name, "path": path.name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    settings = {"task": task, "seed": seed, "num_workers": 1}
    return {
        "schema": 3, "kind": "train", "run": "run", "attempt": 1, "dataset": {"id": "d1", "name": "graph"}, "settings": settings, "sources": {},
        "inputs": listed,
    }  # fmt: skip


def add_split(nodes: Path, splits: Path) -> None:
    """Add the column ``split`` to the table of nodes."""
    csv.field_size_limit(1 << 24)
    with splits.open(newline="") as f:
        named = dict(list(csv.reader(f))[1:])
    with nodes.open(newline="") as f:
        head, *rows = csv.reader(f)
    with nodes.open("w", newline="") as f:
        out = csv.writer(f)
        out.writerow([*head, "split"])
        out.writerows([*row, named.get(row[0], "")] for row in rows)


def scores(result: dict, metrics: tuple[str, ...]) -> dict:
    """The test scores of the delivered model, of the network, and of the best simple model, and what these are."""
    candidates = result["candidates"]
    chosen = next(c for c in candidates if c["chosen"])
    network = next(c for c in candidates if c["name"] == "sage")
    simple = max((c for c in candidates if c["name"] not in WITH_NETWORK), key=lambda c: c["validation"].get(result["metric"], 0.0))
    named = {"delivered": chosen, "network": network, "simple": simple}
    found = {who: {m: c["test"][m]["value"] for m in metrics} for who, c in named.items()}
    return {**found, "names": {who: c["name"] for who, c in named.items()}, "metric": result["metric"], "seconds": result["training"]["seconds"]}


def line(run: dict) -> str:
    told = ", ".join(f"{who} {run['names'][who]} " + " / ".join(f"{v:.4f}" for v in run[who].values()) for who in ("delivered", "network", "simple"))
    return f"{run['set']}, {run['figure']}, seed {run['seed']}: {told}"


def table(runs: list[dict]) -> str:
    """The scores as a table of Markdown: mean and standard deviation over the seeds."""
    rows = ["| data | task | score | delivered | network alone | best simple model |", "|---|---|---|---|---|---|"]
    for name, figure in dict.fromkeys((r["set"], r["figure"]) for r in runs):
        mine = [r for r in runs if (r["set"], r["figure"]) == (name, figure)]
        for metric in METRICS[figure]:
            cells = [spread([r[who][metric] for r in mine]) for who in ("delivered", "network", "simple")]
            rows.append(f"| {name} | {TITLES[figure]} | {NAMES[metric]} | {' | '.join(cells)} |")
    return "\n".join(rows)


def spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.3f}" + (f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else "")


if __name__ == "__main__":
    main()
