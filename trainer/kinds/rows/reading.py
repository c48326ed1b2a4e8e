"""From the files of a dataset to examples in three splits, with an event for every decision."""

import collections
from dataclasses import dataclass, field

from trainer.core import registry
from trainer.core.example import SPLITS, Dataset, Example
from trainer.core.kind import Kind
from trainer.data import audit, folders, images, names, splits, subset
from trainer.data.checks import Checks
from trainer.data.claims import ROWS, Claim, Files
from trainer.data.columns import profiles
from trainer.data.columns.features import NUMBER
from trainer.data.columns.values import Style
from trainer.data.formats import tables
from trainer.data.formats.table import NotATable, Table
from trainer.data.keys import Keys
from trainer.data.sources import Ignored, Sources
from trainer.errors import UserError, some
from trainer.gc_pause import paused
from trainer.kinds.rows import (
    column_checks,
    conversations as forms,
    documents,
    label_splits as splitting,
    leaks,
    roles as roles_of,
    token_files as token_streams,
)
from trainer.kinds.rows.examples import Rows
from trainer.kinds.rows.roles import IMAGE, Roles
from trainer.run_folder.events import Events

THINGS = {"image": "images", "text": "texts"}
KEY = "rows"  # in what kinds share
FIRST = "table"  # the kind that tells why no rows can be read


@dataclass
class Reading:
    """One way to read the dataset: its examples by given split, and their files."""

    roles: Roles
    given: dict[str, list[Example]]
    files: list[str]
    styles: dict[str, Style] = field(default_factory=dict)


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """The claim of ``kind``, one of those that read rows of tables or files in folders: they look together which of them the files are."""
    if KEY not in files.shared:
        files.shared[KEY] = _together(files, settings)
    looked: Looked = files.shared[KEY]
    if looked.fault is not None:
        return Claim(kind, ROWS, 0, looked.what, None, fault=looked.fault, files=looked.files) if kind.name == looked.kind else None
    reading = looked.reading
    if reading is None or reading.roles.kind.name != kind.name:
        return None
    size = sum(map(len, reading.given.values()))
    return Claim(kind, ROWS, size, f"{size} {kind.things}", reading, frozenset(reading.files), files=looked.files)


@dataclass
class Looked:
    """What the kinds found together. ``kind`` is the name of the kind that tells a ``fault``."""

    files: Files
    reading: Reading | None = None
    fault: UserError | None = None
    kind: str = ""
    what: str = ""


@paused()
def _together(files: Files, settings) -> Looked:
    sources, checks = files.sources, files.checks
    for source in sources.graphs:
        sources.ignored.add(source.name, names.not_read(source.name))
    try:
        reading = _read(sources, settings, checks)
    except UserError as e:
        of_task = registry.of_task(settings.task)
        return Looked(files, fault=e, kind=of_task.name if of_task is not None and of_task.claims_by_whole_files else FIRST, what="rows")
    return Looked(files, reading)


@paused()
def load(claimed: Claim, settings, checks: Checks) -> Dataset:
    """The data of a training. Raises UserError for everything that only the user can fix."""
    reading, found, events = claimed.reading, claimed.files.sources, checks.events
    if found.ignored:
        events.decision("ignored_files", found.ignored.listed()[:1000], f"Not used: {found.ignored}.")
    roles, given = reading.roles, reading.given
    if roles.reads_images:
        whole = {id(e) for e in images.without_broken([e for rows in given.values() for e in rows], checks)}
        given = {name: [e for e in rows if id(e) in whole] for name, rows in given.items()}
    keys = Keys(roles.kind.key, found.sums(), by_row=roles.reads_cells and NUMBER not in roles.types.values())
    if roles.sets is not None:
        complete, labels = splitting.complete(given, roles.sets.separator, keys, settings, checks)
    else:
        given = subset.thin(given, settings.max_examples, keys, roles.regression, settings.seed, events)
        audit.copies(given, keys, not roles.labelled, checks)
        complete = splits.complete(given, keys, roles.regression, settings, checks)
        labels = () if not roles.labelled else tuple(sorted({e.target for e in complete["train"]}, key=names.natural))
        if labels:
            events.decision("labels", list(labels[:1000]), f"The model predicts one of {len(labels)} classes: {some(labels)}.")
        audit.examples(complete, roles.labelled, keys, checks)
        if roles.reads_cells or roles.reads_texts:
            leaks.check(complete["train"], roles, checks)
    return Dataset(
        task=roles.task,
        kind=roles.kind,
        splits=complete,
        files=reading.files,
        columns=roles.columns,
        label_column=roles.label,
        labels=labels,
        types=roles.types,
        styles=reading.styles,
        dropped=checks.dropped,
        checks=checks.entries,
        split_sha256=splits.digest(complete, keys),
        separator=roles.sets.separator if roles.sets else "",
    )


