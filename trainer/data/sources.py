"""Which files of the dataset are data, and of which kind."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainer.archive import streams
from trainer.archive.streams import NotCompressed
from trainer.archive.zips import NotAnArchive
from trainer.config.settings_files import is_settings_file
from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.input import Input
from trainer.data import archives, foreign, names, origins
from trainer.data.checks import by_reason
from trainer.data.delivered import NotData
from trainer.data.labels_apart import LabelsApart
from trainer.data.origins import Origins
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

    def used(self, name: str) -> None:
        """Take back that a file is ignored."""
        self._reasons.pop(name, None)

    def items(self) -> list[tuple[str, str]]:
        return list(self._reasons.items())

    def names(self) -> list[str]:
        return list(self._reasons)

    def __str__(self) -> str:
        return by_reason(self._reasons.items())


_HEAD = 1024
_READ = ("tables", "texts", "images", "documents", "tokens", "graphs", "of_kinds")
_LISTS = (*_READ, "others")


@dataclass
class Sources:
    """The files by kind, in natural order. A .txt file is among the tables and the texts; sequences, and texts without an ending,
    are among the tables and the documents."""

    tables: list[Input] = field(default_factory=list)
    texts: list[Input] = field(default_factory=list)
    images: list[Input] = field(default_factory=list)
    documents: list[Input] = field(default_factory=list)  # read where folders or metadata label them, or the task is to write texts
    tokens: list[Input] = field(default_factory=list)  # files of tokens, and what describes them
    graphs: list[Input] = field(default_factory=list)  # in formats of graphs; edges in tables are among the tables
    of_kinds: list[Input] = field(default_factory=list)  # in formats of a single kind: see ``Kind.extensions``
    others: list[Input] = field(default_factory=list)  # not read, but they may be annotations of the images
    ignored: Ignored = field(default_factory=Ignored)
    origins: Origins = field(default_factory=Origins)
    labels_apart: LabelsApart = field(default_factory=LabelsApart)  # of rows that a prediction does not answer; found while it reads tables
    ids_by_name: bool = False  # the ids of rows are from columns that no setting names; found while a prediction reads tables

    def without(self, taken: frozenset[str]) -> "Sources":
        """A copy without the files of these names; what is ignored in the copy is not ignored here."""
        ignored = Ignored()
        for name, reason in self.ignored.items():
            ignored.add(name, reason)
        lists: dict[str, Any] = {name: [i for i in getattr(self, name) if i.name not in taken] for name in _LISTS}
        return Sources(**lists, ignored=ignored, origins=self.origins)

    @property
    def readable(self) -> list[Input]:
        """All texts."""
        return sorted([*self.texts, *self.documents], key=lambda i: names.natural(i.name))

    def sums(self) -> dict[Path, str]:
        """The sha256 sums that are known of the images."""
        return {i.file: i.sha256 for i in self.images if i.sha256}


def find(spec: Spec, data_file: str, events: Events) -> Sources:
    """The files that may be data; with ``data_file`` no other table or text than this one, or those in this archive."""
    if not spec.inputs:
        raise UserError(
            "empty_dataset", "The dataset has no files.", "Add a table with a label column, or folders of texts or images, then submit again."
        )
    found = Sources(origins=origins.of(spec.inputs))
    for name, reason in spec.not_read:
        found.ignored.add(name, reason)
    wanted = _wanted(spec, data_file.strip())
    no_data = NotData(spec.inputs)
    streams = names.token_folders(i.name for i in spec.inputs) - no_data.models
    for source in sorted(spec.inputs, key=lambda i: names.natural(i.name)):
        if names.chosen_as(source.name) in (names.SETTINGS, names.MODEL):
            found.ignored.add(source.name, "chosen in the form, and no data")
        elif wanted is None and names.is_token_file(source.name, streams):
            found.tokens.append(source)
        elif wanted is None or source in wanted:
            _add(source, spec, no_data, wanted is not None and not names.chosen_as(source.name), found, events)
        elif names.extension(source.name) in names.IMAGES and not _refused(source, no_data):
            found.images.append(source)  # the chosen table may name it
    return found


def _wanted(spec: Spec, data_file: str) -> list[Input] | None:
    """The files that a person chose, or None for all of the dataset. Files for validation, test and labels are chosen besides the data."""
    chosen = [i for i in spec.inputs if names.chosen_as(i.name)]
    if any(names.chosen_as(i.name) in (names.DATA, "train") for i in chosen):
        return chosen
    return [*chosen, *_named(spec, data_file)] if data_file else None


def _named(spec: Spec, data_file: str) -> list[Input]:
    named = names.nfc(data_file)
    chosen = [i for i in spec.inputs if i.id == data_file or names.nfc(i.name) == named]
    chosen = chosen or [i for i in spec.inputs if names.nfc(i.name.rsplit("/", 1)[-1]).strip() == named]
    if not chosen:
        raise UserError(
            "unknown_file",
            f"There is no file {data_file} in the dataset.",
            "Choose one of these as data_file, or leave it empty to use every suitable file.",
            f"Its files are {some(i.name for i in spec.inputs)}.",
        )
    return chosen


def _add(source: Input, spec: Spec, no_data: NotData, asked: bool, found: Sources, events: Events) -> None:
    extension = names.extension(source.name)
    if not asked and (reason := _refused(source, no_data)):
        found.ignored.add(source.name, reason)
    elif extension == names.ARCHIVE:
        _expand(source, spec, found, events)
    elif extension in names.IMAGES:
        found.images.append(source)
    elif extension in names.WRITTEN:
        found.documents.append(source)
    elif extension in registry.extensions():
        found.of_kinds.append(source)
    elif extension in names.TABLES or extension in names.GRAPHS or asked:
        try:
            source = _decompressed(source, spec, events)
        except NotCompressed as e:
            found.ignored.add(source.name, e)
            return
        (found.graphs if extension in names.GRAPHS else found.tables).append(source)
        if extension == names.PARQUET:
            _add_inner_images(source, spec, found)
        head = _head(source) if extension in (names.TEXT, "") else b""
        if extension == names.TEXT and not foreign.by_content(head):
            found.texts.append(source)
        if extension in names.SEQUENCES or (not extension and b"\0" not in head and not foreign.by_content(head)):
            found.documents.append(source)
    else:
        found.others.append(source)
        found.ignored.add(source.name, names.not_read(source.name))


def _head(source: Input) -> bytes:
    """The first bytes of a file."""
    with open(source.file, "rb") as file:
        return file.read(_HEAD)


def _refused(source: Input, no_data: NotData) -> str:
    """Why a file is never data, or an empty text."""
    if names.is_hidden(source.name):
        return "a hidden file"
    if names.is_of_system(source.name):
        return "a file of the operating system"
    if reason := no_data.reason(source.name):
        return reason
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
        unpacked = archives.expand(source, spec.work / "expanded", spec.budget, events)
    except NotAnArchive as e:
        found.ignored.add(source.name, e)
        return
    members = unpacked.files
    no_data = NotData(members)
    for member in members:
        _add(member, spec, no_data, False, found, events)
    for name, reason in unpacked.others:
        found.ignored.add(name, reason)
    count = len({i.name for kind in _READ for i in getattr(found, kind)} & {m.name for m in members})
    if not count:
        found.ignored.add(source.name, "contains no readable table, text or image")
    events.decision(
        "archive", source.name, f"The archive {source.name} is read as a folder: {count} of its files are tables, texts, images or other data."
    )
