"""Whether the best trial replaces the default settings: only if it is better on the validation rows beyond chance."""

import math
from dataclasses import dataclass

from trainer.errors import count
from trainer.targets.target import Answers, Target

ERRORS = 2.0  # standard errors by which a trial must be ahead


@dataclass(frozen=True)
class Comparison:
    """Two models on the same rows. ``difference`` is the loss of the first minus that of the second, ``error`` its standard error."""

    difference: float
    error: float
    rows: int
    right: int | None  # how many more rows the second gets right; None for numbers

    @property
    def better(self) -> bool:
        """Whether the second model is better beyond chance."""
        return self.difference > ERRORS * self.error and self.difference > 0

    def as_json(self) -> dict:
        error = {"error": self.error} if math.isfinite(self.error) else {}
        right = {} if self.right is None else {"right": self.right}
        return {"difference": self.difference, "rows": self.rows, "better": self.better, **error, **right}


def compare(target: Target, default: Answers, other: Answers) -> Comparison:
    """Compare two models row by row. One row shows no spread, so its standard error is infinite."""
    differences = target.losses(default) - target.losses(other)
    rows = len(differences)
    error = float(differences.std(ddof=1)) / math.sqrt(rows) if rows > 1 else math.inf
    before, after = target.right(default), target.right(other)
    return Comparison(float(differences.mean()), error, rows, None if before is None or after is None else after - before)


def why(found: Comparison, number: int, others: int, settings: str, model: str = "") -> str:
    """The decision as a sentence. ``number`` is the best of ``others`` trials beside the default, ``settings`` its values in words, and
    ``model`` the default model where it has no settings."""
    default = f"default model {model}" if model else "default settings"
    kept = f"The {default} {'is' if model else 'are'} kept"
    rows = count(found.rows, "validation row")
    if found.better:
        return (
            f"Trial {number} ({settings}) replaces the {default}: its loss on {rows} is lower by {found.difference:.3g}, "
            f"which is more than chance explains ({ERRORS * found.error:.3g})."
        )
    best = f"the best of {others} other trials" if others > 1 else "the other trial"
    if found.difference <= 0:
        return f"{kept}: {best} is not better on {rows}."
    if found.right is not None and found.right > 0:
        return (
            f"{kept}: {best} got {found.right} more of {rows} right, and its loss is lower by {found.difference:.3g}, "
            f"which is within chance ({ERRORS * found.error:.3g} would not be)."
        )
    return (
        f"{kept}: the loss of {best} on {rows} is lower by {found.difference:.3g}, which is within chance ({ERRORS * found.error:.3g} would not be)."
    )
