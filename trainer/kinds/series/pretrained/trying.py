"""Whether an installed model takes part in a training on series: which one, and whether its memory and its time are worth a try."""

from dataclasses import replace

import numpy

from trainer.core import registry
from trainer.core.example import Dataset
from trainer.core.kind import Kind
from trainer.errors import UserError, count
from trainer.kinds.series import judging, methods
from trainer.kinds.series.panel import length_read
from trainer.kinds.series.pretrained import installed
from trainer.models import catalogue
from trainer.models.catalogue import Base
from trainer.models.weights import Unusable
from trainer.run_folder import stop
from trainer.training.carry_out import Run

NONE = "none"
MOST_WORK = 1e13  # multiplications, 10 to 15 minutes of one core, beyond which nobody waits for a model that was not asked for
_EXAMPLE = "google/timesfm-2.5-200m-transformers"


def chosen(run: Run, kind: Kind) -> tuple[Run, Base | None, bool]:
    """The run with settings that name the installed model to try, that model, and whether a user asked for it. Raises UserError."""
    settings = run.settings
    of_model = settings.model not in ("", catalogue.AUTO) and settings.model not in registry.estimators()
    wanted = settings.model if of_model else settings.series_model
    named = wanted not in ("", catalogue.AUTO)
    needed = settings.forecast_method in methods.BASED
    if needed and wanted == NONE:
        raise UserError(
            "series_model", f"The forecast_method {settings.forecast_method} needs an installed model, and series_model is set to {NONE}.",
            "Set series_model to auto, or forecast_method to auto.",
        )  # fmt: skip
    unused = wanted == NONE or settings.forecast_method not in ("auto", *methods.BASED) or settings.start_from == "scratch"
    base = None if unused else catalogue.choose(run.spec.models, wanted, kind)
    if base is not None and base.folder is None:
        base = None
    if base is None and needed:
        raise UserError(
            "model_not_installed", f"No model of series is installed here, which the forecast_method {settings.forecast_method} needs.",
            f"Ask the administrator to run: extractor models install {_EXAMPLE}. Or set forecast_method to auto.",
        )  # fmt: skip
    again = {"series_model": base.name if base is not None else NONE} | ({"model": catalogue.AUTO} if of_model else {})
    return replace(run, settings=settings.with_chosen(**again)), base, named or needed


def attach(run: Run, base: Base | None, asked: bool, data: Dataset) -> None:
    """Let the forecaster try ``base`` on ``data``, or say why not. Raises UserError where a user asked for it and it cannot be used."""
    if base is None or base.folder is None:
        return
    split = data.splits["train"]
    try:
        shape = installed.shape_of(base.folder)
        installed.check_memory(base)
        seconds = installed.seconds(amount := _work(shape, split))
        if amount > MOST_WORK and not asked:
            raise Unusable(f"would take about {_minutes(seconds)} for this many series; set forecast_method to {methods.INSTALLED} to wait for it")
        model = None if run.settings.dry_run else installed.read(base, split.calendar)  # type: ignore[attr-defined]
    except Unusable as e:
        if asked:
            raise UserError("model_unusable", f"The installed model {base.name} {e}.", "Choose another model, or set series_model to none.") from e
        run.events.warning("installed_left_out", f"The installed model {base.name} is not tried: it {e}.")
        return
    text = f"The installed model {base.name} forecasts as it is, beside the other methods, from the same rolling origins; about {_minutes(seconds)}."
    run.events.decision("installed_model", base.name, text)
    if model is not None:
        model = replace(model, watch=lambda: stop.check(run.spec.folder))
        split.details = replace(split.details, installed=model, seconds=seconds)  # type: ignore[attr-defined]


def _work(shape, split) -> float:
    """The multiplications of a training: origins, as many training steps, the test and the forecast."""
    details, panel = split.details, split.panel
    at = judging.origins(details.ends, details.lags.season, details.steps, 0)
    tested = numpy.flatnonzero(details.ends < panel.lengths)[: judging.most_series(details.steps)]
    lengths = numpy.concatenate([at.ends, at.ends, details.ends[tested], panel.lengths])
    return installed.work(shape, numpy.minimum(lengths, length_read(details.lags.season)), details.steps)


def _minutes(seconds: float) -> str:
    if seconds < 100:
        return count(max(1, round(seconds)), "second")
    return count(round(seconds / 60), "minute") if seconds < 6000 else count(round(seconds / 3600), "hour")
