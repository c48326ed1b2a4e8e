"""Tables whose columns are the examples, such as genes by samples: another table says what each column is."""

from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

MIN_COLUMNS = 5
_OF_EXAMPLES = frozenset(
    "sample samples sampleid sampleids samplename subject subjectid patient patientid specimen barcode library accession run".split()
)


def check(group: list[Table], tables: list[Table], seen: dict[str, Profile], where: str) -> None:
    """Raise UserError where the columns of ``group``, all of numbers besides one with names, are named in a column of samples of another table.

    A list of the columns, as a codebook is, has no such column.
    """
    named, *numeric = sorted(seen, key=lambda n: seen[n].numeric)
    if len(numeric) < MIN_COLUMNS or seen[named].numeric or not all(seen[n].numeric for n in numeric):
        return
    columns = {n.strip().lower() for n in numeric}
    for table in tables:
        for name in table.columns if table not in group else ():
            plain = "".join(c for c in name.lower() if c.isalnum())
            if plain in _OF_EXAMPLES and columns <= {c.strip().lower() for c in table.different(name)}:
                raise UserError(
                    "turned_table",
                    f"The columns of {where} ({some(numeric, 3)}) are the examples that {table.name} lists in its column {name}.",
                    f"Turn the table so that each {name} is a row, and add the column to predict from {table.name}. "
                    "To train on the rows as they are, set label_column.",
                )
