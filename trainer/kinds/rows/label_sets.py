"""How the labels of a row are written: separated in one cell, as a list, or in one column of 0 and 1 for each label.

The target of an example has its labels with the separator of the data between them, and NONE where a row has no label.
"""

import collections
import json
import re
from dataclasses import dataclass, replace

from trainer.data import names
from trainer.data.columns import choices, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

TASK = "multi-label-classification"  # of texts
IMAGE_TASK = "image-multi-label-classification"
TASKS = {"text": TASK, "image": IMAGE_TASK}
NONE = "(none)"
SEPARATORS = (";", "|", ",")
NAMES = ("tags", "categories", "genres", "topics", "keywords")  # of columns that count where none has the name of a label
MIN_SHARE = 0.05  # of the cells with several labels
MIN_COLUMNS = 3  # of 0 and 1
MAX_LABELS = 1000
LONG_SHARE = 0.2  # of the pictures of a table with one label in each row, for its rows to be the labels of pictures and not contradictions
LONG_LEAST = 5  # such pictures
LONG_SAME = 0.1  # rows that repeat a label, of those that add one: more come from several people, who mostly agree
_WORD = re.compile(r"[a-z]+")
_LONGEST, _WORDS = 60, 4  # characters and words of a label
_YES_NO = ({"0", "1"}, {"0.0", "1.0"}, {"true", "false"}, {"yes", "no"})
_YES = ("1", "1.0", "true", "yes")


@dataclass(frozen=True)
class Form:
    """``columns`` hold the labels: one with the labels of a row and ``separator`` between them or as a list, or one for each label.

    Where the rows have one label each and the labels of a picture are those of all its rows, ``pictures`` is the column that names it.
    """

    columns: tuple[str, ...]
    separator: str
    why: str
    pictures: str = ""

    @property
    def name(self) -> str:
        return self.columns[0] if len(self.columns) == 1 else ", ".join(self.columns)

    def targets(self, table: Table) -> list[str | None]:
        """The target of each row; empty where nobody knows its labels, None where an earlier row has them."""
        cells = [table.cells(c) for c in self.columns]
        if self.pictures:
            return self._of_pictures(table.cells(self.pictures), cells[0])
        if len(cells) == 1:
            return [joined(parts(c, self.separator), self.separator) if c.strip() else "" for c in cells[0]]
        found: list[str | None] = []
        for row in zip(*cells):
            known = [c.strip().lower() for c in row]
            labels = [n.strip() for n, c in zip(self.columns, known) if c in _YES]
            found.append(joined(labels, self.separator) if all(known) else "")
        return found

    def _of_pictures(self, pictures: list[str], cells: list[str]) -> list[str | None]:
        """The labels of all rows of a picture for the first of them."""
        labels: dict[str, list[str]] = collections.defaultdict(list)
        for picture, cell in zip(pictures, cells):
            labels[picture.strip()] += parts(cell, self.separator)
        found: list[str | None] = []
        for picture in map(str.strip, pictures):
            all_labels = labels.pop(picture, None)
            found.append(None if all_labels is None else joined(dict.fromkeys(all_labels), self.separator) if all_labels else "")
        return found


def parts(cell: str, separator: str) -> tuple[str, ...]:
    """The labels in a cell or a target, each once, in their order."""
    cell = cell.strip()
    if cell == NONE:
        return ()
    found = _list(cell)
    if found is None:
        found = cell.split(separator)
    clean = (" ".join(values.label(str(p)).replace(separator, " ").split()) for p in found)
    return tuple(dict.fromkeys(p for p in clean if p))


def joined(labels, separator: str) -> str:
    """The target of an example with ``labels``."""
    between = " | " if separator == "|" else f"{separator} "
    return between.join(sorted(labels, key=names.natural)) or NONE


