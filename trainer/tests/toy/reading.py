"""Files of signals: a line "toy 1", then one signal in each line, as four readings, an arrow, and the direction in degrees if it is known.

toy 1
0.91 0.44 -0.88 -0.41 -> 25
0.10 0.99 -0.08 -0.97 ->
"""

from trainer.core.example import SPLITS, Dataset, Example
from trainer.core.input import Input
from trainer.core.kind import Kind
from trainer.data import audit, names, splits
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.keys import Keys
from trainer.data.sources import Sources
from trainer.errors import UserError, some
from trainer.targets.target import number

SENSORS = ("north", "east", "south", "west")  # where they stand
LABEL = "direction"
_FIRST_LINE, _ARROW = "toy 1", "->"


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """All files whose first line says that they hold signals."""
    if settings.task not in ("auto", *kind.tasks):
        return None
    read = [(source, signals) for source in files.sources.of_kinds if (signals := _signals(source)) is not None]
    if not read:
        return None
    size = sum(len(signals) for _, signals in read)
    return Claim(kind, FORM, size, f"{size} signals", read, frozenset(source.name for source, _ in read))


def load(claim: Claim, settings, checks: Checks) -> Dataset:
    """The signals with a direction, in the splits that the names of the files stand for. Raises UserError if there are too few."""
    (task,), files = claim.kind.tasks, [source.name for source, _ in claim.reading]
    checks.events.decision("task", task, f"The task is the direction of signals: {some(files, 3)} has the readings of four sensors.")
    found: dict[str, list[Example]] = {name: [] for name in SPLITS}
    for source, signals in claim.reading:
        found[names.split_of(source.name) or "train"] += [e for e in signals if e.target]
        checks.drop("the direction is not known", sum(not e.target for e in signals))
    keys = Keys(claim.kind.key)
    audit.copies(found, keys, True, checks)
    complete = splits.complete(found, keys, True, settings, checks)
    audit.examples(complete, False, keys, checks)
    return Dataset(
        task, claim.kind, complete, files, SENSORS, LABEL,
        types=dict.fromkeys(SENSORS, "number"), dropped=checks.dropped, checks=checks.entries, split_sha256=splits.digest(complete, keys),
    )  # fmt: skip


def to_predict(sources: Sources) -> tuple[list[Example], list[str], int]:
    """All signals, with and without a direction, and the files that they come from."""
    read = [(source, signals) for source in sources.of_kinds if (signals := _signals(source)) is not None]
    if not read:
        raise UserError("no_data", "The dataset has no file of signals, which the model reads.", f'Add a file with the first line "{_FIRST_LINE}".')
    return [e for _, signals in read for e in signals], [source.name for source, _ in read], 0


def _signals(source: Input) -> list[Example] | None:
    """The signals of a file; None if its first line is another one. Raises UserError for a line that is no signal."""
    first, *lines = source.file.read_text(errors="replace").splitlines() or [""]
    if first.strip() != _FIRST_LINE:
        return None
    return [_signal(line, source.name, row) for row, line in enumerate(lines, 2) if line.strip()]


def _signal(line: str, file: str, row: int) -> Example:
    left, arrow, right = line.partition(_ARROW)
    readings, direction = tuple(left.split()), right.strip()
    if not arrow or len(readings) != len(SENSORS) or None in map(number, readings) or (direction and number(direction) is None):
        raise UserError(
            "toy_line", f"Line {row} of {file} is no signal.",
            f"Write {len(SENSORS)} numbers, an arrow and a direction in degrees, for example 0.9 0.4 -0.9 -0.4 {_ARROW} 25.",
        )  # fmt: skip
    return Example(file, row, readings, direction)
