"""The rows that an earlier model is to answer."""

from trainer.data import dataset, tables
from trainer.data.example import Example
from trainer.errors import UserError, some
from trainer.events import Events
from trainer.spec import Spec


def read(spec: Spec, settings, events: Events, kind: str, columns, types: dict[str, str], label_column: str) -> tuple[list[Example], list[str], int]:
    """The examples for a model that reads ``columns``, the files that they come from, and how many rows were left out."""
    wanted = {c.lower() for c in columns}
    found, ignored = [], []
    for source in dataset._candidates(spec, settings.data_file, ignored):
        try:
            found.append(tables.read(source, wanted, events))
        except tables.NotATable as e:
            ignored.append(f"{source.name} ({e})")
    used = [t for t in (dataset._with_columns(t, columns) for t in found) if t is not None]
    if not used:
        raise UserError("no_table", f"No file has the columns {some(columns)} that the model reads.", "Add a table with these columns.", f"Not used: {some(ignored, 6)}.")
    examples = [Example(t.name, number, "\n".join(c.strip() for c in cells if c.strip()), "") for t in used for number, cells in t.rows]
    full = [e for e in examples if e.content]
    return full, [t.name for t in used], len(examples) - len(full)
