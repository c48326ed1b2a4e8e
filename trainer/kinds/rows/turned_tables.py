"""Tables whose columns are the examples, such as genes by samples, of which another table says what each is, or times of series; and matrices."""

import itertools
import math
import re
from pathlib import PurePosixPath

from trainer.data import names
from trainer.data.columns import across, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

MIN_COLUMNS = 5
MIN_CURVES, MOST_OF_CURVE, MOST_POINTS = 5, 3, 20_000  # tables, and columns and rows of each
NEARLY_ALL = 0.9
MOST_LABELS = 3  # rows with a class of each column, below the names
MIN_SIDE, MOST_SIDE = 10, 5_000  # rows and columns of a matrix
MOSTLY = 0.5  # of the columns of numbers are named in the other table, and nearly all that it names are columns
_CODEBOOK = re.compile(r"variable|field|column(?! \d)|attribute|feature|question|item|parameter|header|descriptor", re.IGNORECASE)
_CODEBOOKS = frozenset("codebook dictionary variables columns features fields description descriptions legend".split())  # words in names of files


def check(group: list[Table], tables: list[Table], seen: dict[str, Profile], where: str, asked: str = "") -> None:
    """Raise UserError where the columns of ``group`` are the examples, since another table has a row about each of them.

    A list of the columns, as a codebook is, calls them variables or fields. ``asked`` is the column that the user wants to predict: one of
    ``group`` says that its rows are meant.
    """
    if asked in {n.lower() for n in seen}:
        return
    if not asked:
        _check_times(group, seen, where)
        for table in group:
            _check_matrix(table, seen)
            _check_row_of_labels(table, seen)
        _check_curves(group, seen)
    numeric = {plain: n for n in seen if seen[n].numeric for plain in (_plain(n), _plain(PurePosixPath(n).name.partition(".")[0]))}
    if len(set(numeric.values())) < MIN_COLUMNS:
        return
    for table in (t for t in tables if t not in group and len(t.rows) <= MOST_SIDE and (not asked or not t.lacks([asked]))):
        for name in table.columns:
            cells = {_plain(c) for c in table.different(name)} - {""}
            named = {numeric[c] for c in cells if c in numeric}
            is_codebook = _CODEBOOK.search(name) or _CODEBOOKS & names.words(table.name) or cells & {_plain(n) for n in seen if not seen[n].numeric}
            enough = len(named) >= max(MIN_COLUMNS, MOSTLY * len(set(numeric.values()))) and len(named) >= NEARLY_ALL * len(cells)
            if enough and not is_codebook:
                raise UserError(
                    "turned_table",
                    f"The columns of {where} ({some(sorted(named, key=list(seen).index), 3)}) are the examples that {table.name} lists in its column "
                    f"{name}.",
                    f"Turn the table so that each {name} is a row, and add the column to predict from {table.name}. "
                    f"To train on the rows as they are, set label_column to a column of {where}.",
                )


def _plain(name: str) -> str:
    return name.strip().lower()


def _check_row_of_labels(table: Table, seen: dict[str, Profile]) -> None:
    """Raise UserError where the first rows hold words below the names of columns that else hold numbers: a class for each column."""
    numeric = [n for n in seen if seen[n].numeric]
    if len(numeric) < MIN_COLUMNS:
        return
    for number, row in itertools.islice(table.rows, MOST_LABELS):
        cells = [row[table.place(n)].strip() for n in numeric]
        words = [c for c in cells if c and not values.marks_gap(c) and values.number(c) is None and values.limit(c) is None]
        if len(words) == len(cells) and 2 <= len(set(words)) <= len(words) / 2:
            raise UserError(
                "turned_table",
                f"Row {number} of {table.name} holds a word for each column ({some(sorted(set(words)), 4)}), where the other rows hold numbers: the "
                "columns are the examples, and this row is a label of theirs.",
                "Turn the table so that each of these columns is a row, and set label_column to the column of these words. "
                "To train on the rows as they are, remove that row, or set label_column.",
            )


def _check_curves(group: list[Table], seen: dict[str, Profile]) -> None:
    """Raise UserError where each table is a curve, such as a spectrum: numbers alone, the first of which rise and are those of other tables."""
    if len(group) < MIN_CURVES or not 2 <= len(seen) <= MOST_OF_CURVE or not all(p.numeric for p in seen.values()):
        return
    if any(len(t.rows) > MOST_POINTS for t in group):
        return
    along, measure = next(iter(seen)), list(seen)[-1]
    steps = [[float(c) if c else math.nan for c in values.as_numbers(t.cells(along), seen[along].style)] for t in group]
    rise = all(len(s) >= MIN_SIDE and all(a < b for a, b in itertools.pairwise(s)) for s in steps)
    if rise and len(set(itertools.chain(*steps))) <= sum(map(len, steps)) / 2:
        raise UserError(
            "tables_are_curves",
            f"Each of the {len(group)} tables ({some([t.name for t in group], 3)}) has one curve, {measure} along {along}.",
            "Make one table with a row for each of these files: its values in columns, and the column to predict. "
            f"To predict {measure} from {along} instead, set label_column to {measure}.",
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