def find(tables: list[Table], seen: dict[str, Profile], settings, where: str, pictures: list[str]) -> Form | None:
    """The columns that hold several labels for each row; None where there are none. Raises UserError where the task asks for them.

    ``pictures`` are the columns that name images of the dataset: where there are some, the labels are those of the images.
    """
    asked = settings.task in TASKS.values()
    if settings.task != "auto" and not asked:
        return None
    wanted = [choices.resolve(w, seen, "label_column", where) for w in choices.listed(settings.label_column, dict.fromkeys(seen))]
    text = settings.text_column.strip() or any(p.is_free_text or p.is_named_text for p in seen.values())
    if not asked and not (text or pictures):
        return None
    all_columns, seen = seen, {n: p for n, p in seen.items() if n not in pictures}
    form = _columns(seen, tables, wanted, bool(pictures)) if len(wanted) != 1 else None
    named = wanted or next((m for known in (names.LABELS, NAMES) if (m := [n for n in seen if n.strip().lower() in known])), [])
    if pictures and not named and len(seen) == 1:
        named = list(seen)
    if not named:
        named = [n for n in seen if {*_WORD.findall(n.lower())[-1:]} & {*names.LABELS, *NAMES}]  # Finding Labels
    if form is None and len(wanted) < 2:
        form = next((f for n in named if (f := in_column(n, tables, asked))), None)
        if form is not None and not asked and not wanted:
            form = _beside_others(form, seen, tables, where)
        if form is None and pictures:
            form = next((f for n in named if (f := _in_rows(n, pictures[0], all_columns, tables, asked))), None)
    if form is None and asked:
        raise UserError(
            "no_label_sets", f"No column of {where} has several labels for a row, which {settings.task} needs.",
            "Separate the labels of a row by a semicolon in one column, or write a column of 0 and 1 for each label; name them in label_column.",
        )  # fmt: skip
    return form


def _beside_others(form: Form, seen: dict[str, Profile], tables: list[Table], where: str) -> Form:
    """``form``, which says what else may be the label. Its column often describes the rows instead, unless its name is that of a label: so a number
    or a class in the last column, or where columns have no order, is asked about."""
    if form.name.strip().lower() in names.LABELS:
        return form
    others = [n for n, p in seen.items() if n != form.name and _may_be_label(p)]
    if others and (not all(t.in_order for t in tables) or others[-1] == list(seen)[-1]):
        choices.ask_label([form.name, *others], seen, where)
    more = f" If the label is {' or '.join(others[:4])}, set label_column." if others else ""
    return replace(form, why=form.why + more)


def _may_be_label(p: Profile) -> bool:
    described = names.is_identifier(p.name) or p.name.strip().lower() in names.TEXT_NAMES or p.is_identifier or p.is_free_text
    return bool(p.cells) and not described and not p.tells_when_or_where and (p.is_measure or p.is_class)


def in_column(name: str, tables: list[Table], asked: bool) -> Form | None:
    """The form of one column: lists, else the first separator by which labels come in many combinations."""
    cells = [c.strip() for t in tables for c in t.sample(name) if c.strip()]
    lists = sum(_list(c) is not None for c in cells)
    if cells and lists >= values.MOSTLY * len(cells):
        uses = collections.Counter(label for c in cells for label in parts(c, ";"))
        differ = len({frozenset(parts(c, ";")) for c in cells}) > 1
        repeat = differ and 2 <= len(uses) <= MAX_LABELS and uses.total() >= 3 * len(uses)
        return Form((name,), ";", f"{names.column(name)} has a list of labels in each row.") if repeat else None
    for separator in SEPARATORS:
        if _combine([parts(c, separator) for c in cells], asked):
            word = {";": "semicolons", "|": "bars", ",": "commas"}[separator]
            several = sum(len(parts(c, separator)) > 1 for c in cells)
            why = f"{names.column(name)} has several labels in {several} of {len(cells)} rows that were looked at, separated by {word}."
            return Form((name,), separator, why)
    return None


