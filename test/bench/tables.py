"""Scores of models of tables that you have: python tables.py FOLDER [--seeds 0,1,2] [--models trees,linear] [--only glass,ames] [--autogluon DIR].

The last column of each table NAME.csv in the folder is its label. For each seed, 30 % of the rows are test rows (classes are spread evenly), and the
trainer reads the others as it reads a user's: it chooses columns, types and validation rows itself. Every model is fitted once on the same rows:

- best of three: of linear, trees and perceptron, the one that the trainer would deliver;
- auto: what the trainer delivers of all its models;
- HGB: scikit-learn's HistGradientBoosting with its defaults, and LightGBM where it is installed. They get the same columns, and training and
  validation rows together;
- AutoGluon with the presets that are named, from the folder DIR (python3 -m pip install --target DIR 'autogluon.tabular[lightgbm,catboost,xgboost]').
  It gets the same rows with all columns as they are in the file, and runs in a process of its own (tables_autogluon.py).

With BASE_MODELS=DIR, free texts are also read with a text model in DIR/owner/name, as in a training.

The figures are the mean over the seeds of the loss on the test rows: the log loss of classes, the root of the mean squared error of numbers. A gain
is against the best of three. CPU seconds are those of reading and all fits that are needed.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy
import pandas

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from trainer.config.options import options
from trainer.config.settings import DEFAULT, FORM, Settings
from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.example import Dataset
from trainer.core.input import Input
from trainer.core.plan import Plan
from trainer.data import claims, sources
from trainer.data.checks import Checks
from trainer.estimators import folds
from trainer.kinds.table import vectors
from trainer.kinds.table.columns import Columns
from trainer.run_folder.events import Events
from trainer.training import candidates, comparing, prepare
from trainer.training.carry_out import Run

THREE, AUTO, OTHER = "best of three", "auto", "AutoGluon"
ALONE = ("linear", "trees", "perceptron")
TEST_SHARE = 0.3
FEW = 20  # distinct whole numbers of a label up to which they are classes
AUTOGLUON_SECONDS = {"medium": 60, "good": 120, "high": 240, "best": 240}  # of one core, for one table


class Silent(Events):
    """Says and writes nothing."""

    def decision(self, what: str, choice, why: str) -> None:
        pass

    def warning(self, code: str, text: str) -> None:
        pass

    def phase(self, phase: str, text: str) -> None:
        pass

    def metrics(self, described) -> None:
        pass


@dataclass(frozen=True)
class Score:
    """The loss on the test rows, and the CPU seconds."""

    loss: float
    seconds: float
    delivered: str = ""


def split(table: pandas.DataFrame, seed: int, numbers: bool) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Training and test rows. Classes are spread evenly. Training rows that are copies of a test row are left out, as the trainer does: another
    program would know their answers."""
    drawn = numpy.random.default_rng(seed).permutation(len(table))
    if not numbers:
        codes = pandas.factorize(table.iloc[:, -1])[0][drawn]
        drawn = drawn[numpy.argsort(codes, kind="stable")]
    every = numpy.arange(len(table))
    test = numpy.floor((every + 1) * TEST_SHARE) > numpy.floor(every * TEST_SHARE)
    train, tested = table.iloc[numpy.sort(drawn[~test])], table.iloc[numpy.sort(drawn[test])]
    contents = [pandas.util.hash_pandas_object(rows.astype(str), index=False) for rows in (train, tested)]
    return train[~contents[0].isin(contents[1]).to_numpy()], tested


def prepared(table: pandas.DataFrame, seed: int, numbers: bool, folder: Path) -> tuple[Dataset, Plan]:
    """The data and the plan that the trainer makes of a table, in an empty folder."""
    (folder / "inputs").mkdir()
    for name, rows in zip(("train.csv", "test.csv"), split(table, seed, numbers), strict=True):
        rows.to_csv(folder / "inputs" / name, index=False)
    files = [Input(f.name, f, f.stat().st_size, "") for f in sorted((folder / "inputs").iterdir())]
    asked = {"task": "tabular-regression" if numbers else "tabular-classification", "label_column": str(table.columns[-1]), "seed": seed}
    values = {n: o.default for n, o in options("train").items()} | asked
    from_whom = dict.fromkeys(values, DEFAULT) | dict.fromkeys(asked, FORM)
    spec = Spec("train", "bench", 1, folder, folder, "bench", values, from_whom, (), tuple(files))
    settings, events = Settings(values, from_whom), Silent(folder / "events.jsonl", 1)
    checks = Checks(events)
    claim = claims.choose(spec, sources.find(spec, "", events), settings, checks, registry.kinds().values())
    trial = vectors.trial(Run(spec, settings, events, checks, None, 0.0, False), claim.kind)
    data = claim.kind.read(claim, settings, checks, trial)
    wanted = candidates.choose(spec.models, settings, data.kind, data.task)
    return data, prepare.make(spec, settings, data, wanted, events).plan


