"""Which files of the dataset are data, and of which kind."""

import collections
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainer.archive import streams
from trainer.archive.streams import NotCompressed
from trainer.archive.zips import NotAnArchive
from trainer.config.settings import is_settings_file
from trainer.config.spec import Spec
from trainer.core.input import Input
from trainer.data import archives, names
from trainer.errors import UserError, some
from trainer.run_folder.events import Events


class Ignored:
    """The files that are not used, each with the reason that was found first."""

    def __init__(self):
        self._reasons: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._reasons)

    def add(self, name: str, reason: object) -> None:
        self._reasons.setdefault(name, str(reason))

    def items(self) -> list[tuple[str, str]]:
        return list(self._reasons.items())

    def names(self) -> list[str]:
        return list(self._reasons)

    def listed(self) -> list[str]:
        return [f"{name} ({reason})" for name, reason in self._reasons.items()]

    def __str__(self) -> str:
        by_reason = collections.defaultdict(list)
        for name, reason in self._reasons.items():
            by_reason[reason].append(name)
        return "; ".join([f"{some(names_of, 3)} ({reason})" for reason, names_of in by_reason.items()][:6])


_LISTS = ("tables", "texts", "images", "documents", "tokens", "graphs")


@dataclass
class Sources:
    """The files by kind, in natural order. A .txt file is among the tables and the texts: its content decides."""

    tables: list[Input] = field(default_factory=list)
    texts: list[Input] = field(default_factory=list)
    images: list[Input] = field(default_factory=list)
    documents: list[Input] = field(default_factory=list)  # read only where the task is to write texts
    tokens: list[Input] = field(default_factory=list)  # files of tokens, and what describes them
    graphs: list[Input] = field(default_factory=list)  # in formats of graphs; edges in tables are among the tables
    ignored: Ignored = field(default_factory=Ignored)

    def without(self, taken: frozenset[str]) -> "Sources":
        """A copy without the files of these names; what is ignored in the copy is not ignored here."""
        ignored = Ignored()
        for name, reason in self.ignored.items():
            ignored.add(name, reason)
        lists = {name: [i for i in getattr(self, name) if i.name not in taken] for name in _LISTS}
        return Sources(**lists, ignored=ignored)

    def sums(self) -> dict[Path, str]:
        """The sha256 sums that are known of the images."""
        return {i.file: i.sha256 for i in self.images if i.sha256}


def find(spec: Spec, data_file: str, events: Events) -> Sources:
    """The files that may be data; with ``data_file`` no other table or text than this one, or those in this archive."""
    if not spec.inputs:
        raise UserError(
            "empty_dataset", "The dataset has no files.", "Add a table with a label column, or folders of texts or images, then submit again."
        )
    found = Sources()
    wanted = _wanted(spec, data_file.strip()) if data_file.strip() else None
    models = names.model_folders(i.name for i in spec.inputs)
    streams = names.token_folders(i.name for i in spec.inputs) - models
    for source in sorted(spec.inputs, key=lambda i: names.natural(i.name)):
        if wanted is None and names.is_token_file(source.name, streams):
            found.tokens.append(source)
            continue
        if wanted is None or source in wanted:
            _add(source, spec, models, wanted is not None, found, events)
        elif names.extension(source.name) in names.IMAGES and not _refused(source, models):
            found.images.append(source)  # the chosen table may name it
    return found


def _wanted(spec: Spec, data_file: str) -> list[Input]:
    chosen = [i for i in spec.inputs if data_file in (i.id, i.name)] or [i for i in spec.inputs if i.name.rsplit("/", 1)[-1] == data_file]
    if not chosen:
        raise UserError(
            "unknown_file",
            f"There is no file {data_file} in the dataset.",
            "Choose one of these as data_file, or leave it empty to use every suitable file.",
            f"Its files are {some(i.name for i in spec.inputs)}.",
        )
    return chosen


def _add(source: Input, spec: Spec, models: set[str], asked: bool, found: Sources, events: Events) -> None:
    kind = names.extension(source.name)
    if not asked and (reason := _refused(source, models)):
        found.ignored.add(source.name, reason)
    elif kind == names.ARCHIVE:
        _expand(source, spec, found, events)
    elif kind in names.IMAGES:
        found.images.append(source)
    elif kind == names.MARKDOWN:
        found.documents.append(source)
    elif kind in names.TABLES or kind in names.GRAPHS or asked:
        try:
            source = _decompressed(source, spec, events)
        except NotCompressed as e:
            found.ignored.add(source.name, e)
            return
        (found.graphs if kind in names.GRAPHS else found.tables).append(source)
        if kind == names.PARQUET:
            _add_inner_images(source, spec, found)
        if kind == names.TEXT:
            found.texts.append(source)
    else:
        found.ignored.add(source.name, names.not_read(source.name))


def _refused(source: Input, models: set[str]) -> str:
    """Why a file is never data, or an empty text."""
    if names.is_hidden(source.name):
        return "a hidden file"
    if source.name.rpartition("/")[0] in models:
        return "part of a model, which is never loaded"
    if names.is_result(source.name):
        return "the result of an earlier run"
    if is_settings_file(source.name):
        return "a settings file"
    return ""


def _decompressed(source: Input, spec: Spec, events: Events) -> Input:
    """``source`` itself, or, where its name says that it is compressed, the same file decompressed in the work folder."""
    codec = names.compression(source.name)
    if not codec:
        return source
    target = archives.new_folder(spec.work / "expanded") / "1"
    size = streams.unpack(source, codec, target, spec.budget)
    how = f"{source.name} is decompressed with {streams.NAMES[codec]}: {source.size / 1e6:.1f} MB become {size / 1e6:.1f} MB."
    events.decision("compressed", source.name, how)
    return replace(source, file=target, size=size, sha256="")


def _add_inner_images(source: Input, spec: Spec, found: Sources) -> None:
    """Add the images in a Parquet file. The table in it names them."""
    from trainer.data.formats import parquet_images

    found.images += parquet_images.extract(source, archives.new_folder(spec.work / "expanded"), spec.budget)


def _expand(source: Input, spec: Spec, found: Sources, events: Events) -> None:
    try:
        members = archives.expand(source, spec.work / "expanded", spec.budget, events)
    except NotAnArchive as e:
        found.ignored.add(source.name, e)
        return
    for member in sorted(members, key=lambda i: names.natural(i.name)):
        _add(member, spec, set(), False, found, events)
    count = len({i.name for i in (*found.tables, *found.images)} & {m.name for m in members})
    if not count:
        found.ignored.add(source.name, "contains no readable table, text or image; nested archives are not opened")
    events.decision("archive", source.name, f"The archive {source.name} is read as a folder: {count} of its files are tables, texts or images.")