def _read(found: Sources, settings, checks: Checks) -> Reading:
    """The best reading of the files: labelled folders of images or texts, or tables. Raises UserError if two fit about equally well."""
    if settings.label_from:
        return _from_metadata(found, settings, checks)
    index = images.Index(found.images)
    labelled, faults = _folders(found, settings)
    documents = {id(f.source) for f in labelled.get("text", [])}
    sizes = {kind: len(files) for kind, files in labelled.items()} | {kind: size for kind, (size, _) in faults.items()}
    if found.tokens and _are_wanted(found, settings):
        return _from_tokens(found, settings, checks)
    for source in found.tokens:
        found.ignored.add(source.name, names.not_read(source.name))
    if settings.task == forms.TASK and not any(names.extension(t.name) != names.TEXT for t in found.tables) and (found.texts or found.documents):
        return _from_documents([*found.texts, *found.documents], settings, checks, "as requested")
    for source in found.documents:
        found.ignored.add(source.name, names.not_read(source.name))
    try:
        read = _tables([t for t in found.tables if id(t) not in documents], found.ignored, settings, checks.events)
        group, roles, seen = _choose(read, settings, index, found.ignored)
    except UserError as e:
        if not sizes and e.code == "no_table" and _are_documents(found, settings):
            return _from_documents(found.texts, settings, checks, "they are plain texts without labels")
        if not sizes:
            raise
    else:
        sizes["table"] = sum(len(t.rows) for t in group)
        if roles.reads_images:
            sizes.pop("image", None)  # the table says of the same images what they are
    best = max(sizes, key=sizes.get)
    if best in faults:
        raise faults[best][1]
    _ask_where_close(sizes, best)
    if best == "table":
        return _from_tables(group, roles, seen, index, settings, checks)
    return _from_folders(best, labelled[best], found, settings, checks)


def _are_wanted(found: Sources, settings) -> bool:
    """Whether files of tokens are what is trained on: where nobody asks for something else, and no table is there."""
    asks = settings.text_column.strip() or settings.label_column.strip()
    return not asks and (
        settings.task == forms.TASK or (settings.task == "auto" and all(names.extension(t.name) == names.TEXT for t in found.tables))
    )


def _from_tokens(found: Sources, settings, checks: Checks) -> Reading:
    checks.events.decision("task", forms.TASK, "The task is text generation: the dataset has files of tokens.")
    for source in (*found.tables, *found.documents, *found.images):
        found.ignored.add(source.name, "files of tokens are used instead")
    given = token_streams.read(found.tokens, settings, checks)
    return Reading(Roles(forms.TASK, ("tokens",), types={"tokens": "text"}), given, [s.name for s in found.tokens])


def _are_documents(found: Sources, settings) -> bool:
    asks = settings.task != "auto" or settings.text_column.strip() or settings.label_column.strip()
    return not asks and bool(found.texts) and sum(s.size for s in found.texts) >= documents.MIN_CHARACTERS


def _from_documents(sources: list, settings, checks: Checks, why: str) -> Reading:
    given = documents.read(sources, settings, checks)
    checks.events.decision("task", forms.TASK, f"The task is text generation: {len(sources)} text files are read as documents, {why}.")
    return Reading(Roles(forms.TASK, ("text",), types={"text": "text"}), given, [s.name for s in sources])


def _folders(found: Sources, settings) -> tuple[dict[str, list[folders.Labelled]], dict[str, tuple[int, UserError]]]:
    """The files labelled by folders, by kind. For a kind with unclear labels: the number of files, and the error to raise."""
    labelled, faults = {}, {}
    asks_for_column = settings.text_column.strip() or (settings.label_column.strip() and not folders.is_level(settings.label_column))
    for kind, sources_of_kind in (("image", found.images), ("text", found.texts)):
        if asks_for_column or settings.task not in ("auto", f"{kind}-classification"):
            continue
        try:
            if files := folders.read(sources_of_kind, settings.label_column):
                labelled[kind] = files
        except UserError as e:
            faults[kind] = len(sources_of_kind), e
    return labelled, faults


def _ask_where_close(sizes: dict[str, int], best: str) -> None:
    words = {"image": "images in folders", "text": "texts in folders", "table": "rows of tables"}
    close = [k for k, n in sizes.items() if n >= roles_of.CLOSE * sizes[best]]
    if len(close) > 1:
        raise UserError(
            "ambiguous_task",
            f"The dataset could be read in several ways: {some(f'{sizes[k]} {words[k]}' for k in close)}.",
            "Set task, or set data_file to the table.",
        )


def _tables(candidates: list, ignored: Ignored, settings, events: Events) -> list[Table]:
    asked = (settings.text_column, settings.label_column, settings.text_pair_column)
    wanted = {w.strip().lower() for p in asked for w in (p, *p.split(",")) if w.strip()}
    found = []
    for source in candidates:
        try:
            found.append(tables.read(source, wanted, settings, events))
        except NotATable as e:
            ignored.add(source.name, e)
    if not found:
        raise UserError(
            "no_table",
            f"No file of the dataset is a readable table: {ignored}."
            if ignored
            else "The dataset has no table, and no folders of images or texts named after labels.",
            "Add a CSV, TSV, JSON lines or Parquet file with a label column, or one folder of images or texts for each label.",
        )
    return found


