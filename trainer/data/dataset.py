"""From the files of a dataset to labelled rows in three splits, with an event for every choice."""

import collections
import re

from trainer.data import columns, names, splits, tables
from trainer.data.example import SPLITS, Dataset, Example
from trainer.data.keys import Keys
from trainer.errors import UserError, some
from trainer.events import Events
from trainer.spec import Input, Spec

_NATURAL = re.compile(r"(\d+)")


def load(spec: Spec, settings, events: Events) -> Dataset:
    """Read the dataset of ``spec``. Raises UserError for everything that only the user can mend."""
    wanted = {w.strip().lower() for p in (settings.text_column, settings.label_column) for w in (p, *p.split(",")) if w.strip()}
    found, ignored = [], []
    for source in _candidates(spec, settings.data_file, ignored):
        try:
            found.append(tables.read(source, wanted, events))
        except tables.NotATable as e:
            ignored.append(f"{source.name} ({e})")
    if not found:
        raise UserError(
            "no_table",
            f"No file of the dataset is a table that can be read: {some(ignored, 6)}." if ignored else "The dataset has no files.",
            "Add a CSV, TSV or JSON lines file with a text column and a label column.",
        )
    group, label_column, text_columns = _choose(found, settings, ignored, events)
    if ignored:
        events.decision("ignored_files", ignored, f"Not used: {some(ignored, 6)}.")
    given = _split_files(group, events)
    rows = {name: _rows(part, label_column, text_columns, name, events) for name, part in given.items()}
    keys = Keys()
    complete = splits.complete(rows, keys, False, settings, events)
    labels = tuple(sorted({e.target for e in complete["train"]}, key=_natural))
    events.decision("labels", list(labels), f"The task is to tell {len(labels)} classes apart: {some(labels)}.")
    files = sorted(t.name for t in group)
    return Dataset(
        "text-classification", "text", complete, files, text_columns, label_column, labels, split_sha256=splits.digest(complete, keys)
    )


def _candidates(spec: Spec, data_file: str, ignored: list[str]) -> list[Input]:
    """The files that may hold the table: the one that was asked for, else all with a fitting name."""
    if not spec.inputs:
        raise UserError(
            "empty_dataset", "The dataset has no files.", "Add a CSV, TSV or JSON lines file with a text column and a label column, then submit again."
        )
    if wanted := data_file.strip():
        chosen = [i for i in spec.inputs if wanted in (i.id, i.name)] or [i for i in spec.inputs if i.name.rsplit("/", 1)[-1] == wanted]
        if not chosen:
            raise UserError(
                "unknown_file",
                f"There is no file {wanted} in the dataset.",
                "Choose one of these as data_file, or leave it empty to use every suitable file.",
                f"Its files are {some(i.name for i in spec.inputs)}.",
            )
        return chosen
    candidates = []
    for source in sorted(spec.inputs, key=lambda i: _natural(i.name)):
        if names.is_hidden(source.name):
            ignored.append(f"{source.name} (hidden)")
        elif names.is_result(source.name):
            ignored.append(f"{source.name} (the result of an earlier run)")
        elif names.extension(source.name) not in names.TABLES:
            ignored.append(f"{source.name} (not a table by its name)")
        else:
            candidates.append(source)
    return candidates


def _choose(found: list[tables.Table], settings, ignored: list[str], events: Events):
    """The tables to use with their label and text columns. Tables that lack one of the columns are ignored and named."""
    groups = collections.defaultdict(list)
    for table in found:
        groups[tuple(sorted(c.lower() for c in table.columns))].append(table)
    ranked = sorted(groups.values(), key=lambda g: -sum(len(t.rows) for t in g))
    refused: UserError | None = None
    for group in ranked:
        where = some([t.name for t in group], 3)
        try:
            seen = columns.profiles([_with_columns(t, group[0].columns) for t in group])
            label = columns.label(seen, settings.label_column, where)
            text = columns.text(seen, settings.text_column, label.columns[0], where)
        except UserError as e:
            refused = refused or e  # the largest table is the one that the user means; its fault is the one to report
            continue
        events.decision("label_column", label.columns[0], label.why)
        events.decision("text_columns", list(text.columns), text.why)
        needed = (*label.columns, *text.columns)
        used = [t for t in (_with_columns(t, needed) for t in found) if t is not None]
        kept = {t.name for t in used}
        ignored += [f"{t.name} (without the column {some(_lacking(t, needed))})" for t in found if t.name not in kept]
        return used, label.columns[0], text.columns
    raise refused


def _lacking(table: tables.Table, needed) -> list[str]:
    there = {c.lower() for c in table.columns}
    return [c for c in needed if c.lower() not in there]


def _with_columns(table: tables.Table, needed) -> tables.Table | None:
    """``table`` with exactly the columns ``needed``, whatever their order and case there; None where one is missing."""
    if _lacking(table, needed):
        return None
    if list(needed) == table.columns:
        return table
    there = {c.lower(): i for i, c in reversed(list(enumerate(table.columns)))}
    places = [there[c.lower()] for c in needed]
    rows = [(number, [cells[i] for i in places]) for number, cells in table.rows]
    return tables.Table(table.name, list(needed), rows, table.has_header)


def _split_files(group: list[tables.Table], events: Events) -> dict[str, list[tables.Table]]:
    """The tables by the split that their names stand for. Where no file is left to train on, names count for nothing."""
    given = collections.defaultdict(list)
    for table in group:
        given[names.split_of(table.name) or "train"].append(table)
    if "train" not in given:
        events.decision("training_files", [t.name for t in group], f"No file is left for training, so {some([t.name for t in group], 3)} are split whatever their names say.")
        return {"train": group}
    for split in SPLITS:
        if len(group) > 1 and given[split]:
            files = [t.name for t in given[split]]
            events.decision(f"{split}_files", files, f"{some(files, 6)} {'are' if len(files) > 1 else 'is'} used for {'training' if split == 'train' else split}.")
    return dict(given)


def _rows(group: list[tables.Table], label_column: str, text_columns: tuple[str, ...], split: str, events: Events) -> list[Example]:
    """The rows of the tables that have both text and label; the others are counted in a warning."""
    rows, empty = [], 0
    for table in group:
        label_at = table.columns.index(label_column)
        text_at = [table.columns.index(c) for c in text_columns]
        for number, cells in table.rows:
            text = "\n".join(t for t in (cells[i].strip() for i in text_at) if t)
            label = cells[label_at].strip()
            if text and label:
                rows.append(Example(table.name, number, text, label))
            else:
                empty += 1
    if empty:
        where = some(sorted({t.name for t in group}), 3)
        events.warning("empty_rows", f"{empty} {split} rows of {where} are left out because their text or label is empty.")
    return rows


def _natural(text: str) -> list:
    """A sort key that puts "10" after "9"."""
    return [(0, int(p), "") if p.isdecimal() and p.isascii() else (1, 0, p) for p in _NATURAL.split(text) if p]
