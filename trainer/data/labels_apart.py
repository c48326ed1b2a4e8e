"""Labels of rows that are in no file of a prediction: they were predicted before, and a table has their labels by the same ids."""

from dataclasses import dataclass, field


@dataclass
class LabelsApart:
    """``labels`` are pairs of an id and a label, ``files`` the tables that they are from."""

    labels: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def add(self, file: str, ids: list[str], labels: list[str]) -> None:
        """Take the rows that have both."""
        self.files.append(file)
        self.labels += [(row.strip(), label) for row, label in zip(ids, labels, strict=True) if row.strip() and label]
