"""Forecasts by a saved model: from the end of new data, which continue what the model knows of each series."""

from dataclasses import replace

import numpy

from trainer import export
from trainer.core import registry
from trainer.data import sources
from trainer.data.checks import Checks
from trainer.data.columns import choices, clocks, epochs, joined_clocks, profiles
from trainer.data.columns.values import Style
from trainer.data.formats import tables as read_tables
from trainer.data.formats.table import NotATable, Table
from trainer.errors import UserError, reading_model, some
from trainer.kinds.series import columns, forecaster, gathered, methods, results
from trainer.kinds.series.calendar import NUMBER
from trainer.kinds.series.columns import Found
from trainer.kinds.series.forecaster import Forecaster
from trainer.kinds.series.layouts import apart, spreading, turning
from trainer.kinds.series.layouts.melted import SERIES
from trainer.kinds.series.layouts.turned import Turned
from trainer.kinds.series.panel import Panel, filled
from trainer.kinds.series.steps import Details
from trainer.models import saved_model
from trainer.run_folder import stop

_FARTHEST = 2  # seasons, and at least as many steps as are forecast, between what a model knows and new rows that continue it


def answer(asking: export.Asking) -> None:
    """Forecast behind the last value of each series of the dataset, and write the results. Raises UserError."""
    from trainer.training import candidates

    spec, settings, model, events = asking.spec, asking.settings, asking.model, asking.events
    described = model.description
    with reading_model("The model"):
        target, known = registry.restored(described["target"]), forecaster.load(model.folder)
    known = known.with_installed(spec.models, lambda: stop.check(spec.folder))
    found = sources.find(spec, settings.data_file, events)
    checks = Checks(events)
    needed = [*described["columns"], described["label_column"]]
    fitting = _fitting(found, described, known, settings, events)
    if not fitting:
        raise UserError(
            "no_data", f"The dataset has no table with the columns {some(needed, 8)}, which the model reads.", "Add one, or choose another model.",
            f"Not used: {found.ignored}." if found.ignored else "",
        )  # fmt: skip
    where = some([t.name for t in fitting], 3)
    read = gathered.panel(fitting, _found(fitting, described, known, settings, where), where, checks, fewest=1)
    panel, joined = continued(read, known)
    if joined:
        events.decision("continued", joined, f"Of {len(panel):,} series, {joined:,} go on where the training data ended.")
    enough = max(gathered.FEWEST, 2 * known.fitted.season)
    if short := int((panel.lengths < enough).sum()):
        text = f"{short:,} of {len(panel):,} series have fewer than {enough} steps before the forecast and do not continue the training data."
        events.warning("short_history", f"{text} Their forecasts are hardly better than a guess: add earlier rows.")
    stop.check(spec.folder)
    asked = results.future(known, panel)
    asked.details = Details(known.fitted.lags, panel.lengths, known.steps, known.covariates, of=columns.with_unit(fitting, described["label_column"]))
    events.phase("predict", f"Forecasting {known.steps} steps of {len(panel):,} series.")
    outputs = known.outputs(asked)
    events.phase("export", "Writing the forecasts.")
    nobody = numpy.zeros(len(asked), bool)
    answered = export.Answered(registry.of(described["kind"]), asked, outputs, numpy.full(len(asked), numpy.nan), nobody, target)
    facts = {"Method": methods.TITLES[known.method], **results.of_installed(known), "Steps ahead": str(known.steps), "Series": f"{len(panel):,}"}
    skipped = sum(n for _, n in checks.dropped)
    rows = export.RowsRead(sorted(t.name for t in fitting), list(described["columns"]), skipped, described["label_column"])
    export.prediction(asking, answered, rows, candidates.versions(), facts)


