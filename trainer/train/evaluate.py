"""Evaluating a model on rows."""

import numpy
import torch

from trainer.core.plan import Rows
from trainer.targets import temperature
from trainer.targets.target import Answers, Target
from trainer.train import batches, forward, spread


def outputs(
    model: torch.nn.Module,
    rows: Rows,
    target: Target,
    device: torch.device,
    rank: int = 0,
    world: int = 1,
    folded: bool = False,
    on_progress=None,
) -> numpy.ndarray:
    """The outputs of ``model`` for every example (see ``Target.read``); for a long example the mean or the sum over its pieces. Where rows have
    several answers each, the outputs for every answer.

    Each of several workers computes its share, and all get the whole. ``on_progress`` is called with the number of rows that are done.
    Features that have a method ``together`` compute the outputs of all rows themselves. The outputs are those at the temperature of the target.
    """
    return temperature.applied(target, _outputs(model, rows, target, device, rank, world, folded, on_progress))


def _outputs(model: torch.nn.Module, rows: Rows, target: Target, device: torch.device, rank: int, world: int, folded: bool, on_progress):
    if together := getattr(rows.features, "together", None):
        found = together(model, device, rank, world)
        found = found if isinstance(found, numpy.ndarray) else target.read(found, None, folded)
        return _of_first(found, device) if world > 1 else found
    width = (target.width,) if target.width else ()
    places = target.places(rows.targets)
    found = numpy.zeros((len(rows) if places is None else places.count, *width), numpy.float64 if target.exact else numpy.float32)
    mine = batches.evaluation(rows.features.lengths, target.evaluation_rows, rank, world) if len(rows) else []
    model.eval()
    done = 0
    with torch.inference_mode():
        for some in mine:
            logits, tokens, _ = forward.logits(model, rows, some, device)
            read = target.read(logits, tokens, folded)
            if places is None:
                found[some] = read
            else:
                found[places.of(some)] = places.chosen(some, read)
            done += len(some)
            if on_progress is not None:
                on_progress(done)
        for _ in range(_further_calls(model, rows, len(mine), target.evaluation_rows, world)):
            forward.logits(model, rows, numpy.arange(1), device)
    if world > 1:
        whole = torch.from_numpy(found).to(device)
        torch.distributed.all_reduce(whole)  # a row is zero on all workers but the one that computed it
        found = whole.cpu().numpy()
    if rows.owner is None:
        return found
    merged = numpy.zeros((rows.examples, *width), found.dtype)
    numpy.add.at(merged, rows.owner, found)
    if target.adds_pieces:
        return merged
    pieces = numpy.bincount(rows.owner, minlength=rows.examples).astype(found.dtype)
    return merged / (pieces[:, None] if width else pieces)


def _further_calls(model: torch.nn.Module, rows: Rows, calls: int, at_once: int, world: int) -> int:
    """How often this worker calls a model without need, so that all workers call one whose weights are spread equally often."""
    if world == 1 or not len(rows) or not spread.is_spread(model):
        return 0
    return len(batches.evaluation(rows.features.lengths, at_once, 0, world)) - calls


def _of_first(found: numpy.ndarray, device: torch.device) -> numpy.ndarray:
    """What the first worker found: other processors may round otherwise, and all workers must come to the same decisions."""
    values = torch.from_numpy(numpy.ascontiguousarray(found)).to(device)
    torch.distributed.broadcast(values, 0)
    return values.cpu().numpy()


def check(model: torch.nn.Module, rows: Rows, target: Target) -> None:
    """Raise ValueError if ``model``, on the CPU, has a different number of outputs from ``target``."""
    if not len(rows) or not target.head or hasattr(rows.features, "together"):
        return  # there are more workers than rows: another worker checks
    with torch.inference_mode():
        logits = model(**batches.tensors(rows.features.batch(numpy.arange(1)), torch.device("cpu"))).logits
    if logits.shape[-1] != target.head:
        raise ValueError(f"its weights have {logits.shape[-1]} outputs, but its description names {target.head}")


def answers(model: torch.nn.Module, rows: Rows, target: Target, device: torch.device, rank: int = 0, world: int = 1, folded: bool = False) -> Answers:
    return target.answers(outputs(model, rows, target, device, rank, world, folded), rows.example_targets())
