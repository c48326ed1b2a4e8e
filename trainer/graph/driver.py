"""The training on a graph, from its files to the results. The network goes through the launchers and the loop of all trainings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from trainer import baseline, candidates, export
from trainer.candidates import Wanted
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.data.checks import Checks
from trainer.graph import prepare
from trainer.graph.graph import Graph
from trainer.graph.prepare import Prepared
from trainer.launch.outcome import Outcome
from trainer.plan import Plan
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.tasks.catalogue import Base


class Workers(Protocol):
    """The workers of the run, which are requested before the data is read."""

    launcher: Any

    def request(self, base: Base) -> None: ...


@dataclass
class Run:
    """What a training is carried out with. ``workers`` has the launcher, ``train`` carries out a plan with it."""

    spec: Spec
    settings: Settings
    events: Events
    checks: Checks
    workers: Workers
    train: Callable[[Plan], Outcome]
    began: float


def carry_out(run: Run, graph: Graph) -> None:
    """Train on ``graph``, choose what is delivered, and write the results. Raises UserError for what only the user can fix."""
    base = Base("sage", "graph")
    run.workers.request(base)
    stop.check(run.spec.folder)
    prepared = prepare.make(run.spec, run.settings, graph, run.workers.launcher.workers, run.checks)
    if run.settings.dry_run:
        trial = run.workers.launcher.estimate(prepared.plan)
        export.check(run.spec, run.settings, prepared.data, prepared, trial, run.events, run.began)
        return
    outcome = run.train(prepared.plan)
    _deliver(run, prepared, base, outcome)


def _deliver(run: Run, prepared: Prepared, base: Base, outcome: Outcome) -> None:
    wanted = Wanted((), base, "")
    found = [candidates.trained(base, outcome)]
    listed = candidates.entries(found, found[0], wanted, prepared.plan)
    run.events.phase("export", "Writing the model, the metrics and the predictions.")
    simple = baseline.Baselines([], None, None, None, "")
    export.training(
        run.spec, run.settings, prepared.data, prepared, outcome, simple, run.workers.launcher.workers, run.events, run.began, listed, None
    )
