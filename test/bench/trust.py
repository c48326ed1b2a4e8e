"""Measures what it costs to say how far a model can be trusted: make bench-trust [SETS='wine large-texts'] [PAIRS=3].

Each training runs in turn with all of it and without: the promise, the section on the temperature, labels that may be wrong, what the model relies
on, what the split imitates, and the profile by which new rows are compared. Printed are the processor seconds of both, as medians, and the median,
the smallest and the largest of the ratios, pair by pair; then what each part takes of a training, as the median over those that have all of it. Not
left out are the search for groups in the data, and the folds, which choose models. With PAIRS=0 one training runs with all of it, and its parts
say what one without them would have taken: pairs scatter by more than 0.03 on a machine that others use.
"""

import argparse
import contextlib
import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import labels
from sklearn import datasets

from trainer.export.doubted import Listed

# Each part: its module, its function, and what stands in its place.
PARTS: dict[str, tuple[str, str, Callable]] = {
    "promise": ("trainer.export.promised", "training", lambda prepared, *more: (prepared, [])),
    "temperature": ("trainer.export.tempered", "training", lambda *more: []),
    "doubts": ("trainer.training.unseen", "rows", lambda *more: ()),
    "list of doubts": ("trainer.export.doubted", "training", lambda *more: Listed([])),
    "columns": ("trainer.training.weighed", "sections", lambda *more: []),
    "words": ("trainer.kinds.text.speaking", "sections", lambda *more: []),
    "split": ("trainer.training.imitated", "sections", lambda *more: []),
    "profile": ("trainer.export.likeness", "learnt", lambda *more: []),
}
SETS = {
    "iris": lambda: labels.table_of(datasets.load_iris),
    **{name: labels.SETS[name] for name in ("wine", "breast-cancer", "texts")},
    **labels.LARGE,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[])
    parser.add_argument("--pairs", type=int, default=3)
    args = parser.parse_args()
    print("| set | rows | without | with | with against without | parts |\n|---|---|---|---|---|---|")
    for name in args.sets or SETS:
        rows = SETS[name]()
        table = labels.files(rows, [label for _, label in rows])
        first = rows if args.pairs else rows[:300]
        trained(labels.files(first, [label for _, label in first]), contextlib.nullcontext())  # imports
        pairs, spent = [], {part: [] for part in PARTS}
        if not args.pairs:
            with_all = trained(table, timed(spent))
            pairs.append((with_all - sum(map(sum, spent.values())), with_all))
        for _ in range(args.pairs):
            before = trained(table, replaced())
            pairs.append((before, trained(table, timed(spent))))
        without, every = numpy.median(pairs, axis=0)
        ratios = [b / a for a, b in pairs]
        of = ", ".join(f"{part} {numpy.median(s):.2f}" for part, s in spent.items() if s and numpy.median(s) >= 0.005)
        said = f"{numpy.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        print(f"| {name} | {len(rows)} | {without:.2f} | {every:.2f} | {said} | {of} |", flush=True)


def trained(table: dict[str, bytes], way: contextlib.AbstractContextManager) -> float:
    """The processor seconds of one training."""
    with tempfile.TemporaryDirectory(prefix="trust-") as folder, way:
        began = time.process_time()
        labels.run(Path(folder) / "ft-1", table, 0)
        return time.process_time() - began


@contextlib.contextmanager
def replaced() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for module, function, instead in PARTS.values():
            stack.enter_context(mock.patch.object(importlib.import_module(module), function, instead))
        yield


@contextlib.contextmanager
def timed(spent: dict[str, list[float]]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for part, (module, function, _) in PARTS.items():
            place, found = importlib.import_module(module), []
            stack.enter_context(mock.patch.object(place, function, measured(getattr(place, function), found)))
            stack.callback(lambda part=part, found=found: spent[part].append(sum(found)))
        yield


def measured(function: Callable, found: list[float]) -> Callable:
    def timing(*args, **more):
        began = time.process_time()
        try:
            return function(*args, **more)
        finally:
            found.append(time.process_time() - began)

    return timing


if __name__ == "__main__":
    main()