def _in_rows(name: str, picture: str, seen: dict[str, Profile], tables: list[Table], asked: bool) -> Form | None:
    """The form of a table with a row for each label of a picture. Other columns say the same in all rows of a picture: else the rows are of
    parts of it, or of people who looked at it."""
    others = [n for n in seen if n not in (name, picture) and n.strip().lower() not in names.IDENTIFIERS]
    labels: dict[tuple[int, str], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    facts: dict[tuple[int, str], set[tuple[str, ...]]] = collections.defaultdict(set)
    for place, table in enumerate(tables):
        columns = [table.cells(n) for n in others]
        for i, (cell, label) in enumerate(zip(table.cells(picture), table.cells(name))):
            if label.strip() and cell.strip():
                labels[place, cell.strip()].update(parts(label, ";"))
                facts[place, cell.strip()].add(tuple(c[i].strip() for c in columns))
    several = [key for key, counts in labels.items() if len(counts) > 1]
    added = sum(len(counts) - 1 for counts in labels.values())
    repeated = sum(counts.total() - len(counts) for counts in labels.values())
    if not several or repeated > LONG_SAME * added or sum(len(facts[key]) > 1 for key in several) > LONG_SAME * len(several):
        return None
    if not asked and len(several) < max(LONG_LEAST, LONG_SHARE * len(labels)):
        return None
    if not _combine([tuple(counts) for counts in labels.values()], asked):
        return None
    why = f"{names.column(name)} has one label in each row, and {len(several)} of {len(labels)} images have rows with several labels."
    return Form((name,), ";", why, picture)


def _combine(found: list[tuple[str, ...]], asked: bool) -> bool:
    """Whether labels are short, repeat, and come together in several combinations: "Trinidad, Tobago" alone is one label."""
    several = [f for f in found if len(f) > 1]
    uses = collections.Counter(label for f in found for label in f)
    if len(uses) < 2 or len(several) < (1 if asked else MIN_SHARE * len(found)):
        return False
    together: dict[str, set] = collections.defaultdict(set)
    for f in {frozenset(f) for f in found}:
        for label in f:
            together[label].add(f)
    combined = {label for f in several for label in f}
    mixed = sum(len(together[label]) > 1 for label in combined) >= (0.5 if asked else 0.8) * len(combined)
    short = all(len(label) <= _LONGEST and len(label.split()) <= _WORDS for label in uses)
    return mixed and short and len(uses) <= MAX_LABELS and uses.total() >= 3 * len(uses)


def _columns(seen: dict[str, Profile], tables: list[Table], wanted: list[str], pictures: bool) -> Form | None:
    """The columns of 0 and 1: those that were asked for, else all of them, where there are several and no other label. Beside the name of a
    picture, a column of other classes or numbers may as well be the label."""
    found = [n for n in wanted or seen if _is_yes_no(n, tables)]
    if len(wanted) > 1 and len(found) < len(wanted):
        return None
    others = [n for n, p in seen.items() if n not in found and n.strip().lower() in names.LABELS and p.cells]
    if pictures:
        others += [n for n, p in seen.items() if n not in found and (p.is_class or p.is_measure)]
    text = any(p.is_free_text or p.is_named_text for n, p in seen.items() if n not in found)
    if len(found) < (2 if wanted else MIN_COLUMNS) or not (text or pictures) or (others and not wanted) or len(found) > MAX_LABELS:
        return None
    why = "as requested" if wanted else f"they hold nothing else, beside {'the name of an image' if pictures else 'a text'}"
    return Form(tuple(found), ";", f"The columns {some(found, 8)} say with 0 and 1 which labels a row has: {why}.")


def _is_yes_no(name: str, tables: list[Table]) -> bool:
    cells = {c.strip().lower() for t in tables for c in t.sample(name)}
    return bool(cells) and any(cells <= pair for pair in _YES_NO)


def _list(cell: str) -> list | None:
    """The entries of a list as JSON or Python writes it; None for other cells."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    for text in (cell, cell.replace("'", '"')):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list) and not any(isinstance(e, (list, dict)) for e in found):
            return found
    return None