def _fitting(found: sources.Sources, described: dict, known: Forecaster, settings, events) -> list[Table]:
    """The tables that have the columns that the model reads, also those whose columns are times."""
    needed, time = [*described["columns"], described["label_column"]], _time(described, known)
    ids = described["columns"][: len(known.history.ids[0])]
    read: list[Table] = []
    for source in found.tables:
        try:
            read += read_tables.read_all(source, {n.lower() for n in needed}, settings, events)
        except NotATable as e:
            found.ignored.add(source.name, e)
    if apart.FILE in ids:
        apart.name_files([t for t in read if t.lacks([apart.FILE])])
    named = {of[0] for of in known.history.ids} if ids[:1] == [SERIES] else set()
    fitting: list[Table] = []
    turned: list[Turned] = []
    for table in read:
        if not table.lacks(needed):
            fitting.append(table)
        elif len(time) == 1 and not known.covariates and (again := turning.again(table, ids, time[0], described["label_column"])):
            turned.append(again)
        elif (spread := spreading.again(table, [n for n in described["columns"] if n != SERIES], described["label_column"], named)) is not None:
            fitting.append(spread)
    fitting += turning.joined(turned, _ends(known))
    if (told := turning.decision(fitting)) is not None:
        events.decision(*told)
    return fitting


def _ends(known: Forecaster) -> dict[tuple[str, ...], int]:
    """The number of the last step of each series that a model knows, where its steps are numbers."""
    if known.calendar.unit != NUMBER:
        return {}
    history = known.history
    lasts = (known.calendar.text(int(first) + len(values) - 1) for first, values in zip(history.firsts, history.values))
    return {ids: int(float(last)) for ids, last in zip(history.ids, lasts)}


def _time(described: dict, known: Forecaster) -> list[str]:
    """The columns of the time: those between the ids and the covariates."""
    columns = described["columns"]
    return columns[len(known.history.ids[0]) : len(columns) - len(known.covariates)]


def _found(tables: list[Table], described: dict, known: Forecaster, settings, where: str) -> Found:
    """The columns of the model in new tables. Raises UserError where the times cannot be read."""
    time = _time(described, known)
    seen = profiles.of(tables)
    names = [choices.resolve(n, seen, "time_column", where) for n in time]
    if len(names) > 1:
        clock = joined_clocks.of({n: seen[n].dates for n in names}, lambda name: apart.cells_of(tables, name))
    else:
        clock = clocks.asked(names[0], apart.cells_of(tables, names[0]))
    if clock is None or numpy.isnan(clock.times).all():
        raise UserError("no_times", f"The column {some(time)} of {where} has no times that can be read.", "Write them as in the training data.")
    if known.calendar.unit != NUMBER:
        clock = epochs.dated(clock)[0]
    if known.calendar.form == columns.WEEK:
        clock = replace(clock, times=columns.weeks(apart.cells_of(tables, names[0])))
    label = described["label_column"]
    ids = described["columns"][: len(known.history.ids[0])]
    style = saved_model.styles(described).get(label, Style())
    return Found(clock, known.calendar, label, tuple(ids), known.covariates, style, ())


def continued(panel: Panel, known: Forecaster) -> tuple[Panel, int]:
    """``panel`` with the steps that the model knows before it, and how many series go on."""
    history = known.history
    places = {ids: i for i, ids in enumerate(history.ids)}
    far = max(known.steps, _FARTHEST * known.fitted.season)
    content, observed, firsts, covariates, joined = [], [], [], [], 0
    for s in range(len(panel)):
        values, there, first = panel.values[s], panel.observed[s], int(panel.firsts[s])
        ahead = panel.known[s] if panel.known else None
        old = places.get(panel.ids[s])
        if old is not None and first - (begin := int(history.firsts[old])) > 0 and first - begin - len(history.values[old]) <= far:
            before = history.values[old][: first - begin]
            gap = numpy.full(first - begin - len(before), numpy.nan)
            values = filled(numpy.concatenate([before, gap, values]))
            there = numpy.concatenate([numpy.ones(len(before), bool), numpy.zeros(len(gap), bool), there])
            if ahead is not None and history.known:
                earlier = history.known[old][: first - begin]
                ahead = numpy.concatenate([earlier, numpy.repeat(ahead[:1], len(gap), axis=0), ahead])
            first, joined = begin, joined + 1
        content.append(values)
        observed.append(there)
        firsts.append(first)
        if ahead is not None:
            covariates.append(ahead)
    return Panel(panel.ids, tuple(content), tuple(observed), numpy.array(firsts, numpy.int64), (), panel.files, tuple(covariates)), joined
