"""Datasets read as the driver reads them, for a training or for a prediction, without the rest of a run."""

from trainer.config.options import options
from trainer.config.settings import Settings
from trainer.core import registry
from trainer.core.columns import Columns
from trainer.core.example import Dataset, Example
from trainer.data import claims, sources
from trainer.data.checks import Checks
from trainer.run_folder.events import Events


def load(spec, events: Events, **values) -> Dataset:
    """The data of a training on the files of ``spec``, read as the kind that wins the claims."""
    settings, checks = settings_of("train", values), Checks(events)
    claim = claims.choose(spec, sources.find(spec, settings.data_file, events), settings, checks, registry.kinds().values())
    return claim.kind.read(claim, settings, checks)


def read_rows(spec, events: Events, kind: str, columns: Columns, **values) -> tuple[list[Example], list[str], int]:
    """The rows of the files of ``spec`` that a saved model of this kind predicts, the files they come from, and how many were skipped."""
    settings = settings_of("predict", values)
    return registry.of(kind).read_rows(sources.find(spec, settings.data_file, events), columns, settings, events)


def settings_of(kind_of_job: str, values: dict) -> Settings:
    """The options of a job of this kind: those of ``values`` from the form, the others from the table."""
    table = options(kind_of_job)
    return Settings({n: o.default for n, o in table.items()} | values, {n: "form" if n in values else "default" for n in table})
