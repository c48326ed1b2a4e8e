"""ids.json: the answers to rows without a label and the labels of rows, each by the id of its row.

The service keeps the answers of automatic predictions, and compares them with labels that a later run of the same dataset reads. A row is named by a
digest of its id, a file that is an example by a digest of its id in Clowder, or of its name where it has none.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from trainer.config.spec import Spec
from trainer.core import columnar
from trainer.core.columnar import targets
from trainer.core.example import Example
from trainer.data.labels_apart import LabelsApart
from trainer.export.agreement import agreeing
from trainer.export.finished import Answered
from trainer.run_folder.lease import Lease
from trainer.targets.compared import Compared
from trainer.targets.target import Target

FILE, SCHEMA = "ids.json", 1
ANSWERS, LABELS = 5_000, 20_000  # that are kept of a run: those with the smallest digests, which is chance and the same each time
CHARACTERS = 200  # of an answer or a label that are compared


def of_prediction(spec: Spec, answered: Answered, listed: Sequence[int], apart: LabelsApart, compared: bool = True) -> None:
    """Write the file of a prediction. ``listed`` are the numbers of the rows that are proposed for labelling; ``apart`` has labels of rows that
    the prediction does not answer. There is no file for answers that cannot be compared, or if no row has an id. Ids of rows are ``compared`` if a
    setting names their column: two tables may number different rows from 1."""
    keys = _keys(spec, answered.examples, compared)
    labels = targets(answered.examples)
    beside = {_named({}, i.id or i.name, 0, ""): i.label for i in spec.inputs if i.label}
    unlabelled = [i for i, key in enumerate(keys) if key and not labels[i] and key not in beside]
    text, predicted = answered.target.text, answered.predicted
    answers, repeated = _each_once((keys[i], text(predicted[i])) for i in unlabelled)
    proposed = {keys[i] for i in listed}
    more = {"listed": [key for key in answers if key in proposed], "rows": len(unlabelled)}
    _write(spec, answered.target, answers, repeated, chain(zip(keys, labels), beside.items(), _of_ids(apart)), more)


def of_training(spec: Spec, target: Target, splits: Mapping[str, Sequence[Example]]) -> None:
    """Write the file of a training: the labels of all its rows that have an id."""
    _write(spec, target, {}, 0, chain.from_iterable(_labelled(spec, s) for s in splits.values()), {})


def of_labels(spec: Spec, target: Target, apart: LabelsApart) -> None:
    """Write the file of a prediction that has labels of earlier rows alone."""
    _write(spec, target, {}, 0, _of_ids(apart), {})


def _of_ids(apart: LabelsApart) -> Iterable[tuple[str, str]]:
    return ((_hashed("id", row), label) for row, label in apart.labels)


def _write(spec: Spec, target: Target, answers: dict[str, str], repeated: int, labelled: Iterable[tuple[str, str]], more: dict) -> None:
    if not isinstance(target, Compared) or not target.compared_as:
        return
    labels, contradicting = agreeing(((key, label[:CHARACTERS]) for key, label in labelled), LABELS)
    if answers or labels or repeated or contradicting:
        document = {
            "schema": SCHEMA, "run": spec.run, "attempt": spec.attempt, "form": target.compared_as,
            "answers": _least(answers, ANSWERS), "repeated": repeated, "labels": labels, "contradicting": contradicting, **more,
        }  # fmt: skip
        Lease(spec.work).write_json(Path(spec.folder) / FILE, document)


def _keys(spec: Spec, examples: Sequence[Example], compared: bool) -> list[str]:
    """The digest of each example, empty for one that has neither an id that is ``compared`` nor a file for itself."""
    return [key for key, _ in _labelled(spec, examples, compared)] or [""] * len(examples)


def _labelled(spec: Spec, examples: Sequence[Example], compared: bool = True) -> Iterator[tuple[str, str]]:
    """The digest of each example and its label, one after another; nothing where no example has a digest."""
    if not columnar.have_ids(examples) and columnar.rows(examples).all():
        return
    ids = {i.name: i.id for i in spec.inputs if i.id}
    for e in examples:
        yield _named(ids, e.file, e.row, e.id if compared else ""), e.target


def _named(ids: Mapping[str, str], file: str, row: int, own: str) -> str:
    if own.strip():
        return _hashed("id", own)
    return "" if row else _hashed("file", ids.get(file, file))


def _hashed(sort: str, value: str) -> str:
    return hashlib.sha256(f"{sort}\0{value.strip()}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _each_once(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], int]:
    """The pairs whose key is there once, and how many keys are repeated: a label cannot say which of their rows it is of."""
    found: dict[str, str] = {}
    repeated = set()
    for key, value in pairs:
        if key in found:
            repeated.add(key)
        found[key] = value[:CHARACTERS]
    return {key: value for key, value in found.items() if key not in repeated}, len(repeated)


def _least(values: dict[str, str], most: int) -> dict[str, str]:
    return values if len(values) <= most else {key: values[key] for key in sorted(values)[:most]}
