"""The answers of a network for pictures of any size, by windows with a border that is computed and not used. Runs in workers."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch
import torch.nn.functional as F

from trainer.kinds.pixels import measures
from trainer.kinds.pixels.codings import EMPTY, MOST
from trainer.kinds.pixels.windows import CORE_PLACES, HALO, Windows, is_empty, normalised, parts
from trainer.targets.temperature import NONE

Looking = Callable[[int, torch.Tensor, numpy.ndarray, numpy.ndarray], None]
CORE = 512  # pixels of a window that are answered, of a network that reads each pixel


def answered(model: Any, pixels: numpy.ndarray, device: torch.device) -> Iterator[tuple[slice, slice, torch.Tensor]]:
    """The logits (height x width x outputs) of each part of a picture (height x width x bands, uint8), with its rows and columns."""
    model.eval()
    core, halo = max(CORE, CORE_PLACES * model.step), HALO * model.step  # multiples of what the network halves
    height, width = pixels.shape[:2]
    for rows, columns in parts(height, width, core, halo):
        around = tuple(slice(max(0, s.start - halo), min(n, s.stop + halo)) for s, n in zip((rows, columns), (height, width)))
        logits = of_window(model, numpy.asarray(pixels[around]), device)
        top, left = rows.start - around[0].start, columns.start - around[1].start
        yield rows, columns, logits[top : top + rows.stop - rows.start, left : left + columns.stop - columns.start]


def of_window(model: Any, pixels: numpy.ndarray, device: torch.device) -> torch.Tensor:
    """The logits (height x width x outputs) of a window (height x width x bands, uint8), filled up to what the network halves."""
    lacking = [-n % model.multiple for n in pixels.shape[:2]]
    padded = numpy.pad(pixels, ((0, lacking[0]), (0, lacking[1]), (0, 0)), mode="edge")
    with torch.inference_mode():
        logits = model(torch.from_numpy(normalised(padded[None])).to(device)).logits[0]
    return logits[: pixels.shape[0], : pixels.shape[1]]


def answer(
    model: Any,
    data: Windows,
    number: int,
    device: torch.device,
    scale: tuple[float, float] | None = None,
    temperature: float = NONE,
    looking: Looking | None = None,
) -> tuple[numpy.ndarray, float]:
    """The answer for each pixel of a picture, EMPTY or NaN where it holds no data; of classes also the sum of the losses of its known pixels at the
    ``temperature``.

    ``scale`` is mean and standard deviation where the network answers in units of them. ``looking`` gets the logits of the known pixels of each
    part, what is answered there, and what is right.
    """
    truth = data.truth(number)
    found = numpy.empty(truth.shape, numpy.uint8 if data.classes else numpy.float32)
    loss = 0.0
    for rows, columns, logits in answered(model, data.picture(number), device):
        right = numpy.array(truth[rows, columns])
        if data.classes:
            found[rows, columns] = logits.argmax(-1).to("cpu").numpy()
            known = torch.from_numpy(right < MOST).to(device)
            if known.any():
                scores = logits[known].float()
                loss += float(F.cross_entropy(scores / temperature, torch.from_numpy(right).to(device)[known].long(), reduction="sum"))
                if looking is not None:
                    looking(number, scores, found[rows, columns][right < MOST], right[right < MOST])
        else:
            mean, std = scale or (0.0, 1.0)
            found[rows, columns] = logits[..., 0].float().cpu().numpy() * std + mean
            if looking is not None and (there := numpy.isfinite(right)).any():
                looking(number, logits, found[rows, columns][there], right[there])
        found[rows, columns][is_empty(right, data.classes)] = EMPTY if data.classes else numpy.nan
    return found, loss


def counted(data: Windows, number: int, found: numpy.ndarray, loss: float) -> numpy.ndarray:
    """The figures of the answer for a picture (see ``measures``)."""
    truth = numpy.asarray(data.truth(number))
    return measures.of_classes(truth, found, loss, data.classes) if data.classes else measures.of_numbers(truth, found)


def figures(
    model: Any,
    data: Windows,
    device: torch.device,
    rank: int = 0,
    world: int = 1,
    scale: tuple[float, float] | None = None,
    on_answer: Any = None,
    temperature: float = NONE,
    looking: Looking | None = None,
) -> numpy.ndarray:
    """The figures of all pictures; each of several workers computes its share. ``on_answer`` gets the number of a picture and its answer; for
    ``temperature`` and ``looking`` see ``answer``."""
    total = numpy.zeros((data.pictures, measures.width(data.classes)), numpy.float64)
    for number in range(rank, data.pictures, world):
        found, loss = answer(model, data, number, device, scale, temperature, looking)
        total[number] = counted(data, number, found, loss)
        if on_answer is not None:
            on_answer(number, found)
    if world > 1:
        whole = torch.from_numpy(total).to(device)
        torch.distributed.all_reduce(whole)  # the figures of a picture are zero on all workers but the one that computed them
        total = whole.cpu().numpy()
    return total
