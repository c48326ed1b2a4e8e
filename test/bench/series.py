"""Measures forecasts on series that you have: make bench-series SETS=dir [CUTS=12] [MODEL=folder].

The folder has tables with times, values and perhaps ids, each called NAME-H.csv, where H steps are forecast. Each table is cut at several places
before its end. What is known before a cut chooses the method and the intervals; the H steps behind it judge them. The last cut gives the MASE of
each method in units of the seasonal naive error on all steps before the cut, and the coverage is the mean over all cuts, with the standard error of
that of 80 %: the steps behind one cut are right or wrong together. MODEL is the folder of an installed model of series, which then is one of
the methods.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from trainer.config.options import options
from trainer.config.settings import Settings
from trainer.core.input import Input
from trainer.data.checks import Checks
from trainer.data.columns import profiles
from trainer.data.formats import tables
from trainer.kinds.series import columns, gathered, judging, methods, seasons
from trainer.kinds.series.calendar import Calendar
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.methods import ETS, NAIVE, THETA
from trainer.kinds.series.panel import Panel, scales, spreads
from trainer.kinds.series.pretrained import installed
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

SEED = 42
CHOSEN = "chosen"


class Silent(Events):
    """Says and writes nothing."""

    def decision(self, what: str, choice, why: str) -> None:
        pass

    def warning(self, code: str, text: str) -> None:
        pass


def read(file: Path) -> tuple[Panel, Calendar]:
    """The series in a table, and their steps."""
    settings = Settings({n: o.default for n, o in options("train").items()}, dict.fromkeys(options("train"), "default"))
    with tempfile.TemporaryDirectory() as folder:
        events = Silent(Path(folder) / "events.jsonl", 1)
        read_tables = tables.read_all(Input(file.name, file, file.stat().st_size, ""), set(), settings, events)
        found = columns.find(read_tables, profiles.of(read_tables), settings, file.name, only=False)
        panel = gathered.panel(read_tables, found, file.name, Checks(events))
    return panel, found.calendar


def at_cut(panel: Panel, calendar: Calendar, ends: numpy.ndarray, steps: int, folder: Path | None) -> tuple[dict[str, float], str, list[float]]:
    """The MASE of each method behind ``ends``, the method that was chosen, and the coverage of its two intervals."""
    how = Lags(seasons.find(panel, ends, calendar)[0], calendar, 0)
    model = installed.read(Base(folder.name, installed.KIND, folder), calendar) if folder else None
    judged = judging.judge(panel, ends, how, steps, SEED, None, model)
    method, _ = judging.choose(judged)
    widths = judging.widths(judged, method, steps)
    fitted = methods.fit(panel, ends, how, SEED, model)
    series = numpy.arange(len(panel))
    unit = scales(panel.histories(series, ends, int(ends.max()), 0).values, how.season)
    truth = numpy.stack([v[e : e + steps] for v, e in zip(panel.values, ends)])
    errors, inside = {n: [] for n in fitted.names()}, []
    for part, histories in judging.batches(panel, series, ends, how.season, steps):
        for name, said in fitted.forecasts(fitted.names(), histories, steps).items():
            apart = numpy.abs(said - truth[part])
            errors[name].append(apart / unit[part, None])
            if name == method:
                relative = apart / spreads(histories.values, how.season)[:, None]
                inside.append(numpy.stack([relative <= w for w in widths], axis=-1))
    found = {n: float(numpy.concatenate(e).mean()) for n, e in errors.items()}
    return {**found, CHOSEN: found[method]}, method, numpy.concatenate(inside).mean(axis=(0, 1)).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--cuts", type=int, default=12)
    parser.add_argument("--model", type=Path)
    asked = parser.parse_args()
    names = [n for n in methods.TITLES if asked.model or n not in methods.BASED] + [CHOSEN]
    print("| set | series | H |", " | ".join(names), "| method | against the best of naive, ETS, Theta | coverage 80 %, 90 % | CPU s |")
    print("|" + "---|" * (len(names) + 7))
    chosen, near, coverage = [], 0, []
    for file in sorted(asked.sets.glob("*-*.csv")):
        began = time.process_time()
        steps = int(file.stem.rpartition("-")[2])
        panel, calendar = read(file)
        cuts = [panel.lengths - k * steps for k in range(1, asked.cuts + 1)]
        results = [at_cut(panel, calendar, ends, steps, asked.model) for ends in cuts if ends.min() >= 3 * steps]
        (errors, method, _), covered = results[0], numpy.mean([r[2] for r in results], axis=0)
        sure = judging.error(numpy.array([r[2][0] for r in results]))
        against = errors[CHOSEN] / min(errors[n] for n in (NAIVE, ETS, THETA)) - 1
        chosen.append(errors[CHOSEN])
        coverage.append(covered)
        near += against <= 0.1
        figures = " | ".join(f"{errors[n]:.2f}" if n in errors else "" for n in names)
        cpu = time.process_time() - began
        held = f"{covered[0]:.2f} ± {sure:.2f}, {covered[1]:.2f}"
        print(
            f"| {file.stem} | {len(panel)} | {steps} | {figures} | {method} | {against:+.0%} | {held} | {cpu:.1f} |",
            flush=True,
        )
    mean = numpy.mean(coverage, axis=0)
    print(f"\nmean MASE {numpy.mean(chosen):.3f}; within 10 % of the best of three on {near} of {len(chosen)}; coverage {mean[0]:.3f}, {mean[1]:.3f}")


if __name__ == "__main__":
    main()
