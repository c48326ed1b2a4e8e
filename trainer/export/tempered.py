"""How sure a network was before its temperature, and how sure it is with it, for the report."""

from trainer.core import blocks
from trainer.core.blocks import RESULT, Section
from trainer.launch.outcome import Outcome
from trainer.measure import calibration
from trainer.run_folder.events import Events
from trainer.targets.target import Target
from trainer.targets.temperature import NONE, Chosen

_TITLE = "How sure the network is"
_FIGURES = {"loss": "Loss", "ece": "Calibration error"}
_HOW = (
    "Networks are often too sure of rows that they have not learnt from. The scores of this one are divided by its temperature before they become "
    "probabilities: above 1 makes it less sure, below 1 more. It was chosen on the held-out {things}, and changes no most likely answer."
)
_WHERE = (
    "All answers of this service have the temperature. The weights and model.onnx are without it: divide their scores by the temperature in "
    "trainer.json to get the same probabilities."
)
_NOT = "The held-out {things} show no gain from a temperature, so probabilities are those of the network."


def training(outcome: Outcome, target: Target, events: Events) -> list[Section]:
    """The section on the temperature of the delivered network; none for other models. Writes the decision."""
    chosen = outcome.calibrated
    if chosen is None:
        return []
    why = chosen.why or (_NOT.format(things=chosen.things) if chosen.temperature == NONE else _sentence(chosen))
    events.decision("temperature", chosen.temperature, why)
    if chosen.why:
        return [Section(RESULT, _TITLE, [blocks.text(why)])]
    after = calibration.figures(target, outcome.answers["test"])
    shown = {f"{title} on the test {chosen.things}": _change(chosen.before.get(name), after.get(name)) for name, title in _FIGURES.items()}
    facts = {"Temperature": f"{chosen.temperature:.4g}, from {chosen.rows:,} held-out {chosen.things}", **shown}
    return [Section(RESULT, _TITLE, [blocks.facts(facts), blocks.text(_HOW.format(things=chosen.things), _WHERE)])]


def _sentence(chosen: Chosen) -> str:
    too = "too sure" if chosen.temperature > NONE else "not sure enough"
    return f"The network was {too} of {chosen.rows:,} held-out {chosen.things}. Its scores are divided by {chosen.temperature:.4g}."


def _change(before: float | None, after: float | None) -> str:
    return "" if before is None or after is None else f"{after:.4g}; without the temperature {before:.4g}"
