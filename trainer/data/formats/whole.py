"""The files of one table, looked at together before any of them is read: each alone may be small, and fit into memory."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from trainer.core.input import Input
from trainer.data.formats import memory as capacity, parquet, plain, tables
from trainer.data.formats.memory import Looked
from trainer.data.names import extension
from trainer.memory import memory

MOST_FILES = 500  # of a table that are mapped: each is an open file
_TEXTS = ("csv", "tsv", "tab")


def large(sources: Sequence[Input], settings, only: Collection[str]) -> frozenset[Path]:
    """The files that are to be read like large ones, because those with the same columns are a large table together. ``only`` are the columns to
    read, in lower case; all if it is empty. Raises UserError where such a table will not fit into memory."""
    if len(sources) < 2:
        return frozenset()
    found: defaultdict[tuple[str, ...], list[tuple[Looked, Path]]] = defaultdict(list)
    for source in sources:
        if looked := _looked(source, settings, only):
            found[looked.columns].append((looked, source.file))
    parts: set[Path] = set()
    for files in found.values():
        if sum(looked.share for looked, _ in files) < 1:
            continue
        capacity.check_together([looked for looked, _ in files], memory())
        if len(files) <= MOST_FILES:
            parts.update(file for _, file in files)
    return frozenset(parts)


def _looked(source: Input, settings, only: Collection[str]) -> Looked | None:
    suffix = extension(source.name)
    try:
        if suffix == "parquet":
            return parquet.look(source.name, source.file, only, tables.named(settings))
        if suffix in _TEXTS and not settings.encoding:
            return capacity.look(source.name, source.file, plain.LARGE, tables.named(settings))
    except OSError:  # which is said when it is read
        pass
    return None
