"""The roles of the columns of a table, and the task that follows from them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from trainer.core import registry
from trainer.core.kind import Kind
from trainer.data import names
from trainer.data.columns import choices, features, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.data.images import Index
from trainer.errors import UserError, some
from trainer.kinds.derived import by_loss, candidates, part as parts
from trainer.kinds.rows import conversations as forms, label_sets, numbers, pairs, unsupported_tasks
from trainer.kinds.rows.clues import follow_up, same

TEXT, IMAGE, TABLE, LANGUAGE = "text", "image", "table", "language"  # the kinds that read rows
WORDS = {TEXT: "text", IMAGE: "image", TABLE: "tabular"}  # how their tasks begin
CLOSE = 0.9  # ratio of two scores from which a choice counts as ambiguous


@dataclass
class Roles:
    """``columns`` is what a model reads. ``decisions`` holds (what, choice, why) for the events, should this table be used."""

    task: str = ""
    columns: tuple[str, ...] = ()
    label: str = ""
    types: dict[str, str] = field(default_factory=dict)
    id: str = ""
    split: str = ""
    group: str = ""
    sets: label_sets.Form | None = None  # how the labels are written where rows have several
    class_names: dict[str, str] = field(default_factory=dict)  # of labels that are numbers, where a file has them
    decisions: list[tuple[str, object, str]] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        return registry.of_task(self.task)

    @property
    def regression(self) -> bool:
        return self.task.endswith("regression")

    @property
    def labelled(self) -> bool:
        """Whether every example has one of several labels."""
        return not self.regression and not self.writes

    @property
    def writes(self) -> bool:
        """Whether a model learns to write what the columns hold."""
        return self.kind.name == LANGUAGE

    @property
    def reads_images(self) -> bool:
        return self.kind.name == IMAGE

    @property
    def reads_cells(self) -> bool:
        """Whether a model reads columns of numbers and categories."""
        return self.kind.name == TABLE

    @property
    def reads_texts(self) -> bool:
        return self.kind.name == TEXT

    @property
    def needed(self) -> tuple[str, ...]:
        """Every column that a table must have."""
        return tuple(
            dict.fromkeys(c for c in (*self.columns, *(self.sets.columns if self.sets else (self.label,)), self.id, self.split, self.group) if c)
        )


def find(tables: list[Table], seen: dict[str, Profile], settings, images: Index, where: str) -> Roles:
    """The roles of the columns of ``tables``. Raises UserError where they fit no task, or more than one."""
    roles = Roles()
    _side_columns(roles, tables, seen, settings, where)
    rest = {n: p for n, p in seen.items() if n not in (roles.id, roles.split, roles.group)}
    if form := forms.find(tables, rest, settings, where):
        return _language(roles, form, settings.task)
    paths = _image_columns(tables, rest, settings, images)
    if settings.task == label_sets.IMAGE_TASK:
        _kind(rest, paths, settings, where)
    if sets := label_sets.find(tables, rest, settings, where, [] if settings.text_column.strip() else paths):
        return _label_sets(roles, sets, rest, settings, where, paths)
    if settings.task == "auto" and not (settings.label_column or settings.text_column):
        if few := forms.classes_in_answers(rest):
            roles.decisions.append(("task", "text-classification", few))
        unsupported_tasks.check(tables, rest, where)
    if settings.task.startswith(("auto", "image")) and not (paths or settings.text_column.strip()):
        _check_images(tables, rest, images, where)
    in_order = all(t.in_order for t in tables)
    choice = choices.label({n: p for n, p in rest.items() if n not in paths}, settings.label_column, where, settings.task, bool(paths), in_order)
    roles.label = choice.columns[0]
    roles.decisions.append(("label_column", roles.label, choice.why))
    if not settings.label_column.strip() and roles.label.strip().lower() not in names.LABELS:
        besides = {n: p for n, p in rest.items() if n not in paths}
        same.check_one_of(roles.label, besides, tables, where)
        same.check_alike(roles.label, besides, tables, where)
    roles.decisions += same.without_twins(roles.label, rest, tables)
    roles.decisions += follow_up.without(roles.label, settings, rest, tables, where)
    rest.pop(roles.label)
    kind = _kind(rest, paths, settings, where)
    if kind in (TEXT, TABLE) and settings.task == "auto":
        kind = _by_loss(roles, kind, tables, rest, seen[roles.label], settings, where)
    goal = _goal(seen[roles.label], settings.task)
    roles.task = f"{WORDS[kind]}-{goal}"
    if kind == "image":
        if roles.regression and not (settings.label_column.strip() or registry.predicts_numbers(settings.task)):
            numbers.check(roles.label, {**rest, roles.label: seen[roles.label]}, tables, where)
        others = {n: p for n, p in rest.items() if n not in paths} if settings.task == "auto" else {}
        if others and _table_score(others):
            _picture(roles, paths, by_loss.of_columns(tables, others, seen[roles.label], settings))
        else:
            _picture(roles, paths)
    elif kind == "text":
        _text(roles, rest, settings, where)
    else:
        roles.types, why = features.choose(rest, where, candidates.of(tables, rest, settings.picture_vectors != parts.NO_VECTORS))
        roles.columns = tuple(roles.types)
        roles.decisions.append(("columns", list(roles.columns), why))
    _amounts(roles, seen)
    roles.decisions.append(("task", roles.task, _task_reason(roles, seen[roles.label], settings.task)))
    return roles


def _label_sets(roles: Roles, sets: label_sets.Form, rest: dict[str, Profile], settings, where: str, paths: list[str]) -> Roles:
    kind = IMAGE if paths and not settings.text_column.strip() else TEXT
    roles.task, roles.sets, roles.label = label_sets.TASKS[kind], sets, sets.name
    roles.decisions.append(("label_column", list(sets.columns), sets.why))
    if kind == IMAGE:
        _picture(roles, paths)
    else:
        _text(roles, {n: p for n, p in rest.items() if n not in sets.columns}, settings, where)
    things = "an image" if kind == IMAGE else "a row"
    why = "as requested" if settings.task == roles.task else f"{things} may have several labels, or none"
    roles.decisions.append(("task", roles.task, f"The task is multi-label classification: {why}."))
    return roles


def _image_columns(tables: list[Table], rest: dict[str, Profile], settings, images: Index) -> list[str]:
    """The columns that name images of the dataset. Several rows may be about one image, but not where they have texts of their own."""
    if not settings.task.startswith(("auto", "image")):
        return []
    repeated = not any(p.is_free_text for p in rest.values())
    return [n for n in rest if images.holds([c for t in tables for c in t.sample(n)], repeated)]


def _picture(roles: Roles, paths: list[str], others: str | None = None) -> None:
    """``others`` says what the columns are worth that are not read; None where there are none."""
    roles.columns = (paths[0],)
    why = f"{names.column(paths[0])} contains the names of images in the dataset."
    if others is not None:
        set_to = f"set task to {WORDS[TABLE]}-{roles.task.rpartition('-')[2]} and label_column to {roles.label}"
        told = f", although they tell {roles.label}: {others}" if others else ""
        why += f" The other columns are not read{told}. For a model of all columns, with colours and edges of images, {set_to}."
    roles.decisions.append(("image_column", paths[0], why))


def _amounts(roles: Roles, seen: dict[str, Profile]) -> None:
    """Say how the numbers are read that are not written as programs write them."""
    read = [n for n in roles.columns if roles.types.get(n) == features.NUMBER] + [roles.label] * roles.regression
    for words, found in itertools.groupby(sorted((seen[n].notation.words(seen[n].comma), n) for n in read), key=lambda w: w[0]):
        named = [n for _, n in found]
        if words:
            what = f"The columns {some(named, 6)} are" if len(named) > 1 else f"{names.column(named[0])} is"
            roles.decisions.append(("numbers", named[:12], f"{what} read as numbers: {words}."))


def _language(roles: Roles, form: forms.Form, wanted: str) -> Roles:
    roles.task, roles.columns, roles.types, roles.label = forms.TASK, tuple(form.parts), form.parts, form.answer
    roles.decisions.append(("columns", list(roles.columns), form.why))
    why = "as requested" if wanted == forms.TASK else "the data are written for a language model"
    roles.decisions.append(("task", roles.task, f"The task is text generation: {why}."))
    return roles


def _check_images(tables: list[Table], rest: dict[str, Profile], images: Index, where: str) -> None:
    """Raise UserError where a column names images, most of which are not in the dataset, and there is little else to learn from."""
    for name in rest if not any(p.is_free_text or p.is_measure for p in rest.values()) else ():
        cells = [c for t in tables for c in t.sample(name) if c.strip()]
        if cells and sum(names.extension(c.strip()) in names.IMAGES for c in cells) >= values.MOSTLY * len(cells):
            if images.unclear(cells):
                raise UserError(
                    "unclear_images",
                    f"The column {name} of {where} names images by their folders, for example {cells[0].strip()[:80]}, "
                    "but the dataset has images of the same name without these folders.",
                    "Upload the images with their folders as one ZIP archive: Clowder may drop folders. Or give every image a name of its own.",
                )
            raise UserError(
                "no_images",
                f"The column {name} of {where} names images that are mostly not in the dataset, for example {cells[0].strip()[:80]}.",
                "Add the images to the dataset, as files or as a ZIP archive, or set text_column to a column with text.",
            )


def _side_columns(roles: Roles, tables: list[Table], seen: dict[str, Profile], settings, where: str) -> None:
    """The columns that are neither inputs nor the label."""
    for role in ("id", "split", "group"):
        if wanted := getattr(settings, f"{role}_column").strip():
            setattr(roles, role, choices.resolve(wanted, seen, f"{role}_column", where))
    if roles.split or settings.label_column.strip().lower() in names.SPLIT_COLUMNS:
        return
    for name in (n for n in seen if 2 <= seen[n].distinct <= 4 and n.strip().lower() != settings.label_column.strip().lower()):
        cells = {c.strip() for t in tables for c in t.different(name)}
        if (
            all(map(names.is_split, cells))
            or (name.strip().lower() in names.SPLIT_COLUMNS and all(map(names.split_of, cells)))
            or names.says_split(name, cells)
        ):
            roles.split = name
            roles.decisions.append(("split_column", name, f"{names.column(name)} assigns the rows to training, validation and test."))
            return


def _kind(rest: dict[str, Profile], paths: list[str], settings, where: str) -> str:
    """What the examples are: text, image or table."""
    if settings.task != "auto":
        kind = registry.of_task(settings.task).name
        if kind == "image" and not paths:
            raise UserError(
                "no_images",
                f"No column of {where} contains names of images in the dataset, which {settings.task} needs.",
                "Add the images to the dataset, and a column with their file names; or put them into one folder for each label.",
            )
        if kind not in WORDS:
            raise UserError("other_task", f"The rows of {where} are no examples for {settings.task}.", "Set task to auto, or add such data.")
        return kind
    if paths:
        return "image"
    if settings.text_column.strip() or settings.text_pair_column.strip():
        return "text"
    text, table = _text_score(rest), _table_score(rest)
    if text or table:
        return "text" if text > table else "table"
    if rest and all(p.tells_when_or_where for p in rest.values()):
        raise UserError(
            "only_times",
            f"{where} has nothing but {some(rest)} to predict from, which only says when or where the rows are from.",
            "Add columns that were measured with the label. For a forecast of the next steps, bring the rows to regular times, for example one for "
            "each day, and set task to forecast. To predict from this column alone, set task to tabular-regression or tabular-classification.",
        )
    return "text" if any(p.cells and not p.numeric for p in rest.values()) and len(rest) == 1 else "table"


def _by_loss(roles: Roles, kind: str, tables: list[Table], rest: dict[str, Profile], label: Profile, settings, where: str) -> str:
    """Text or table, where rows have texts and other columns: what the loss on held-out rows says. Raises UserError where the words leave it open
    and there are too few rows to tell."""
    text, table = _text_score(rest), _table_score(rest)
    close = min(text, table) >= CLOSE * max(text, table)
    asked = settings.text_column.strip() or settings.text_pair_column.strip()
    if not (text and table) or asked or pairs.find(rest) or (kind == TABLE and not close):
        return kind
    chosen = by_loss.choose(tables, rest, label, settings, close)
    if chosen is not None:
        roles.decisions.append(("reading", TABLE if chosen.table else TEXT, chosen.why))
        return TABLE if chosen.table else TEXT
    if close:
        raise UserError(
            "ambiguous_task",
            f"The rows of {where} could be read as texts or as tables of numbers and categories.",
            "Set task to text-classification or tabular-classification, or to the regression task.",
        )
    return kind


def _text_score(rest: dict[str, Profile]) -> float:
    """The score for a text task: the words of the longest text column, times three if its name suggests a text or one of a pair."""
    pair = found.columns if (found := pairs.find(rest)) else ()
    named = {n: n in pair or p.is_named_text for n, p in rest.items()}
    return max((p.words * (3 if named[n] else 1) for n, p in rest.items() if p.cells and not p.numeric and (named[n] or p.is_free_text)), default=0.0)


def _table_score(rest: dict[str, Profile]) -> float:
    """The score for a tabular task: twice the number of columns with numbers or categories."""
    usable = {n: p for n, p in rest.items() if not p.is_named_text}
    try:
        return 2.0 * len(features.choose(usable, "")[0])
    except UserError:
        return 0.0


def _goal(label: Profile, task: str) -> str:
    if task != "auto":
        return task.rpartition("-")[2]
    return "regression" if label.is_measure else "classification"


def _text(roles: Roles, rest: dict[str, Profile], settings, where: str) -> None:
    pair = settings.text_pair_column.strip()
    second = choices.resolve(pair, rest, "text_pair_column", where) if pair else ""
    if not pair and not settings.text_column.strip() and (found := pairs.find(rest)):
        roles.columns, roles.types = found.columns, {found.columns[1]: "pair"}
        roles.decisions.append(("text_columns", list(found.columns), found.why))
        return
    choice = choices.text({n: p for n, p in rest.items() if n != second} if second else rest, settings.text_column, roles.label, where)
    roles.decisions.append(("text_columns", list(choice.columns), choice.why))
    roles.columns = choice.columns
    if second:
        roles.columns, roles.types = (*choice.columns, second), {second: "pair"}
        roles.decisions.append(("text_pair_column", second, f"{second} is read as the second text, as requested."))


def _task_reason(roles: Roles, label: Profile, wanted: str) -> str:
    task = roles.task.replace("-", " ")
    if wanted != "auto":
        return f"The task is {task}, as requested."
    goal = f"{label.distinct} different numbers in {roles.label}" if roles.regression else f"{label.distinct} different labels in {roles.label}"
    if roles.regression and label.is_class:
        goal += f", which are counts by their name; for classes, set task to {WORDS[roles.kind.name]}-classification"
    reading = {"text": "rows of text", "image": "images named in a table", "table": "columns of numbers and categories"}[roles.kind.name]
    return f"The task is {task}: the data are {reading} with {goal}."
