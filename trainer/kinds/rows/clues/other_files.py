"""Labels of the rows of a table in a file beside it that no key joins."""

from trainer.data import names
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

_MIN_ROWS = 20


def check_labels(group: list[Table], found: list[Table], label: str) -> None:
    """Raise UserError where ``label`` is a guess, and a table that is left out is called like one of labels and has as many rows."""
    for table in found:
        apart = table not in group and names.LABEL_FILES & names.words(table.name.rpartition("/")[2]) and len(table.rows) >= _MIN_ROWS
        other = next((t for t in group if abs(len(t.rows) - len(table.rows)) <= 1 and not names.LABEL_FILES & names.words(t.name)), None)
        if apart and other is not None:
            raise UserError(
                "labels_without_key",
                f"{table.name} is called like the labels of the rows of {other.name}, but it has {len(table.columns)} columns "
                f"({some(table.columns, 3)}), and none of them names these rows.",
                f"Write one label into each line of {table.name}, or add the label as a column of {other.name}. To predict a column of "
                f"{other.name}, for example {label}, set label_column.",
            )
