"""What a saved network answers: on all splits after a training, and for the pictures of a dataset. Runs in workers."""

from dataclasses import replace
from typing import Any, cast

import numpy
import torch

from trainer.core.plan import Plan, Saved, all_of
from trainer.export import sheet
from trainer.kinds.pixels import delivery, inference, overlay, shown
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.question import Question
from trainer.kinds.pixels.scenes import answering
from trainer.kinds.pixels.scenes.units import Units
from trainer.kinds.pixels.shown import Chooser
from trainer.kinds.pixels.sure import looking
from trainer.kinds.pixels.target import Counted, PixelClasses
from trainer.kinds.pixels.windows import Windows
from trainer.measure import calibration
from trainer.targets.temperature import NONE, Measured

_TRAINING_PIXELS = 40_000_000  # of the training pictures that are measured at the end


def measured(model: Any, plan: Plan, device: torch.device) -> Measured:
    """The answers on all splits; of many training pictures on some. Those on the test pictures have windows for the report. The validation pictures
    choose the temperature, and the limits of what is promised of pixels."""
    train, held_out, test = (cast(Windows, plan.splits[name].features) for name in ("train", "validation", "test"))
    target, chosen = cast(PixelClasses | PixelNumbers, plan.target), None
    if isinstance(target, PixelClasses):
        chosen = looking.chosen(model, held_out, device)
        target = replace(target, temperature=chosen.temperature)
    at = getattr(target, "temperature", NONE)
    counts = looking.Counts(target, held_out.pictures)
    found = {"train": Counted(inference.figures(model, _some(train), device, temperature=at))}
    found["validation"] = Counted(inference.figures(model, held_out, device, temperature=at, looking=counts))
    target, why = looking.promising(target, counts.counts, plan.settings.coverage)
    chooser, counts = Chooser(test, target), looking.Counts(target, test.pictures)
    figures = inference.figures(model, test, device, on_answer=chooser.look, temperature=at, looking=counts)
    windows = chooser.chosen(lambda number: inference.answer(model, test, number, device)[0])
    found["test"] = Counted(figures, windows, counts.sure(why))
    if chosen is not None:
        before = numpy.array(figures)
        before[:, len(target.labels) ** 2] = counts.losses
        chosen = replace(chosen, before=calibration.figures(target, Counted(before)))
    return Measured(found, target, chosen)


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
            figures = answering.answer(model, asked, row, question.scenes, saved.target, device)  # type: ignore[arg-type]
        else:
            answer, loss = inference.answer(model, pictures, row, device, temperature=getattr(saved.target, "temperature", NONE))
            figures = inference.counted(pictures, row, answer, loss)
            if question is not None:
                number = int(asked.owner[row]) if asked is not None else row
                delivery.write(question.folder, number, answer, question.coding)
                if number < sheet.MOST:
                    pixels = shown.seen(pictures.picture(row), pictures.names)
                    overlay.draw(question.folder.with_name(overlay.FOLDER), number, pixels, answer, saved.target)  # type: ignore[arg-type]
        found.append(figures)
        if on_progress is not None:
            on_progress(done)
    return numpy.stack(found)
