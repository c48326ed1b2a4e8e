"""What the test rows of a split stand for, in a sentence for the report."""

from collections.abc import Sequence
from dataclasses import dataclass

from trainer.core import columnar
from trainer.core.example import Example
from trainer.data import ordered
from trainer.data.ordered import Rule

TITLE = "What the split imitates"  # of the section of the report
GIVEN, END = "given", "end"  # the dataset says which rows are for the test; they are the ends of files


@dataclass(frozen=True)
class Cut:
    """How the test rows were chosen: ``by`` is ordered.RANDOM, TIME or GROUP, or GIVEN or END. ``new`` are the things of which none is both in
    the test and in the training, in the plural; empty for single rows."""

    by: str = GIVEN
    new: str = ""

    def imitates(self, things: str, known: str = "") -> str:
        """The sentence. ``things`` are examples, in the plural; ``known`` is what nearly all of the test share with some of the training, if
        anything."""
        if self.by == GIVEN:
            return f"The dataset says which {things} are for the test, so the scores stand for {things} that differ from the training as these do."
        if self.by == ordered.TIME:
            return f"The test {things} are later than those of the training, so the scores stand for later {things}."
        if self.by == END:
            return f"The test {things} are the ends of the files, so the scores stand for what follows in the same files."
        if self.by == ordered.RANDOM:
            of = f"of a {known} that the model knows, and not for those of a new one" if known else "from where these are from"
            return f"The test {things} are a random part of the dataset, so the scores stand for new {things} {of}."
        return f"The test {things} are of other {self.new} than those of the training, so the scores stand for new {self.new}."


def chosen_by(in_time: bool, test: Sequence[Example], group_column: str, rule: Rule) -> Cut:
    """How the rows ``test`` were cut out by ``rule``: the latest with ``in_time``, else whole groups where they have some, else at random."""
    if in_time:
        return Cut(ordered.TIME)
    groups = columnar.groups(test)
    if not any(groups) or (rule.new == ordered.ORIGINALS and 2 * sum(map(bool, groups)) < len(groups)):
        return Cut(ordered.RANDOM)
    new = rule.new or (f"values of {group_column}" if group_column else "files" if groups == columnar.files(test) else "groups")
    return Cut(ordered.GROUP, new)
