"""The workers of a run, as its driver sees them."""

import os
from pathlib import Path

from trainer import launch, termination
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.kind import Kind
from trainer.core.plan import Plan
from trainer.launch import libraries
from trainer.launch.estimating import EstimatingLauncher
from trainer.launch.outcome import Outcome
from trainer.models.catalogue import Base
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.termination import Terminated

RAY_STOP_SECONDS = 3.0  # Ray's time between SIGTERM and SIGKILL for a job, unless RAY_JOB_STOP_WAIT_TIME_S is set
PAUSE_SHARE = 0.8  # of that time, for the training to save a checkpoint


class Workers:
    """The workers of a run, which are requested as soon as a network is likely to be trained."""

    def __init__(self, name: str, spec: Spec, events: Events):
        self.name, self.spec, self.events = name, spec, events
        self.launcher: launch.Launcher | None = None
        self._later: EstimatingLauncher | None = None

    def request(self, settings: Settings, base: Base | None, kind: Kind) -> Settings:
        """Let the workers start their imports, unless there is no network to train or they were requested before. Returns the settings with
        the number of workers."""
        if base is None or self.launcher is not None:
            return settings
        libraries.add(self.spec.folder, self.events)
        self.launcher, settings = launch.create(self.name, settings, base, kind, self.spec, self.events)
        self.launcher.start()
        return settings

    def later(self, settings: Settings, kind: Kind) -> EstimatingLauncher:
        """Workers for a model without a network, which are requested where there is so much to answer that they pay off."""
        self._later = EstimatingLauncher(self.name, settings, kind, self.spec, self.events)
        return self._later

    def close(self) -> None:
        if self.launcher is not None:
            self.launcher.close()
        if self._later is not None:
            self._later.close()

    def train(self, plan: Plan) -> Outcome:
        """The outcome of the training. On SIGTERM, let the training save a checkpoint before its workers are stopped."""
        try:
            return self.launcher.train(plan)
        except BaseException as e:
            if not termination.is_requested():
                raise
            stop.pause(Path(plan.work), PAUSE_SHARE * float(os.environ.get("RAY_JOB_STOP_WAIT_TIME_S", RAY_STOP_SECONDS)))
            raise Terminated from e
