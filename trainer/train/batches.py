"""Batches of rows of similar length, the same for any number of workers, and the steps at which a training is evaluated and ends."""

import math

import numpy
import torch

from trainer.core.plan import Rows

_GROUP = 50  # batches whose rows are sorted by length together: enough to save padding, few enough to stay random


def training(lengths: numpy.ndarray, batch_size: int, seed: int, epoch: int) -> list[numpy.ndarray]:
    """The row numbers of every global batch of an epoch, in random order. Each row occurs once."""
    random = numpy.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), _GROUP * batch_size):
        group = order[start : start + _GROUP * batch_size]
        group = group[numpy.argsort(lengths[group], kind="stable")]
        batches += [group[i : i + batch_size] for i in range(0, len(group), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]


def epoch(data: Rows, batch_size: int, seed: int, number: int) -> list[numpy.ndarray]:
    """The row numbers of every global batch of epoch ``number``, counted from 1.

    Where an epoch does not take all rows, the epochs go through one order of all rows after another, so that each row is trained on
    equally often. Such an order is an arithmetic progression of the seed, of which only the part for this epoch is computed.
    """
    rows, count = data.per_epoch, len(data)
    if rows == count:
        return training(data.features.lengths, batch_size, seed, number)
    places = numpy.arange((number - 1) * rows, number * rows)
    turn, within = numpy.divmod(places, count)
    drawn = numpy.empty(rows, numpy.int64)
    for one in numpy.unique(turn):
        random = numpy.random.default_rng([seed, int(one), count])
        step = int(random.integers(1, count))
        while math.gcd(step, count) > 1:
            step = int(random.integers(1, count))
        chosen = turn == one
        drawn[chosen] = (within[chosen] * step + int(random.integers(count))) % count
    drawn = numpy.random.default_rng([seed, number]).permutation(drawn)
    return [drawn[i : i + batch_size] for i in range(0, rows, batch_size)]


def share(batch: numpy.ndarray, rank: int, world: int) -> numpy.ndarray:
    """The rows of a global batch for worker ``rank``. A batch smaller than ``world`` is filled up by repeating rows."""
    if len(batch) < world:
        batch = numpy.resize(batch, world)
    return batch[rank::world]


def evaluation(lengths: numpy.ndarray, batch_size: int, rank: int = 0, world: int = 1) -> list[numpy.ndarray]:
    """Batches of the rows of worker ``rank``, sorted by length, without repeated rows."""
    order = numpy.argsort(lengths, kind="stable")[rank::world]
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def evaluated(per_epoch: int, evaluations: int) -> list[int]:
    """The steps of an epoch after which the model is evaluated. The last step is always one of them."""
    return sorted({max(1, round(per_epoch * i / evaluations)) for i in range(1, evaluations + 1)})


def last_step(per_epoch: int, stops: list[int], epochs: int, stop_after: float) -> int:
    """The step after which a training ends: of the last evaluation that is not after ``stop_after`` epochs, or of the first one.

    ``stops`` are the steps of an epoch after which the model is evaluated. With 0 for ``stop_after`` all epochs are trained.
    """
    if not stop_after or stop_after >= epochs:
        return per_epoch * epochs
    whole, rest = divmod(round(stop_after * per_epoch), per_epoch)
    within = max((s for s in stops if s <= rest), default=0)
    return whole * per_epoch + within or stops[0]


def tensors(inputs: dict[str, numpy.ndarray], device: torch.device) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(values).to(device, non_blocking=True) for name, values in inputs.items()}
