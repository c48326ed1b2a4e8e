"""The work of a worker: train by a plan and evaluate the best model, or predict with a saved model.

It runs in a Ray actor or in the process of the driver.
"""

import contextlib
import importlib
import os
import time
from dataclasses import replace
from pathlib import Path

from trainer import gc_pause
from trainer.core import registry
from trainer.core.kind import Kind
from trainer.core.plan import Plan, Rows, Saved
from trainer.environment import ENVIRONMENT
from trainer.errors import as_user_error, reading_model
from trainer.launch import preflight, usage
from trainer.launch.outcome import MAX_TRAIN_ROWS, Outcome, Searched, Trial
from trainer.measure import calibration
from trainer.run_folder import lease as leases, stop
from trainer.run_folder.events import Events, progress_interval
from trainer.run_folder.lease import Lease
from trainer.search import schedule
from trainer.targets import temperature
from trainer.targets.temperature import Measured, Tempering

PROGRESS_SECONDS = 2.0  # between two progress events of a prediction, at the beginning


@gc_pause.importing()
def warm_up(work: str, rank: int, threads: int, gpu: bool, kind: str) -> str:
    """Do the slow imports and set up this process; returns the name of the device. Takes seconds and needs no data."""
    os.environ.update(ENVIRONMENT)
    preflight.writable(Path(work), rank)
    import torch

    torch.set_num_threads(threads)
    from trainer.train import loop  # noqa: F401

    if registry.of(kind).uses_transformers:  # it costs seconds
        from transformers.utils import logging

        logging.disable_progress_bar()
    if library := registry.of(kind).library:
        importlib.import_module(library)
    if gpu:
        preflight.gpu()
        choose_kernels()
    return "cuda" if gpu else "cpu"


def choose_kernels() -> None:
    """Choose the kernels of GPUs. cuDNN's attention is planned again for each new length of a batch: with it, steps 151 to 300 of a small model
    on SST-2 took twice as long on an H100, and the steps before them much longer."""
    import torch

    torch.backends.cuda.enable_cudnn_sdp(False)


def train(plan: Plan, rank: int, world: int, device: str, threads: int, **asks) -> Outcome | None:
    """Carry out ``plan``. Returns the outcome on rank 0 and None on other ranks. ``asks`` are further fields of loop.Context.

    Raises UserError for errors that the user can fix; others pass through. The first worker is the only writer and takes its own
    lease within the lease of the start, because a worker that Ray has replaced may still be alive.
    """
    from trainer.train import step

    lease = Lease(Path(plan.work))
    if rank == 0:
        lease = leases.take(lease.folder / "worker", within=lease)
    with lease.watched(), _user_errors(plan.folder), step.without_denormals():
        return _train(plan, rank, world, device, threads, lease, asks)


def _train(plan: Plan, rank: int, world: int, device: str, threads: int, lease: Lease, asks: dict) -> Outcome | None:
    import torch

    from trainer.train import frozen, loop, parts, spread

    began, cpu = time.monotonic(), time.process_time()
    events = Events(Path(plan.folder) / "events.jsonl", plan.attempt, lease)
    if rank == 0:
        events.resource(device, world, threads=threads)
    ctx = loop.Context(rank, world, torch.device(device), threads, **asks)
    if plan.settings.deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)
    if plan.search is not None:
        return _searched(ctx, plan, events, lease, began, cpu)
    trained = loop.train(ctx, plan, events)
    workers = usage.gathered(usage.of_worker(ctx, trained, time.monotonic() - began, time.process_time() - cpu), world)
    if rank != 0:
        if parts.are_in(trained.model):  # the first worker saves the weights of all
            parts.whole(trained.model, rank)
        if spread.is_spread(trained.model):  # and computes its answers with them
            _answers(trained.model, plan, ctx.device)
            plan.kind.after_training(trained.model, plan, ctx.device, None)
        return None
    events.phase("test", f"Measuring the best model (epoch {round(trained.position.best_epoch, 2):g}) on data that it has not seen.")
    champion = None if plan.champion is None or plan.champion.rows is None else predict_with(plan.champion, ctx.device)
    outcome = _measured(ctx, plan, trained, lease.folder / "model", workers, champion, events, time.monotonic() - began)
    if trained.stopped in (loop.ALL_DONE, loop.EARLY, loop.AFTER, loop.TIME_LIMIT) and frozen.is_tried(plan, trained.stopped == loop.TIME_LIMIT):
        outcome.beside = _with_linear_head(outcome, plan, ctx, lease.folder / "model-frozen")
    return outcome


