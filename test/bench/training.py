"""Figures of the training program, on a real Ray that this starts: python training.py DATASET [workers|rate|padding|start|gpu]...

workers   a table of rows a step x epochs x workers: time, accuracy, speed-up
rate      the training rate through Ray beside the same loop run plainly, in turns
padding   the rate with batches filled to their longest text beside batches filled to max_length, in turns
start     where the time of a run of one epoch goes, with a warm process and without, in turns
gpu       the run on a GPU beside the same run on CPUs, in turns: time, rate, quality (only if it is named)
"""

import argparse
import contextlib
import functools
import hashlib
import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 3
WARM_SECONDS = 180.0  # for the imports of the warm process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("figures", nargs="*", default=["start", "rate", "padding", "workers"])
    parser.add_argument("--model", default="bert-tiny", help="the network: what is trained by default has no steps, and needs no worker")
    parser.add_argument("--workers", default="1,2", help="for the table")
    parser.add_argument("--epochs", default="1,3", help="for the table")
    parser.add_argument("--batches", default="32,128", help="for the table")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench") as folder, ray(folder) as address:
        bench = Bench(Path(folder), args.dataset.resolve(), address, args.model)
        bench.run("ray", epochs=1)  # so that the files of the libraries are in memory
        for figure in args.figures:
            if figure == "workers":
                table(bench, *([int(n) for n in text.split(",")] for text in (args.workers, args.epochs, args.batches)))
            else:
                {"rate": rate, "padding": padding, "start": start, "gpu": gpu}[figure](bench)


