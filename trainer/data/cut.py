"""What the test rows of a split stand for, in a sentence for the report."""

from dataclasses import dataclass

from trainer.data import ordered

GIVEN = "given"  # the dataset says which rows are for the test


@dataclass(frozen=True)
class Cut:
    """How the test rows were chosen: ``by`` is ordered.RANDOM, TIME or GROUP, or GIVEN. ``new`` are the things of which none is both in
    the test and in the training, in the plural; empty for single rows."""

    by: str = GIVEN
    new: str = ""

    def imitates(self, things: str) -> str:
        """The sentence. ``things`` are examples, in the plural."""
        if self.by == GIVEN:
            return f"The dataset says which {things} are for the test, so the scores stand for {things} that differ from the training as these do."
        if self.by == ordered.TIME:
            return f"The test {things} are later than those of the training, so the scores stand for later {things}."
        if self.by == ordered.RANDOM:
            return f"The test {things} are a random part of the dataset, so the scores stand for new {things} from where these are from."
        return f"The test {things} are of other {self.new} than those of the training, so the scores stand for new {self.new}."
