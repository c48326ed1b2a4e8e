"""Which rows of tables belong together: those with one value of a column that names things, those near each other on the map, those of a file."""

import collections
import functools
import re

import numpy

from trainer.data import names, ordered, places, series, together
from trainer.data.columns import values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.data.together import Together
from trainer.errors import some
from trainer.kinds.rows.roles import Roles

MIN_GROUPS = 10  # of rows that belong together, for a warning by their labels alone
_MOST_ROWS = 200_000
_MOST_WAYS = 2
_KEPT_UNASKED = 5  # groups that each class must be in, for rows to be kept together unasked
_GROUPS_OF_CLASS = 3
_REPLICATES = re.compile(
    r"((technical|biological|tech|bio)?[ _.-]*(replicates?|repeats?|rep|repl|replication))([ _.-]*(no|nr|id|number|\d))?", re.IGNORECASE
)
_NEARLY_ALL, _LARGE = 0.9, 0.2  # shares of the labelled rows
_MIN_CODES, _CODES = 10, 0.95
_CODE = re.compile(r"[A-Za-z]{1,12}[-_. ]?\d{1,6}([-_.][A-Za-z0-9]{1,6})?")


def codes(texts: list[str]) -> numpy.ndarray:
    """A number for each text, equal for equal texts."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return numpy.fromiter(map(numbers.__getitem__, texts), int, len(texts))


class Belonging:
    """How the rows of tables belong together. A look goes through all rows, so what several questions need is looked at once.

    ``tables`` are read by ``roles``. ``seen`` are the profiles of the columns that all of them have.
    """

    def __init__(self, tables: list[Table], roles: Roles, seen: dict[str, Profile]):
        self.tables, self.roles = tables, roles
        self.seen = {n: p for n, p in seen.items() if not any(t.lacks([n]) for t in tables)}

    def cells(self, name: str) -> list[str]:
        """The cells of a column of all tables."""
        return [c for t in self.tables for c in t.cells(name)]

    @functools.cached_property
    def target(self) -> tuple[numpy.ndarray, numpy.ndarray, bool]:
        """The label of each row as a number, whether it is known, and whether the numbers are codes of classes."""
        roles = self.roles
        labelled = self.cells(roles.label) if roles.sets is None else [c or "" for t in self.tables for c in roles.sets.targets(t)]
        if not roles.regression:
            read = {c: values.label(c) for c in set(labelled)}
            there = {c: bool(label) for c, label in read.items()}
            known = numpy.fromiter(map(there.__getitem__, labelled), bool, len(labelled))
            return codes(list(map(read.__getitem__, labelled))), known, True
        numbers = numpy.array([float(c) if c else numpy.nan for c in values.as_numbers(labelled, self.seen[roles.label].style)])
        return numpy.nan_to_num(numbers), ~numpy.isnan(numbers), False

    def blocks(self, asked: bool = False) -> list[str] | None:
        """The block of each row on the map; None where the tables have no places, or all rows lie in one. ``asked`` says that the user wants a
        split by place: then columns called x and y are coordinates, too."""
        if (found := _coordinates(self.seen, asked)) is None:
            return None
        north, east = (numpy.array([float(c) if c else numpy.nan for c in values.as_numbers(self.cells(n), self.seen[n].style)]) for n in found[:2])
        known = ~(numpy.isnan(north) | numpy.isnan(east))
        if not known.any() or (found[2] and (numpy.abs(north[known]).max() > 90 or numpy.abs(east[known]).max() > 360)):
            return None
        of_rows = places.blocks(north, east)
        return of_rows if len(set(of_rows) - {""}) > 1 else None

    def warning(self) -> str:
        """The warning for rows that are much more alike than others because they lie together or belong together; else empty."""
        return self._alike_places() or self._alike_rows() or self._alike_names() or self._alike_replicates()

    def clear_group(self) -> str:
        """The column by which rows are kept together although nobody asked for it; empty for none. It is called like a thing with several rows,
        rows of one are much more alike in the label than others, nearly all rows have one, none has a large part of the rows, and each class is in
        several."""
        name = self._alike_column
        if not name:
            return ""
        what, known, classes = self.target
        of_rows = [c.strip() for c in self.cells(name)]
        pairs = [(group, label) for group, label, labelled in zip(of_rows, what.tolist(), known.tolist(), strict=True) if group and labelled]
        sizes = collections.Counter(group for group, _ in pairs)
        first = dict(reversed(pairs))  # a group is dealt as its first row
        of_class = collections.Counter(first.values())
        if len(pairs) < _NEARLY_ALL * int(known.sum()) or max(sizes.values()) > _LARGE * len(pairs):
            return ""
        if classes and any(of_class[label] < _KEPT_UNASKED for label in {label for _, label in pairs}):
            return ""
        return name

    def ways(self, warned: str) -> list[Together]:
        """The ways in which rows belong together, the likeliest first. ``warned`` is the warning on some of them, or empty.

        Nothing where a column of groups is named, where rows have no labels, and of tables whose rows would take long to look at.
        """
        rows, roles = sum(len(t.rows) for t in self.tables), self.roles
        if roles.group or not roles.label or roles.writes or rows > _MOST_ROWS:
            return []
        keys = [(t.name, number) for t in self.tables for number in t.row_numbers()]
        what, known, classes = self.target
        ways: list[Together] = []

        def add(name: str, by: str, why: str, do: str, of_rows: list[str], said: bool, tells: bool = True) -> None:
            kept = {key: group for key, group, labelled in zip(keys, of_rows, known.tolist(), strict=True) if group and labelled}
            counts = len(set(kept.values()))
            if together.MIN_GROUPS <= counts <= len(kept) / 2 and not (classes and _codes_labels(of_rows, what)):
                ways.append(Together(name, by, why, do, kept, said, tells))

        named = [n for n, p in self.seen.items() if n not in (roles.label, roles.split) and _may_group(p, rows)]
        for name in sorted(named, key=lambda n: not together.is_named(n)):
            sure = together.is_named(name)
            why = f"the column is called {name}, and its values repeat" if sure else f"the values of {name} are codes that repeat"
            of_rows = [c.strip() for c in self.cells(name)]
            if sure or _are_codes(of_rows):
                add(name, ordered.GROUP, why, f"set group_column to {name}", of_rows, f"set group_column to {name}." in warned, sure)
        for name, of_rows in self._numbered.items():
            do = f"write what stands before the last number of {name} into a column, and set group_column to it"
            add(f"beginning of {name}", ordered.GROUP, f"the values of {name} differ in the last number alone", do, of_rows, f" {name} " in warned)
        if self._replicates[0]:
            do = "name each set of replicates in a column, and set group_column to it"
            add("set of replicates", ordered.GROUP, f"they differ in {self._replicates[0]} alone", do, self._replicates[1], "replicates" in warned)
        if on_map := self.blocks():
            add("part of the map", ordered.PLACE, "the table has coordinates", "set data.split to place", on_map, "data.split to place" in warned)
        if len(self.tables) >= together.MIN_GROUPS and not roles.split:
            of_tables = [t.name for t in self.tables for _ in range(len(t.rows))]
            do = "add the name of the file as a column and set group_column to it"
            add("file", ordered.GROUP, "the rows are in several files", do, of_tables, False)
        return ways[:_MOST_WAYS]

    @functools.cached_property
    def _alike_column(self) -> str:
        """The column of patients, plots or the like whose rows are much more alike in the label than others; empty for none. A column with no more
        values than the label may be its code."""
        named = {n: p for n, p in self.seen.items() if n != self.roles.label and p.distinct >= MIN_GROUPS and together.is_named(n)}
        if self.roles.group or not named:
            return ""
        what, known, classes = self.target
        rows, labels = int(known.sum()), len(set(what[known].tolist())) if classes else 0
        for name, p in named.items():
            if not labels < p.distinct <= rows // 2:
                continue
            of_rows = numpy.array(self.cells(name))[known].tolist()
            if places.alike_in(of_rows, what[known], classes) < series.ALIKE:
                return name
        return ""

    def _alike_rows(self) -> str:
        """The warning for rows of one patient, plot or the like that are much more alike than others and that nobody keeps together; else empty."""
        if not (name := self._alike_column):
            return ""
        return (
            f"Rows with the same {name} are much more alike in {self.roles.label} than others: in a random split each test row has such rows in "
            f"training, so the metrics are better than for new ones. To keep them together, set group_column to {name}."
        )

    @functools.cached_property
    def _numbered(self) -> dict[str, list[str]]:
        """What stands before the last number of the names of rows, by the column of these names: recordings of one person that are numbered."""
        found = {}
        for name in (n for n, p in self.seen.items() if p.is_identifier and not p.numeric and n != self.roles.label):
            of_rows = [together.before_number(c.strip()) for c in self.cells(name)]
            sizes = collections.Counter(of_rows)
            in_several = sum(n for group, n in sizes.items() if group and n > 1)
            if MIN_GROUPS <= len(sizes) <= len(of_rows) // 2 and in_several >= _NEARLY_ALL * len(of_rows):
                found[name] = of_rows
        return found

    def _alike_names(self) -> str:
        """The warning for rows whose names differ in the last number alone and that are much more alike than others; else empty."""
        if self.roles.group or not self._numbered:
            return ""
        what, known, classes = self.target
        labels = len(set(what[known].tolist())) if classes else 0
        for name, of_rows in self._numbered.items():
            kept = numpy.array(of_rows)[known].tolist()
            if len(set(kept)) > labels and places.alike_in(kept, what[known], classes) < series.ALIKE:
                return (
                    f"Rows whose {name} differs in the last number alone, such as {some(self._two_of(name, of_rows))}, are much more alike in "
                    f"{self.roles.label} than others: in a random split each test row has such rows in training, so the metrics are better than for "
                    f"new ones. To keep them together, write what stands before that number into a column, and set group_column to it."
                )
        return ""

    @functools.cached_property
    def _replicates(self) -> tuple[str, list[str]]:
        """The column that numbers replicates, and the other inputs of each row as one text; empty where rows are none."""
        name = next((n for n in self.seen if _REPLICATES.fullmatch(n.strip()) and n != self.roles.label), "")
        others = [n for n in self.roles.columns if n != name and n in self.seen]
        if not (name and others):
            return "", []
        of_rows = ["\t".join(cells) for cells in zip(*map(self.cells, others), strict=True)]
        return (name, of_rows) if MIN_GROUPS <= len(set(of_rows)) <= len(of_rows) // 2 else ("", [])

    def _alike_replicates(self) -> str:
        """The warning for rows that are replicates of each other and much more alike than others; else empty."""
        name, of_rows = self._replicates
        if not name or self.roles.group:
            return ""
        what, known, classes = self.target
        if places.alike_in(numpy.array(of_rows)[known].tolist(), what[known], classes) >= series.ALIKE:
            return ""
        return (
            f"Rows that differ in {name} alone are much more alike in {self.roles.label} than others: in a random split each test row has such rows "
            "in training, so the metrics are better than for new ones. To keep them together, name each set of replicates in a column, and set "
            "group_column to it."
        )

    def _two_of(self, name: str, of_rows: list[str]) -> list[str]:
        """The names of the first two rows of one group."""
        first: dict[str, str] = {}
        for cell, group in zip(self.cells(name), of_rows, strict=True):
            if group and first.setdefault(group, cell) != cell:
                return [first[group], cell]
        return []

    def _alike_places(self) -> str:
        """The warning for rows whose neighbours on the map are much more alike than others, which a random split puts into training; else empty."""
        of_rows = self.blocks()
        if of_rows is None:
            return ""
        what, known, classes = self.target
        rows = known & numpy.array([bool(b) for b in of_rows])
        if places.alike_in([b for b, used in zip(of_rows, rows) if used], what[rows], classes) >= series.ALIKE:
            return ""
        return (
            f"Rows in the same part of the map are much more alike in {self.roles.label} than others: in a random split each test row has neighbours "
            "in training, so the metrics are better than for new places. If these are to be predicted, set data.split to place."
        )


def _coordinates(seen: dict[str, Profile], asked: bool) -> tuple[str, str, bool] | None:
    """The columns with the two coordinates by their names, if they hold numbers, and whether they are degrees. ``asked`` lets x and y be some."""
    by_kind = {names.coordinate(n) or n.strip().lower(): n for n in reversed(list(seen)) if seen[n].numeric}
    for north, east, degrees in (("latitude", "longitude", True), ("northing", "easting", False), *[("y", "x", False)] * asked):
        if north in by_kind and east in by_kind:
            return by_kind[north], by_kind[east], degrees
    return None


def _may_group(p: Profile, rows: int) -> bool:
    """Whether a column may tell groups: texts or whole numbers that repeat, and no measure, text or time."""
    if not together.MIN_GROUPS <= p.distinct <= min(p.cells, rows) // 2 or p.is_free_text or p.tells_when_or_where:
        return False
    return not p.numeric or together.is_named(p.name)


def _are_codes(of_rows: list[str]) -> bool:
    """Whether the texts are codes of letters and numbers, such as P017 or plot-12."""
    different = set(of_rows) - {""}
    return len(different) >= _MIN_CODES and sum(_CODE.fullmatch(c) is not None for c in different) >= _CODES * len(different)


def _codes_labels(of_rows: list[str], what: numpy.ndarray) -> bool:
    """Whether groups stand for classes: most classes are in fewer than three groups, so that none is left to learn from when some are held out."""
    pairs = {(g, c) for g, c in zip(of_rows, what.tolist(), strict=True) if g}
    counts = collections.Counter(c for _, c in pairs)
    return sum(n < _GROUPS_OF_CLASS for n in counts.values()) > len(counts) / 2
