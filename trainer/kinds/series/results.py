"""What the report says of forecasts, and the tables that are delivered."""

import math
from pathlib import Path

import numpy

from trainer.core import blocks
from trainer.core.blocks import COUNT, DATA, NUMBER, RESULT, Axis, Block, Cell, Chart, Column, Rule, Section, Series
from trainer.export import display
from trainer.export.finished import Answered, Finished
from trainer.kinds.series import forecaster, methods, steps as examples_of, unusual
from trainer.kinds.series.calendar import NUMBER as NUMBERS, Calendar
from trainer.kinds.series.forecaster import Forecaster
from trainer.kinds.series.panel import Panel
from trainer.kinds.series.steps import Steps
from trainer.kinds.series.target import FORECAST, HIGH80, HIGH90, LOW80, LOW90
from trainer.run_folder import files

TABLE = "forecast.csv"
_DRAWN = 3  # series in charts
_FEWEST_DRAWN, _TIMES = 40, 4  # steps before the forecast, at least and in units of its length
_UNUSUAL, _SAMPLES = 12, 20
_BOUNDS = (("lower_80", LOW80), ("upper_80", HIGH80), ("lower_90", LOW90), ("upper_90", HIGH90))
_VALUE = "value"  # what is forecast, where no column is named
_CONTINUE = (
    "Submit the dataset with the new rows, or a dataset with these alone, to ncsa.ray.predict: it continues each series from where this model ends, "
    "and forecasts the steps behind the new rows. Train again when the forecasts get worse, or after about one season."
)
ABOUT = {"title": "Forecast", "text": "The steps after the last one of each series, with intervals of 80 and 90 %."}


def future(model: Forecaster, panel: Panel) -> Steps:
    """The steps behind the end of each series."""
    return examples_of.behind(panel, model.calendar, numpy.arange(len(panel)), panel.lengths, model.steps, known=False)


def parts(finished: Finished) -> dict:
    """The sections of the report. Writes the forecast beside the model."""
    model = forecaster.load(finished.folder)
    train = finished.data.splits["train"]
    assert isinstance(train, Steps) and train.details is not None
    of = train.details.of
    asked = future(model, train.panel)
    outputs = model.behind(asked)
    files.write_text(finished.folder.parent / TABLE, table(asked, outputs, finished.data.columns, of))
    inside = [_facts(model, finished, of), _methods(model, finished), *_charts(train.panel, asked, outputs, model.calendar, of)]
    inside.append(blocks.text(_CONTINUE, title="When new rows come"))
    sections = [*_unusual(train.panel, model.fitted.season, model.calendar, of), Section(RESULT, "Forecast", inside)]
    return {"sections": blocks.described(sections), "about": {f"out/{TABLE}": ABOUT}}


def table(asked: Steps, outputs: numpy.ndarray, columns, of: str) -> str:
    """The forecasts as CSV: ids, time, forecast and its intervals, and ``of`` which column, with its unit."""
    head = [*columns[: len(asked.panel.ids[0])], "time", "forecast", *(name for name, _ in _BOUNDS), "forecast_of"]
    return display.table(head, ([*_line(example, row, ()), of] for example, row in zip(asked, outputs)))


def _line(example, row: numpy.ndarray, more) -> list:
    values = row.tolist()  # a panel has hundreds of thousands of lines, and numbers of Python are written faster
    bounds = ["" if math.isnan(values[at]) else f"{values[at]:.6g}" for _, at in _BOUNDS]
    return [*example.content.ids, example.content.time, *more, f"{values[FORECAST]:.6g}", *bounds]


def predictions(finished: Finished) -> str:
    """predictions.csv of a training: the test steps, with what was right."""
    test, answers = finished.data.splits["test"], finished.outcome.answers["test"]
    ids = len(finished.data.splits["train"].panel.ids[0])  # type: ignore[attr-defined]
    head = ["file", "row", *finished.data.columns[:ids], "time", "label", "predicted", *(name for name, _ in _BOUNDS)]
    return display.table(head, ([e.file, e.row, *_line(e, row, (e.target,))] for e, row in zip(test, answers.outputs)), finished.origins)


def answers_table(answered: Answered, columns) -> str:
    """predictions.csv and forecast.csv of a prediction."""
    asked = answered.examples
    assert isinstance(asked, Steps)
    return table(asked, answered.outputs, columns, asked.details.of if asked.details else _VALUE)


def samples(answered: Answered) -> list[dict]:
    """The first steps of a forecast."""
    shown = zip(answered.examples[:_SAMPLES], answered.outputs)
    return [display.entry(e, answered.kind, (), predicted=answered.target.text(row[FORECAST])) for e, row in shown]


def answers_sections(answered: Answered) -> list[Section]:
    """The charts of a prediction, and what is unusual in the new rows."""
    asked = answered.examples
    assert isinstance(asked, Steps)
    if not len(asked) or asked.details is None:
        return []
    drawn = _charts(asked.panel, asked, answered.outputs, asked.calendar, asked.details.of)
    return [*_unusual(asked.panel, asked.details.lags.season, asked.calendar, asked.details.of), Section(RESULT, "Forecast", drawn)]


def write_forecast(out: Path) -> dict[str, dict]:
    files.write_text(out / TABLE, (out / "predictions.csv").read_text(encoding="utf-8"))
    return {f"out/{TABLE}": ABOUT}


