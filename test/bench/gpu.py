"""How much of a GPU a training step uses: python gpu.py [--device cuda] [--layers 12] [--hidden 768] [--rows 64] [--tokens 128].

Trains a model of BERT's shape with the trainer's own step (in fp32 and in half precision, compiled and not, alone and as a worker that
exchanges gradients over NCCL), and prints its arithmetic as a share of the fastest matrix product measured in the same run. On CPUs it
only shows that it works.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from transformers import BertConfig, BertForSequenceClassification

from trainer.config.options import options
from trainer.core import registry
from trainer.core.plan import Rows
from trainer.launch import process_group, work
from trainer.models.texts import Texts
from trainer.targets.classes import Classes
from trainer.train import half_copy, step
from trainer.train.objective import Objective
from trainer.train.optimize import Optimization

STEPS, WARM_UP = 30, 5


@dataclass(frozen=True)
class Case:
    """``copied`` computes gradients by a copy of the weights in half precision, as trainings on GPUs do, and not with autocast;
    ``grouped`` through DDP, as one worker of two does."""

    shown: str
    precision: str = "auto"
    copied: bool = True
    compiled: str = "no"
    grouped: bool = False


CASES = [
    Case("fp32", "fp32"),
    Case("bf16 by autocast", copied=False),
    Case("bf16"),
    Case("bf16", compiled="yes"),
    Case("bf16", grouped=True),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    for name, value in (("layers", 12), ("hidden", 768), ("rows", 64), ("tokens", 128), ("vocabulary", 30522)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--profile", action="store_true", help="also print which kernels take the time of a step that is not compiled")
    args = parser.parse_args()
    device = torch.device(args.device)
    on_gpu = device.type == "cuda"
    work.choose_kernels()
    half = torch.bfloat16 if on_gpu or step._has_bf16() else torch.float32
    ceiling = matmul_rate(device, half, 8192 if on_gpu else 1024)
    name = torch.cuda.get_device_name() if on_gpu else "CPU"
    print(f"torch {torch.__version__}, matrix product on {name}, {half}: {ceiling / 1e12:.2f} TFLOP/s")
    print(f"a step of {args.rows} x {args.tokens} tokens:\n")
    print("| precision | compiled | process group | begins after | ms | rows/s | TFLOP/s | share of the product |")
    print("|---|---|---|---|---|---|---|---|")
    for case in CASES if on_gpu else CASES[:1]:
        with group() if case.grouped else contextlib.nullcontext():
            begins, seconds = step_seconds(args, device, case)
        rate = operations(args) / seconds
        shown = f"{case.shown} | {case.compiled} | {'NCCL' if case.grouped else '–'} | {begins:.0f} s"
        print(f"| {shown} | {1000 * seconds:.1f} | {args.rows / seconds:.0f} | {rate / 1e12:.2f} | {rate / ceiling:.2f} |", flush=True)
    if args.profile:
        with torch.profiler.profile() as profile:
            step_seconds(args, device, CASES[2])
        print(profile.key_averages().table(sort_by=f"self_{device.type}_time_total", row_limit=25, max_name_column_width=60))


@contextlib.contextmanager
def group():
    """A process group of NCCL that consists of this process, made as workers make theirs."""
    process_group.join("cuda", 0, 1, process_group.store("127.0.0.1", 0, 1, first=True))
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()


def operations(args) -> float:
    """Floating-point operations of a training step: six for each weight that a token meets, and the attention."""
    weights = args.layers * 12 * args.hidden**2
    attention = args.layers * 12 * args.tokens * args.hidden
    return args.rows * args.tokens * (6.0 * weights + attention)


def matmul_rate(device: torch.device, kind: torch.dtype, side: int) -> float:
    a, b = (torch.randn(side, side, device=device, dtype=kind) for _ in range(2))
    for _ in range(3):
        a @ b
    seconds = timed(device, lambda: a @ b, 20)
    return 2 * side**3 / seconds


def step_seconds(args, device: torch.device, case: Case) -> tuple[float, float]:
    """The seconds until the first steps are done, and those of a later step."""
    settings = SimpleNamespace(**{o.name: o.default for o in options("train").values()})
    settings.compile, settings.mixed_precision = case.compiled, case.precision
    step.pays = half_copy.pays if case.copied else lambda *_: False
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=args.vocabulary,
        hidden_size=args.hidden,
        num_hidden_layers=args.layers,
        num_attention_heads=max(1, args.hidden // 64),
        intermediate_size=4 * args.hidden,
    )
    model = BertForSequenceClassification(config).to(device).train()
    world = 2 if case.grouped else 1
    batch = args.rows * world
    random = numpy.random.default_rng(0)
    tokens = random.integers(0, args.vocabulary, 4 * batch * args.tokens, dtype=numpy.int32)
    texts = Texts(tokens, numpy.arange(4 * batch + 1) * args.tokens, None, 0, 0)
    rows = Rows(texts, random.integers(0, 2, 4 * batch))
    with tempfile.TemporaryDirectory() as folder:
        plan = SimpleNamespace(
            settings=settings, kind=registry.of("text"), base=SimpleNamespace(is_small=False, fresh=True), splits={"train": rows}, folder=folder
        )
        ctx = SimpleNamespace(rank=0, world=world, device=device, threads=1)
        stepper = step.Stepper(ctx, plan, model, Objective(Classes(("a", "b"))))
        optimization = Optimization(model, settings, 1e-4, 10_000, stepper.scaler)
        stepper.begin()
        at = iter(range(10_000))

        def one() -> None:
            number = next(at)
            stepper.step(rows, numpy.arange(batch) + batch * (number % 4), number)
            optimization.step(number)

        warm_up, steps = (WARM_UP, STEPS) if device.type == "cuda" else (1, 3)
        return warm_up * timed(device, one, warm_up), timed(device, one, steps)


def timed(device: torch.device, call, times: int) -> float:
    """Seconds of one call, over ``times`` of them."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(times):
        call()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / times


if __name__ == "__main__":
    main()
