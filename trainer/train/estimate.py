"""How long a training will take, from a few steps on a copy of its model."""

import copy
import time

import numpy
import torch

from trainer.train import batches

STEPS = 3  # timed after one that warms up
BUDGET_SECONDS = 3.0
OVERHEAD = 1.1  # of the optimizer, over forward and backward
STEP_SECONDS = 0.0006  # of any step, besides: all that a step of a very small model is
FORWARD = 1 / 3  # of the time of a training step, for measuring


def seconds(stepper, data, validation, batch_size: int, settings, ctx) -> float:
    """The seconds that all epochs take, without stopping early. Changes nothing: it works on a copy."""
    order = batches.training(data.features.lengths, batch_size, settings.seed, 0)
    costs = numpy.asarray([data.features.lengths[b].max() * len(b) for b in order])
    typical = [order[i] for i in numpy.argsort(costs, kind="stable")[len(order) // 2 :][: STEPS + 1]]
    model = copy.deepcopy(stepper.model).train()
    times = []
    began = time.monotonic()
    for batch in typical:
        start = time.monotonic()
        stepper.rehearse(model, data, batch)
        if ctx.device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.monotonic() - start)
        if time.monotonic() - began > BUDGET_SECONDS:
            break
    step = min(times[1:] or times) * float(numpy.mean(costs)) / max(1.0, float(numpy.median(costs)))
    measured = settings.epochs * settings.evals_per_epoch * len(validation) / batch_size * FORWARD / ctx.world
    steps = len(order) * settings.epochs
    return OVERHEAD * step * (steps + measured) + STEP_SECONDS * steps


def spelled(seconds: float) -> str:
    """A time as a person says it."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds // 3600:.0f} h {seconds % 3600 / 60:.0f} min"
