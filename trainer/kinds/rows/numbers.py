"""Whether a column of numbers beside the names of images is what a model is to predict, where nobody said so."""

from trainer.data import names
from trainer.data.columns import choices, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

# Parts of names of columns: places and what a camera writes are no targets; codes may be classes.
_PLACES = frozenset("long utm x y z altitude elevation".split())
_OF_FILES = frozenset("size bytes pixels exposure iso aperture focal timestamp time date year".split())
_SIDES = frozenset(("width", "height"))  # of the picture, where both are there
_CODES = frozenset("class category species type code taxon genus family group kind".split())


def check(label: str, columns: dict[str, Profile], tables: list[Table], where: str) -> None:
    """Raise UserError where ``label`` may be a place, or a code of classes, or where other columns of numbers are as likely.

    ``columns`` are those that could be the label.
    """
    words = _words(label)
    if words & _CODES and all(_is_whole(c) for t in tables for c in t.sample(label) if not values.is_missing(c)):
        raise UserError(
            "ambiguous_label",
            f"The column {label} of {where} holds {columns[label].distinct} different whole numbers, which may be codes of classes or amounts.",
            "Set task to image-classification or to image-regression.",
        )
    if label.strip().lower() in names.LABELS:
        return
    lower = {n.strip().lower() for n in columns}
    no_targets = _OF_FILES | _SIDES if lower >= _SIDES else _OF_FILES
    measures = [
        n for n, p in columns.items() if p.is_measure and not (names.coordinate(n) or _words(n) & _PLACES) and n.strip().lower() not in no_targets
    ]
    if measures != [label]:
        others = measures or [n for n, p in columns.items() if p.is_measure]
        raise UserError(
            "ambiguous_label",
            f"The images named in {where} could be described by several columns of numbers, or by none: {some(others, 6)}.",
            f"Set label_column to the one to predict, for example {others[0]}.",
            f"Of these, {choices.offers(others, columns)}.",
        )


def _words(name: str) -> set[str]:
    return set(name.strip().lower().replace("-", "_").replace(" ", "_").split("_"))


def _is_whole(cell: str) -> bool:
    return cell.strip().lstrip("+-").isdecimal()
