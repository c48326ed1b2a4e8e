"""A run of kind "script": prepare, place, run, collect."""

from trainer.config import settings as options
from trainer.config.spec import Spec
from trainer.run_folder.events import Events
from trainer.script import sandbox


def run(spec: Spec, launcher: str, events: Events, began: float) -> None:
    """Run the script of ``spec`` and write result.json. Raises UserError, after partial.json, where the script failed."""
    options.resolve(spec, events)
    sandbox.choose(spec.script.sandbox)
