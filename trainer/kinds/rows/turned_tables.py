"""Tables whose columns are the examples, such as genes by samples, of which another table says what each is, or times of series; and matrices."""

from trainer.data.columns import across
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

MIN_COLUMNS = 5
MIN_SIDE, MOST_SIDE = 10, 5_000  # rows and columns of a matrix
_OF_EXAMPLES = frozenset(
    "sample samples sampleid sampleids samplename subject subjectid patient patientid specimen barcode library accession run".split()
)


def check(group: list[Table], tables: list[Table], seen: dict[str, Profile], where: str) -> None:
    """Raise UserError where the columns of ``group``, all of numbers besides one with names, are named in a column of samples of another table.

    A list of the columns, as a codebook is, has no such column.
    """
    _check_times(group, seen, where)
    for table in group:
        _check_matrix(table, seen)
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


def _check_times(group: list[Table], seen: dict[str, Profile], where: str) -> None:
    """Raise UserError where the columns are times, so that each row is a series, and it is in doubt whether these are to be forecast."""
    found = across.find(group, seen)
    if found is None:
        return
    are, doubt = "numbered" if found.steps else "times", f" {found.doubt}" if found.doubt else ""
    raise UserError(
        "turned_series",
        f"The columns {some(found.times, 3)} of {where} are {are}: each row is a series.{doubt}",
        "To forecast these series, set task to forecast. To train on the rows as they are, set label_column.",
    )


def _check_matrix(table: Table, seen: dict[str, Profile]) -> None:
    """Raise UserError where rows and columns have the same names, or none and the same values: each cell is about a pair."""
    side = len(table.rows)
    first, *others = table.columns
    if not MIN_SIDE <= side <= MOST_SIDE or any(n not in seen or (seen[n].cells and not seen[n].numeric) for n in others):
        return
    named = len(others) == side and {c.strip().lower() for c in table.cells(first)} == {n.strip().lower() for n in others}
    unnamed = not table.has_header or all(n.startswith("value ") for n in table.columns)  # an array of NumPy has no names
    rows = [cells for _, cells in table.rows] if unnamed and len(table.columns) == side and first in seen and seen[first].numeric else []
    if named or (rows and all(rows[i][j] == rows[j][i] for i in range(side) for j in range(i))):
        raise UserError(
            "matrix",
            f"{table.name} is a matrix of {side} rows and columns of the same things: each cell is about two of them, as in a network.",
            "Make a table with the columns source, target and weight, and a table with the label of each node. "
            "To train on the rows as they are, set label_column.",
        )
