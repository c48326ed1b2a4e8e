"""Rows whose label is probably wrong: a list in the report, and all of them in ``label-errors.csv``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy

from trainer.core import blocks
from trainer.core.blocks import RESULT, Cell, Column, Section
from trainer.core.columnar import taken
from trainer.core.example import Dataset, Example
from trainer.data.origins import ONE, Origins
from trainer.errors import count
from trainer.export import display
from trainer.measure import predictions
from trainer.measure.predictions import Predictions
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.targets.doubt import Doubt, Doubting

FILE = "label-errors.csv"
_SHOWN, _PICTURES = 50, 12  # rows in the report, and pictures of them
_WRITTEN = 10_000  # rows in the file
_Read = tuple[Example, str, Doubt]  # a row, the split that it is from, and what is doubtful
_NAMES = {"train": "training", "validation": "validation", "test": "test"}
_MEANS = (
    "Such a row can be a wrong label, a row of a sort that the model does not know, or chance. Look at it before you change it. Nothing was left out "
    "or changed: correct the dataset and train again."
)


@dataclass(frozen=True)
class Looked:
    """Rows of some splits, by their names, with ``answers`` by models that had not seen them; ``by`` says which models, in a sentence."""

    parts: Sequence[tuple[str, Sequence[Example]]]
    answers: Predictions
    by: str

    @classmethod
    def together(cls, parts: Sequence[tuple[str, Sequence[Example], Predictions]], by: str) -> Self:
        """All of ``parts``, of which there is at least one."""
        return cls([(name, examples) for name, examples, _ in parts], predictions.concatenated([said for *_, said in parts]), by)

    def rows(self, numbers: Sequence[int]) -> dict[int, tuple[Example, str]]:
        """The examples of these numbers, each with the split that it is from. They are read together: those of a large table lie far apart."""
        found: dict[int, tuple[Example, str]] = {}
        start = 0
        for name, examples in self.parts:
            places = numpy.asarray(sorted(n - start for n in numbers if start <= n < start + len(examples)), numpy.int64)
            found |= {start + p: (e, _NAMES.get(name, name)) for p, e in zip(places.tolist(), taken(examples, places), strict=True)}
            start += len(examples)
        return found


@dataclass(frozen=True)
class Listed:
    """What a training says of its labels: the sections of the report, the text of ``FILE`` (empty for no file), and what is said of the file."""

    sections: list[Section]
    table: str = ""

    def write(self, out: Path) -> None:
        """Write the file into ``out``, where there is one."""
        if self.table:
            files.write_text(out / FILE, self.table)

    @property
    def about(self) -> dict[str, dict]:
        said = "The rows whose label does not fit what models say of them that had not seen them, the least fitting first."
        return {f"out/{FILE}": {"title": "Labels to check", "text": said}} if self.table else {}


def training(looked: Sequence[Looked], data: Dataset, target: object, events: Events, origins: Origins = ONE) -> Listed:
    """What the ``looked`` rows show. ``events`` takes a warning where there is evidence of wrong labels. Nothing for targets without doubts."""
    if not isinstance(target, Doubting) or not looked:
        return Listed([])
    doubts = [target.doubts(each.answers) for each in looked]
    found = sorted(((each, d) for each, of in zip(looked, doubts, strict=True) for d in of.found), key=lambda pair: -pair[1].score)
    if all(of.why for of in doubts):
        return Listed([Section(RESULT, target.doubts_title, [blocks.text(doubts[0].why)])])
    if warning := next((of.warning for of in doubts if of.warning), ""):
        rows = count(len(found), "row")
        events.warning("label_errors", f"{warning.format(rows=rows)} The report and {FILE} list them.")
    facts = {"Rows looked at": "; ".join(_looked(each) for each, of in zip(looked, doubts, strict=True) if not of.why)}
    facts["Rows that do not fit"] = f"{len(found):,}" if found else "none"
    inside = [blocks.facts(facts)]
    if not found:
        return Listed([Section(RESULT, target.doubts_title, inside)])
    read = _read(found[:_WRITTEN])
    inside += [_block(read, len(found), data), *_pictures(read, data), blocks.text(_MEANS)]
    return Listed([Section(RESULT, target.doubts_title, inside)], _table(read, data, origins))


def _looked(each: Looked) -> str:
    counts = [f"{len(examples):,} {_NAMES.get(name, name)} rows" for name, examples in each.parts if len(examples)]
    return f"{', '.join(counts)}, answered by {each.by}"


def _read(found: Sequence[tuple[Looked, Doubt]]) -> list[_Read]:
    every = {id(each): each for each, _ in found}
    rows = {known: each.rows([d.row for of, d in found if of is each]) for known, each in every.items()}
    return [(*rows[id(each)][d.row], d) for each, d in found]


def _block(read: Sequence[_Read], found: int, data: Dataset) -> blocks.Block:
    sure = any(d.probability is not None for *_, d in read)
    columns = [Column("Row"), Column("Content"), Column("Label"), Column("Fits better"), *[Column("Its probability")] * sure, Column("Why")]
    rows = []
    for example, _, doubt in read[:_SHOWN]:
        where = f"{example.file}, row {example.row}" if example.row else example.file
        texts = (where, data.kind.content(example, data.columns), data.kind.shown_label(example), doubt.likely)
        rows.append([*(Cell(display.short(t)) for t in texts), *[Cell(value=doubt.probability)] * sure, Cell(doubt.reason)])
    note = f"The first {_SHOWN} of {found:,}; the others are in {FILE}." if found > _SHOWN else ""
    return blocks.table("", columns, rows, note=note, folded=True)


def _pictures(read: Sequence[_Read], data: Dataset) -> list[blocks.Block]:
    """The first ones as pictures, where examples are pictures."""
    shown = []
    for example, _, doubt in read[:_PICTURES]:
        if png := data.kind.picture(example):
            caption = f"{display.short(data.kind.shown_label(example))}; fits better: {display.short(doubt.likely)}"
            shown.append(blocks.Picture(png, caption))
    return [blocks.pictures("", shown)] if shown else []


def _table(read: Sequence[_Read], data: Dataset, origins: Origins) -> str:
    has_id, sure = any(e.id for e, *_ in read), any(d.probability is not None for *_, d in read)
    probabilities = ["probability", "probability of label"] * sure
    head = [display.FILE, "row", *["id"] * has_id, "content", "label", "fits better", *probabilities, "split", "reason"]
    lines = []
    for e, split, d in read:
        values = [f"{d.probability:.4f}", f"{d.of_label:.4f}"] if sure else []
        content = data.kind.content(e, data.columns)
        lines.append([e.file, e.row, *[e.id] * has_id, content, e.target, d.likely, *values, split, d.reason])
    return display.table(head, lines, origins)
