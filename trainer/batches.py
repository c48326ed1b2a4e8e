"""Batches of texts of similar length, the same for any number of workers."""

import numpy
import torch

from trainer.vocabulary import Encoded

_GROUP = 50  # batches whose texts are sorted by length together: enough to save padding, few enough to stay random


def training(data: Encoded, batch_size: int, seed: int, epoch: int) -> list[numpy.ndarray]:
    """The row numbers of every global batch of an epoch, in random order. Each row comes once."""
    random = numpy.random.default_rng([seed, epoch])
    order = random.permutation(len(data))
    lengths = data.lengths
    batches = []
    for start in range(0, len(order), _GROUP * batch_size):
        group = order[start : start + _GROUP * batch_size]
        group = group[numpy.argsort(lengths[group], kind="stable")]
        batches += [group[i : i + batch_size] for i in range(0, len(group), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]


def share(batch: numpy.ndarray, rank: int, world: int) -> numpy.ndarray:
    """The rows of a global batch that worker ``rank`` takes. A batch smaller than ``world`` is filled up by repeating rows."""
    if len(batch) < world:
        batch = numpy.resize(batch, world)
    return batch[rank::world]


def evaluation(data: Encoded, batch_size: int, rank: int = 0, world: int = 1) -> list[numpy.ndarray]:
    """Batches over the rows of worker ``rank``, sorted by length; no row is padded in or repeated."""
    order = numpy.argsort(data.lengths, kind="stable")[rank::world]
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def tensors(data: Encoded, rows: numpy.ndarray, pad_id: int, device: torch.device) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Model inputs and labels of ``rows``, padded to the longest of them."""
    lengths = data.lengths[rows]
    ids = numpy.full((len(rows), int(lengths.max())), pad_id, dtype=numpy.int64)
    mask = numpy.arange(ids.shape[1])[None, :] < lengths[:, None]
    for i, row in enumerate(rows):
        ids[i, : lengths[i]] = data.ids[data.offsets[row] : data.offsets[row + 1]]
    inputs = {"input_ids": torch.from_numpy(ids).to(device), "attention_mask": torch.from_numpy(mask.astype(numpy.int64)).to(device)}
    return inputs, torch.from_numpy(data.labels[rows]).to(device)
