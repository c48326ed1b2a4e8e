"""The examples that an earlier model is to answer."""

import dataclasses
from dataclasses import replace
from typing import Any, NoReturn

from trainer.core.columnar import Columnar
from trainer.core.columns import Columns
from trainer.core.example import Example
from trainer.core.kind import Kind
from trainer.data import folders, images as image_files, names, sources
from trainer.data.columns import profiles, values
from trainer.data.columns.choices import listed, resolve
from trainer.data.columns.features import NUMBER, PICTURE
from trainer.data.columns.fills import KEEP
from trainer.data.columns.values import Style
from trainer.data.formats import tables, whole
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.table import NotATable, Table
from trainer.data.images import Index
from trainer.data.pictures import looks
from trainer.data.sources import Sources
from trainer.errors import UserError, left_out, some
from trainer.gc_pause import paused
from trainer.kinds.rows import conversations as forms, row_by_row
from trainer.kinds.rows.clues import named_files
from trainer.kinds.rows.examples import PAIR, Rows
from trainer.kinds.rows.roles import IMAGE, LANGUAGE, TABLE, TEXT, Roles
from trainer.run_folder.events import Events

Read = tuple[list[Example], list[str], int]  # examples, their files, and how many rows were left out


@paused()
def images(kind: Kind, found: Sources, columns: Columns, settings, events: Events) -> Read:
    """Every image that can be decoded is an example."""
    if found.images:
        return _images(found.images, events)
    raise _nothing(kind, columns.names, found.ignored)


@paused()
def cells(kind: Kind, found: Sources, columns: Columns, settings, events: Events) -> Read:
    """Tables that have the columns are read, whatever else they hold."""
    return _of_tables(kind, found, columns, settings, events) or _raise(_nothing(kind, columns.names, found.ignored))


@paused()
def texts(kind: Kind, found: Sources, columns: Columns, settings, events: Events) -> Read:
    """The columns that the user names, or those of the model. Where no table fits, every text file is an example."""
    names_read, types = _wanted(settings.text_column, columns.names, columns.types)
    return _or_files(kind, found, replace(columns, names=names_read, types=types), settings, events)


@paused()
def prompts(kind: Kind, found: Sources, columns: Columns, settings, events: Events) -> Read:
    """The columns with the prompts. Where no table fits, every text file is an example."""
    names_read, types = _prompt_columns(settings.text_column, columns.types)
    return _or_files(kind, found, replace(columns, names=names_read, types=types), settings, events)


READERS = {IMAGE: images, TABLE: cells, TEXT: texts, LANGUAGE: prompts}


def _or_files(kind: Kind, found: Sources, columns: Columns, settings, events: Events) -> Read:
    if (read := _of_tables(kind, found, columns, settings, events)) is not None:
        return read
    if found.readable:
        return _texts(found.readable, settings.encoding, events)
    raise _nothing(kind, columns.names, found.ignored)


def _of_tables(kind: Kind, found: Sources, columns: Columns, settings, events: Events) -> Read | None:
    """The rows of the tables that have the columns; None where none has. The target is what stands in the label column, or empty."""
    label = settings.label_column.strip() or columns.label
    fitting = _fitting(found, columns, label, settings, events)
    if not fitting:
        return None
    if label:
        _labels_line_by_line(fitting, found, label, events)
    ids = _ids(fitting, {*columns.names, label}, settings, events)
    found.ids_by_name = bool(ids) and not settings.id_column.strip()
    return _rows(fitting, Roles(kind.tasks[0], tuple(columns.names), types=columns.types), label, ids, settings, events, columns.styles)


def _ids(fitting: list[Table], others: set[str], settings, events: Events) -> dict[str, str]:
    """The column with the ids of the rows of each table that has one: the one that is set, or else one whose name says so. Tables that stay in
    columns, since they are large, have the one that is set alone."""
    if settings.id_column.strip():
        return {t.name: resolve(settings.id_column, dict.fromkeys(t.columns), "id_column", t.name) for t in fitting}
    known = {c.lower() for c in others}
    found = {t.name: name for t in fitting if not isinstance(t, ArrowTable) and (name := _names_rows(t, known))}
    for table, name in found.items():
        events.decision("id_column", name, f"{names.column(name)} of {table} names its rows, and is in the column id of predictions.csv.")
    return found


def _names_rows(table: Table, others: set[str]) -> str:
    """The first column beside ``others`` whose name says that it identifies rows, and that has another value in each; empty where none has."""
    for name in table.columns:
        if name.lower() not in others and names.is_identifier(name) and not names.is_given(name):
            cells = [c.strip() for c in table.cells(name)]
            if all(cells) and len(set(cells)) == len(cells):
                return name
    return ""


