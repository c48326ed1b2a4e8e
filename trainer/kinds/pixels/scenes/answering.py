"""The answers of a network for units of scenes. Runs in workers; what was answered before, by whichever worker, is not computed again."""

from typing import Any

import numpy
import torch
import torch.nn.functional as F

from trainer.data.images import undecodable
from trainer.data.scenes import opening
from trainer.export import sheet
from trainer.kinds.pixels import codings, inference, measures
from trainer.kinds.pixels.codings import EMPTY, MOST, UNLABELLED
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.question import OfScenes
from trainer.kinds.pixels.scenes import masks, overview, parts, units
from trainer.kinds.pixels.scenes.units import Unit, Units
from trainer.kinds.pixels.target import PixelClasses
from trainer.run_folder.lease import Lease
from trainer.targets.temperature import NONE


def answer(model: Any, asked: Units, row: int, question: OfScenes, target: PixelClasses | PixelNumbers, device: torch.device) -> numpy.ndarray:
    """The figures of the unit in ``row`` (see ``measures``). Its answer is written. Raises UserError."""
    unit = asked.units[row - asked.number_of_pictures]
    place = parts.place(question.folder, question.digests[unit.scene], unit.number)
    if (known := parts.read(place, parts.FIGURES)) is not None:
        return known
    content = asked.scenes[unit.scene]
    try:
        with opening.opened(content.scene.file) as dataset:
            made = _Answer(model, asked, unit, question, target, device, asked.owner[row] < sheet.MOST).of(dataset)
    except (OSError, ValueError) as e:
        raise undecodable(content.name, e) from e
    parts.write(Lease(question.work), place, made)
    return made[parts.FIGURES]


class _Answer:
    """The answer for one unit."""

    def __init__(
        self, model: Any, asked: Units, unit: Unit, question: OfScenes, target: PixelClasses | PixelNumbers, device: torch.device, is_shown: bool
    ):
        self.model, self.asked, self.unit, self.coding, self.device = model, asked, unit, question.coding, device
        coding, promised = question.coding, target.of_pixels
        self.temperature = target.temperature if isinstance(target, PixelClasses) else NONE
        self.limits = torch.tensor(promised.limits, device=device) if promised is not None and isinstance(target, PixelClasses) else None
        self.content = asked.scenes[unit.scene]
        self.classes = len(coding.values) if isinstance(coding, codings.Classes) else 0
        shape = unit.rows.stop - unit.rows.start, unit.columns.stop - unit.columns.start
        self.found = numpy.empty(shape, numpy.uint8 if self.classes else numpy.float32)
        self.scores = numpy.zeros(shape if self.classes else (0, 0), numpy.uint8)
        self.odds = numpy.full((self.classes, *shape), parts.NO_ODDS, numpy.uint8) if self.classes and question.probabilities else None
        size, names = (self.content.scene.height, self.content.scene.width), asked.form.names if asked.form else ()
        self.shown = overview.Part(unit, size, self.found.dtype, names) if is_shown else None
        self.damaged: set[tuple[int, ...]] = set()
        self.figures = numpy.zeros(measures.width(self.classes), numpy.float64)

    def of(self, dataset) -> dict[str, numpy.ndarray]:
        self.model.eval()
        scene = self.content.scene
        for around, inner, place in units.windows(self.unit, scene.width, scene.height, self.asked.step):
            pixels, holds, broken = units.sound(dataset, scene, around, self.asked.form)
            self.damaged.update((*tile, 0) for tile in broken)
            empty = None if holds is None else ~holds[inner]
            truth = self._truth(around, inner, place, empty)
            loss = 0.0 if self._is_nothing(place, empty) else self._window(pixels, inner, place, empty, truth)
            answer = self.found[place]
            if self.shown is not None:
                self.shown.add(pixels[inner], answer, place)
            self.figures += measures.of_classes(truth, answer, loss, self.classes) if self.classes else measures.of_numbers(truth, answer)
        damaged = numpy.asarray(sorted(self.damaged), numpy.int64).reshape(-1, 5)
        arrays = {parts.VALUES: self.found, parts.FIGURES: self.figures, parts.DAMAGED: damaged}
        arrays |= {parts.SCORES: self.scores} if self.classes else {}
        arrays |= self.shown.arrays() if self.shown is not None else {}
        return arrays | ({parts.ODDS: self.odds} if self.odds is not None else {})

    def _is_nothing(self, place: tuple[slice, slice], empty: numpy.ndarray | None) -> bool:
        """Whether a window holds no data at all, which is its answer then."""
        if empty is None or not empty.all():
            return False
        self.found[place] = EMPTY if self.classes else numpy.nan
        return True

    def _window(self, pixels: numpy.ndarray, inner, place, empty: numpy.ndarray | None, truth: numpy.ndarray) -> float:
        logits = inference.of_window(self.model, pixels, self.device)[inner]
        loss = 0.0
        if self.classes:
            logits = logits.float() if self.temperature == NONE else logits.float() / self.temperature
            odds = logits.softmax(-1)
            score, best = odds.max(-1)
            if self.odds is not None:
                self._keep(odds, best, place)
            self.found[place] = best.to("cpu").numpy()
            self.scores[place] = (score * parts.SURE).round().to("cpu").numpy().astype(numpy.uint8)
            known = torch.from_numpy(truth < MOST).to(self.device)
            if known.any():
                right = torch.from_numpy(truth).to(self.device)[known].long()
                loss = float(F.cross_entropy(logits[known], right, reduction="sum"))
        else:
            self.found[place] = logits[..., 0].float().cpu().numpy()
        if empty is not None:
            self.found[place][empty] = EMPTY if self.classes else numpy.nan
            if self.odds is not None:
                self.odds[:, *place][:, empty] = parts.NO_ODDS
        return loss

    def _keep(self, odds: torch.Tensor, best: torch.Tensor, place) -> None:
        """Keep the probabilities of a window, and which classes are possible."""
        assert self.odds is not None
        for number in range(self.classes):  # one by one, since all together are as large as the logits
            kept = (odds[..., number] * parts.CERTAIN).round()
            if self.limits is not None:
                kept.add_((odds[..., number] >= self.limits[number]) | (best == number), alpha=parts.POSSIBLE)
            self.odds[number][place] = kept.to("cpu").numpy().astype(numpy.uint8)

    def _truth(self, around, inner, place, empty: numpy.ndarray | None) -> numpy.ndarray:
        """What is right in a window, as ``Windows`` has it."""
        shape = self.found[place].shape
        truth = numpy.full(shape, UNLABELLED if self.classes else numpy.nan, self.found.dtype)
        if self.content.mask is not None:
            at = tuple(slice(a.start + i.start, a.start + i.stop) for a, i in zip(around, inner))
            try:
                truth = masks.window(self.content.mask, at, self.coding)  # type: ignore[arg-type]
            except OSError:
                self.damaged.add((at[0].start, at[1].start, *shape, 1))
        if empty is not None:
            truth[empty] = EMPTY if self.classes else numpy.inf
        return truth
