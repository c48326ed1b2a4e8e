"""What a training step spends its processor time on: python steps.py [texts] [images] [table] [--model FOLDER] [--steps 40].

Prints, for each kind of data, the share of the model itself (forward and backward) and of everything around it, on one thread and in
seconds of CPU, so that other programs on the machine change little. Then the same steps in fp32 and in bf16 in turns, where this CPU has
instructions for bf16; and with torch.compile and without it in turns, which needs a C++ compiler, with the seconds of CPU that it takes to compile
and the number of steps that win them back. --model is the folder of an installed text model (ORG/NAME), which is measured as well.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from trainer.core.plan import Plan
from trainer.launch.local import LocalLauncher
from trainer.run import run
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease
from trainer.train import loop, step

ROOT = Path(__file__).resolve().parents[2]
WARM_UP = 3


class Planned(BaseException):
    """The plan of a training is known, which is not carried out."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["texts", "images", "table"])
    parser.add_argument("--model", type=Path, help="folder of an installed text model, ORG/NAME")
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="bench") as shared:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{shared}/compiled"  # so that nothing is compiled yet
        cases = {k: ({"texts": "bert-tiny", "images": "small-cnn", "table": "mlp"}[k], k) for k in args.kinds}
        if args.model:
            name = "/".join(args.model.resolve().parts[-2:])
            shutil.copytree(args.model, Path(shared) / "models" / name)
            cases[f"texts, {name}"] = name, "texts"
        columns = ("data", "rows/s", "model", "batch", "optimizer", "average", "the rest", "bf16 / fp32", "compiled / not")
        print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        for shown, (model, kind) in cases.items():
            plan = planned(Path(shared), kind, model)
            whole, rows, parts = measured(plan, args.steps)
            shares = [parts[n] / whole for n in ("model", "batch", "optimizer", "average")]
            shares.append(1 - sum(shares))
            pairs = f"{halves(plan, args.steps)} | {compiled(plan, args.steps)}"
            print(f"| {shown} | {rows / whole:.0f} | {' | '.join(f'{s:.1%}' for s in shares)} | {pairs} |", flush=True)


def files(kind: str) -> dict[str, bytes]:
    random = numpy.random.default_rng(0)
    if kind == "texts":
        return {p.name: p.read_bytes() for p in (ROOT / "test" / "dataset" / "reviews").glob("*.csv")}
    if kind == "table":
        numbers = random.normal(size=(4000, 30))
        lines = [",".join(f"{v:.4f}" for v in row) + f",{'ab'[int(row[0] > row[1])]}" for row in numbers]
        return {"table.csv": "\n".join([",".join([*(f"x{i}" for i in range(30)), "label"]), *lines]).encode()}
    found = {}
    for number in range(300):
        pixels = random.integers(0, 255, (64, 64, 3)).astype(numpy.uint8)
        pixels[20 * (number % 3) :][:20, :, number % 3] = 255
        with io.BytesIO() as file:
            Image.fromarray(pixels).save(file, "PNG")
            found[f"class{number % 3}/{number}.png"] = file.getvalue()
    return found


def planned(shared: Path, kind: str, model: str) -> Plan:
    """The plan of a training of ``model`` on generated data."""
    folder = shared / "runs" / "ft-bench"
    shutil.rmtree(folder, ignore_errors=True)
    inputs = []
    for name, data in files(kind).items():
        (folder / "inputs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "inputs" / name).write_bytes(data)
        inputs.append({"name": name, "path": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    spec = {"schema": 3, "kind": "train", "run": "ft-bench", "attempt": 1, "dataset": {}, "sources": {}, "inputs": inputs}
    (folder / "spec.json").write_text(json.dumps({**spec, "settings": {"model": model, "epochs": 50}}))
    plans: list[Plan] = []

    def keep(_, plan: Plan) -> None:
        plans.append(plan)
        raise Planned

    LocalLauncher.train = keep
    with contextlib.suppress(Planned), contextlib.redirect_stdout(io.StringIO()):
        run(str(folder / "spec.json"), "local")
    return plans[0]


def training(plan: Plan, precision: str = "", compiled: bool = False) -> loop.Training:
    with contextlib.ExitStack() as after:
        after.callback(setattr, step, "_precision", step._precision)
        after.callback(setattr, step.Stepper, "_compiles", step.Stepper._compiles)
        if precision:
            step._precision = lambda *_: precision
        step.Stepper._compiles = lambda _: compiled
        events = Events(Path(plan.folder) / "events.jsonl", plan.attempt, Lease(Path(plan.work)))
        made = loop.Training(loop.Context(0, 1, torch.device("cpu"), 1), plan, events)
    made.stepper.begin()
    for _ in range(WARM_UP):
        made._step()
    return made


def measured(plan: Plan, steps: int) -> tuple[float, int, Counter]:
    """Seconds of CPU and rows of the steps, and the seconds of their parts."""
    one, parts = training(plan), Counter()

    def timed(owner, name: str, part: str) -> None:
        real = getattr(owner, name)

        def call(*args, **named):
            began = time.thread_time()
            try:
                return real(*args, **named)
            finally:
                parts[part] += time.thread_time() - began

        owner.__dict__[name] = call  # also of frozen objects

    with contextlib.ExitStack() as after:
        backward = torch.Tensor.backward
        after.callback(setattr, torch.Tensor, "backward", backward)
        torch.Tensor.backward = lambda loss, *args: _counted(parts, backward, loss, *args)
        timed(one.stepper.wrapped, "forward", "model")
        timed(one.objective, "loss", "model")
        timed(one.data.features, "batch", "batch")
        timed(one.optimization, "step", "optimizer")
        if one.average is not None:
            timed(one.average, "follow", "average")
        began, before = time.thread_time(), one.at.rows_seen
        for _ in range(steps):
            one.reporter.stepped(one.at, one._step(), one.optimization.rate, one._left())
        return time.thread_time() - began, one.at.rows_seen - before, parts


def _counted(parts: Counter, backward, *args) -> None:
    began = time.thread_time()
    backward(*args)
    parts["model"] += time.thread_time() - began


def halves(plan: Plan, steps: int) -> str:
    """The rate of steps in bf16 over that of the same steps in fp32, in turns."""
    if not step._has_bf16():
        return "–"
    seconds = in_turns([training(plan, "fp32"), training(plan, "bf16")], steps)
    return f"{statistics.median(fp32 / bf16 for fp32, bf16 in seconds):.2f}"


def compiled(plan: Plan, steps: int) -> str:
    """The rate of compiled steps over that of others, in turns; what compiling costs, and after how many steps it has paid."""
    if not shutil.which("g++"):
        return "–"
    began = cpu_seconds()
    pair = [training(plan), training(plan, compiled=True)]
    cost = cpu_seconds() - began
    seconds = in_turns(pair, steps)
    gain = statistics.median(before - after for before, after in seconds)
    ratio = statistics.median(before / after for before, after in seconds)
    return f"{ratio:.2f}, {cost:.0f} s, {f'{cost / gain:,.0f} steps' if gain > 0 else 'never'}"


def cpu_seconds() -> float:
    """Of this process and of the compilers that it started."""
    return sum(os.times()[:4])


def in_turns(trainings: list[loop.Training], steps: int) -> list[list[float]]:
    """The seconds of CPU of the same steps of each training."""
    seconds = []
    for _ in range(steps):
        seconds.append([])
        for one in trainings:
            began = time.thread_time()
            one._step()
            seconds[-1].append(time.thread_time() - began)
    return seconds


if __name__ == "__main__":
    main()
