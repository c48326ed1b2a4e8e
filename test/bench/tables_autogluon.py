"""Answers of AutoGluon to the test rows of a table: python tables_autogluon.py TRAIN TEST PRESET SECONDS OUT.

It runs in a process of its own, because AutoGluon needs other versions of libraries than the trainer: PYTHONPATH names the folder that has them.
TRAIN and TEST are CSV files whose last column is the label, and AutoGluon gets all of the others as they are. OUT is made: an .npz with ``outputs``,
probabilities (rows x classes) or numbers (rows); ``classes``, texts in the order of the columns, none for numbers; and ``seconds``, the CPU seconds
of fitting and answering, without those of the imports. AutoGluon gets SECONDS of one core: its clock is that of the CPU time, so that it loses
nothing on a busy machine. Ray is hidden from it, so that nothing runs beside this process.
"""

import resource
import sys
import tempfile
import time

import numpy
import pandas

FEW = 20  # distinct whole numbers of a label up to which they are classes, as in tables.py


def cpu() -> float:
    """The CPU seconds of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def main() -> None:
    train, test, preset, seconds, out = sys.argv[1:]
    sys.modules["ray"] = None  # type: ignore[assignment]  # an import of it fails
    from autogluon.tabular import TabularPredictor

    rows, asked = pandas.read_csv(train), pandas.read_csv(test)
    label = str(rows.columns[-1])
    numbers = pandas.api.types.is_numeric_dtype(rows[label]) and rows[label].nunique() > FEW
    if not numbers:
        rows[label] = rows[label].astype(str)
    metric, problem = ("root_mean_squared_error", "regression") if numbers else ("log_loss", "binary" if rows[label].nunique() == 2 else "multiclass")
    began, started = cpu(), time.time()
    time.time = lambda: started + cpu() - began  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(label, problem_type=problem, eval_metric=metric, path=folder, verbosity=0)
        predictor.fit(rows, presets=preset, time_limit=float(seconds), num_cpus=1, num_gpus=0)
        found = predictor.predict(asked) if numbers else predictor.predict_proba(asked)
    classes = [] if numbers else [str(c) for c in found.columns]
    numpy.savez(out, outputs=found.to_numpy(), classes=numpy.asarray(classes, str), seconds=cpu() - began)


if __name__ == "__main__":
    main()
