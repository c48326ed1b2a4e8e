"""Whether the rows of a prediction are like those that its model learnt from: what is kept of a training, and what is said of a prediction."""

from collections.abc import Sequence

import numpy

from trainer.core import blocks, mapped
from trainer.core.blocks import RESULT, Cell, Column, Section
from trainer.core.example import Dataset
from trainer.errors import count, one_line, reading_model
from trainer.export.finished import Answered
from trainer.measure.predictions import Predictions
from trainer.run_folder.events import Events
from trainer.shift import comparison, profile
from trainer.shift.comparison import Comparison
from trainer.shift.traits import Categories, Numbers, Trait
from trainer.targets.target import Answers, Target

PROFILE = "profile"  # in the description of a model
MARKS = "unlike training"  # column of predictions.csv
_ROWS = 20_000  # of the training that are looked at
_SAID = 4  # differences in the sentence
_ANSWER, _SURE = "the answer", "the confidence"


def learnt(data: Dataset, target: Target, test: Answers) -> list[dict]:
    """The profile of the training rows, and of the answers to the test rows, which the model did not learn from."""
    train = data.splits["train"]
    traits = list(data.kind.traits(train[:: max(1, len(train) // _ROWS)], data.columns, data.types))
    mapped.rest()  # rows from all over: nearly the whole file was read
    if isinstance(test, Predictions):
        traits += _of_answers(target, test.predicted, test.confidence)
    return profile.learn(traits)


def _of_answers(target: Target, predicted: numpy.ndarray, confidence: numpy.ndarray | None) -> list[Trait]:
    if not target.labels:
        return [Numbers(_ANSWER, numpy.asarray(predicted, numpy.float64), answer=True)]
    found: list[Trait] = [Categories(_ANSWER, [target.text(p) for p in predicted], answer=True)]
    if confidence is not None:
        found.append(Numbers(_SURE, numpy.asarray(confidence, numpy.float64), answer=True, falls=True))
    return found


def compared(described: dict, answered: Answered, columns: Sequence[str], events: Events) -> Comparison | None:
    """The comparison of the rows of a prediction with the profile of the model; None for models without one. ``events`` takes a warning.

    Raises UserError for a profile that is damaged or forged.
    """
    with reading_model("The model"):
        profiles = profile.restored(described.get(PROFILE, []))
    if not profiles:
        return None
    traits = list(answered.kind.traits(answered.examples, columns, described["types"]))
    if any(getattr(p, "answer", False) for p in profiles):
        traits += _of_answers(answered.target, answered.predicted, answered.confidence)
    found = comparison.compare(profiles, traits)
    if found.findings:
        said = "; ".join(f.said for f in found.findings[:_SAID])
        more = f"; and {count(len(found.findings) - _SAID, 'more difference')}" if len(found.findings) > _SAID else ""
        events.warning("unlike_training", f"These {answered.kind.things} are not like those of the training: {said}{more}.")
    return found


def section(found: Comparison, things: str) -> Section:
    """What the report says of the comparison."""
    facts = {
        "Compared": f"{count(found.traits, 'trait')} of {found.rows:,} {things}, by {count(found.tests, 'test')}",
        "False alarms": f"in at most {comparison.ALARMS:.0%} of predictions on {things} that are like the training",
        "Marked": f"{found.marked:,} of {found.rows:,} {things}, with a value unlike all: see {MARKS} in predictions.csv" if found.marked else "",
    }
    inside = [blocks.facts(facts)]
    if found.findings:
        rows = [
            [Cell(one_line(f.name, 60)), Cell(f.training), Cell(f.new), Cell(f"{f.p:.1g}" if f.p >= 1e-9 else "below 1e-9")] for f in found.findings
        ]
        columns = [Column("Trait"), Column("Training"), Column(f"These {things}"), Column("p")]
        note = "p: how often chance alone gives a difference as large, for one test."
        inside.append(blocks.table("What differs", columns, rows, note=note))
    elif found.tests:
        inside.append(blocks.text("No difference beyond chance was found."))
    else:
        inside.append(blocks.text(f"There are fewer than {comparison.FEWEST} {things} on one side, so nothing was tested."))
    return Section(RESULT, "Are they like the training data?", inside)
