"""What a worker does with a plan: train, load the best model back from disk, measure it on all splits, save it.

Runs in a Ray actor, in a worker of Ray Train, or plainly in the driver's process.
"""

import os
import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from trainer.errors import as_user_error
from trainer.events import Events
from trainer.plan import Plan

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",  # with it every line of a worker stands in the log twice
    "PYTHONUNBUFFERED": "1",
    # Threads that spin while they wait for each other make training several times slower where the cores are shared.
    "OMP_WAIT_POLICY": "PASSIVE",
}


@dataclass
class Outcome:
    """What the worker of rank 0 hands back to the driver. Plain values and arrays only."""

    device: str
    threads: int
    parameters: int
    learning_rate: float
    best_epoch: int
    epochs: int
    stopped: str
    seconds: float
    samples_per_second: float
    peak_memory_bytes: int
    reports: dict  # split to its part of metrics.json
    confusion: list[list[int]]
    predicted: object  # numpy arrays in the order of the test rows
    confidence: object
    versions: dict[str, str]
    warnings: list[dict] = field(default_factory=list)
    decisions: list[dict] = field(default_factory=list)


def warm_up(threads: int, gpu: bool) -> str:
    """Do the slow imports and set up this process; returns the name of the device. Takes seconds, needs no data."""
    os.environ.update(ENVIRONMENT)
    import torch

    torch.set_num_threads(threads)
    from trainer import loop  # noqa: F401
    from transformers.models.bert import modeling_bert  # noqa: F401
    from transformers.utils import logging

    logging.disable_progress_bar()

    if gpu and not torch.cuda.is_available():
        raise RuntimeError("a GPU was reserved for this worker, but torch cannot use it")
    return "cuda" if gpu else "cpu"


def train_and_test(plan: Plan, rank: int, world: int, device: str, threads: int, report=lambda _: None) -> Outcome | None:
    """Carry out ``plan``. Returns the outcome on rank 0 and None elsewhere.

    Whatever the user must mend comes out as UserError; other errors pass through.
    """
    try:
        return _train_and_test(plan, rank, world, device, threads, report)
    except Exception as e:
        if (mine := as_user_error(e, plan.folder)) is not None:
            raise mine from e
        raise


def _train_and_test(plan: Plan, rank: int, world: int, device: str, threads: int, report) -> Outcome | None:
    import torch

    from trainer import checkpoint, evaluate, loop, metrics, model as models

    began = time.monotonic()
    folder = Path(plan.folder)
    events = Events(folder / "events.jsonl", plan.attempt)
    if rank == 0:
        events.resource(device, world, threads=threads)
    ctx = loop.Context(rank, world, torch.device(device), threads, report)
    trained = loop.train(ctx, plan, events)
    if rank != 0:
        return None
    events.phase("test", f"Measuring the best model (epoch {trained.best_epoch}) on data that it has never seen.")
    checkpoint.load_best(folder / "checkpoints", trained.model)
    save(trained.model, folder / "out" / "model")
    best = models.reload(trained.model, folder / "out" / "model").to(device)
    measured = {n: evaluate.measure(best, rows, len(plan.labels), plan.pad_id, ctx.device) for n, rows in plan.splits.items()}
    events.eval(trained.best_epoch, trained.best_step, "test", measured["test"].summary())
    seconds, memory = time.monotonic() - began, _peak_memory(device)
    events.resource(device, world, threads=threads, peak_memory_bytes=memory, samples_per_second=round(trained.rate, 1))
    return Outcome(
        device=device,
        threads=threads,
        parameters=models.parameters(best),
        learning_rate=trained.learning_rate,
        best_epoch=trained.best_epoch,
        epochs=trained.epochs,
        stopped=trained.stopped,
        seconds=round(seconds, 3),
        samples_per_second=round(trained.rate, 1),
        peak_memory_bytes=memory,
        reports={n: metrics.report(m.confusion, m.loss) for n, m in measured.items()},
        confusion=measured["test"].confusion,
        predicted=measured["test"].predicted,
        confidence=measured["test"].confidence,
        versions=_versions(),
        warnings=events.warnings,
        decisions=events.decisions,
    )


def save(model, folder: Path) -> None:
    """Save weights (safetensors) and config.json into ``folder``, which appears complete or not at all."""
    from trainer import files

    temporary = folder.with_name(f".{folder.name}.tmp")
    model.save_pretrained(temporary, safe_serialization=True)
    files.publish_folder(temporary, folder)


def _peak_memory(device: str) -> int:
    """Bytes: of the GPU where there is one, else the most that this process ever held in memory."""
    if device == "cuda":
        import torch

        return torch.cuda.max_memory_allocated()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _versions() -> dict[str, str]:
    import platform

    import safetensors
    import tokenizers
    import torch
    import transformers

    modules = {m.__name__: m.__version__.partition("+")[0] for m in (torch, transformers, tokenizers, safetensors)}
    return {"python": platform.python_version(), **modules}