def _searched(ctx, plan: Plan, events: Events, lease: Lease, began: float, cpu: float) -> Outcome:
    """Carry out a search. The test rows are read once, for the default settings and for the best other trial."""
    from trainer.search import run

    found = run.run(ctx, plan, events)
    first = found.default or found.best
    workers = [usage.of_worker(ctx, first, time.monotonic() - began, time.process_time() - cpu)]
    events.phase("test", "Measuring the default settings and the best other trial on data that they have not seen.")
    champion = None if plan.champion is None or plan.champion.rows is None else predict_with(plan.champion, ctx.device)
    seconds = time.monotonic() - began
    outcomes = [
        _measured(ctx, p, t, lease.folder / name, workers, champion, events, seconds)
        for p, t, name in ((plan, found.default, "model"), (found.plan, found.best, "best"))
        if t is not None and p is not None
    ]
    trial, settings = (found.trial.number, found.plan.settings) if found.trial and found.plan else (None, None)
    best = outcomes[1] if len(outcomes) > 1 else None
    outcomes[0].search = Searched(
        found.table, found.histories, trial, settings, found.default is not None, best, found.ended, found.seconds, found.trainings
    )
    return outcomes[0]


def _measured(ctx, plan: Plan, trained, saved: Path, workers: list[dict], champion, events: Events, seconds: float) -> Outcome:
    """Save the best model of a training to ``saved``, read it back, and measure it on all rows."""
    from trainer.models import transformer

    plan.kind.save(trained.model, plan, saved)
    best = plan.kind.load(saved, like=trained.model).to(ctx.device)
    answered = plan.kind.measure(best, plan, ctx.device, saved.parent) or _answers(best, plan, ctx.device)
    details = plan.kind.after_training(best, plan, ctx.device, events)
    device = ctx.device.type
    events.resource(
        device,
        ctx.world,
        threads=ctx.threads,
        peak_memory_bytes=max(w["peak_memory_bytes"] for w in workers),
        samples_per_second=round(trained.rate, 1),
    )
    return Outcome(
        saved=saved,
        device=device,
        threads=ctx.threads,
        parameters=transformer.parameters(best),
        learning_rate=trained.learning_rate,
        accumulation=trained.accumulation,
        precision=trained.precision,
        stopped=trained.stopped,
        epochs=trained.epochs,
        position=trained.position,
        seconds=round(seconds, 3),
        estimate_seconds=round(trained.estimate_seconds, 1),
        samples_per_second=round(trained.rate, 1),
        gradient_bytes=trained.gradient_bytes,
        workers=workers,
        answers=answered.answers,
        target=answered.target,
        calibrated=answered.calibrated,
        champion=champion,
        versions=usage.versions(),
        hardware=preflight.hardware(),
        warnings=events.warnings,
        decisions=events.decisions,
        details=details,
    )


def _with_linear_head(outcome: Outcome, plan: Plan, ctx, saved: Path) -> Outcome | None:
    """The installed model with its own weights under a linear head, as an alternative to the finetuned one; None if it cannot have one."""
    from trainer.train import frozen
    from trainer.train.position import Position

    began, cpu = time.monotonic(), time.process_time()
    model = frozen.model(plan, ctx.device)
    if model is None:
        return None
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    plan.kind.save(model, plan, saved)
    answered = _answers(model, plan, ctx.device)
    used = {**outcome.workers[0], "cpu_seconds": round(cpu, 2), "seconds": round(seconds, 2)}
    return replace(
        outcome, saved=saved, answers=answered.answers, target=answered.target, calibrated=answered.calibrated, seconds=round(seconds, 3),
        workers=[used], learning_rate=0.0, epochs=0.0, position=Position(), warnings=[],
    )  # fmt: skip


