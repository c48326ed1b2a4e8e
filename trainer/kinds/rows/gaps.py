"""Cells that stand for a gap, and classes in several spellings: how a label is read, and what is said of both."""

import collections
from collections.abc import Sequence

from trainer.data import names
from trainer.data.columns import spellings
from trainer.data.columns.profiles import Profile
from trainer.data.columns.values import Style
from trainer.data.formats.table import Table
from trainer.errors import some
from trainer.kinds.rows.roles import Roles
from trainer.run_folder.events import Events


def class_style(group: list[Table], roles: Roles, profile: Profile, settings, events: Events) -> Style | None:
    """How the classes of a label are written, where some cells are a gap, or one class in another spelling, or a file names them."""
    label = roles.label
    cells: collections.Counter[str] = collections.Counter()
    for table in group if settings.repairs else ():
        cells.update(table.counted(label))
    pairs = spellings.of(cells)
    if joined := {name: same for name, same in pairs.items() if same}:
        what = some([f"{name} is read as {same}" for name, same in joined.items()], 4)
        events.decision("label_spellings", joined, f"{names.column(label)} has one class in several spellings, which are joined: {what}.")
    named = {c: roles.class_names.get(same, same) for c, same in pairs.items()}
    pairs = {**{c: n for c, n in roles.class_names.items() if c not in pairs}, **named}
    return Style(profile.comma, None, profile.fills, True, tuple(pairs.items())) if pairs or profile.fills else None


def say(roles: Roles, seen: dict[str, Profile], events: Events) -> None:
    """Say which numbers are read as empty cells, and which cells as half of a limit."""
    limited = [p for n, p in seen.items() if n in (*roles.columns, roles.label) and p.limited and p.numeric]
    if limited:
        cells = sum(p.limited for p in limited)
        why = f"{cells} cells in {some([p.name for p in limited], 6)} are limits of what was measured: <0.5 is read as half of 0.5, and >100 as 100."
        events.decision("limits", cells, why)
    if label := next((p for p in limited if p.name == roles.label and roles.regression), None):
        text = f"{label.limited} of {label.cells} values of {label.name} are limits of what was measured, so the true values are unknown:"
        events.warning("limits", f"{text} the model learns half of the limit for <, and its score counts that as the truth.")
    for decision in told(seen, (*roles.columns, roles.label)):
        events.decision(*decision)


def told(seen: dict[str, Profile], columns: Sequence[str]) -> list[tuple[str, object, str]]:
    """Which numbers and which signs in ``columns`` are read as empty cells, as decisions."""
    by_values, by_marker = collections.defaultdict(list), collections.defaultdict(list)
    for p in (seen[n] for n in columns if n in seen):
        if p.fills:
            by_values[p.fills].append(p)
        if p.marker and p.numeric:
            by_marker[p.marker].append(p)
    found: list[tuple[str, object, str]] = []
    for numbers, filled in by_values.items():
        cells = sum(p.filled for p in filled)
        what = f"{cells} cells with {some([f'{n:g}' for n in numbers], 4)} in {some([p.name for p in filled], 6)} count as empty"
        why = f"{what}: the value is far outside of the others, as programs write gaps. To keep it, set fill_values to keep."
        found.append(("fill_values", cells, why))
    for marker, marked in by_marker.items():
        cells = sum(p.marked for p in marked)
        what = f"{cells} cells with {marker} in {some([p.name for p in marked], 6)} count as empty: all others there are numbers"
        found.append(("missing_marker", cells, f"{what}. To keep them as a value, set fill_values to keep."))
    return found
