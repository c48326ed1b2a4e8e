"""A row of the zoo: a small made data set, and the facts that must come out when the product reads it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Reads:
    """The data set is read. A field that is None is not asserted.

    ``classes`` are the labels, ``rows`` the examples of all splits together, ``columns`` what a model reads, ``label`` the column with the
    answers. ``splits`` are the numbers of training, validation and test examples. ``says`` maps a decision, a warning or a check to a part of
    its sentence; ``silent`` are those that must not be there. ``encoder`` are entries of the fitted encoder's description; where it is not
    None, the encoder is fitted and all examples are encoded.
    """

    task: str | None = None
    kind: str | None = None
    rows: int | None = None
    classes: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    label: str | None = None
    splits: tuple[int, int, int] | None = None
    says: dict[str, str] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    encoder: dict | None = None

    def __str__(self) -> str:
        """The facts in one line, for the page."""
        parts = [self.task or (f"read as {self.kind}" if self.kind else "read")]
        parts += [f"{self.rows} examples"] if self.rows is not None else []
        parts += [f"classes {', '.join(self.classes)}"] if self.classes else []
        parts += [f"columns {', '.join(self.columns)}"] if self.columns else []
        parts += [f"label {self.label}"] if self.label else []
        parts += [f"says {', '.join(self.says)}"] if self.says else []
        parts += [f"does not say {', '.join(self.silent)}"] if self.silent else []
        return "; ".join(parts)


@dataclass(frozen=True)
class Refused:
    """The data set is refused with this code. ``says`` are parts of the error: what is wrong, why, or what to do."""

    code: str
    says: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"refused as {self.code}"


@dataclass(frozen=True)
class NotRefused:
    """The data set is not refused with this code: what becomes of it is another topic."""

    code: str

    def __str__(self) -> str:
        return f"not refused as {self.code}"


@dataclass(frozen=True)
class Row:
    """One data set of the zoo.

    ``layout`` says in one line what the files are, ``who`` has such data, and ``source`` where that is known from. ``expects`` is what a
    scientist wants to happen. ``make`` writes the files into a folder; their paths below it are their names in the data set. ``rule`` is the
    rule that must fire. A counterexample names the rule that must not fire as ``spares``: the test asks that each rule has one. ``settings``
    are options of the form, ``labels`` the metadata of files by name.
    """

    name: str
    layout: str
    who: str
    source: str
    expects: str
    make: Callable[[Path], None]
    outcome: Reads | Refused | NotRefused
    rule: str = ""
    spares: str = ""
    settings: dict = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


def write(folder: Path, name: str, content: bytes | str) -> Path:
    """Write a file of a data set, with the folders above it."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file