def estimate(plan: Plan, device: str) -> Trial:
    """Estimate how long the training by ``plan`` would take with one worker on this machine."""
    import torch

    from trainer.train import loop

    with _user_errors(plan.folder):
        events = Events(Path(plan.folder) / "events.jsonl", plan.attempt, Lease(Path(plan.work)))
        training = loop.Training(loop.Context(0, 1, torch.device(device), 1), plan, events)
        seconds = training.estimated()
        training.reporter.close()
        if plan.search is not None:
            seconds *= schedule.work(len(plan.search.trials) - 1)
        return Trial(seconds, device, preflight.hardware(), usage.versions())


def predict_with(saved: Saved, device):
    """The predictions of a saved model on its rows."""
    from trainer.train import evaluate

    model = saved.kind.load(saved.folder, base=saved.base).to(device)
    outputs = evaluate.outputs(model, saved.rows, saved.target, device, folded=True)
    return saved.target.answers(outputs, saved.rows.example_targets())


def predict(saved: Saved, events: Events, device: str, reports: bool = True):
    """The outputs of a saved model for every example: probabilities of all classes, or numbers. ``reports`` turns progress events on.

    Raises UserError if the run is stopped: partial predictions are not kept.
    """
    import torch

    from trainer.train import evaluate

    folder, began = events.path.parent, time.monotonic()
    reported = began

    def on_progress(done: int) -> None:
        nonlocal reported
        if time.monotonic() - reported < progress_interval(reported - began, PROGRESS_SECONDS) and done < len(saved.rows):
            return
        reported = time.monotonic()
        stop.check(folder)
        if reports:
            rate = done / max(1e-6, reported - began)
            events.progress(1, 1, done, len(saved.rows), samples_per_second=rate, eta_seconds=(len(saved.rows) - done) / rate)

    with events.lease.watched(), _user_errors(str(folder)):
        with reading_model("The model"):
            model = saved.kind.load(saved.folder, base=saved.base).eval()
            evaluate.check(model, saved.rows, saved.target)
        return saved.kind.predict(model.to(device), saved, torch.device(device), on_progress), usage.versions()


def to_onnx(folder: Path, kind: Kind, target, inputs: dict, work: str) -> str:
    """See ``trainer.models.onnx.convert``; only the holder of the lease ``work`` writes."""
    from trainer.models import onnx

    with Lease(Path(work)).watched():
        return onnx.convert(folder, kind, target, inputs)


@contextlib.contextmanager
def _user_errors(folder: str):
    """Raises errors that the user can fix as UserError; others pass through."""
    try:
        yield
    except Exception as e:
        if (error := as_user_error(e, folder)) is None:
            raise
        raise error from e


def _answers(model, plan: Plan, device) -> Measured:
    """The answers of ``model`` on all splits, at the temperature that the validation rows choose; of many training rows those on a sample."""
    from trainer.train import evaluate

    sampled = {**plan.splits, "train": _sample(plan.splits["train"], plan.settings.seed)}
    if not isinstance(plan.target, Tempering):
        return Measured({name: evaluate.answers(model, rows, plan.target, device, folded=True) for name, rows in sampled.items()})
    held_out = sampled["validation"]
    known = evaluate.outputs(model, held_out, plan.target, device, folded=True)
    chosen = temperature.chosen(plan.target.held_out(known, held_out.example_targets()), plan.kind.things)
    target, answers = plan.target.with_temperature(chosen.temperature), {}
    for name, rows in sampled.items():
        outputs = known if name == "validation" else evaluate.outputs(model, rows, plan.target, device, folded=True)
        truth = rows.example_targets()
        if name == "test":
            chosen = replace(chosen, before=calibration.figures(plan.target, plan.target.answers(outputs, truth)))
        answers[name] = target.answers(temperature.applied(target, outputs), truth)
    return Measured(answers, target, chosen)


def _sample(rows: Rows, seed: int) -> Rows:
    """The rows of at most MAX_TRAIN_ROWS examples, drawn at random."""
    import numpy

    if rows.examples <= MAX_TRAIN_ROWS:
        return rows
    drawn = numpy.random.default_rng(seed).permutation(rows.examples)[:MAX_TRAIN_ROWS]
    return rows.chosen(numpy.flatnonzero(numpy.isin(numpy.arange(len(rows)) if rows.owner is None else rows.owner, drawn)))
