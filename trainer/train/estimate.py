"""Estimates how long a training takes, from a few steps on a copy of its model."""

import copy
import time

import numpy
import torch

from trainer.train import batches

STEPS = 3  # timed after one warm-up step
BUDGET_SECONDS = 3.0
SHORT_SECONDS = 20.0  # of a training for which one timed step is enough
OVERHEAD = 1.1  # factor for the optimizer, over forward and backward
STEP_SECONDS = 0.0006  # fixed cost of a step, which dominates for very small models
FORWARD = 1 / 3  # share of a training step that an evaluation takes


def seconds(stepper, data, validation, batch_size: int, settings, ctx) -> float:
    """The seconds that all epochs take without early stopping. Works on a copy of the model; of a large one with frozen weights on
    the model itself, whose gradients are forgotten, unless other workers have a copy of it. Where its weights are spread over the
    workers, there is no copy either, and all of them must call this.
    """
    order = batches.epoch(data, batch_size, settings.seed, 1)
    costs = numpy.asarray([data.features.lengths[b].max() * len(b) for b in order])
    typical = [order[i] for i in numpy.argsort(costs, kind="stable")[len(order) // 2 :][: STEPS + 1]]
    frozen = not all(p.requires_grad for p in stepper.model.parameters())
    itself = stepper.is_spread or (frozen and ctx.world == 1)
    model = stepper.model.train() if itself else copy.deepcopy(stepper.computing).train()
    times = []
    began = time.monotonic()
    for batch in typical:
        start = time.monotonic()
        stepper.rehearse(model, data, batch)
        if ctx.device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.monotonic() - start)
        short = len(times) > 1 and times[-1] * len(order) * settings.epochs < SHORT_SECONDS
        late = short or time.monotonic() - began > BUDGET_SECONDS
        if late and not stepper.is_spread:  # where they are, all workers take as many steps
            break
    if itself:
        model.zero_grad(set_to_none=True)
    step = min(times[1:] or times) * float(numpy.mean(costs)) / max(1.0, float(numpy.median(costs)))
    rows = getattr(validation.features, "cost", len(validation))
    measured = settings.epochs * settings.evals_per_epoch * rows / batch_size * FORWARD / ctx.world
    steps = len(order) * settings.epochs
    return OVERHEAD * step * (steps + measured) + STEP_SECONDS * steps


def spelled(seconds: float) -> str:
    """A duration as text: "45 s", "12 min", "2 h 10 min"."""
    if round(seconds) < 60:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join(part for part in (f"{hours} h" * (hours > 0), f"{minutes} min" * (minutes > 0)) if part)
