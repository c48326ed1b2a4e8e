"""Chooses the text and the label column. Every choice has a reason as a sentence; ambiguous columns raise UserError."""

import re
from dataclasses import dataclass
from typing import NoReturn

from trainer.core import registry
from trainer.data.columns.profiles import FEW_NUMBERS, Profile
from trainer.data.columns.values import MOSTLY, number
from trainer.data.names import LABELS, TEXTS, TITLE, column, nfc
from trainer.errors import UserError, some

RARE = 20  # rows for each cell of a column with one value, from which it marks events, as a logger does that was taken out of the water
_NO_NAME = re.compile(r"column \d+")
_YEAR = frozenset(("year", "yr", "jahr", "année", "annee", "año"))
_NO_LABELS = frozenset("note notes remark remarks comments bemerkung bemerkungen remarque remarques subject participant patient person user".split())
_ABOUT = re.compile(r"[ _.-]+(cd|flags?|attributes?|qc|qf|qa|err|error|sd|se|std|stdev|unc|uncertainty|units?)", re.IGNORECASE)  # behind another name
_RANKS = frozenset(("order", "family", "genus"))  # of living things, beside which class is one of them


@dataclass(frozen=True)
class Choice:
    columns: tuple[str, ...]
    why: str


def label(seen: dict[str, Profile], wanted: str, where: str, task: str = "auto", pictures: bool = False, in_order: bool = True) -> Choice:
    """The label column: as requested, else by name, else by its values. With ``pictures``, the table has names of pictures besides ``seen``: the
    label may be the only column left. Without ``in_order``, the places of the columns mean nothing."""
    if wanted.strip():
        name = resolve(wanted, seen, "label_column", where)
        check_label(seen[name], where, task)
        return Choice((name,), f"{name} is the label column, as requested.")
    by_name = {n.strip().lower().rpartition(".")[2]: n for n in reversed(list(seen))}  # annotation.label of a nested object is a label
    by_name |= {n.strip().lower(): n for n in reversed(list(seen))}
    named = [by_name[n] for n in LABELS if n in by_name and not (n == "class" and len(_RANKS & by_name.keys()) > 1)]
    usable = [n for n in named if _fits(seen[n], task)]
    if named and not usable and not (seen[named[0]].distinct == 1 and _label_scores(seen, task, pictures, in_order)):
        check_label(seen[named[0]], where, task)
        usable = named[:1]
    if usable:
        if len(usable) > 1 and usable[0].lower() not in ("label", "labels", "target"):
            ask_label(usable, seen, where)
        others = f" (not {some(usable[1:])})" if len(usable) > 1 else ""
        return Choice((usable[0],), f"{column(usable[0])} is used as the label because of its name{others}; {_values(seen[usable[0]])}.")
    useful = [p for p in seen.values() if p.cells and not p.is_identifier and not p.tells_when_or_where]
    if (
        pictures
        and len(useful) == 1
        and not _label_scores(seen, task, pictures, in_order)
        and 2 <= useful[0].distinct <= max(2, useful[0].cells // 2)
    ):
        return Choice((useful[0].name,), f"{column(useful[0].name)} is used as the label: it is the only column besides the names of the images.")
    return _by_values(seen, where, task, pictures, in_order)


def _by_values(seen: dict[str, Profile], where: str, task: str, pictures: bool, in_order: bool) -> Choice:
    """The label column by its values: a column with few repeating values, or, in data without text, numbers in the last column."""
    names = list(seen)
    if not names:
        raise UserError("no_label", f"No column of {where} is left for the label.", "Add a column with labels.")
    scores = _label_scores(seen, task, pictures, in_order)
    if not scores:
        raise _no_label(seen, where, task)
    best, *rest = sorted(scores, key=scores.get, reverse=True)
    last = seen[names[-1]]
    if last.tells_when_or_where and last.is_class and seen[best].numeric:  # the others are measures, and dates that repeat may be the question
        ask_label([best, *rest, last.name], seen, where)
    if rest and scores[rest[0]] >= 0.9 * scores[best]:
        ask_label([best, *rest], seen, where)
    first = seen[names[0]]
    both = best == names[-1] and first.name in rest and first.distinct < seen[best].distinct  # both places are usual
    if _NO_NAME.fullmatch(best) and (both or (rest and best == first.name and any(not seen[n].numeric for n in rest) and seen[best].numeric)):
        ask_label([best, *rest], seen, where)
    others = [n for n, p in seen.items() if n != best and p.is_measure and not (p.tells_when_or_where or p.is_coordinate)]
    spectrum = all(number(n) is not None for n in others)  # the names are wavelengths, which the label is not
    by_place = seen[best].is_measure and not rest and bool(others) and not spectrum
    if by_place and _NO_NAME.fullmatch(best):
        ask_label([best, *others], seen, where)
    place = "the only" if not in_order else "the last" if best == names[-1] else "the first" if best == names[0] else "a"
    what = "few, repeating values" if seen[best].is_class else "measured numbers"
    other = f" If the label is {' or '.join((rest or others)[:4])}, set label_column." if rest or by_place else ""
    only = " Nothing but its place says so." if by_place else ""
    return Choice((best,), f"{column(best)} is used as the label: it is {place} column with {what}; {_values(seen[best])}.{only}{other}")


def _label_scores(seen: dict[str, Profile], task: str, pictures: bool, in_order: bool) -> dict[str, float]:
    """How well each column fits as the label, without the columns that do not fit. The last and the first column are preferred, ``in_order``."""
    seen = {n: p for n, p in seen.items() if not _is_about_another(n, seen)}
    if not in_order:
        return {n: 1.0 for n, p in seen.items() if p.is_class and _is_usual(p, task)}
    seen = {n: p for n, p in seen.items() if p.distinct > 1 or RARE * p.cells >= p.rows}
    if not seen:
        return {}
    first, last = next(iter(seen)), list(seen)[-1]
    classes = [n for n, p in seen.items() if p.is_class and _is_usual(p, task) and (n in (first, last) or not p.numeric or p.distinct <= FEW_NUMBERS)]
    scores = {n: 1.0 + 0.3 * (n == last) + 0.15 * (n == first) for n in classes}
    has_text = any(p.is_free_text and p.distinct > 1 and not p.is_sequence for p in seen.values())
    if last not in scores and (pictures or len(seen) > 1) and not has_text and seen[last].is_measure and _is_usual(seen[last], task):
        scores[last] = 1.05
    return scores


def _is_about_another(name: str, seen: dict[str, Profile]) -> bool:
    """Whether a column says how good the values of another one are, or their unit: flow_cd beside flow."""
    return any(name.startswith(n) and _ABOUT.fullmatch(name, len(n)) for n in seen if n and n != name)


def _no_label(seen: dict[str, Profile], where: str, task: str) -> UserError:
    """The error for data without a label column. Raises a more specific one if a column has a single value."""
    of_things = [p for p in seen.values() if not (p.tells_when_or_where or p.is_coordinate)]
    possible = [p for p in of_things if p.is_measure or (2 <= p.distinct <= p.cells // 2 and not p.is_free_text)]
    constant = next((p for p in seen.values() if p.distinct == 1 and RARE * p.cells >= p.rows), None)
    if constant is not None and len(seen) > 1 and not possible:
        check_label(constant, where, task)
    first = f", for example to {possible[0].name}" if possible else ""
    return UserError(
        "no_label",
        f"No column of {where} is surely the label.",
        f"Set label_column to the column to predict{first}, or add a column with a few repeating values.",
        f"Its columns: {offers(list(seen), seen)}.",
    )


def offers(names: list[str], seen: dict[str, Profile]) -> str:
    """What the first twelve of these columns hold, and what would be predicted if they were the label."""
    return "; ".join(f"{n} has {_offer(seen[n])}" for n in names[:12])


def _offer(p: Profile) -> str:
    """What a column holds, and what would be predicted if it were the label."""
    if not p.cells:
        return "no values"
    if p.dates >= MOSTLY:
        return "dates, which are not predicted"
    if p.tells_when_or_where:
        return "times of day or shapes on a map, which are not predicted"
    if p.is_sequence and p.is_free_text:
        return "sequences of letters, which a model reads"
    if p.is_free_text:
        return f"free text of {p.words:.0f} words on average, which a model reads"
    if p.is_identifier:
        return "another value in each row, as an identifier"
    if p.is_measure:
        return f"numbers with {p.distinct} values (a regression)"
    if p.distinct == 1:
        return "the same value in each row"
    if p.distinct <= p.cells // 2:
        return f"{p.distinct} different values in {p.cells} rows (a classification)"
    return f"{p.distinct} different values in {p.cells} rows, too many for classes"


def _is_usual(p: Profile, task: str) -> bool:
    """Whether the column may be the label of ``task`` where nobody says so: dates, also as numbers like 20210710, years and
    coordinates are not."""
    name = p.name.strip().lower()
    of_other_use = p.tells_when_or_where or p.is_coordinate or p.tells_folds or p.tells_progress
    return _fits(p, task) and not (of_other_use or name in _YEAR or name in _NO_LABELS or (name in TEXTS and not p.numeric))


def _fits(p: Profile, task: str) -> bool:
    """Whether the column can be the label of ``task``."""
    if p.lists >= MOSTLY:
        return False
    if registry.predicts_numbers(task):
        return p.numeric and p.distinct > 1 and not p.is_identifier
    return p.is_class or (task == "auto" and p.is_measure)


def text(seen: dict[str, Profile], wanted: str, label_column: str, where: str) -> Choice:
    """The text column, or several whose texts are joined in this order: as requested, else by name, else by length."""
    if wanted.strip():
        return _requested_text(seen, wanted, label_column, where)
    return _text_by_name(seen, label_column) or _text_by_length(seen, label_column, where)


def _requested_text(seen: dict[str, Profile], wanted: str, label_column: str, where: str) -> Choice:
    names = [resolve(w, seen, "text_column", where) for w in listed(wanted, seen)]
    if label_column in names:
        raise UserError(
            "same_column",
            f"The column {label_column} of {where} is set as both text_column and label_column.",
            "Choose different columns for text_column and label_column.",
        )
    return Choice(tuple(names), f"{some(names)} {'are joined as' if len(names) > 1 else 'is'} the text, as requested.")


def _text_by_name(seen: dict[str, Profile], label_column: str) -> Choice | None:
    """A title, joined with the longest other column that is named like a text; None if no name fits."""
    by_name = {n.strip().lower(): n for n in reversed(list(seen)) if n != label_column and seen[n].cells}
    named = sorted((by_name[n] for n in TEXTS if n in by_name), key=lambda n: -seen[n].words)
    chosen = [by_name[TITLE]] if TITLE in by_name else []
    chosen += named[:1]
    if not chosen:
        return None
    others = f"; {some(named[1:])} {'are' if len(named) > 2 else 'is'} not used" if named[1:] else ""
    what = f"{column(chosen[0])} is used as the text because of its name"
    if len(chosen) > 1:
        what = f"{some(chosen)} are joined as the text because of their names"
    return Choice(tuple(chosen), f"{what}; it has {sum(seen[c].words for c in chosen):.0f} words on average{others}.")


def _text_by_length(seen: dict[str, Profile], label_column: str, where: str) -> Choice:
    others = [p for p in seen.values() if p.name != label_column]
    free = sorted((p for p in others if p.is_free_text), key=lambda p: -p.words)
    if not free and others and all(p.is_identifier for p in others):
        raise UserError(
            "only_names",
            f"Besides {label_column}, {where} has only names of its rows ({some([p.name for p in others], 3)}), from which nothing can be learnt.",
            "Add columns that describe the rows, or the images that they name.",
        )
    if not free:
        raise UserError(
            "no_text",
            f"No column of {where} looks like text.",
            "Set text_column to the text column. A text has three or more words in most rows.",
            f"Its columns are {some(seen)}.",
        )
    if len(free) > 1 and free[1].words >= 0.9 * free[0].words:
        pair = " To read two of them as a pair, set text_pair_column to the second."
        _ask("text", [p.name for p in free if p.words >= 0.9 * free[0].words], where, pair)
    longest = "its cells are the longest" + ("" if free[0].is_sequence else f", with {free[0].words:.0f} words on average")
    return Choice((free[0].name,), f"{column(free[0].name)} is used as the text: {longest}.")


def listed(wanted: str, seen: dict[str, Profile]) -> list[str]:
    """Column names separated by commas, unless the whole is itself the name of a column."""
    if wanted.strip().lower() in (n.lower() for n in seen):
        return [wanted]
    return list(dict.fromkeys(w for w in wanted.split(",") if w.strip()))


def resolve(wanted: str, seen: dict[str, Profile], parameter: str, where: str) -> str:
    """The column called ``wanted``: exactly, else ignoring case, else by its number if the file has no header, else by the lower name of one column
    below a common name."""
    wanted = nfc(wanted.strip())
    for same in (lambda n: nfc(n) == wanted, lambda n: nfc(n).strip().lower() == wanted.lower(), lambda n: n == f"column {wanted}"):
        if found := next((n for n in seen if same(n)), None):
            return found
    lower = [n for n, p in seen.items() if p is not None and p.short.lower() == wanted.lower()]
    if len(lower) == 1:
        return lower[0]
    raise UserError(
        "unknown_column",
        f"There is no column {wanted} in {where}.",
        f"Set {parameter} to one of these columns, or leave it empty to detect the column.",
        f"Its columns are {some(seen)}.",
    )


def check_label(p: Profile, where: str, task: str) -> None:
    """Refuse a label column that no model of ``task`` can be trained on."""
    if p.distinct <= 1:
        raise UserError(
            "one_class",
            f"The label column {p.name} of {where} has only one value, so there is nothing to predict.",
            "Add rows of at least one other class, or choose another label_column.",
        )
    if p.lists >= MOSTLY:
        raise UserError(
            "several_labels",
            f"The label column {p.name} of {where} contains lists, but a model predicts one label for each row.",
            "Choose a label_column with one label for each row, or train one model for each label.",
        )
    if registry.predicts_numbers(task):
        if p.numbers < 0.5:
            raise UserError(
                "label_not_a_number",
                f"The label column {p.name} of {where} does not contain numbers, which {task} needs.",
                "Choose a label_column with numbers, or a classification task.",
                f"{p.numbers:.0%} of its values are numbers.",
            )
    elif p.distinct > max(2, p.cells // 2) and not (task == "auto" and p.is_measure):
        raise UserError(
            "label_not_a_class",
            f"The label column {p.name} of {where} has {p.distinct} different values in {p.cells} rows, so it does not name classes.",
            "Choose a label_column whose values repeat, such as a category.",
            "It may be an identifier, a measured number or the text itself.",
        )


def _values(p: Profile) -> str:
    return f"it has {p.distinct} different values"


def ask_label(names: list[str], seen: dict[str, Profile], where: str) -> NoReturn:
    """Raise the error that asks which of these columns is the label, with what each of them holds."""
    _ask("label", names, where, why=f"Of these, {offers(names, seen)}.")


def _ask(role: str, names: list[str], where: str, hint: str = "", why: str = "") -> NoReturn:
    raise UserError(
        f"ambiguous_{role}", f"Several columns of {where} could be the {role}: {some(names)}.", f"Set {role}_column to the right one.{hint}", why
    )
