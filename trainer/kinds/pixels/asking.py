"""What a saved network answers: on all splits after a training, and for the pictures of a dataset. Runs in workers."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy
import torch

from trainer.core.plan import Plan, Saved
from trainer.kinds.pixels import codings, delivery, inference
from trainer.kinds.pixels.shown import Chooser
from trainer.kinds.pixels.target import Counted
from trainer.kinds.pixels.windows import Windows

FOLDER = "masks"  # in the folder of a start: the answers for pictures
_TRAINING_PIXELS = 40_000_000  # of the training pictures that are measured at the end


@dataclass(frozen=True)
class Question:
    """Where the answers are written, and how the masks are coded that the model learnt from."""

    folder: Path
    coding: codings.Classes | codings.Numbers


def measured(model: Any, plan: Plan, device: torch.device) -> dict[str, Counted]:
    """The answers on all splits; of many training pictures on some. Those on the test pictures have windows for the report."""
    found = {}
    for split, rows in plan.splits.items():
        windows: Windows = rows.features  # type: ignore[assignment]
        if split == "train":
            found[split] = Counted(inference.figures(model, _some(windows), device))
            continue
        chooser = Chooser(windows, plan.target) if split == "test" else None  # type: ignore[arg-type]
        figures = inference.figures(model, windows, device, on_answer=chooser and chooser.look)
        shown = chooser and chooser.chosen(lambda number: inference.answer(model, windows, number, device)[0])  # noqa: B023 - called at once
        found[split] = Counted(figures, shown)
    return found


def _some(windows: Windows) -> Windows:
    """The first pictures, as many as are measured."""
    pixels = numpy.cumsum(numpy.prod(windows.sizes, axis=1))
    number = max(1, int(numpy.searchsorted(pixels, _TRAINING_PIXELS)))
    return replace(windows, sizes=windows.sizes[:number])


def answered(model: Any, saved: Saved, device: torch.device, on_progress: Any) -> numpy.ndarray:
    """The figures of all pictures of ``saved``. With a question as its details, the answers are written as files, too."""
    rows = saved.rows
    assert rows is not None
    question: Question | None = saved.details

    def keep(number: int, answer: numpy.ndarray) -> None:
        if question is not None:
            delivery.write(question.folder, number, answer, question.coding)
        if on_progress is not None:
            on_progress(number + 1)

    return inference.figures(model, rows.features, device, on_answer=keep)  # type: ignore[arg-type]
