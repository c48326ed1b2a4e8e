"""Batches of rows of similar length, the same for any number of workers."""

import numpy
import torch

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


def share(batch: numpy.ndarray, rank: int, world: int) -> numpy.ndarray:
    """The rows of a global batch for worker ``rank``. A batch smaller than ``world`` is filled up by repeating rows."""
    if len(batch) < world:
        batch = numpy.resize(batch, world)
    return batch[rank::world]


def evaluation(lengths: numpy.ndarray, batch_size: int, rank: int = 0, world: int = 1) -> list[numpy.ndarray]:
    """Batches of the rows of worker ``rank``, sorted by length, without repeated rows."""
    order = numpy.argsort(lengths, kind="stable")[rank::world]
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def tensors(inputs: dict[str, numpy.ndarray], device: torch.device) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(values).to(device, non_blocking=True) for name, values in inputs.items()}
