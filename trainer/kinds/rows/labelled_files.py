"""Files as examples: labelled by their folders, by their metadata, or by their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trainer.core import registry
from trainer.core.example import SPLITS, Example
from trainer.data import file_names, folders, names, together
from trainer.data.checks import Checks
from trainer.data.columns import choices, dates, profiles, values
from trainer.data.columns.values import Style
from trainer.data.formats.table import Table
from trainer.data.ordered import Rule
from trainer.data.sources import Sources
from trainer.data.together import Together
from trainer.errors import UserError, some
from trainer.kinds.rows import label_sets
from trainer.kinds.rows.roles import IMAGE, Roles

THINGS = {"image": "images", "text": "texts"}
GOALS = CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass
class Reading:
    """One way to read the dataset: its examples by given split, and their files."""

    roles: Roles
    given: Mapping[str, Sequence[Example]]
    files: list[str]
    styles: dict[str, Style] = field(default_factory=dict)
    rule: Rule | None = None  # none where the examples are no rows of tables
    together: list[Together] = field(default_factory=list)


def from_metadata(found: Sources, settings, checks: Checks) -> Reading:
    """The images or the texts, labelled by their metadata: the kind of which more files have a label."""
    kinds = {"image": found.images, "text": found.readable}
    by_kind = {
        kind: folders.by_metadata(files)
        for kind, files in kinds.items()
        if settings.task in ("auto", label_sets.TASKS[kind], *(f"{kind}-{goal}" for goal in GOALS))
    }
    kind = max(by_kind, key=lambda k: len(by_kind[k]), default="")
    if not kind or not by_kind[kind]:
        raise UserError(
            "no_label_metadata",
            f"No image, text or table of the dataset has a label in {settings.label_from}.",
            "Add this metadata to the files in Clowder, or leave label_from empty.",
        )
    files = by_kind[kind]
    table = Table(settings.label_from, [settings.label_from], [(i, [f.label]) for i, f in enumerate(files)])
    asked = settings.task == label_sets.TASKS[kind]
    if (asked or settings.task == "auto") and (sets := label_sets.in_column(settings.label_from, [table], asked)):
        return _with_sets(kind, files, sets, found, settings, checks)
    if asked:
        raise UserError(
            "no_label_sets", f"No {settings.label_from} of the {THINGS[kind]} has several labels, which {settings.task} needs.",
            "Separate the labels of a file by a semicolon.",
        )  # fmt: skip
    profile = profiles.of([table])[settings.label_from]
    if registry.predicts_numbers(settings.task) or (settings.task == "auto" and profile.is_measure):
        return _numbered_files(kind, files, profile, found, settings, checks)
    labels = sorted({f.label for f in files}, key=names.natural)
    why = f"The labels of the {len(files)} {THINGS[kind]} are their {settings.label_from}: {some(labels, 6)}."
    return _labelled_files(kind, files, found, settings, checks, why, f"it has no {settings.label_from}")


def _with_sets(kind: str, files: list[folders.Labelled], sets: label_sets.Form, found: Sources, settings, checks: Checks) -> Reading:
    """Files with several labels each in their metadata."""
    clean = [replace(f, label=label_sets.joined(label_sets.parts(f.label, sets.separator), sets.separator)) for f in files]
    reading = _labelled_files(kind, clean, found, settings, checks, sets.why, f"it has no {settings.label_from}", task=label_sets.TASKS[kind])
    reading.roles.label, reading.roles.sets = settings.label_from, sets
    return reading


def _numbered_files(kind: str, files: list[folders.Labelled], profile: profiles.Profile, found: Sources, settings, checks: Checks) -> Reading:
    """Files with a number each in their metadata, in place of a label."""
    choices.check_label(profile, "the metadata", f"{kind}-{REGRESSION}")
    read = values.as_numbers([f.label for f in files], profile.style)
    numbered = [replace(f, label=number) for f, number in zip(files, read) if number]
    what = f"{len(numbered)} {THINGS[kind]} have numbers in {settings.label_from}"
    reading = _labelled_files(
        kind, numbered, found, settings, checks, f"{what}: the model predicts them.", f"no number in {settings.label_from}", REGRESSION
    )
    reading.roles.label, reading.styles = settings.label_from, {settings.label_from: Style()}
    return reading


def from_folders(kind: str, files: list[folders.Labelled], found: Sources, settings, checks: Checks) -> Reading:
    labels = sorted({f.label for f in files}, key=names.natural)
    if settings.task == "auto" and not settings.label_column.strip() and all(map(together.is_numbered_thing, labels)):
        raise UserError(
            "ambiguous_label",
            f"The folders of the {len(files)} {THINGS[kind]} are numbered like things that have several, and not like classes: {some(labels, 6)}.",
            f"To predict the folder, set task to {kind}-{CLASSIFICATION}. Otherwise use one folder for each label, or a table that names the files.",
        )
    if settings.task == "auto" and not settings.label_column.strip() and all(map(dates.is_day, labels)):
        raise UserError(
            "ambiguous_label",
            f"The folders of the {len(files)} {THINGS[kind]} are days, and not classes: {some(labels, 6)}.",
            f"To predict the day, set task to {kind}-{CLASSIFICATION}. Otherwise use one folder for each label, or a table that names the files.",
        )
    why = f"The folder names are the labels of the {len(files)} {THINGS[kind]}: {some(labels, 6)}."
    return _labelled_files(kind, files, found, settings, checks, why, "not in a folder named after a label")


def _labelled_files(
    kind: str, files: list[folders.Labelled], found: Sources, settings, checks: Checks, why: str, left_out: str, goal: str = CLASSIFICATION,
    task: str = "",
) -> Reading:  # fmt: skip
    task = task or f"{kind}-{goal}"
    checks.events.decision("task", task, why)
    used = {id(f.source) for f in files}
    candidates = found.images if kind == "image" else found.readable
    for source in candidates:
        if id(source) not in used:
            found.ignored.add(source.name, left_out)
    read = (lambda source: source.file) if kind == IMAGE else (lambda source: folders.text(source, settings.encoding))
    given = folders.examples(files, read, checks)
    if not given["train"]:
        given = {**{n: [] for n in SPLITS}, "train": [e for rows in given.values() for e in rows]}
    columns = ("text",) if kind == "text" else ()
    return Reading(Roles(task, columns), given, [f.source.name for f in files])


def from_names(found: Sources, settings, checks: Checks) -> Reading:
    """The images with the class in their file names. Raises UserError where it is not there."""
    tests = {i.name for i in found.images if names.split_of(i.name) == "test" and not any(c.isalpha() for c in names.stem(i.name))}
    files, why = file_names.read([i for i in found.images if i.name not in tests], settings.label_column)  # numbers are test images without a label
    if not files:
        raise file_names.unlabelled(found.images, str(found.ignored))
    return _labelled_files(IMAGE, files, found, settings, checks, why, "its name has no label in the place where others have it")