def loss(outputs: numpy.ndarray, data: Dataset, plan: Plan) -> float:
    truth = plan.target.encode([e.target for e in data.splits["test"]])
    found = folds.loss(outputs, truth)
    return found if plan.target.labels else found**0.5


def ours(data: Dataset, plan: Plan, names: list[str], reading: float) -> dict[str, Score]:
    """The scores of the estimators ``names``, of the best of three and of what is delivered."""
    tried, seconds = {}, {}
    for name in names:
        began = time.process_time()
        tried[name] = candidates.fit(name, plan, data, tried)
        seconds[name] = time.process_time() - began
    found = {n: c for n, c in tried.items() if c is not None}
    scores = {}
    for title, among in ((THREE, [n for n in found if n in ALONE]), (AUTO, list(found))):
        if among:
            best = comparing.best([found[n] for n in among], candidates.Wanted(tuple(among), None), plan)
            cpu = reading + sum(seconds[n] for n in among)
            scores[title] = Score(loss(best.fitted.outputs(data.splits["test"]), data, plan), cpu, best.base.name)
    for name, candidate in found.items():
        scores[name] = Score(loss(candidate.fitted.outputs(data.splits["test"]), data, plan), seconds[name])
    return scores


def others(data: Dataset, plan: Plan) -> dict[str, Score]:
    """The scores of other programs that are installed."""
    rows = data.splits["train"] + data.splits["validation"]
    columns = Columns.learn(data, rows)
    cells, test = columns.cells(rows), columns.cells(data.splits["test"])
    cells[:, numpy.isnan(cells).all(axis=0)] = 0
    targets, labels = plan.target.encode([e.target for e in rows]), plan.target.labels
    of_category = [k > 0 for k in columns.known]
    found = {}
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    def measured(name: str, fitted) -> None:
        began = time.process_time()
        model = fitted()
        outputs = numpy.asarray(model.predict_proba(test) if labels else model.predict(test))
        if labels:
            full = numpy.full((len(outputs), len(labels)), 1e-12)
            full[:, model.classes_.astype(int)] = outputs
            outputs = full
        found[name] = Score(loss(outputs, data, plan), time.process_time() - began)

    hgb = HistGradientBoostingClassifier if labels else HistGradientBoostingRegressor
    measured("HGB", lambda: hgb(categorical_features=of_category, random_state=plan.settings.seed).fit(cells, targets))
    if importlib.util.find_spec("lightgbm"):
        import lightgbm

        kind = lightgbm.LGBMClassifier if labels else lightgbm.LGBMRegressor
        categories = numpy.flatnonzero(of_category).tolist()
        measured("LightGBM", lambda: kind(n_jobs=1, verbose=-1, random_state=plan.settings.seed).fit(cells, targets, categorical_feature=categories))
    return found


