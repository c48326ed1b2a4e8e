"""From the files of a dataset to examples in three splits, with an event for every decision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainer import memory
from trainer.core import mapped, registry
from trainer.core.example import Dataset, Example
from trainer.core.example_targets import counted_targets
from trainer.core.kind import Kind
from trainer.data import audit, chosen, file_names, folders, images, names, ordered, origins, splits, subset, together
from trainer.data.checks import Checks
from trainer.data.claims import ROWS, Claim, Files
from trainer.data.columns import label_tables
from trainer.data.columns.features import CATEGORY, NUMBER, PICTURE, TEXT
from trainer.data.cut import Cut
from trainer.data.formats.table import Table
from trainer.data.keys import Keys
from trainer.data.near import pictures as near_pictures, texts as near_texts
from trainer.data.pictures import looks
from trainer.data.sources import Sources
from trainer.errors import UserError, some
from trainer.gc_pause import paused
from trainer.kinds.derived import candidates
from trainer.kinds.rows import (
    conversations as forms,
    described_files,
    from_tables,
    label_splits as splitting,
    labelled_files,
    leaks,
    number_texts,
    roles as roles_of,
    row_by_row,
    unlabelled_files,
)
from trainer.kinds.rows.clues import class_names, contests, copies, named_files, other_files
from trainer.kinds.rows.labelled_files import Reading
from trainer.kinds.rows.roles import IMAGE, TABLE, Roles

KEY = "rows"  # in what kinds share
FEW = 50_000  # examples of a split that are a list: its examples have an identity, by which rows that were held out are told from others
FIRST = "table"  # the kind that tells why no rows can be read


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """The claim of ``kind``, one of those that read rows of tables or files in folders: they look together which of them the files are. None where
    the user chose a task of another kind."""
    of_task = registry.of_task(settings.task)
    if of_task is not None and not of_task.claims_by_whole_files:
        return None
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
        if settings.task in registry.of(TABLE).tasks and sources.images:
            settings = candidates.as_installed(settings, files.spec.models)
        reading = _read(sources, settings, checks)
    except UserError as e:
        of_task = registry.of_task(settings.task)
        return Looked(files, fault=e, kind=of_task.name if of_task is not None and of_task.claims_by_whole_files else FIRST, what="rows")
    return Looked(files, reading)


@paused()
def load(claimed: Claim, settings, checks: Checks) -> Dataset:
    """The data of a training. Raises UserError for everything that only the user can fix."""
    memory.release()  # what was needed to read the files
    reading, found, events = claimed.reading, claimed.files.sources, checks.events
    checks.ignore(found.ignored.items())
    roles = reading.roles
    given: dict[str, Any] = {**reading.given}  # lists, or views of columns
    by_names = together.of_files(given)
    rule = reading.rule
    if rule is None and settings.split == ordered.GROUP and by_names and not found.origins.others:
        given, rule = together.kept(given, by_names[0], roles.kind.things)
    elif rule is None and not (settings.split == ordered.GROUP and found.origins.others):
        ordered.check_random(settings.split, roles.kind.things)
    if roles.reads_images:
        whole = {id(e) for e in images.of_one_sort(images.without_broken([e for rows in given.values() for e in rows], checks), checks)}
        given = {name: [e for e in rows if id(e) in whole] for name, rows in given.items()}
    chosen.check(claimed.files.spec.inputs, given, checks.not_read)
    grouped = origins.group(given, found.origins, roles.labelled, settings, rule, checks)
    ways = [] if grouped.rule.whole else [*together.of_datasets(given, found.origins), *(reading.together or by_names)]
    given, rule = grouped.rows, grouped.rule
    if roles.reads_images or (roles.reads_texts and not roles.writes):
        near = near_pictures if roles.reads_images else near_texts
        given, rule = near.together(given, roles.labelled, settings.split, rule, checks)
    by_time = roles.reads_cells and rule.by == ordered.TIME
    by_row = roles.reads_cells and NUMBER not in roles.types.values()
    keys = Keys(_key(roles), found.sums(), by_row, by_time, _cells_of_key(roles), checks.events.path.parent)
    complete: Mapping[str, Sequence[Example]]
    if roles.sets is not None:
        complete, labels = splitting.complete(given, roles.sets.separator, keys, settings, checks, rule)
    else:
        given = subset.thin(given, settings.max_examples, keys, roles.regression, settings.seed, events)
        audit.copies(given, keys, not roles.labelled, checks)
        memory.release()
        complete = splits.complete(given, keys, roles.regression, settings, checks, rule)
        labels = () if not roles.labelled else tuple(sorted(counted_targets(complete["train"]), key=names.natural))
        if labels:
            events.decision("labels", list(labels[:1000]), f"The model predicts one of {len(labels)} classes: {some(labels)}.")
        audit.examples(complete, roles.labelled, keys, checks)
        if roles.reads_cells or roles.reads_texts:
            leaks.check(complete["train"], roles, checks)
    if checks.cut == Cut():
        checks.cut = claimed.files.checks.cut  # of what was cut while it was read
    split_sha256 = splits.digest(complete, keys)
    mapped.rest()
    memory.release()
    return Dataset(
        task=roles.task,
        kind=roles.kind,
        splits={name: list(rows) if len(rows) <= FEW else rows for name, rows in complete.items()},
        files=reading.files,
        columns=roles.columns,
        label_column=roles.label,
        labels=labels,
        types=roles.types,
        styles=reading.styles,
        dropped=checks.dropped,
        not_read=checks.not_read,
        checks=checks.entries,
        split_sha256=split_sha256,
        separator=roles.sets.separator if roles.sets else "",
        kept_by=rule.unasked if checks.cut.by == ordered.GROUP else "",
        together=tuple(ways),
    )


def _cells_of_key(roles: Roles) -> int | None:
    """How many of the first cells of a row are what is equal for copies; None for all. Of tables these are numbers and categories, where there are
    any and no texts, else all but names of pictures, which come last: a row stays in its split, whatever else is read of it."""
    sorts = [*roles.types.values()]
    plain = sum(t in (NUMBER, CATEGORY) for t in sorts)
    if not roles.reads_cells or plain in (0, len(sorts)) or (TEXT in sorts and PICTURE not in sorts):
        return None
    return len(sorts) - sorts.count(PICTURE) if TEXT in sorts else plain


def _key(roles: Roles) -> Callable[[Example], str]:
    """What is equal for copies of an example."""
    if (cells := _cells_of_key(roles)) is None:
        return roles.kind.key
    return lambda e: roles.kind.key(replace(e, content=e.content[:cells]))


def _read(found: Sources, settings, checks: Checks) -> Reading:
    """The best reading of the files: labelled folders of images or texts, or tables. Raises UserError if two fit about equally well."""
    if settings.label_from:
        return described_files.read(found, settings, checks)
    index = images.Index(found.images)
    labelled, faults = _folders(found, settings)
    documents = {id(f.source) for f in labelled.get("text", [])}
    sizes = {kind: len(files) for kind, files in labelled.items()} | {kind: size for kind, (size, _) in faults.items()}
    if found.tokens and unlabelled_files.are_tokens_asked_for(found, settings):
        return unlabelled_files.from_tokens(found, settings, checks)
    for source in found.tokens:
        found.ignored.add(source.name, names.not_read(source.name))
    if settings.task == forms.TASK and not any(names.extension(t.name) not in names.ANY_CONTENT for t in found.tables) and found.readable:
        return unlabelled_files.from_documents(found.readable, settings, checks, "as requested")
    for source in (*found.tokens, *(d for d in found.documents if id(d) not in documents and d not in found.tables)):
        found.ignored.add(source.name, names.not_read(source.name))
    try:
        group, roles, seen = _tables([t for t in found.tables if id(t) not in documents], documents, found, index, settings, checks)
    except UserError as e:
        if not sizes:
            return _without_tables(found, settings, checks, e)
    else:
        sizes["table"] = sum(len(t.rows) for t in group)
        if roles.reads_images:
            sizes.pop("image", None)  # the table says of the same images what they are
    best = max(sizes, key=sizes.get)
    if best in faults:
        raise faults[best][1]
    _ask_where_close(sizes, best)
    if best == "table":
        class_names.name(group, roles, found)
        return from_tables.reading(group, roles, seen, index, settings, checks)
    if best == "text" and settings.task == "auto":
        number_texts.check([f.source for f in labelled[best]])
    return labelled_files.from_folders(best, labelled[best], found, settings, checks)


def _tables(sources: list, labelled: set[int], found: Sources, index: images.Index, settings, checks: Checks):
    """The tables to use, the roles of their columns and their profiles; with labels that stand in other files. ``labelled`` are texts in folders
    of labels, by identity."""
    read = contests.without_answers(_tables_or_lines(sources, found, settings, checks), index, found.ignored)
    read = copies.without(read, found.ignored)
    if not read:
        raise from_tables.no_table(found.ignored)
    if not settings.repairs:
        _look(read, found, index, settings, checks)
        return from_tables.choose(read, settings, index, found.ignored)
    named = named_files.add_texts(read, [d for d in found.readable if id(d) not in labelled], found.ignored, settings.encoding)
    named_files.check(read, found.images, found.ignored, settings.label_column.strip().lower())
    added = row_by_row.add(read, sources, found.ignored, settings.label_column.strip().lower())
    if not added.label:
        label, why = label_tables.add(read, settings.label_column, checks.events.path.parent)
        if not label and not settings.label_column.strip():
            label, why = contests.label(read)
        added = replace(added, label=label, decisions=[*added.decisions, *([("label_column", label, why)] if label else [])])
    chosen = settings.with_chosen(label_column=added.label) if added.label else settings
    if added.group and not settings.group_column.strip():
        chosen = chosen.with_chosen(group_column=added.group)
    _look(read, found, index, settings, checks)
    group, roles, seen = from_tables.choose(read, chosen, index, found.ignored)
    copies.check_forms(group)
    if not chosen.label_column.strip() and roles.label.lower() not in names.LABELS:
        other_files.check_labels(group, read, roles.label)
    if roles.label == added.label:
        told = {what for what, _, _ in added.decisions}
        roles.decisions = [*added.decisions, *(d for d in roles.decisions if d[0] not in told)]
    roles.decisions += named
    return group, roles, seen


def _look(read: list, found: Sources, index: images.Index, settings, checks: Checks) -> None:
    """Add what the pictures look like that columns name, where a model of tables is asked for."""
    if settings.task in registry.of(TABLE).tasks and found.images:
        looks.read(read, index, (), checks.events)


def _tables_or_lines(sources: list, found: Sources, settings, checks: Checks) -> list[Table]:
    """The tables in ``sources``; where there is none but small ones, the texts whose labels are the lines of other files."""
    lines = row_by_row.texts(sources) if settings.repairs and settings.task in ("auto", *registry.of(roles_of.TEXT).tasks) else []
    try:
        read = from_tables.read(sources, found.ignored, settings, checks.events)
    except UserError as e:
        if e.code != "no_table" or not lines:
            raise
        read = []
    if not lines or any(len(t.rows) >= row_by_row.MIN_ROWS for t in read):
        return read
    for table in lines:
        found.ignored.used(table.name)
    for table in read:
        found.ignored.add(table.name, "texts with labels are read instead")
    return lines


def _without_tables(found: Sources, settings, checks: Checks, error: UserError) -> Reading:
    """Files without labels in folders or tables: documents, or images with labels in their names. Raises ``error`` where they are neither."""
    if error.code == "no_table" and unlabelled_files.are_documents(found, settings):
        number_texts.check(found.texts)
        return unlabelled_files.from_documents(found.texts, settings, checks, "they are plain texts without labels")
    if error.code == "no_table" and len(found.images) >= file_names.FEWEST and _may_be_classes(settings):
        return labelled_files.from_names(found, settings, checks)
    raise error


def _may_be_classes(settings) -> bool:
    """Whether the images can have their classes in their names."""
    asks = settings.text_column.strip() or (settings.label_column.strip() and not file_names.is_level(settings.label_column))
    return not asks and settings.task in ("auto", f"{IMAGE}-classification")


def _folders(found: Sources, settings) -> tuple[dict[str, list[folders.Labelled]], dict[str, tuple[int, UserError]]]:
    """The files labelled by folders, by kind. For a kind with unclear labels: the number of files, and the error to raise."""
    labelled, faults = {}, {}
    asks_for_column = settings.text_column.strip() or (settings.label_column.strip() and not folders.is_level(settings.label_column))
    for kind, sources_of_kind in (("image", found.images), ("text", found.readable)):
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
