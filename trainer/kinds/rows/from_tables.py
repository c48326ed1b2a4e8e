"""From tables to a reading: which of them are used, what their columns are, and how their rows are split."""

import collections
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trainer.core import columnar
from trainer.core.example import SPLITS, Example
from trainer.core.input import Input
from trainer.data import images, names
from trainer.data.checks import Checks
from trainer.data.columns import asked as asked_columns, fills, profiles
from trainer.data.columns.features import NUMBER
from trainer.data.formats import tables, whole
from trainer.data.formats.table import NotATable, Table
from trainer.data.ordered import PLACE, RANDOM, TIME, Rule
from trainer.data.sources import Ignored
from trainer.data.together import Together
from trainer.errors import UserError, some
from trainer.kinds.rows import column_checks, file_labels, gaps, roles as roles_of, split_rules, turned_tables
from trainer.kinds.rows.belonging import Belonging
from trainer.kinds.rows.examples import Rows
from trainer.kinds.rows.labelled_files import Reading
from trainer.kinds.rows.roles import Roles
from trainer.kinds.rows.split_rules import Marks
from trainer.run_folder.events import Events

_KEPT = (
    "{column} tells rows that belong together: rows with the same one are much more alike in {label} than others. So they stay in one split, the "
    "column is not read, and the scores stand for new ones. If the model is to answer for known ones, set data.split to random."
)
_QUESTIONS = ("ambiguous_label", "one_class_in_columns")
MOST_FILLED = 0.34  # of the columns that a model reads: a table that lacks more of them is another one


def read(candidates: list[Input], ignored: Ignored, settings, events: Events) -> list[Table]:
    """The tables in these files. Raises UserError where there is none."""
    return [table for table, _ in with_files(candidates, ignored, settings, events)]


def with_files(candidates: list[Input], ignored: Ignored, settings, events: Events) -> list[tuple[Table, Input]]:
    """The tables in these files, each with its file, which may have several. Raises UserError where there is none."""
    asked = (settings.text_column, settings.label_column, settings.text_pair_column)
    wanted = {w.strip().lower() for p in asked for w in (p, *p.split(",")) if w.strip()}
    only = asked_columns.only(settings)
    large = whole.large(candidates, settings, only)
    found: list[tuple[Table, Input]] = []
    for source in candidates:
        try:
            found += [(table, source) for table in tables.read_all(source, wanted | only, settings, events, only, large)]
        except NotATable as e:
            ignored.add(source.name, e)
    if not found:
        raise no_table(ignored)
    narrowed = asked_columns.narrowed([t for t, _ in found], settings, events)
    return [(table, source) for table, (_, source) in zip(narrowed, found, strict=True)]


def no_table(ignored: Ignored) -> UserError:
    """The error for a dataset without a table to train on."""
    return UserError(
        "no_table",
        f"No file of the dataset is a readable table: {ignored}."
        if ignored
        else "The dataset has no table, and no folders of images or texts named after labels.",
        "Add a CSV, TSV, JSON lines or Parquet file with a label column, or one folder of images or texts for each label.",
    )


def choose(found: list[Table], settings, index: images.Index, ignored: Ignored):
    """The tables to use, the roles of their columns and their profiles. Tables that lack one of the columns are ignored and named."""
    fill_values = settings.fill_values if settings.repairs else fills.KEEP
    groups = collections.defaultdict(list)
    for table in found:
        groups[tuple(sorted(c.lower() for c in table.columns))].append(table)
    refused: UserError | None = None
    for group in sorted(groups.values(), key=lambda g: -sum(len(t.rows) for t in g)):
        where = some([t.name for t in group], 3)
        seen = profiles.of(group, fill_values)
        try:
            named = file_labels.reason(group, seen, settings, where)
            if not named and settings.task == "auto":
                turned_tables.check(group, found, seen, where, settings.label_column.strip().lower())
        except UserError as e:
            raise refused or e from e  # a question about all the tables, which no smaller one answers
        if named:
            seen = file_labels.add(group, seen)
        chosen = settings.with_chosen(label_column=file_labels.COLUMN) if named else settings
        try:
            roles = roles_of.find(group, seen, chosen, index, where)
            if named:
                roles.decisions = [(what, choice, named if what == "label_column" else why) for what, choice, why in roles.decisions]
        except UserError as e:
            if refused is None and e.code in _QUESTIONS:
                raise  # it can be trained on, once it is known which column is the label: a smaller table is not what is meant
            refused = refused or e  # the user most likely means the largest table, so its error is reported
            continue
        if settings.repairs and roles.reads_cells and roles.labelled:
            _fill(found, roles)
        used = [t for t in found if not t.lacks(roles.needed)]
        for table in found:
            if lacking := table.lacks(roles.needed):
                ignored.add(table.name, f"without the column {some(lacking)}")
        return used, roles, seen
    raise refused


