"""The option ``columns``: the only columns of tables that are read, with those that other options name."""

from collections.abc import Collection, Iterable, Sequence

from trainer.data import names
from trainer.data.formats.table import Table
from trainer.errors import UserError, some
from trainer.run_folder.events import Events


def only(settings) -> frozenset[str]:
    """As ``named``. Raises UserError where the label is left open: one of the inputs could be taken for it."""
    found = named(settings)
    if found and not (settings.label_column.strip() or settings.text_column.strip()):
        raise UserError(
            "columns",
            "The option columns names the columns to read, but label_column is not set.",
            "Set label_column to the column to predict, or leave columns empty to read all.",
        )
    return found


def named(settings) -> frozenset[str]:
    """The names of the columns to read, in lower case: those of ``columns``, those that an option names, and those that assign rows to splits by
    their names. Empty for all columns."""
    asked = _listed(settings.columns)
    if not asked:
        return frozenset()
    of_options = [value for name, value in vars(settings).items() if name.endswith("_column")]
    return frozenset([*asked, *(n for value in of_options for n in (value.strip().lower(), *_listed(value)) if n), *names.SPLIT_COLUMNS])


def narrowed(tables: Sequence[Table], settings, events: Events) -> list[Table]:
    """The tables with these columns alone, and a sentence that says so. Raises UserError where a column of ``columns`` is in none of them."""
    wanted = only(settings)
    if not wanted:
        return list(tables)
    asked = _listed(settings.columns)
    known = [c for t in tables for c in t.columns]
    if missing := [n for n in asked if not any(_is(t, c, [n]) for t in tables for c in t.columns)]:
        raise UserError(
            "unknown_column",
            f"There is no column {some(missing)} in {some([t.name for t in tables], 3)}.",
            "Set columns to some of these columns, separated by commas, or leave it empty to read all.",
            f"Its columns are {some(dict.fromkeys(known))}." if known else "",
        )
    kept = [t.narrowed([i for i, c in enumerate(t.columns) if _is(t, c, wanted)]) for t in tables]
    read = list(dict.fromkeys(c for t in kept for c in t.columns))
    what = f"Only {some(read, 12)} {'are' if len(read) > 1 else 'is'} read, as requested"
    events.decision("columns_read", read[:1000], f"{what}: no other column is an input, or tells which rows belong together or are later.")
    return kept


def _listed(value: str) -> list[str]:
    return list(dict.fromkeys(name for part in value.split(",") if (name := part.strip().lower())))


def _is(table: Table, column: str, wanted: Collection[str]) -> bool:
    """Whether a column is one of ``wanted``: by its name, its number where it has none, its lower name, or the structure that it is a part of."""
    name = column.strip().lower()
    return _among(wanted, name, name.removeprefix("column "), table.short.get(column, "").strip().lower(), *_above(name))


def _among(wanted: Collection[str], *names_of_column: str) -> bool:
    return any(n in wanted for n in names_of_column if n)


def _above(name: str) -> Iterable[str]:
    """The names of the structures that a column with a dotted name is in."""
    parts = name.split(".")
    return (".".join(parts[:i]) for i in range(1, len(parts)))
