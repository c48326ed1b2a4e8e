"""How much of a GPU a training step uses: python gpu.py [--device cuda] [--layers 12] [--hidden 768] [--rows 64] [--tokens 128].

Trains a model of BERT's shape with the trainer's own step (bf16 where the device has it, compiled and not), and prints its
arithmetic as a share of the fastest matrix product measured in the same run. On CPUs it only shows that it works.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from transformers import BertConfig, BertForSequenceClassification

from trainer.config.options import options
from trainer.plan import Rows
from trainer.tasks.target import Classes
from trainer.tasks.text import Texts
from trainer.train.objective import Objective
from trainer.train.optimize import Optimization
from trainer.train.step import Stepper, _has_bf16

STEPS, WARM_UP = 30, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    for name, value in (("layers", 12), ("hidden", 768), ("rows", 64), ("tokens", 128), ("vocabulary", 30522)):
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    device = torch.device(args.device)
    kind = torch.bfloat16 if device.type == "cuda" or _has_bf16() else torch.float32
    ceiling = matmul_rate(device, kind, 8192 if device.type == "cuda" else 1024)
    print(f"matrix product on {torch.cuda.get_device_name() if device.type == 'cuda' else 'CPU'}, {kind}: {ceiling / 1e12:.2f} TFLOP/s")
    for compile_it in ("no", "yes") if device.type == "cuda" else ("no",):
        seconds = step_seconds(args, device, compile_it)
        rate = operations(args) / seconds
        shape = f"{args.rows} x {args.tokens} tokens, compile {compile_it}"
        share = f"{rate / 1e12:.2f} TFLOP/s, {rate / ceiling:.2f} of the product"
        print(f"step of {shape}: {1000 * seconds:.1f} ms, {args.rows / seconds:.0f} rows/s, {share}")


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


def step_seconds(args, device: torch.device, compile_it: str) -> float:
    settings = SimpleNamespace(**{o.name: o.default for o in options("train").values()})
    settings.compile = compile_it
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=args.vocabulary,
        hidden_size=args.hidden,
        num_hidden_layers=args.layers,
        num_attention_heads=max(1, args.hidden // 64),
        intermediate_size=4 * args.hidden,
    )
    model = BertForSequenceClassification(config).to(device).train()
    count = 4 * args.rows
    random = numpy.random.default_rng(0)
    texts = Texts(random.integers(0, args.vocabulary, count * args.tokens, dtype=numpy.int32), numpy.arange(count + 1) * args.tokens, None, 0, 0)
    rows = Rows(texts, random.integers(0, 2, count))
    with tempfile.TemporaryDirectory() as folder:
        plan = SimpleNamespace(
            settings=settings, kind="text", base=SimpleNamespace(is_small=False, fresh=True), splits={"train": rows}, folder=folder
        )
        stepper = Stepper(SimpleNamespace(rank=0, world=1, device=device, threads=1), plan, model, Objective(Classes(("a", "b"))))
        optimization = Optimization(model, settings, 1e-4, 10_000, stepper.scaler)
        stepper.begin()
        at = iter(range(10_000))

        def step() -> None:
            number = next(at)
            stepper.step(rows, numpy.arange(args.rows) + args.rows * (number % 4), number)
            optimization.step(number)

        many = device.type == "cuda"
        timed(device, step, WARM_UP if many else 1)
        return timed(device, step, STEPS if many else 3)


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
