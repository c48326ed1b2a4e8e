"""Checks of the columns of a table before the training."""

from trainer.data.checks import Checks
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import some
from trainer.kinds.rows.clues import follow_up
from trainer.kinds.rows.roles import Roles

EMPTY_SHARE = 0.2


def check(roles: Roles, seen: dict[str, Profile], tables: list[Table], where: str, checks: Checks) -> None:
    """Empty cells, constant columns, and labels that are known of a part of the time alone."""
    if roles.label and (unknown := follow_up.warning(roles.label, seen, tables)):
        checks.warning("follow_up", unknown)
    read = [seen[c] for c in roles.columns]
    empty = [p for p in (*read, *([seen[roles.label]] if roles.label in seen else [])) if p.rows and p.cells < (1 - EMPTY_SHARE) * p.rows]
    if empty:
        shares = some([f"{p.name} ({1 - p.cells / p.rows:.0%})" for p in empty], 6)
        checks.warning("empty_cells", f"More than {EMPTY_SHARE:.0%} of the cells of {where} are empty in these columns: {shares}.")
    else:
        checks.ok("empty_cells", f"No column that is used has more than {EMPTY_SHARE:.0%} empty cells.")
    if roles.reads_cells:
        for p in (p for n, p in seen.items() if p.notation.why_not and n not in (roles.id, roles.split, roles.group)):
            do = "Write all its numbers in the same way to have them read as numbers"
            checks.warning("unclear_numbers", f"The column {p.name} of {where} is read as text: {p.notation.why_not}. {do}.")
    constant = [n for n, p in seen.items() if p.distinct == 1 and p.cells == p.rows and n not in (roles.id, roles.split, roles.group)]
    if constant and roles.reads_cells:
        checks.warning("constant_columns", f"These columns of {where} have the same value in every row and are left out: {some(constant, 6)}.")
