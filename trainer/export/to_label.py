"""The rows of a prediction whose label would teach the model most: ``next-labels.csv``, and what the studio and the report show of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy

from trainer.config.spec import Spec
from trainer.core import blocks, columnar
from trainer.core.blocks import RESULT, Cell, Column, Section
from trainer.core.columnar import taken, targets
from trainer.core.placed import Placed
from trainer.data.columns.values import Style
from trainer.errors import count
from trainer.export import display
from trainer.export.finished import Answered
from trainer.measure import next_labels
from trainer.models import saved_model
from trainer.run_folder import files
from trainer.targets.unsure import Unsure

FILE = "next-labels.csv"
_TITLE = "Labels that would teach most"
_LABELLED = 10_000  # rows with a label, whose copies are not listed
_LABEL = "label"  # the column to fill in where the model was not trained on a column
_CHOSEN = (
    "These are the rows without a label of which the model is least sure, without rows that are alike. A label for each of them teaches more than "
    "labels for as many other rows."
)
_UNLIKE = (
    "An answer of this model does not say how sure it is. These are rows without a label that are unlike those that have one, and that stand for "
    "many others, without rows that are alike."
)
_OF_FILES = (
    "Open the run in the studio and choose Label: each label is written to the metadata of its file, and the next training reads it with label_from."
)
_OF_ROWS = (
    "Fill in the column {label} of {file}, add the file to the dataset under another name, and train again. Rows that you leave empty are left out."
)


@dataclass(frozen=True)
class Listed:
    """``found`` are the entries of result.json for files that can be labelled in Clowder. The text of the file is empty where nothing is listed.
    ``rows`` are the numbers of the rows, and ``form`` is how a label is written (``Unsure.label_form``)."""

    found: list[dict] = field(default_factory=list)
    table: str = ""
    sections: list[Section] = field(default_factory=list)
    rows: tuple[int, ...] = ()
    form: dict = field(default_factory=dict)

    def write(self, out: Path) -> None:
        """Write the file into ``out``, where there is one."""
        if self.table:
            files.write_text(out / FILE, self.table)

    @property
    def entries(self) -> dict:
        """Those of the prediction in result.json."""
        return {"next_labels": self.found, **({"label_form": self.form} if self.form else {})} if self.found else {}

    @property
    def about(self) -> dict[str, dict]:
        said = "The rows without a label whose label would teach the model most, the most useful first, with an empty column for it."
        return {f"out/{FILE}": {"title": "Labels to add next", "text": said}} if self.table else {}


def of(spec: Spec, described: dict, answered: Answered, columns: Sequence[str], label_column: str) -> Listed:
    """The list for the rows of a prediction that have no label; an empty one for targets that say nothing of it. ``described`` is the model's."""
    target, kind = answered.target, answered.kind
    if not isinstance(target, Unsure) or not isinstance(kind, Placed):
        return Listed()
    without = _without_label(spec, answered)
    open_rows = numpy.flatnonzero(without)
    if not len(open_rows):
        return Listed()

    def points(rows: numpy.ndarray) -> numpy.ndarray:
        return kind.points(taken(answered.examples, rows), columns, described.get("types", {}))

    uncertainty = target.uncertainty(answered.outputs[open_rows])
    if uncertainty is None:
        pool = next_labels.evenly(open_rows)
        labelled = next_labels.evenly(numpy.flatnonzero(~without))
        chosen = next_labels.choose(pool, numpy.ones(len(pool)), points, labelled)
    else:
        first = open_rows[numpy.argsort(-uncertainty, kind="stable")]
        new = _without_copy(answered, first, numpy.flatnonzero(~without))
        place = numpy.searchsorted(open_rows, new)
        chosen = next_labels.choose(*next_labels.most_unsure(new, uncertainty[place]), points)
    if not len(chosen):
        return Listed()
    of_files = not any(answered.examples[int(i)].row for i in chosen)
    label = label_column or _LABEL
    if of_files:
        beside = list(_answer(answered, int(chosen[0])))
        table = display.table([display.FILE, label, *beside], (_of_file(answered, int(i)) for i in chosen))
    else:
        table = _of_rows(answered, chosen, columns, label, saved_model.styles(described))
    ids = {i.name: i.id for i in spec.inputs if i.id}
    named = [(answered.examples[int(i)].file, int(i)) for i in chosen] if of_files else []
    found = [{"file": name, "id": ids[name], **_answer(answered, i)} for name, i in named if name in ids]
    why = _CHOSEN if uncertainty is not None else _UNLIKE
    section = _section(answered, chosen, columns, label, bool(found), f"{count(len(chosen), 'row')} of {len(open_rows):,} without a label", why)
    return Listed(found, table, [section], tuple(chosen.tolist()), target.label_form())