@contextlib.contextmanager
def ray(folder: str):
    """A Ray of our own on all CPUs of this machine, reachable from this machine only."""
    os.environ.update(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    command = str(Path(sys.executable).with_name("ray"))
    cpus = str(len(os.sched_getaffinity(0)))
    port = "26379"
    start = [command, "start", "--head", "--node-ip-address=127.0.0.1", f"--port={port}", f"--num-cpus={cpus}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*start, "--include-dashboard=false", f"--temp-dir={folder}/ray"], check=True, **quiet)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        subprocess.run([command, "stop", "--force"], check=False, **quiet)


class Bench:
    """Runs of the training program with one model on one dataset."""

    def __init__(self, folder: Path, dataset: Path, address: str, model: str):
        self.folder, self.dataset, self.address, self.model = folder, dataset, address, model

    def warm_up(self) -> None:
        """Wait until the machine has its warm process."""
        sys.path.insert(0, str(ROOT))
        os.environ.update(RAY_ADDRESS=self.address, WARM_WORKERS="1")
        from trainer.warm import client

        subprocess.run([sys.executable, "-m", "trainer", "warm"], env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=self.folder, check=True)
        end = time.monotonic() + WARM_SECONDS
        while not client.answers(self.address, 5.0):
            if time.monotonic() > end:
                sys.exit("there is no warm process")
            time.sleep(0.2)

    def run(self, launcher: str, **parameters) -> dict:
        """One run; returns its result.json with the seconds of the whole command and the times of its events."""
        folder = self._prepared(parameters)
        began, wall = time.monotonic(), time.time()
        with self._started(folder, launcher) as process:
            output = process.communicate()[0]
        if process.returncode:
            sys.exit(f"a run failed with {process.returncode}:\n{output}")
        result = json.loads((folder / "result.json").read_text())
        return {**result, "wall": time.monotonic() - began, "times": _times(folder, wall)}

    def first_step(self, launcher: str, **parameters) -> dict[str, float]:
        """The seconds from the driver's start to its phases and to the first step of a run that is ended then."""
        folder = self._prepared(parameters)
        wall = time.time()
        with self._started(folder, launcher) as process:
            while "first step" not in _times(folder, wall) and process.poll() is None:
                time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            output = process.communicate()[0]
        found = _times(folder, wall)
        if "first step" not in found:
            sys.exit(f"a run ended with {process.returncode} before its first step:\n{output}")
        return found

    def _prepared(self, parameters: dict) -> Path:
        """The folder of a run of the dataset with its spec.json."""
        folder = self.folder / "runs" / "ft-bench"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.dataset, folder / "inputs")
        inputs = []
        for file in sorted(p for p in (folder / "inputs").rglob("*") if p.is_file()):
            name, data = file.relative_to(folder / "inputs").as_posix(), file.read_bytes()
            inputs.append({"name": name, "path": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
        spec = {
            "schema": 3,
            "kind": "train",
            "run": "ft-bench",
            "attempt": 1,
            "dataset": {},
            "settings": {"model": self.model, **parameters},
            "sources": {},
            "inputs": inputs,
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        return folder

    def _started(self, folder: Path, launcher: str) -> subprocess.Popen:
        env = {**os.environ, "RAY_ADDRESS": self.address, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "trainer", "run", str(folder / "spec.json"), "--launcher", launcher]
        return subprocess.Popen(command, env=env, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _times(folder: Path, began: float) -> dict[str, float]:
    """Seconds from the driver's start to its phases and to the first step, as far as the events of the run tell them."""
    import datetime

    found: dict[str, float] = {}
    lines = (folder / "events.jsonl").read_text().split("\n")[:-1] if (folder / "events.jsonl").exists() else []
    for event in map(json.loads, lines):
        name = event.get("phase") if event["kind"] == "phase" else "first step" if event["kind"] == "progress" else None
        if name and name not in found:
            found[name] = datetime.datetime.fromisoformat(event["time"]).timestamp() - began
    return found


def table(bench: Bench, workers: list[int], epochs: list[int], batches: list[int]) -> None:
    head = ["rows a step", "epochs", "workers", "time", "training", "estimated before", "samples/s", "accuracy", "speed-up", "efficiency"]
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for batch, many in itertools.product(batches, epochs):
        alone = None
        for count in workers:
            run = bench.run("ray", epochs=many, num_workers=count, batch_size=batch, early_stopping_patience=0)
            rate = run["training"]["samples_per_second"]
            alone = alone or rate
            test = run["metrics"]["test"]
            score = (test.get("accuracy") or test["r2"])["value"]
            seconds = f"{run['wall']:.0f} s | {run['training']['seconds']:.0f} s | {run['estimate_seconds']:.0f} s"
            figures = f"{rate:.0f} | {score:.3f} | {rate / alone:.2f} | {rate / alone / count:.0%}"
            print(f"| {batch} | {many} | {count} | {seconds} | {figures} |", flush=True)


def rate(bench: Bench) -> None:
    ratios = _in_turns(lambda: bench.run("ray", epochs=2), lambda: bench.run("local", epochs=2))
    print(f"\nrate through Ray / rate of the same loop run plainly: {ratios}")


def padding(bench: Bench) -> None:
    longest = bench.run("local", epochs=1)
    for length in (longest["model"]["max_length"], 128):
        ratios = _in_turns(
            functools.partial(bench.run, "local", epochs=1, max_length=length),
            functools.partial(bench.run, "local", epochs=1, max_length=length, padding="max_length"),
        )
        print(f"\nrate with dynamic padding / with padding to {length} tokens: {ratios}")


def start(bench: Bench) -> None:
    bench.warm_up()
    print("\nThe shortest times from the start of the driver, and the least CPU of the whole machine until its end:")
    print("| workers | processes | reads data | trains | first step | end | CPU |\n|---|---|---|---|---|---|---|")
    for workers in (1, 2):
        runs: dict[str, list] = {"cold": [], "warm": []}
        for _ in range(ROUNDS):
            for name, found in runs.items():
                os.environ["WARM_WORKERS"] = "1" if name == "warm" else "0"
                before = _cpu_seconds()
                run = bench.run("ray", epochs=1, num_workers=workers)
                found.append((run["times"] | {"end": run["wall"]}, _cpu_seconds() - before))
        for name, found in runs.items():
            seconds = " | ".join(f"{min(times[phase] for times, _ in found):.1f} s" for phase in ("prepare", "train", "first step", "end"))
            print(f"| {workers} | {name} | {seconds} | {min(cpu for _, cpu in found):.0f} s |", flush=True)


def gpu(bench: Bench) -> None:
    print("\n| device | precision | run | training | rows/s | quality |\n|---|---|---|---|---|---|")
    for _ in range(ROUNDS):
        for wanted in ("yes", "no"):
            run = bench.run("ray", epochs=2, use_gpu=wanted)
            used, hardware, test = run["training"], run["hardware"], run["metrics"]["test"]
            device = hardware["gpu"] if used["device"] == "cuda" else hardware["cpu"]
            quality = (test.get("accuracy") or test["r2"])["value"]
            shown = f"{device} | {used['precision']} | {run['wall']:.1f} s | {used['seconds']:.1f} s | {used['samples_per_second']:.0f}"
            print(f"| {shown} | {quality:.3f} |", flush=True)


def _cpu_seconds() -> float:
    """What all processes of this machine have used."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def _in_turns(one, other) -> str:
    found = []
    for _ in range(ROUNDS):
        a, b = one()["training"]["samples_per_second"], other()["training"]["samples_per_second"]
        found.append(a / b)
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f}, {ROUNDS} pairs)"


if __name__ == "__main__":
    main()
