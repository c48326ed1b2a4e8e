"""Evaluating a model on rows."""

import numpy
import torch

from trainer.core.plan import Rows
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.language.likelihoods import Likelihoods
from trainer.kinds.text.label_sets.measure import LabelSets
from trainer.measure.predictions import Predictions
from trainer.targets.target import NO_WORD, Links, Tags, Target, Tokens
from trainer.train import batches, forward
from trainer.train.objective import Objective


class WordPlaces:
    """Where the words of rows are: which places of a row begin a word, and the number of each word over all rows."""

    def __init__(self, targets: numpy.ndarray):
        self._begins = targets != NO_WORD
        self._first = numpy.concatenate([[0], numpy.cumsum(self._begins.sum(axis=1))]).astype(numpy.int64)

    @property
    def count(self) -> int:
        return int(self._first[-1])

    def of(self, rows: numpy.ndarray) -> numpy.ndarray:
        """The numbers of the words of ``rows``, row after row."""
        return numpy.concatenate([numpy.arange(self._first[r], self._first[r + 1]) for r in rows])

    def chosen(self, rows: numpy.ndarray, outputs: numpy.ndarray) -> numpy.ndarray:
        """Of ``outputs`` (rows x places x tags) those at the words."""
        width = min(outputs.shape[1], self._begins.shape[1])
        return outputs[:, :width][self._begins[rows][:, :width]]


def outputs(
    model: torch.nn.Module,
    rows: Rows,
    objective: Objective,
    device: torch.device,
    rank: int = 0,
    world: int = 1,
    folded: bool = False,
    on_progress=None,
):
    """The outputs of ``model`` for every example (see Objective.outputs); for a long example the mean over its pieces. Of tagged words,
    the outputs for every word.

    Each of several workers computes its share, and all get the whole. ``on_progress`` is called with the number of rows that are done.
    Features that have a method ``together`` compute the outputs of all rows themselves.
    """
    if together := getattr(rows.features, "together", None):
        found = together(model, device, rank, world)
        found = found if isinstance(found, numpy.ndarray) else objective.outputs(found, folded)
        return _of_first(found, device) if world > 1 else found
    width = (objective.width,) if objective.width else ()
    found = numpy.zeros((len(rows), *width), numpy.float32 if objective.classes else numpy.float64)
    places = WordPlaces(rows.targets) if isinstance(objective.target, Tags) else None
    if places is not None:
        found = numpy.zeros((places.count, objective.classes), numpy.float32)
    mine = batches.evaluation(rows.features.lengths, objective.evaluation_rows, rank, world) if len(rows) else []
    model.eval()
    done = 0
    with torch.inference_mode():
        for some in mine:
            logits, tokens, _ = forward.logits(model, rows, some, device)
            if places is not None:
                found[places.of(some)] = places.chosen(some, objective.outputs(logits, folded))
            else:
                found[some] = objective.outputs(logits, folded) if tokens is None else objective.counts(logits, tokens)
            done += len(some)
            if on_progress is not None:
                on_progress(done)
    if world > 1:
        whole = torch.from_numpy(found).to(device)
        torch.distributed.all_reduce(whole)  # a row is zero on all workers but the one that computed it
        found = whole.cpu().numpy()
    if rows.owner is None:
        return found
    merged = numpy.zeros((rows.examples, *width), found.dtype)
    numpy.add.at(merged, rows.owner, found)
    if objective.adds_pieces:
        return merged
    pieces = numpy.bincount(rows.owner, minlength=rows.examples).astype(found.dtype)
    return merged / (pieces[:, None] if width else pieces)


def _of_first(found: numpy.ndarray, device: torch.device) -> numpy.ndarray:
    """What the first worker found: other processors may round otherwise, and all workers must come to the same decisions."""
    values = torch.from_numpy(numpy.ascontiguousarray(found)).to(device)
    torch.distributed.broadcast(values, 0)
    return values.cpu().numpy()


def check(model: torch.nn.Module, rows: Rows, target: Target) -> None:
    """Raise ValueError if ``model``, on the CPU, has a different number of outputs from ``target``."""
    if not len(rows) or isinstance(target, Tokens | Links) or hasattr(rows.features, "together"):
        return  # there are more workers than rows: another worker checks
    with torch.inference_mode():
        logits = model(**batches.tensors(rows.features.batch(numpy.arange(1)), torch.device("cpu"))).logits
    if logits.shape[-1] != target.outputs:
        raise ValueError(f"its weights have {logits.shape[-1]} outputs, but its description names {target.outputs}")


def answers(
    model: torch.nn.Module, rows: Rows, objective: Objective, device: torch.device, rank: int = 0, world: int = 1, folded: bool = False
) -> Predictions | Likelihoods | LabelSets | LinkAnswers:
    return objective.target.answers(outputs(model, rows, objective, device, rank, world, folded), rows.example_targets())
