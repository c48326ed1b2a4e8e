"""One step: forward and backward over this worker's share of a batch."""

import contextlib
from typing import Any

import numpy
import torch

from trainer.core.plan import Plan, Rows
from trainer.train import batches, forward, parts, spread
from trainer.train.half_copy import HalfCopy, pays
from trainer.train.objective import Objective
from trainer.train.shared_memory import GradientExchange

COMPILED_ROWS = 400_000  # over all epochs, from which a large model is compiled on a GPU
MAX_HALVINGS = 4  # of the rows in memory at once, before the batch counts as too large


class Stepper:
    """Computes gradients. Owns precision, accumulation, compilation and the exchange between workers."""

    def __init__(self, ctx, plan: Plan, model: torch.nn.Module, objective: Objective):
        self.ctx, self.plan, self.objective, self.settings = ctx, plan, objective, plan.settings
        self.model = model
        self.accumulation = self.settings.gradient_accumulation
        self.precision = _precision(self.settings.mixed_precision, ctx.device, plan.kind.bf16_on_cpus(plan.base))
        self.scaler = torch.amp.GradScaler(ctx.device.type) if self.precision == "fp16" else None
        self.is_spread = ctx.world > 1 and spread.is_spread(model)
        may_copy = self.precision == "bf16" and not self.is_spread  # a copy would be whole
        self.half = HalfCopy(model) if may_copy and pays(ctx.device, plan, model) else None
        self.computing = self.half.model if self.half else model  # computes the gradients
        self.wrapped: Any = self.computing  # or what DistributedDataParallel or torch.compile made of it
        self.exchange = None
        if ctx.world > 1 and not self.is_spread:
            if ctx.device.type == "cpu":
                self.exchange = GradientExchange(ctx.rank, ctx.world, sum(p.numel() for p in self._trained()))
            self.wrapped = torch.nn.parallel.DistributedDataParallel(
                self.wrapped,
                find_unused_parameters=plan.base.folder is not None,  # installed models may have parts that this task does not use
                gradient_as_bucket_view=True,
                broadcast_buffers=any(b.is_floating_point() for b in model.buffers()),  # other buffers, such as position ids, never differ
                bucket_cap_mb=self.exchange.bucket_cap_mb if self.exchange else None,
            )
            if self.exchange:
                self.exchange.register(self.wrapped)
        if self._compiles():
            self.wrapped = torch.compile(self.wrapped, dynamic=True)
        self.before, self.sum = 0.0, torch.zeros((), dtype=torch.float64, device=ctx.device)

    def begin(self) -> None:
        self.wrapped.train()

    def step(self, data: Rows, batch: numpy.ndarray, step: int) -> torch.Tensor:
        """Add the gradients of a global batch; returns the mean loss of this worker's rows, on the device.

        Its randomness depends only on seed, step and rank.
        """
        whole = numpy.resize(batch, max(len(batch), self.ctx.world))
        weight = self.objective.weight(data.targets[whole])
        mine = batches.share(batch, self.ctx.rank, self.ctx.world)
        loss = self._fitting(mine, lambda: self._gradients(data, mine, weight, step, len(whole) // self.ctx.world))
        if self.is_spread:
            spread.average([p for p in self._trained() if not parts.is_part(p)])
        self.sum += loss.double() * len(batch) / weight
        return loss / self.objective.weight(data.targets[mine])

    def rehearse(self, model: torch.nn.Module, data: Rows, batch: numpy.ndarray) -> None:
        """Compute this worker's part of a step on a copy of ``computing``, without any exchange. Used to measure the time."""
        mine = batches.share(batch, self.ctx.rank, self.ctx.world)

        def gradients() -> None:
            for part in self._parts(mine, max(1, len(batch) // self.ctx.world)):
                self.loss(model, data, part, numpy.random.default_rng(0)).backward()

        self._fitting(mine, gradients)

    def _fitting(self, mine: numpy.ndarray, compute):
        """The result of ``compute()``, repeated with fewer rows in memory at once when the memory is too small."""
        while True:
            try:
                return compute()
            except torch.OutOfMemoryError as e:
                self._halve(mine, e)

    def _parts(self, mine: numpy.ndarray, fewest: int) -> list[numpy.ndarray]:
        """This worker's rows of a batch, split into the parts that are in memory at once. ``fewest`` are the rows of the worker with the
        fewest: all have as many parts, since weights that are spread are exchanged in each."""
        return numpy.array_split(mine, min(self.accumulation, fewest if self.is_spread else len(mine)))

    def _gradients(self, data: Rows, mine: numpy.ndarray, weight: float, step: int, fewest: int) -> torch.Tensor:
        total = torch.zeros((), device=self.ctx.device)
        _seed(self.ctx.device, _mix(self.settings.seed, step, self.ctx.rank))
        random = numpy.random.default_rng([self.settings.seed, step, self.ctx.rank])
        if self.half:
            self.half.take_weights()
        parts = self._parts(mine, fewest)
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            with contextlib.nullcontext() if last or self.ctx.world == 1 or self.is_spread else self.wrapped.no_sync():
                summed = self.loss(self.wrapped, data, part, random)
                # DDP takes the mean of the gradients over the workers. Weighted so, it is the gradient of the mean over the
                # rows, whatever the number of workers and however unevenly a last batch is shared.
                scaled = summed * self.ctx.world / weight
                (scaled if self.scaler is None else self.scaler.scale(scaled)).backward()
            total += summed.detach()
            if self.half and (last or self.ctx.world == 1):  # DDP sums up those of all parts before it exchanges them
                self.half.give_gradients()
        return total

    def loss(self, model, data: Rows, rows: numpy.ndarray, random: numpy.random.Generator) -> torch.Tensor:
        """The sum of the losses of ``rows``."""
        kind = None if self.half else {"bf16": torch.bfloat16, "fp16": torch.float16}.get(self.precision)
        with torch.autocast(self.ctx.device.type, kind) if kind else contextlib.nullcontext():
            logits, tokens, routing = forward.logits(model, data, rows, self.ctx.device, random, self.model)
        loss = self.objective.loss(logits, data.targets[rows] if tokens is None else tokens)
        return loss if routing is None else loss + routing * self.objective.weight(data.targets[rows])

    def restore(self, position) -> None:
        """Restore the loss since the last evaluation, which the first worker holds for all, and the gradient scaler."""
        self.before = position.total if self.ctx.rank == 0 else 0.0
        if self.scaler is not None:
            self.scaler.load_state_dict(position.scaler)

    def total(self) -> float:
        """The loss of all rows since the last evaluation, over all workers."""
        total = self.sum + self.before
        if self.ctx.world > 1:
            total = total.clone()
            torch.distributed.all_reduce(total)
        return total.item()

    def mean_loss(self, position) -> float:
        """The mean loss of the rows since the last evaluation. Resets the count."""
        mean = self.total() / max(1, position.rows)
        self.before, position.rows = 0.0, 0
        self.sum.zero_()
        return mean

    def waiting_seconds(self) -> float:
        """Seconds that this worker has spent exchanging gradients, including waiting; 0 if it is not measured."""
        return self.exchange.seconds if self.exchange else 0.0

    def gradient_bytes(self) -> int:
        """The bytes that each worker sends in each step; 0 for a single worker."""
        return 0 if self.ctx.world == 1 else sum(p.numel() * p.element_size() for p in self._trained())

    def _trained(self) -> list[torch.nn.Parameter]:
        return [p for p in self.model.parameters() if p.requires_grad]

    def _halve(self, mine: numpy.ndarray, error: Exception) -> None:
        """Halve the number of rows in memory at once. Raises ``error`` with several workers, which would have to agree on it."""
        wider = self.accumulation * 2
        if self.ctx.world > 1 or wider > self.settings.gradient_accumulation * 2**MAX_HALVINGS or wider > 2 * len(mine):
            raise error
        self.accumulation = wider
        self.model.zero_grad(set_to_none=True)
        if self.half:
            self.half.forget_gradients()
        torch.cuda.empty_cache()

    def _compiles(self) -> bool:
        """Compilation takes a minute, which pays off only in long trainings of large models on GPUs: it saves 0.17 ms for each row of 128 tokens
        of a model as large as BERT-base."""
        if self.settings.compile != "auto":
            return self.settings.compile == "yes"
        return (
            self.ctx.device.type == "cuda" and not self.plan.base.is_small and len(self.plan.splits["train"]) * self.settings.epochs > COMPILED_ROWS
        )


def _precision(wanted: str, device: torch.device, gains: bool) -> str:
    """The precision to use: half precision only if the device supports it, and on CPUs by itself only where the training ``gains``."""
    if device.type == "cpu" and wanted in ("auto", "bf16") and has_bf16():
        return "bf16" if gains or wanted == "bf16" else "fp32"
    if device.type != "cuda" or wanted == "fp32":
        return "fp32"
    if wanted == "fp16":
        return "fp16"
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16"
    return "fp16" if wanted == "auto" else "fp32"


def has_bf16() -> bool:
    """Whether this CPU has instructions for products of bf16 matrices. Others only imitate them, and are slower with it."""
    can = torch.cpu.get_capabilities()
    return can.get("amx_bf16", False) or can.get("avx512_bf16", False)


@contextlib.contextmanager
def without_denormals():
    """Numbers of this thread that are almost zero become zero, on CPUs that can do so. The moments of weights without gradients, such as
    those of rare words, come there after about 900 steps and stay, and AdamW takes almost three times as long on them."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def _seed(device: torch.device, seed: int) -> None:
    """torch.manual_seed for one device. For other device types torch formats a stack trace, which takes a fifth of a small step."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)


def _mix(seed: int, step: int, rank: int) -> int:
    """One seed from three numbers. Neighbouring numbers give independent seeds."""
    return int(numpy.random.SeedSequence([seed, step, rank]).generate_state(1, numpy.uint64)[0] >> numpy.uint64(1))
