"""One option of a run: its type, its limits, and what depends on it."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Option:
    """One option of a run. ``group`` is its section in a settings file; the name is unique without it.

    ``since`` is the version that brought the option, empty for 0.1.0: where a newer option has its default, a training is the one that a
    version without the option began. A ``neutral`` option changes neither the weights nor the choice of the best ones. A ``searchable`` one
    changes neither how the data is encoded nor what a trial is measured by. The Go service acts on a ``service`` option itself. ``kind`` is
    the kind of data whose option it is, empty for an option of all kinds. ``also_in`` names the other runs that have the option: predict, script.
    """

    name: str
    default: str | int | float | bool
    group: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    help: str = ""
    since: str = ""
    neutral: bool = False
    searchable: bool = False
    service: bool = False
    kind: str = ""
    also_in: tuple[str, ...] = ()

    def decides(self, value) -> bool:
        """Whether a training with this value is another one than a training of 0.1.0 or one that leaves the option out."""
        return not self.neutral and not (self.since and value == self.default)

    def parse(self, value):
        """``value`` converted to the type of this option. Raises ValueError with the end of a sentence: "must be …"."""
        if isinstance(value, (list, tuple, dict, set)):
            raise ValueError("must be a single value")
        if self.choices:
            return self._choice(value)
        if isinstance(self.default, bool):
            return _truth(value)
        if isinstance(self.default, str):
            return "" if value is None else str(value).strip()
        return self._number(value)

    def _choice(self, value) -> str:
        if isinstance(value, bool):  # YAML reads yes and no as booleans
            value = "yes" if value else "no"
        if found := next((c for c in self.choices if c.lower() == str(value).strip().lower()), None):
            return found
        raise ValueError(f"must be one of {', '.join(self.choices)}")

    def _number(self, value):
        whole = isinstance(self.default, int)
        kind = "a whole number" if whole else "a number"
        limits = f" from {self.low:g} to {self.high:.10g}"
        try:
            if isinstance(value, bool):
                raise ValueError
            number = float(value)  # YAML reads 1e-5 as a string
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"must be {kind}{limits}") from None
        if not self.low <= number <= self.high or (whole and number != int(number)):
            raise ValueError(f"must be {kind}{limits}")
        return int(number) if whole else number


def _truth(value) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in ("true", "yes", "on", "1"):
        return True
    if word in ("false", "no", "off", "0", ""):
        return False
    raise ValueError("must be true or false")


def of_kind(kind: str, options: tuple[Option, ...]) -> tuple[Option, ...]:
    """``options`` as those of one kind of data."""
    return tuple(replace(o, kind=kind) for o in options)