def _fill(found: list[Table], roles: Roles) -> None:
    """Give tables that lack few of the columns that a model reads these columns, with empty cells: other sites measure other things."""
    for table in found:
        lacking = table.lacks(roles.needed)
        if not lacking or not set(lacking) <= set(roles.columns) or len(lacking) > MOST_FILLED * len(roles.columns):
            continue
        for column in lacking:
            table.append(column, table.absent or "")
        are = "are not in {}: their" if len(lacking) > 1 else "is not in {}: its"
        why = f"The column{'s' * (len(lacking) > 1)} {some(lacking, 8)} {are.format(table.name)} cells are {table.absent or 'empty'} there."
        roles.decisions.append(("filled_columns", lacking, why))


def reading(group: list[Table], roles: Roles, seen: dict, index: images.Index, settings, checks: Checks) -> Reading:
    """The examples of the tables of ``group``, with an event for every decision."""
    where = some(sorted(t.name for t in group), 3)
    roles, rule, marks, ways = _split(group, roles, seen, settings, index, where)
    for decision in roles.decisions:
        checks.events.decision(*decision)
    styles = {n: p.style for n, p in seen.items() if p.numeric and (roles.types.get(n) == NUMBER or (roles.regression and n == roles.label))}
    if (
        roles.labelled
        and roles.sets is None
        and roles.label in seen
        and (style := gaps.class_style(group, roles, seen[roles.label], settings, checks.events))
    ):
        styles[roles.label] = style
    gaps.say(roles, seen, checks.events)
    rows = Rows(roles, styles, index, marks=marks)
    parts: dict[str, list[Sequence[Example]]] = {name: [] for name in SPLITS}
    if roles.split:
        for table, examples in zip(group, rows.of_all(group), strict=True):
            if split := names.chosen_split(table.name):
                parts[split].append(examples)
                continue
            for name, part in rows.by_split(table, examples).items():
                parts[name].append(part)
    else:
        by_split = _split_files(group, checks.events)
        ordered = [t for tables in by_split.values() for t in tables]
        of_table = {id(t): examples for t, examples in zip(ordered, rows.of_all(ordered), strict=True)}
        for name, of_split in by_split.items():
            parts[name] = [of_table[id(t)] for t in of_split]
    given: dict[str, Any] = {name: columnar.joined(of_split) for name, of_split in parts.items()}
    if roles.reads_images:
        given = index.as_chosen(given)
    for table in group:
        for repair in (r for r in table.repairs if r.dropped):
            checks.drop(repair.dropped, repair.count)
    rows.report(where, settings.missing_labels, checks)
    column_checks.check(roles, seen, group, where, checks)
    return Reading(roles, given, sorted({n for t in group for n in (t.name, *t.joined)}), styles, rule, ways)


def _split(group: list[Table], roles: Roles, seen: dict, settings, index: images.Index, where: str) -> tuple[Roles, Rule, Marks, list[Together]]:
    """How the rows are split, and what else might keep them together; with the roles of the columns, one of which may tell what stays together."""
    belonging = Belonging(group, roles, seen)
    rule, marks = split_rules.choose(belonging, settings, where)
    if by := _unasked(belonging, settings, rule):
        belonging = Belonging(group, _without(by, roles, group, seen, settings, index, where), seen)
        rule, marks = split_rules.choose(belonging, settings, where)
        rule = replace(rule, whole=f"rows with the same {by}", new=f"values of {by}", unasked=by)
    ways = [] if rule.by == TIME or settings.split == PLACE else belonging.ways(rule.flatters)
    return belonging.roles, rule, marks, ways


def _unasked(belonging: Belonging, settings, rule: Rule) -> str:
    """The column by which rows are kept together although nobody asked for it; empty for none, and where the data or the user say how to split."""
    roles = belonging.roles
    is_open = settings.split == "auto" and not (settings.datasets.strip() or roles.split or roles.writes) and roles.label in belonging.seen
    if not is_open or rule.by != RANDOM or any(names.split_of(t.name) not in (None, "train") or names.chosen_split(t.name) for t in belonging.tables):
        return ""
    return belonging.clear_group()


def _without(by: str, roles: Roles, group: list[Table], seen: dict, settings, index: images.Index, where: str) -> Roles:
    """The roles of the columns where ``by`` tells which rows belong together."""
    found = roles_of.find(group, seen, settings.with_chosen(group_column=by, label_column=roles.label), index, where)
    told = {what for what, _, _ in found.decisions} - {"label_column"}
    found.decisions = [d for d in found.decisions if d[0] in told] + [d for d in roles.decisions if d[0] not in told]
    found.decisions.append(("group_column", by, _KEPT.format(column=names.column(by), label=roles.label)))
    return found


def _split_files(group: list[Table], events: Events) -> dict[str, list[Table]]:
    """The tables by the split that their names stand for. Where no file is left to train on, names count for nothing."""
    given = collections.defaultdict(list)
    for table in group:
        given[names.split_of(table.name) or "train"].append(table)
    if "train" not in given and not any(names.chosen_split(t.name) for t in group):
        files = [t.name for t in group]
        events.decision("training_files", files, f"No file would be left for training, so the names of {some(files, 3)} are ignored.")
        return {"train": group}
    for split in SPLITS:
        if len(group) > 1 and given[split]:
            files = [t.name for t in given[split]]
            use = "training" if split == "train" else split
            events.decision(f"{split}_files", files, f"{some(files, 6)} {'are' if len(files) > 1 else 'is'} used for {use}.")
    return dict(given)
