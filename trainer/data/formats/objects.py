"""Tables from JSON: one object in each line, one list of objects, or one list for each column."""

import json
import math

from trainer.data import names
from trainer.data.formats.memory import MEMORY_SHARE, too_large
from trainer.data.formats.repairs import Repair
from trainer.data.formats.table import NotATable, Table
from trainer.memory import memory

_LEVELS = 4  # of objects in objects
_PLACE_BYTES = 8  # of memory for a cell of a row, even if it is empty
_SPLIT = "split"  # the column that says in which list a row stood
_NO_LINE = "are not JSON objects"


def lines(name: str, text: str) -> Table:
    """One JSON object in each line. Lines that are none count as bad rows. Raises NotATable where these prevail, and UserError for more columns than
    fit into memory."""
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values.append((number, json.loads(line)))
        except (ValueError, RecursionError):
            values.append((number, None))
    return _table(name, values, "does not contain one JSON object per line")


def document(name: str, text: str) -> Table:
    """A list of objects, be it the only list in an object, or columns; else, as many such files are, one object in each line."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return lines(name, text)
    repairs: list[Repair] = []
    if isinstance(value, dict) and value.get("type") == "FeatureCollection" and isinstance(value.get("features"), list):
        value = _features(value["features"])
        repairs.append(
            Repair(
                "geojson",
                len(value),
                "The properties of its features are the columns, and points have longitude and latitude; other shapes are not read.",
            )
        )
    elif isinstance(value, dict) and (records := _records(value)):
        value = records
        repairs.append(Repair("records", len(value), "Each of its entries is a row."))
    elif isinstance(value, dict):
        lists = _lists(value)
        inner = [found for v in value.values() if isinstance(v, dict) for found in _lists(v).values()] if not lists else []
        if len(lists) > 1 and all(map(names.is_split, lists)):
            value = [{**row, _SPLIT: split} for split, rows in lists.items() for row in rows if isinstance(row, dict)]
        else:
            value = (next(iter(lists.values())) if len(lists) == 1 else _columns(value)) or (inner[0] if len(inner) == 1 else [])
    table = _table(name, list(enumerate(value, 1)) if isinstance(value, list) else [], "does not contain a list of JSON objects")
    table.repairs += repairs
    return table


def _lists(value: dict) -> dict[str, list]:
    """The lists of objects in an object, by their names."""
    return {k: v for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], dict)}


def cell(value) -> str:
    """A value of JSON or Parquet as the text that a CSV file would hold; null is an empty cell."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if type(value) is float and math.isfinite(value):  # by far the most frequent in wide tables
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, (bool, int, float, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)  # dates, and numbers of a fixed precision


def _features(features: list) -> list:
    """The properties of the features of GeoJSON, with the place of points."""
    rows: list = []
    for feature in features:
        if not isinstance(feature, dict):
            rows.append(None)
            continue
        properties, shape = feature.get("properties"), feature.get("geometry")
        row = dict(properties) if isinstance(properties, dict) else {}
        at = shape.get("coordinates") if isinstance(shape, dict) and shape.get("type") == "Point" else None
        if isinstance(at, list) and len(at) >= 2:
            row.setdefault("longitude", at[0])
            row.setdefault("latitude", at[1])
        rows.append(row)
    return rows


def _records(value: dict) -> list[dict]:
    """The rows of an object that has an object of columns for each record, as pandas writes it with orient="index"; none for any other.

    An object of columns, each with an object by rows, looks alike. Rows are more than columns, and the values of a column are of one type.
    """
    inner = list(value.values())
    if len(inner) < 2 or not all(isinstance(v, dict) and v for v in inner):
        return []
    columns = list(inner[0])
    if any(list(v) != columns for v in inner) or _counts(columns) or len(columns) < 2:
        return []
    if not _counts(list(value)):
        across = sum(len({_type(v[n]) for v in inner} - {""}) <= 1 for n in columns) / len(columns)
        within = sum(len({_type(x) for x in v.values()} - {""}) <= 1 for v in inner) / len(inner)
        if within > across or (within == across and len(inner) <= len(columns)):
            return []
        column = "key"
        while column in columns:
            column += " 2"
        return [{column: key, **v} for key, v in value.items()]
    return inner


def _counts(keys: list[str]) -> bool:
    """Whether the keys number something from 0 or 1."""
    return keys in ([str(i) for i in range(len(keys))], [str(i) for i in range(1, len(keys) + 1)])


def _type(value) -> str:
    return "" if value is None else "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def _columns(value: dict) -> list[dict]:
    """The rows of an object that has a list, or an object by the names of rows, for each column: what pandas writes. None for any other."""
    columns = list(value.values())
    if columns and all(isinstance(c, dict) and c.keys() == columns[0].keys() for c in columns):
        columns = [[c[row] for row in columns[0]] for c in columns]  # each may have its rows in another order
    if len(columns) < 2 or not all(isinstance(c, list) and len(c) == len(columns[0]) for c in columns):
        return []
    return [dict(zip(value, row)) for row in zip(*columns)]


def _table(name: str, values: list[tuple[int, object]], fault: str) -> Table:
    objects = [(i, _flat(v)) for i, v in values if isinstance(v, dict)]
    bad = [i for i, v in values if not isinstance(v, dict)]
    if not values or len(bad) > len(objects):
        raise NotATable(fault)
    columns = list(dict.fromkeys(key for _, value in objects for key in value))
    if _PLACE_BYTES * len(objects) * len(columns) > memory() // MEMORY_SHARE:
        raise too_large(name, f"Its {len(objects):,} objects have {len(columns):,} different keys, which would be columns.")
    rows = [(i, [cell(o.get(c)) for c in columns]) for i, o in objects]
    return Table(name, columns, rows, bad_rows=len(bad), first_bad=bad[0] if bad else 0, fault=_NO_LINE)


def _flat(value: dict, levels: int = _LEVELS) -> dict:
    """``value`` with the entries of the objects in it by dotted names, some levels deep: deeper ones stay JSON."""
    if not levels or not any(isinstance(v, dict) for v in value.values()):
        return value
    pairs = (((f"{k}.{i}", x) for i, x in _flat(v, levels - 1).items()) if isinstance(v, dict) else ((k, v),) for k, v in value.items())
    return dict(pair for part in pairs for pair in part)
