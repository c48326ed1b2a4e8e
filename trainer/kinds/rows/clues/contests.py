"""Data of contests: a test table without the label, and a file that only shows how answers are written."""

import re

from trainer.data import images, names
from trainer.data.columns import profiles
from trainer.data.formats.table import Table
from trainer.data.sources import Ignored

_ANSWERS = re.compile(r"(sample|example|test|gender|dummy|baseline|random)?[ _.-]*submission[ _.-]*(format|sample|example|template)?[ _.-]*\d*")
_FEWEST = 2  # columns that both have
_OF_TRAINING = re.compile(r"(k[ _-]?)?folds?|cv[ _-]?fold|(sample[ _-]?)?weights?|split|subset|partition|set", re.IGNORECASE)


def without_answers(found: list[Table], index: images.Index, ignored: Ignored) -> list[Table]:
    """The tables without those that show how answers to the test rows are written, such as sample_submission.csv: their values are no labels. Their
    first column names images, or rows of another table by a column of the same name."""
    kept = []
    for table in found:
        if _ANSWERS.fullmatch(names.stem(table.name)) and _names_others(table, found, index):
            ignored.add(table.name, "shows how answers to the test rows are written, as its name says: its values are no labels")
        else:
            kept.append(table)
    return kept


def _names_others(table: Table, found: list[Table], index: images.Index) -> bool:
    key = table.columns[0]
    cells = [c.strip() for c in table.sample(key) if c.strip()]
    others = [t for t in found if t is not table and not t.lacks([key])]
    return bool(cells) and (index.holds(cells) or any({*cells} <= {c.strip() for c in t.different(key)} for t in others))


def label(found: list[Table]) -> tuple[str, str]:
    """The only column of the training tables that the test tables lack, and why it is the label; empty where there is none."""
    tests = [t for t in found if names.split_of(t.name) == "test"]
    trains = [t for t in found if names.split_of(t.name) == "train"]
    if not tests or not trains:
        return "", ""
    lacking = {tuple(test.lacks(train.columns)) for train in trains for test in tests}
    whole = all(not train.lacks(test.columns) and len(test.columns) >= _FEWEST for train in trains for test in tests)
    told = {*names.LABELS}.intersection(c.lower() for c in tests[0].columns)
    if not whole or told or len(lacking) != 1 or len(only := lacking.pop()) != 1 or not _may_be_label(only[0], trains):
        return "", ""
    return only[0], f"{names.column(only[0])} is used as the label: {trains[0].name} has it, and {tests[0].name}, which has all others, has not."


def _may_be_label(column: str, trains: list[Table]) -> bool:
    """Whether a column can be predicted, and does not say how the rows are used, as folds and weights do."""
    p = profiles.one(column, trains)
    return (p.is_class or p.is_measure) and not (p.is_identifier or p.tells_when_or_where or _OF_TRAINING.fullmatch(column.strip()))
