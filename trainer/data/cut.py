"""What the test rows of a split stand for, in a sentence for the report."""

from dataclasses import dataclass

from trainer.data import ordered

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
