"""Tables with a series in each of several columns become panels: by the option forecast_columns, or where the names of the columns leave no doubt."""

from collections.abc import Collection, Sequence

from trainer.data.columns import choices, profiles, side_by_side
from trainer.data.columns.fills import KEEP
from trainer.data.formats.table import Table
from trainer.errors import UserError, some
from trainer.kinds.series import columns
from trainer.kinds.series.layouts.melted import SERIES, VALUE, Melted
from trainer.kinds.series.layouts.turned import Turned

ALL, NONE = "all", "none"
_ONE = "To forecast one of them alone, set task to forecast and label_column to it. To predict one from the others, set label_column alone."


def asked(settings) -> bool:
    """Whether the user says that columns are series."""
    return settings.forecast_columns.strip().lower() not in ("", NONE)


def spread(tables: list[Table], settings, where: str) -> list[Table]:
    """``tables``, which share their columns, with one row for each series and time, where series stand side by side; else as they are.

    Raises UserError for columns that the user names and that are no series.
    """
    wanted = settings.forecast_columns.strip()
    if wanted.lower() == NONE or isinstance(tables[0], Turned) or (not wanted and settings.label_column.strip()):
        return tables
    if wanted and settings.label_column.strip():
        raise UserError(
            "wrong_setting", "label_column names one column to forecast, and forecast_columns several ones.", "Leave one of the two options empty."
        )
    seen = profiles.of(tables, settings.fill_values if settings.repairs else KEEP)
    clock = columns.detected(tables, seen, settings, where)
    if clock is None:
        return tables  # which is said where its columns are looked for
    named = {n.strip().lower() for n in f"{settings.series_column},{settings.known_covariates}".split(",")}
    other = {*clock.parts, *(n for n in seen if n.strip().lower() in named)}
    numbers = [n for n, p in seen.items() if p.numeric and n not in other and not p.is_identifier]
    if not wanted:
        of = side_by_side.numbered(numbers)
        why = f"The names of {some(of, 3)} differ in a number or letter alone, so each is a series. {_ONE}"
    elif wanted.lower() == ALL:
        of, why = tuple(numbers), f"Each of the columns {some(numbers, 4)} is a series, as requested."
    else:
        of = tuple(choices.resolve(n, seen, "forecast_columns", where) for n in wanted.split(",") if n.strip())
        why = f"Each of the columns {some(of, 4)} is a series, as requested."
    if words := [n for n in of if not seen[n].numeric]:
        raise UserError("no_number", f"{some(words)} of {where} has no numbers, so it cannot be forecast.", "Remove it from forecast_columns.")
    if wanted and not of:
        raise UserError("no_number", f"No column of {where} has numbers to forecast.", "Add a column of numbers, or leave forecast_columns empty.")
    return [Melted(t, of, why) for t in tables] if of else tables


def again(table: Table, kept: Sequence[str], value: str, known: Collection[str]) -> Table | None:
    """A new table with the series that a model knows, and those named alike, as it reads them; None for none. ``kept`` are its other columns."""
    there = [c for c in table.columns if c in known]
    of = [c for c in table.columns if c in known or side_by_side.numbered([*there, c])]
    if value != VALUE or not of or table.lacks(kept) or SERIES in kept:
        return None
    return Melted(table, of)


def decision(tables: list[Table]) -> tuple[str, object, str] | None:
    """What stood side by side; None where nothing did."""
    first = tables[0]
    return ("forecast_columns", list(first.of), first.why) if isinstance(first, Melted) else None
