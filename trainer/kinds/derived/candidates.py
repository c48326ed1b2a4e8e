"""Which columns that are neither numbers nor categories may be of use, and as what they can be read."""

import math
from pathlib import Path

from trainer.config.settings import Settings
from trainer.data import names
from trainer.data.columns import dates, features, values
from trainer.data.columns.features import DATE, LIST, NAME, PICTURE, TEXT
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.data.pictures import looks
from trainer.kinds.derived import dates as parts_of_dates, lists
from trainer.kinds.derived.names import LEAST
from trainer.kinds.derived.part import NO_VECTORS

MOST = 30  # columns
_IDENTIFIER, _COVERED = 0.5, 0.3  # different values of a named identifier; cells whose value is in several rows


def of(tables: list[Table], seen: dict[str, Profile], pictures: bool = False) -> dict[str, str]:
    """The sort of each column of ``seen`` that is neither a number nor a category and may be of use, at most ``MOST`` of them. With ``pictures``
    those that name pictures whose looks the tables have are of use, too; they come last."""
    found: dict[str, str] = {}
    named = {n for t in tables for n in looks.grouped(t.columns)} if pictures else set()
    for name, profile in seen.items():
        if name not in named and features.useless(profile) and len(found) < MOST and (sort := _sort(tables, profile)):
            found[name] = sort
    return found | {name: PICTURE for name, profile in seen.items() if name in named and features.useless(profile)}


def as_installed(settings: Settings, models: Path) -> Settings:
    """``settings``, without vectors of pictures where no model for them is installed. Raises UserError for a name that is not installed."""
    from trainer.kinds.derived import vectors  # which holds models, and takes time to import

    there = vectors.installed(vectors.SOURCES[PICTURE], models, settings) is not None
    return settings if there else settings.with_chosen(picture_vectors=NO_VECTORS)


def _sort(tables: list[Table], p: Profile) -> str:
    if not p.cells or p.distinct < 2 or p.shapes >= values.MOSTLY:
        return ""
    known = [c for c in values.sample([c for t in tables for c in t.cells(p.name)]) if not values.is_missing(c)]
    may_be_date = max(p.dates, p.clock_times) >= values.MOSTLY or (not p.numeric and known and dates.is_period(known[0]))
    if may_be_date and parts_of_dates.form_of(known):
        return DATE
    if p.numeric or p.is_identifier or (names.is_identifier(p.name) and p.distinct > _IDENTIFIER * p.cells):
        return ""
    if lists.separator_of(known):
        return LIST
    if p.is_free_text:
        return TEXT
    return NAME if not p.few and _repeats(known, p) else ""


def _repeats(known: list[str], p: Profile) -> bool:
    """Whether enough cells have a value that other rows have, too."""
    counts: dict[str, int] = {}
    for cell in known:
        counts[cell.strip()] = counts.get(cell.strip(), 0) + 1
    least = max(1, math.ceil(LEAST * len(known) / max(1, p.cells)))  # of a sample
    return sum(n for n in counts.values() if n >= max(2, least)) >= _COVERED * len(known)
