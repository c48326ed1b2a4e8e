"""Files that metadata describe: what Clowder keeps of a file is its label, or columns of which the rules of tables choose the label."""

import collections
from collections.abc import Callable
from dataclasses import fields, replace

from trainer.core import registry
from trainer.core.example import SPLITS, Example
from trainer.core.input import Input
from trainer.data import folders, images, ordered
from trainer.data.checks import Checks
from trainer.data.formats.table import Table
from trainer.data.ordered import Rule
from trainer.data.sources import Sources
from trainer.errors import UserError, some
from trainer.kinds.rows import from_tables, labelled_files
from trainer.kinds.rows.labelled_files import Reading
from trainer.kinds.rows.roles import IMAGE, TABLE, TEXT, Roles

KEY = "metadata."  # stands before the name of metadata in label_from
FILE, CONTENT = "file", "text"  # the columns that stand for an image and for a text
MIN_FILES = 10  # with fewer, the test has few of them
AUTO = "auto"


def read(found: Sources, settings, checks: Checks) -> Reading:
    """The images, the texts or the rows of the tables, whichever metadata describe more files of. Raises UserError where they describe none."""
    kinds = {IMAGE: found.images, TEXT: found.readable, TABLE: found.tables}
    counts = {kind: sum(bool(i.label or i.columns) for i in files) for kind, files in kinds.items() if _may_be(kind, settings.task)}
    kind = max(counts, key=lambda k: counts[k], default="")
    if counts.get(kind) and kind == TABLE:
        return _tables(found, settings, checks)
    if any(i.columns for i in kinds.get(kind, ())):
        return _files(kind, kinds[kind], found, settings, checks)
    return labelled_files.from_metadata(found, settings, checks)


def _may_be(kind: str, task: str) -> bool:
    """Whether the files of ``kind`` may be the data for ``task``: rows of tables may be texts, too."""
    asked = kind if task == AUTO else registry.of_task(task).name
    return kind == asked or (kind == TABLE and asked == TEXT)


def _files(kind: str, candidates: list[Input], found: Sources, settings, checks: Checks) -> Reading:
    """The images or the texts with several columns of metadata, one row for each file."""
    described = folders.by_metadata(candidates)
    first = FILE if kind == IMAGE else CONTENT
    names = _names(described[0].source.columns, {first})
    content: Callable[[Input], str] = (lambda source: source.name) if kind == IMAGE else (lambda source: folders.text(source, settings.encoding))
    rows = [(number, [content(f.source), *(value for _, value in f.source.columns)]) for number, f in enumerate(described)]
    table = Table("the metadata of the files", [first, *names], rows)
    index = images.Index(found.images if kind == IMAGE else [])
    settings = settings if kind == IMAGE else settings.with_chosen(text_column=CONTENT)
    group, roles, seen = from_tables.choose([table], settings, index, found.ignored)
    reading = from_tables.reading(group, roles, seen, index, settings, checks)
    reading.roles.columns = () if kind == IMAGE else (CONTENT,)  # as a model of labelled files has them
    reading.files = [f.source.name for f in described]
    reading.given = _named(reading, described)
    reading.together = [replace(t, of={(described[row].source.name, 0): g for (_, row), g in t.of.items()}) for t in reading.together]
    _leave(candidates, set(reading.files), found, f"it has none of {settings.label_from}")
    return reading


def _names(columns: tuple[tuple[str, str], ...], taken: set[str]) -> list[str]:
    """The names of columns, those that are taken with the word for metadata before them."""
    return [f"{KEY}{name}" if name.lower() in taken else name for name, _ in columns]


def _named(reading: Reading, described: list[folders.Labelled]) -> dict[str, list[Example]]:
    """The examples under the names of their files, in the splits that folders stand for where no column tells the split."""
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    for split, examples in reading.given.items():
        for e in examples:
            of = described[e.row]
            named = replace(e, file=of.source.name, row=0, id=e.id if reading.roles.id else "")
            given[split if reading.roles.split else of.split or split].append(named)
    return given if given["train"] else {**{n: [] for n in SPLITS}, "train": [e for rows in given.values() for e in rows]}


def _tables(found: Sources, settings, checks: Checks) -> Reading:
    """The rows of the tables, with the metadata of their files as more columns. A single one is the label, unless the user names another."""
    columns = {t.name: t.columns or ((settings.label_from.removeprefix(KEY), t.label),) for t in found.tables if t.columns or t.label}
    keys = {name.lower() for name, _ in next(iter(columns.values()))}
    wants_key = settings.label_column.strip().lower() in keys
    read_with = settings.with_chosen(label_column="") if wants_key else settings  # the files themselves do not have it
    parts = from_tables.with_files([t for t in found.tables if t.name in columns], found.ignored, read_with, checks.events)
    names = _names(next(iter(columns.values())), {c.lower() for table, _ in parts for c in table.columns})
    if len(names) == 1 and (wants_key or not settings.label_column.strip()):
        settings = settings.with_chosen(label_column=names[0])
    index = images.Index(found.images)
    tables = [_extended(table, names, [value for _, value in columns[source.name]]) for table, source in parts]
    group, roles, seen = from_tables.choose(tables, settings, index, found.ignored)
    reading = from_tables.reading(group, roles, seen, index, settings, checks)
    _leave(found.tables, set(columns), found, f"it has no {settings.label_from}")
    if roles.label in names and not (settings.group_column or settings.split in (ordered.RANDOM, ordered.TIME, ordered.PLACE)):
        _keep_whole(reading, roles, {table.name: source.name for table, source in parts}, checks)
    return reading


def _extended(table: Table, names: list[str], cells: list[str]) -> Table:
    same = {f.name: getattr(table, f.name) for f in fields(Table)}  # a large table is of another class
    return Table(**same | {"columns": [*table.columns, *names], "rows": [(number, [*row, *cells]) for number, row in table.rows], "_cells": {}})


def _leave(candidates: list[Input], used: set[str], found: Sources, why: str) -> None:
    for source in candidates:
        if source.name not in used:
            found.ignored.add(source.name, why)


def _keep_whole(reading: Reading, roles: Roles, file_of: dict[str, str], checks: Checks) -> None:
    """Keep the rows of a file in one split, since they share their label. Raises UserError where each label is that of one file: a model would
    learn to tell files apart."""
    where = collections.defaultdict(set)
    for e in (e for rows in reading.given.values() for e in rows):
        where[e.target].add(file_of[e.file])
    if roles.labelled and len(where) > 1 and all(len(labelled) == 1 for labelled in where.values()):
        raise UserError(
            "label_is_file",
            f"Each {roles.label} is that of one file alone, for example {some(sorted(where), 3)}, so a model would learn to tell files apart.",
            "Add files, so that labels have several each, or set data.split to random if each file is a class.",
        )
    count = len({name for labelled in where.values() for name in labelled})
    if count < MIN_FILES:
        checks.warning("few_files", f"The {roles.label} is one for each of {count} files, of which the test has few: its metrics may be chance.")
    reading.given = {name: [replace(e, group=file_of[e.file]) for e in rows] for name, rows in reading.given.items()}
    reading.rule = Rule(whole=f"the rows of each of {count} files", new="files")