def _facts(model: Forecaster, finished: Finished, of: str) -> Block:
    season = f"{model.fitted.season} steps" if model.fitted.season > 1 else "none"
    intervals = "from the errors at rolling origins, at each step ahead" if numpy.isfinite(model.widths).all() else "none: the series are too short"
    ids, known = len(model.history.ids[0]), len(model.covariates)
    times = finished.data.columns[ids : len(finished.data.columns) - known]
    facts = {
        "Forecast": of, "Times": " ".join(times), "Method": methods.TITLES[model.method], **of_installed(model), "One step": model.calendar.words,
        "Steps ahead": str(model.steps), "Season": season, "Intervals": intervals, "Series": f"{len(model.history):,}",
    }  # fmt: skip
    return blocks.facts(facts)


def of_installed(model: Forecaster) -> dict[str, str]:
    """The installed model that takes part, with its license and its hash."""
    about = model.about
    if about is None:
        return {}
    return {"Installed model": f"{about.name}{f', {about.license}' if about.license else ''}, sha256 {about.sha256[:12]}…"}


def _methods(model: Forecaster, finished: Finished) -> Block:
    """The methods on the rolling origins and on the test steps."""
    target, test = finished.prepared.plan.target, finished.data.splits["test"]
    rows = []
    for name in (n for n in methods.TITLES if n in {*model.figures, model.method}):
        mean, error = model.figures.get(name, (None, 0.0))
        tested = None
        if len(test) and name == model.method:
            tested = target.summary(finished.outcome.answers["test"])["mase"]
        elif len(test) and name in (methods.NAIVE, methods.ETS, methods.THETA):
            truth = target.encode([e.target for e in test])
            tested = target.summary(target.answers(model.by(name, test), truth))["mase"]
        said = f"{methods.TITLES[name]} (delivered)" if name == model.method else methods.TITLES[name]
        on_origins = Cell("not measured") if mean is None else Cell(value=mean, low=max(0.0, mean - 1.96 * error), high=mean + 1.96 * error)
        rows.append([Cell(said), on_origins, Cell("not measured") if tested is None else Cell(value=tested)])
    columns = [Column("Method"), Column("MASE on rolling origins", NUMBER), Column("MASE on the test steps", NUMBER)]
    note = (
        "MASE: the mean absolute error, in units of the error of the seasonal naive forecast one step ahead. "
        f"There were {model.origins:,} origins, of which those in the last 12 horizons choose. "
        "The seasonal naive forecast is delivered unless another method is better by more than a standard error"
        f"{', and so is the best method without the installed model.' if {*model.figures} & {*methods.BASED} else '.'}"
    )
    return blocks.table("Methods", columns, rows, note=note)


def _charts(panel: Panel, asked: Steps, outputs: numpy.ndarray, calendar: Calendar, target: str) -> list[Block]:
    found = []
    drawn_steps = max(_FEWEST_DRAWN, _TIMES * int(asked.aheads.max()))
    for number, s in enumerate(numpy.unique(numpy.linspace(0, len(panel) - 1, _DRAWN).astype(int))):
        here = numpy.flatnonzero(asked.series == s)
        before = panel.values[s][-drawn_steps:]
        last = calendar.text(int(panel.firsts[s]) + len(panel.values[s]) - 1)
        history = [[float(i - len(before) + 1), float(v)] for i, v in enumerate(before)]
        ahead = [[float(k), float(outputs[row, FORECAST])] for k, row in zip(asked.aheads[here], here)]
        bounds = [(float(k), float(outputs[row, LOW80]), float(outputs[row, HIGH80])) for k, row in zip(asked.aheads[here], here)]
        ranges = [list(b) for b in bounds if numpy.isfinite(b).all()]
        name = " ".join(panel.ids[s])
        title = f"Forecast of {display.short(name)}" if name else "Forecast"
        summary = f"{target}{f' of {display.short(name)}' if name else ''}: {len(before)} steps up to {last}, and {len(here)} steps of forecast"
        drawn = Chart(
            "line", Axis(f"steps of one {calendar.words} after {last}" if calendar.unit != NUMBERS else f"steps after {last}"),
            Axis(target), [Series(history, "history"), Series(ahead, "forecast", ranges)], f"{summary} with intervals of 80 %.",
            [Rule(0.0, "last value")], file="forecast" if number == 0 else "",
        )  # fmt: skip
        found.append(blocks.chart(title, drawn))
    return found


def _unusual(panel: Panel, season: int, calendar: Calendar, target: str) -> list[Section]:
    listed = unusual.find(panel, season, _UNUSUAL)
    if not listed:
        return []
    rows = [
        [
            Cell(display.short(" ".join(panel.ids[u.series])) or target), Cell(calendar.text(int(panel.firsts[u.series]) + u.place)),
            Cell(value=float(panel.values[u.series][u.place])), Cell(u.sort), Cell(value=round(u.far)),
        ]
        for u in listed
    ]  # fmt: skip
    columns = [Column("Series"), Column("Time"), Column("Value", NUMBER), Column("What"), Column("Times the usual", COUNT)]
    note = "Values far from their neighbours, and steps at which the level changes. They are not changed or left out: check whether they are right."
    return [Section(DATA, "Unusual steps", [blocks.table("The most unusual steps", columns, rows, note=note)])]
