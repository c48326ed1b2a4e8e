"""What a saved network answers: on all splits after a training, and for the pictures of a dataset. Runs in workers."""

from dataclasses import replace
from typing import Any

import numpy
import torch

from trainer.core.plan import Plan, Saved, all_of
from trainer.export import sheet
from trainer.kinds.pixels import delivery, inference, overlay
from trainer.kinds.pixels.question import Question
from trainer.kinds.pixels.scenes import answering
from trainer.kinds.pixels.scenes.units import Units
from trainer.kinds.pixels.shown import Chooser
from trainer.kinds.pixels.target import Counted
from trainer.kinds.pixels.windows import Windows

_TRAINING_PIXELS = 40_000_000  # of the training pictures that are measured at the end


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
    """The figures of all pictures and units of scenes in the rows of ``saved``. With a question as its details, answers are written as files, too."""
    assert saved.rows is not None
    features, rows = all_of(saved.rows.features)
    question: Question | None = saved.details
    asked = features if isinstance(features, Units) else None
    pictures: Any = asked.pictures if asked is not None else features
    found = []
    for done, row in enumerate(rows.tolist(), 1):
        if asked is not None and row >= asked.number_of_pictures:
            assert question is not None and question.scenes is not None
            figures = answering.answer(model, asked, row, question.scenes, device)
        else:
            answer, loss = inference.answer(model, pictures, row, device)
            figures = inference.counted(pictures, row, answer, loss)
            if question is not None:
                number = int(asked.owner[row]) if asked is not None else row
                delivery.write(question.folder, number, answer, question.coding)
                if number < sheet.MOST:
                    overlay.draw(question.folder.with_name(overlay.FOLDER), number, pictures.picture(row), answer, saved.target)  # type: ignore[arg-type]
        found.append(figures)
        if on_progress is not None:
            on_progress(done)
    return numpy.stack(found)