def autogluon(installed: Path, preset: str, folder: Path, data: Dataset, plan: Plan) -> Score:
    """The score of AutoGluon from the folder ``installed`` on the rows that ``prepared`` wrote into ``folder``."""
    train, test, out = folder / "inputs" / "train.csv", folder / "inputs" / "test.csv", folder / f"{preset}.npz"
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("tables_autogluon.py"))]
    command += [str(train), str(test), f"{preset}_quality", str(AUTOGLUON_SECONDS[preset]), str(out)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(installed)}, cwd=folder, stdout=subprocess.DEVNULL)
    asked = pandas.read_csv(test).iloc[:, -1]
    if len(asked) != len(data.splits["test"]):
        sys.exit(f"The trainer has {len(data.splits['test'])} test rows of {len(asked)}, so scores cannot be compared.")
    with numpy.load(out) as found:
        outputs, classes, seconds = found["outputs"], found["classes"].tolist(), float(found["seconds"])
    if plan.target.labels:
        full = numpy.full((len(outputs), len(plan.target.labels)), 1e-12)
        for label, column in zip(classes, outputs.T, strict=True):
            full[:, plan.target.labels.index(label)] = column
        outputs = full / full.sum(axis=1, keepdims=True)
    return Score(loss(outputs, data, plan), seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--models", default="", help="estimators to fit; all of tables by default")
    parser.add_argument("--only", default="", help="names of tables")
    parser.add_argument("--others", action="store_true", help="also fit HGB, and LightGBM where it is installed")
    parser.add_argument("--autogluon", type=Path, default=None, help="folder in which AutoGluon is installed: fit it, too")
    parser.add_argument("--presets", default="medium", help="of AutoGluon: medium, good, high, best")
    asked = parser.parse_args()
    names = asked.models.split(",") if asked.models else [e.name for e in registry.of("table").estimators]
    kept, gains, seconds, header = asked.only.split(",") if asked.only else [], {}, {}, []
    for file in sorted(asked.sets.glob("*.csv")):
        if kept and file.stem not in kept:
            continue
        runs = [one(file, int(seed), names, asked) for seed in asked.seeds.split(",")]
        columns = [c for c in runs[0] if all(c in r for r in runs)]
        if not header:
            header = columns
            print("| set |", " | ".join(header), "| gain of auto | delivered | CPU s |")
            print("|" + "---|" * (len(header) + 4))
        mean = {c: float(numpy.mean([r[c].loss for r in runs])) for c in columns}
        for c in columns:
            gains.setdefault(c, []).append(1 - mean[c] / mean[THREE])
            seconds.setdefault(c, []).append(float(numpy.mean([r[c].seconds for r in runs])))
        cells = " | ".join(cell(c, mean[c], seconds[c][-1]) if c in mean else "" for c in header)
        print(f"| {file.stem} | {cells} | {gains[AUTO][-1]:+.1%} | {some(runs)} | {seconds[AUTO][-1]:.1f} |", flush=True)
    print("\n| model | mean gain | median gain | better / within 1 % / worse | median CPU s | sum |\n|---|---|---|---|---|---|")
    for c in header:
        found = numpy.asarray(gains[c])
        counts = f"{(found > 0.01).sum()} / {(abs(found) <= 0.01).sum()} / {(found < -0.01).sum()}"
        print(f"| {c} | {found.mean():+.1%} | {numpy.median(found):+.1%} | {counts} | {numpy.median(seconds[c]):.1f} | {sum(seconds[c]):.0f} |")
    for c in (c for c in header if c.startswith(OTHER)):
        against = 1 - (1 - numpy.asarray(gains[AUTO])) / (1 - numpy.asarray(gains[c]))
        counts = f"{(against > 0.01).sum()} / {(abs(against) <= 0.01).sum()} / {(against < -0.01).sum()}"
        print(f"\nauto against {c}: mean gain {against.mean():+.1%}, median {numpy.median(against):+.1%}, better / within 1 % / worse {counts}")


def cell(column: str, mean: float, seconds: float) -> str:
    """A loss, with the CPU seconds of a program that is not ours."""
    return f"{mean:.4g} ({seconds:.0f} s)" if column.startswith(OTHER) else f"{mean:.4g}"


def some(runs: list[dict[str, Score]]) -> str:
    return ", ".join(sorted({r[AUTO].delivered for r in runs}))


def one(file: Path, seed: int, names: list[str], asked: argparse.Namespace) -> dict[str, Score]:
    """The scores on one table with one split."""
    table = pandas.read_csv(file)
    label = table.iloc[:, -1]
    numbers = bool(pandas.api.types.is_numeric_dtype(label)) and label.nunique() > FEW
    with tempfile.TemporaryDirectory(prefix="tables-") as folder:
        began = time.process_time()
        data, plan = prepared(table, seed, numbers, Path(folder))
        scores = ours(data, plan, names, time.process_time() - began)
        if asked.others:
            scores |= others(data, plan)
        if asked.autogluon:
            scores |= {f"{OTHER} {p}": autogluon(asked.autogluon.resolve(), p, Path(folder), data, plan) for p in asked.presets.split(",")}
        return scores


if __name__ == "__main__":
    main()
