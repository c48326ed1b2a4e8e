"""The benchmark of graphs takes the trainer's own steps, so it must follow what these need."""

import argparse
import importlib.util
import json

import torch
from conftest import ROOT


def test_the_benchmark_of_graphs_takes_steps_of_the_trainer(tmp_path):
    there = importlib.util.spec_from_file_location("graph_benchmark", ROOT / "test" / "bench" / "graph.py")
    bench = importlib.util.module_from_spec(there)
    there.loader.exec_module(bench)
    sizes = {"nodes": 1500, "degree": 6.0, "features": 4, "batch": 64, "negatives": 16, "hidden": 8, "steps": 1}
    args = argparse.Namespace(**sizes, fanout="3,3")
    threads = torch.get_num_threads()
    try:
        bench.steps(0, 1, args, tmp_path / "graph", str(tmp_path / "worker"))
    finally:
        torch.set_num_threads(threads)
    found = json.loads((tmp_path / "worker.0").read_text())
    assert len(found["rounds"]) == bench.ROUNDS
    assert all(r["cpu"] > 0 and {"batch", "features", "optimizer"} <= r.keys() for r in found["rounds"])