def _without_label(spec: Spec, answered: Answered) -> numpy.ndarray:
    """Which rows have no label (bool): neither in the data, nor in the metadata of their file, nor in the name of its folder."""
    labelled = {i.name for i in spec.inputs if i.label or i.columns}
    classes = set(answered.target.labels)
    said, rows, where = targets(answered.examples), columnar.rows(answered.examples), columnar.files(answered.examples)
    inside = {name: PurePosixPath(name).parent.name in classes for name in set(where)}
    has = [bool(t) or name in labelled or (not row and inside[name]) for t, row, name in zip(said, rows.tolist(), where, strict=True)]
    return numpy.asarray(~answered.known & ~numpy.asarray(has, bool))


def _without_copy(answered: Answered, rows: numpy.ndarray, labelled: numpy.ndarray) -> numpy.ndarray:
    """The first of ``rows`` whose content no labelled row has: a list that was filled in stands beside the rows that it was made of. Of very many
    labelled rows some are looked at."""
    known = {answered.examples[int(i)].content for i in labelled[:_LABELLED]}
    first = rows[: next_labels.POOL + len(known)]
    return numpy.asarray([i for i in first.tolist() if answered.examples[i].content not in known], numpy.int64) if known else first


def _answer(answered: Answered, i: int) -> dict:
    found = {"predicted": answered.target.text(answered.predicted[i])}
    return {**found, "confidence": round(float(answered.confidence[i]), 4)} if answered.confidence is not None else found


def _of_file(answered: Answered, i: int) -> list:
    return [answered.examples[i].file, "", *_answer(answered, i).values()]


def _of_rows(answered: Answered, chosen: numpy.ndarray, columns: Sequence[str], label: str, styles: dict[str, Style]) -> str:
    """The rows as a table that a training reads with the others: the columns of the model as they were written, and the column of the label."""
    names = list(columns)
    taken_names = {label.lower(), *(n.lower() for n in names)}
    beside = [n for n in (*_answer(answered, int(chosen[0])), "in file", "in row") if n not in taken_names]
    lines = []
    for i in chosen:
        example = answered.examples[int(i)]
        cells = [example.content] if isinstance(example.content, str) else list(example.content)
        said = {**_answer(answered, int(i)), "in file": example.file, "in row": example.row}
        lines.append(["", *(_written(c, styles.get(n)) for n, c in zip(names, cells)), *(said.get(n, "") for n in beside)])
    return display.table([label, *names, *beside], lines)


def _written(cell: str, style: Style | None) -> str:
    """A cell as it is written in the data: numbers are read into a common form."""
    if style is None or style.is_class or not cell.strip():
        return cell
    number = cell.replace(".", ",") if style.comma else cell
    return f"{number} {style.unit}" if style.unit else number


def _section(answered: Answered, chosen: numpy.ndarray, columns: Sequence[str], label: str, in_clowder: bool, which: str, why: str) -> Section:
    rows, sure = [], answered.confidence is not None
    for i in chosen:
        example = answered.examples[int(i)]
        where = f"{example.file}, row {example.row}" if example.row else example.file
        answer = _answer(answered, int(i))
        content = display.short(answered.kind.content(example, columns))
        probability = [Cell(value=answer.get("confidence"))] * sure
        rows.append([Cell(display.short(where)), Cell(content), Cell(display.short(answer["predicted"])), *probability])
    how = _OF_FILES if in_clowder else _OF_ROWS.format(label=label, file=FILE)
    head = [Column("Row"), Column("Content"), Column("Answer"), *[Column("Its probability")] * sure]
    return Section(RESULT, _TITLE, [blocks.text(why, how), blocks.table("", head, rows, note=f"{which}, the most useful first.", folded=True)])
