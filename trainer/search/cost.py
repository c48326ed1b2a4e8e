"""The work of trials. It is counted and not timed, so that the plan of a search is a function of the data, the settings and the seed."""

import math

from trainer.core.plan import Plan
from trainer.search import schedule
from trainer.search.trials import Search, State, Trial
from trainer.train import batches

STEP = 200  # rows times width that take as long as what a step costs at any size; measured with perceptrons and transformers


class Costs:
    """The work of trials in trainings with the default settings. A trial with another base model is measured by that model's default."""

    def __init__(self, default: Plan):
        self.default = default
        self._epochs: dict[tuple[str, int], float] = {}

    def share(self, trial: Trial) -> float:
        """How many epochs of the trial are as much work as one with the default settings, at most 1."""
        standard = trial.plan or self.default
        usual = standard.settings.batch_size
        return min(1.0, self._epoch(standard, usual) / self._epoch(standard, trial.values.get("batch_size", usual)))

    def of(self, trial: Trial, epochs: float, length: float) -> float:
        """The work of so many epochs of a trial. ``length`` is the number of epochs of the default training."""
        standard = trial.plan or self.default
        usual = standard.settings.batch_size
        work = self._epoch(standard, trial.values.get("batch_size", usual)) / self._epoch(standard, usual)
        return work * epochs / max(length, 1e-9)

    def total(self, state: State, search: Search) -> float:
        """The work of all trials so far."""
        return round(sum(self.of(t, state.records[t.number].epochs, state.length) for t in search.trials), 2)

    def rungs(self, trial: Trial, plan: Plan, length: float) -> list[float]:
        """The work of a trial up to the end of each rung. ``plan`` is its own."""
        places = stops(plan)
        epochs = [schedule.until(schedule.share(r), length * self.share(trial) * places) / places for r in range(1, schedule.RUNGS + 2)]
        return [self.of(trial, e, length) for e in epochs]

    def _epoch(self, plan: Plan, batch_size: int) -> float:
        """Rows times width over the steps of an epoch, and what every step costs beside."""
        key = (plan.base.name, batch_size)
        if key not in self._epochs:
            features = plan.splits["train"].features
            width = plan.kind.step_width(features)
            steps = batches.training(features.lengths, batch_size, plan.settings.seed, 1)
            self._epochs[key] = float(sum(int(features.lengths[b].max()) * len(b) for b in steps)) * width + STEP * len(steps)
        return self._epochs[key]


def stops(plan: Plan) -> int:
    """The number of evaluations in an epoch. Where an epoch has fewer steps than evals_per_epoch, it is smaller."""
    per_epoch = math.ceil(len(plan.splits["train"]) / plan.settings.batch_size)
    return len(batches.evaluated(per_epoch, plan.settings.evals_per_epoch))
