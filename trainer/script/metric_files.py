"""The final numbers of a script: files of metrics that it wrote, and which of all numbers is the one to compare runs by."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from trainer.script import foreign

NAMES = ("metrics.json", "results.json", "all_results.json", "eval_results.json")
_BYTES, _FILES, _NUMBERS = 1 << 20, 20, 200
_NESTED = 2  # levels of a file that are looked at: {"test": {"accuracy": 0.9}}
# In this order; each also with test_, eval_ and val_, which come first.
_BETTER_FIRST = (
    "accuracy f1 f1_macro macro_f1 auc roc_auc auroc balanced_accuracy mcc map miou iou dice bleu rougel r2 r2_score pearson spearmanr exact_match "
    "score perplexity ppl rmse mae mse wer cer"
).split()
_LOSSES = ("loss", "nll", "cross_entropy", "bpc")
_SPLITS = ("test", "eval", "val", "")
_ALIKE = {"valid": "val", "validation": "val", "evaluation": "eval", "dev": "val", "acc": "accuracy", "acc@1": "accuracy", "testing": "test"}


def read(folders: Iterable[tuple[Path, str]]) -> dict[str, tuple[float, str]]:
    """The numbers in the files of metrics directly in ``folders`` (a root, and a path below it, which may be empty), with the name of
    their file. Absurd numbers are NaN. Of two files with one name, the one in the earlier folder counts. A file that is no JSON is left out."""
    found: dict[str, tuple[float, str]] = {}
    looked = 0
    for root, folder in folders:
        for name in NAMES:
            path = f"{folder}/{name}" if folder else name
            try:
                value = foreign.read_json(root, path, _BYTES)
            except (OSError, ValueError):
                continue
            for key, number in _numbers(value, "", _NESTED):
                if len(found) < _NUMBERS:
                    found.setdefault(key, (number, path))
            if (looked := looked + 1) >= _FILES:
                return found
    return found


def _numbers(value, prefix: str, levels: int) -> Iterable[tuple[str, float]]:
    if not isinstance(value, dict):
        return
    for key, entry in list(value.items())[:_NUMBERS]:
        name = f"{prefix}{key}"[:200]
        if isinstance(entry, bool):
            continue
        if isinstance(entry, (int, float)):
            yield name, float(entry) if abs(entry) < 1e300 else math.nan
        elif levels > 1:
            yield from _numbers(entry, f"{name}_", levels - 1)


def finite(numbers: Mapping[str, tuple[float, str]], wanted: str = "") -> tuple[dict[str, tuple[float, str]], list[str]]:
    """The ``numbers`` that are neither NaN nor infinite, and the names of the others that measure a training: with their earlier values, one that has
    failed would look good."""
    kept = {name: number for name, number in numbers.items() if math.isfinite(number[0])}
    return kept, [name for name in numbers if name not in kept and (choose({name: numbers[name]}) or name == wanted)]


def choose(numbers: Mapping[str, tuple[float, str]], wanted: str = "") -> tuple[str, float, str] | None:
    """Name, value and source of the number that stands for the whole run: the one that the user ``wanted``, else by a fixed order in which
    a test counts more than a validation, and an accuracy more than a loss. None if nothing of it was measured."""
    plain: dict[str, str] = {}
    for name in numbers:
        plain.setdefault(_plain(name), name)
    if wanted:
        name = wanted if wanted in numbers else plain.get(_plain(wanted))
        return (name, *numbers[name]) if name is not None else None
    for measures in (_BETTER_FIRST, _LOSSES):
        for split in _SPLITS:
            for measure in measures:
                if (name := plain.get(f"{split}_{measure}".strip("_"))) is not None:
                    return (name, *numbers[name])
    return next(((name, *numbers[name]) for short, name in plain.items() if short.endswith("_loss")), None)


def _plain(name: str) -> str:
    """``name`` in a form in which different spellings are equal: val_acc for "Valid Acc" and "validation/accuracy"."""
    words = [w for w in re.split(r"[\s/_.\-]+", name.strip().lower()) if w and w not in ("avg", "average", "mean")]
    return "_".join(_ALIKE.get(w, w) for w in words)