def _choose(found: list[Table], settings, index: images.Index, ignored: Ignored):
    """The tables to use, the roles of their columns and their profiles. Tables that lack one of the columns are ignored and named."""
    groups = collections.defaultdict(list)
    for table in found:
        groups[tuple(sorted(c.lower() for c in table.columns))].append(table)
    refused: UserError | None = None
    for group in sorted(groups.values(), key=lambda g: -sum(len(t.rows) for t in g)):
        where = some([t.name for t in group], 3)
        try:
            seen = profiles.of(group)
            roles = roles_of.find(group, seen, settings, index, where)
        except UserError as e:
            refused = refused or e  # the user most likely means the largest table, so its error is reported
            continue
        used = [t for t in found if not t.lacks(roles.needed)]
        for table in found:
            if lacking := table.lacks(roles.needed):
                ignored.add(table.name, f"without the column {some(lacking)}")
        return used, roles, seen
    raise refused


def _from_tables(group: list[Table], roles: Roles, seen: dict, index: images.Index, settings, checks: Checks) -> Reading:
    for decision in roles.decisions:
        checks.events.decision(*decision)
    styles = {n: p.style for n, p in seen.items() if p.numeric and (roles.types.get(n) == NUMBER or (roles.regression and n == roles.label))}
    rows = Rows(roles, styles, index)
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    if roles.split:
        for table in group:
            for name, examples in rows.by_split(table).items():
                given[name] += examples
    else:
        for name, part in _split_files(group, checks.events).items():
            given[name] = [e for table in part for e in rows.examples(table)]
    where = some(sorted(t.name for t in group), 3)
    rows.report(where, settings.missing_labels, checks)
    column_checks.check(roles, seen, where, checks)
    return Reading(roles, given, sorted(t.name for t in group), styles)


def _split_files(group: list[Table], events: Events) -> dict[str, list[Table]]:
    """The tables by the split that their names stand for. Where no file is left to train on, names count for nothing."""
    given = collections.defaultdict(list)
    for table in group:
        given[names.split_of(table.name) or "train"].append(table)
    if "train" not in given:
        files = [t.name for t in group]
        events.decision("training_files", files, f"No file would be left for training, so the names of {some(files, 3)} are ignored.")
        return {"train": group}
    for split in SPLITS:
        if len(group) > 1 and given[split]:
            files = [t.name for t in given[split]]
            use = "training" if split == "train" else split
            events.decision(f"{split}_files", files, f"{some(files, 6)} {'are' if len(files) > 1 else 'is'} used for {use}.")
    return dict(given)


def _from_metadata(found: Sources, settings, checks: Checks) -> Reading:
    """The images or the texts, labelled by their metadata: the kind of which more files have a label."""
    kinds = {"image": found.images, "text": found.texts}
    by_kind = {kind: folders.by_metadata(files) for kind, files in kinds.items() if settings.task in ("auto", f"{kind}-classification")}
    kind = max(by_kind, key=lambda k: len(by_kind[k]), default="")
    if not kind or not by_kind[kind]:
        raise UserError(
            "no_label_metadata",
            f"No image or text of the dataset has a label in {settings.label_from}.",
            "Add this metadata to the files in Clowder, or leave label_from empty.",
        )
    files = by_kind[kind]
    labels = sorted({f.label for f in files}, key=names.natural)
    why = f"The labels of the {len(files)} {THINGS[kind]} are their {settings.label_from}: {some(labels, 6)}."
    return _labelled_files(kind, files, found, settings, checks, why, f"it has no {settings.label_from}")


def _from_folders(kind: str, files: list[folders.Labelled], found: Sources, settings, checks: Checks) -> Reading:
    labels = sorted({f.label for f in files}, key=names.natural)
    why = f"The folder names are the labels of the {len(files)} {THINGS[kind]}: {some(labels, 6)}."
    return _labelled_files(kind, files, found, settings, checks, why, "not in a folder named after a label")


def _labelled_files(kind: str, files: list[folders.Labelled], found: Sources, settings, checks: Checks, why: str, left_out: str) -> Reading:
    checks.events.decision("task", f"{kind}-classification", why)
    used = {id(f.source) for f in files}
    candidates = found.images if kind == "image" else found.texts
    for source in candidates:
        if id(source) not in used:
            found.ignored.add(source.name, left_out)
    read = (lambda source: source.file) if kind == IMAGE else (lambda source: folders.text(source, settings.encoding))
    given = folders.examples(files, read, checks)
    if not given["train"]:
        given = {**{n: [] for n in SPLITS}, "train": [e for rows in given.values() for e in rows]}
    columns = ("text",) if kind == "text" else ()
    return Reading(Roles(f"{kind}-classification", columns), given, [f.source.name for f in files])
