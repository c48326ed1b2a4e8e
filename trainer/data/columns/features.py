"""Which columns of a table a model reads, and whether each holds numbers or categories."""

from trainer.data import names
from trainer.data.columns import values
from trainer.data.columns.profiles import Profile
from trainer.errors import UserError, some

NUMBER, CATEGORY = "number", "category"
DATE, TEXT, LIST, NAME, PICTURE = "date", "text", "list", "name", "picture"  # columns that are read where they make the held-out loss smaller


def choose(seen: dict[str, Profile], where: str, perhaps: dict[str, str] | None = None) -> tuple[dict[str, str], str]:
    """The type of every column that is read, in the order of the table, and the sentence that says what is left out and why.

    ``perhaps`` are the types of further columns, which come last: the loss on held-out rows will decide whether they are of use. Raises UserError
    where no column is left.
    """
    perhaps = perhaps or {}
    types: dict[str, str] = {}
    left: dict = {}
    for name, profile in seen.items():
        if (reason := useless(profile)) and name in perhaps:
            continue
        elif reason:
            left.setdefault(reason, []).append(name)
        else:
            types[name] = NUMBER if profile.numeric else CATEGORY
    why = "; ".join(f"{some(columns)} ({reason})" for reason, columns in left.items())
    if not (types or perhaps):
        raise UserError(
            "no_features",
            f"No column of {where} except the label is useful for training.",
            "Add columns with numbers or categories, or choose another label_column.",
            f"Left out: {why}." if why else "",
        )
    every = types | perhaps
    read = {kind: [n for n, t in every.items() if t == kind] for kind in (NUMBER, CATEGORY, *perhaps.values())}
    parts = [f"{some(columns)} as {kind}" for kind, columns in read.items() if columns]
    judged = f" Whether {some(list(perhaps))} {'help' if len(perhaps) > 1 else 'helps'} is decided by the loss on held-out rows." if perhaps else ""
    return every, f"The model reads {' and '.join(parts)}" + (f"; left out: {why}." if why else ".") + judged


def useless(p: Profile) -> str:
    """Why nothing general can be learnt from a column, or an empty text."""
    if p.cells == 0:
        return "empty"
    if p.distinct == 1 and p.cells == p.rows:
        return "the same in every row"
    if p.is_identifier or (names.is_identifier(p.name) and not p.fractions and p.distinct > 0.5 * p.cells and p.cells >= 20):
        return "an identifier"
    if p.tells_folds:
        return "how the rows were divided"
    if p.tells_progress:
        return "how far a form was filled in"
    if p.dates >= values.MOSTLY:
        return "dates"
    if p.shapes >= values.MOSTLY:
        return "shapes on a map"
    if p.is_free_text:
        return "free text"
    if not p.numeric and not p.few:
        return "too many different values for a category"
    return ""