def _labels_line_by_line(fitting: list[Table], found: Sources, label: str, events: Events) -> None:
    """Add the labels that stand in a file of their own, such as y_test.csv beside X_test.csv: they tell how good the answers are."""
    try:
        added = row_by_row.add(fitting, found.tables, found.ignored, label.lower())
    except UserError as e:
        return events.warning(e.code, f"{e.what} The labels are not used.")
    for what, choice, why in added.decisions:
        if what == "label_column":
            events.decision(what, choice, why)


def _raise(error: UserError) -> NoReturn:
    raise error


def _prompt_columns(text_column: str, types: dict[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The columns with the prompts of a language model, or the one that the user names, with the parts that they hold."""
    if text_column.strip():
        return (text_column.strip(),), {text_column.strip(): "text" if "text" in types.values() else "prompt"}
    read = {name: part for name, part in types.items() if part not in ("answer", "system", "history", "input")}
    return tuple(read), read


def _wanted(text_column: str, columns: tuple[str, ...], types: dict[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The columns that the user names for a text model instead of its own; the last is the second text of a model of pairs."""
    if not text_column.strip():
        return columns, types
    asked = tuple(c.strip() for c in listed(text_column, {}))
    return asked, {asked[-1]: PAIR} if PAIR in types.values() and len(asked) > 1 else {}


def _fitting(found: sources.Sources, columns: Columns, label: str, settings, events: Events) -> list[Table]:
    fitting = []
    names_read = {c.lower() for c in (*columns.names, *map(looks.source, columns.names), label) if c}
    seen = [n for n in columns.names if columns.types.get(n) == PICTURE]
    pictures = seen or any(map(looks.source, columns.names))
    by = settings.id_column.strip()
    only = names_read | {by.lower()} - {""}
    large = whole.large(found.tables, settings, only)
    for source in found.tables:
        try:
            read = tables.read_all(source, names_read, settings, events, only, large)
        except NotATable as e:
            found.ignored.add(source.name, e)
            continue
        if pictures:
            looks.read(read, Index(found.images), columns.names, events, seen)
        if named_files.COLUMN in columns.names and any(t.lacks([named_files.COLUMN]) for t in read):
            for decision in named_files.add_texts(read, found.readable, found.ignored, settings.encoding, least=1):
                events.decision(*decision)
        for column in read[0].lacks(columns.names) if read[0].absent is not None else ():
            read[0].append(column, read[0].absent)
        lacking = read[0].lacks(columns.names)
        if lacking and by and label and not read[0].lacks([by, label]):
            _labels_apart(found, read, by, label, columns.styles, settings, events)
        elif lacking:
            found.ignored.add(source.name, _lacks(lacking, [c for c in read[0].columns if c.lower() not in names_read]))
        else:
            fitting += read
    return fitting


def _lacks(lacking: list[str], others: list[str]) -> str:
    """Why a table is not used, with the columns that the model does not read: one of them may be a lacking one under another name."""
    more = f", which may have another name: the model does not read its {some(others, 6)}" if others and len(others) < 30 else ""
    return f"without the column {some(lacking, 4)}{more}"


def _labels_apart(found: Sources, read: list[Table], by: str, label: str, trained: dict[str, Style], settings, events: Events) -> None:
    """Take the labels of a table that has ids and labels alone, for rows that were predicted before."""
    for table in read:
        found.labels_apart.add(table.name, table.cells(by), _labels(table, label, trained, settings, events))
    said = (
        f"{names.column(by)} and {names.column(label)} of {read[0].name} are labels of rows that were predicted before: it lacks the other columns."
    )
    events.decision("labels_apart", read[0].name, said)


def _labels(table: Table, label: str, trained: dict[str, Style], settings, events: Events) -> list[str]:
    cells = table.cells(label)
    written = trained.get(label, Style(is_class=True))
    return values.classes(cells, written) if written.is_class else values.as_numbers(cells, _style(table, label, written, events, settings))


def _rows(
    fitting: list[Table], roles: Roles, label: str, ids: dict[str, str], settings, events: Events, trained: dict[str, Style]
) -> tuple[list[Example], list[str], int]:
    events.decision("columns", list(roles.columns), f"The model reads the columns {some(roles.columns, 8)} of {some([t.name for t in fitting], 4)}.")
    examples: Any = []
    for table in fitting:
        roles.id = ids.get(table.name, "")
        numbers = [c for c, kind in roles.types.items() if kind == NUMBER]
        said = {values.decimal_comma(table.sample(c)) for c in numbers} - {None}
        comma = said.pop() if len(said) == 1 else None
        styles = {c: _style(table, c, trained.get(c), events, settings, comma) for c in numbers}
        read_rows = Rows(roles, styles, Index([]), prompts=roles.writes)
        found: Any = read_rows.of_all([table])[0] if len(fitting) == 1 else read_rows.examples(table)
        if held := next((name for name, part in roles.types.items() if part == "messages"), ""):  # the answers are in the conversations
            cells_of = dict(zip(table.row_numbers(), table.cells(held)))
            found = [dataclasses.replace(e, target=forms.answer(forms.content({"messages": cells_of[e.row]})[0] or "")) for e in found]
        if label and not table.lacks([label]):
            read = _labels(table, label, trained, settings, events)
            if isinstance(found, Columnar):
                found = found.targeted(read)
            else:
                targets = dict(zip(table.row_numbers(), read))
                found = [dataclasses.replace(e, target=targets[e.row]) for e in found]
        examples = found if len(fitting) == 1 else [*examples, *found]
    skipped = sum(len(t.rows) for t in fitting) - len(examples)
    if skipped:
        events.warning("empty_rows", f"{left_out(skipped, 'row')}: empty in the columns that the model reads.")
    return examples, [t.name for t in fitting], skipped


def _style(table: Table, column: str, trained: Style | None, events: Events, settings, of_others: bool | None = None) -> Style:
    """How the numbers of a column are written: as in training, unless its cells, or those of other columns (``of_others`` is whether these have a
    decimal comma), can only be read with the other decimal sign. What stood for a gap in training does so here, and so does what is a gap here beyond
    doubt."""
    cells = table.sample(column)
    known = [c for c in cells if not values.is_missing(c)]
    fills = profiles.fills(table, column, settings.fill_values if settings.repairs else KEEP)
    if trained is not None and settings.repairs and settings.fill_values != KEEP:
        fills = tuple(sorted({*fills, *trained.fills}))
    if trained is None:
        comma = values.uses_comma(cells)
        return Style(comma, fills=fills, limits=values.has_limits(known, comma))
    comma = values.decimal_comma(cells)
    comma = next((c for c in (comma, of_others) if c is not None), trained.comma)
    style = Style(comma, trained.unit, fills, limits=trained.limits or values.has_limits(known, comma))
    every = table.cells(column) if fills else []
    if gaps := values.as_numbers(every, style).count("") - values.as_numbers(every, replace(style, fills=())).count(""):
        events.decision("fill_values", gaps, f"{gaps} cells with {some([f'{n:g}' for n in fills], 4)} in {column} of {table.name} count as empty.")
    if trained.unit is not None:
        other = [c for c in known if values.number(c, style.comma, style.unit) is None and values.number(c, style.comma) is not None]
        if other:
            learnt = f"amounts in {trained.unit}" if trained.unit else "numbers without a unit"
            events.warning(
                "other_unit", f"{names.column(column)} of {table.name} has cells like {other[0].strip()}, but the model learned from {learnt}: "
                "such cells count as empty.",
            )  # fmt: skip
    return style


def _texts(texts: list, encoding: str, events: Events) -> tuple[list[Example], list[str], int]:
    events.decision("columns", [], f"Each of the {len(texts)} text files is one text to predict.")
    found = [(source, folders.text(source, encoding)) for source in texts]
    examples = [Example(source.name, 0, text, "") for source, text in found if text]
    return examples, [e.file for e in examples], len(texts) - len(examples)


def _images(found: list, events: Events) -> tuple[list[Example], list[str], int]:
    examples = [Example(i.name, 0, i.file, "") for i in found if image_files.decodes(i.file)]
    if broken := len(found) - len(examples):
        whole = {e.file for e in examples}
        named = some([i.name for i in found if i.name not in whole], 6)
        if not examples:
            raise UserError("broken_images", f"No image can be decoded: {named}.", "Add PNG or JPEG images that an ordinary viewer can show.")
        events.warning("images", f"{left_out(broken, 'image')} that cannot be decoded: {named}.")
    return examples, [e.file for e in examples], len(found) - len(examples)


def _nothing(kind: Kind, columns: tuple[str, ...], ignored: sources.Ignored) -> UserError:
    what = "image" if kind.name == IMAGE else f"table with the {'columns' if len(columns) > 1 else 'column'} {some(columns, 8)}"
    return UserError(
        "no_data",
        f"The dataset has no {what}, which the model reads.",
        f"Add one, {'set text_column, ' if kind.text_column_replaces_columns else ''}or choose another model or data_file.",
        f"Not used: {ignored}." if ignored else "",
    )
