"""Tables from JSON: one object in each line, or one list of objects."""

import json

from trainer.data.table import NotATable, Table


def lines(name: str, text: str) -> Table:
    """One JSON object in each line. Lines that are none count as bad rows. Raises NotATable where these prevail."""
    objects, bad = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            objects.append((number, value))
        else:
            bad += 1
    if bad > len(objects):
        raise NotATable("does not hold one JSON object in each line")
    return _table(name, objects, bad)


def document(name: str, text: str) -> Table:
    """A list of objects, be it the only list in an object; else, as many such files are, one object in each line."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return lines(name, text)
    if isinstance(value, dict):
        lists = [v for v in value.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
        value = lists[0] if len(lists) == 1 else None
    if not isinstance(value, list):
        raise NotATable("does not hold a list of JSON objects")
    objects = [(i, v) for i, v in enumerate(value, 1) if isinstance(v, dict)]
    bad = len(value) - len(objects)
    if bad > len(objects):
        raise NotATable("does not hold a list of JSON objects")
    return _table(name, objects, bad)


def cell(value) -> str:
    """A JSON value as the text that a CSV file would hold; null is an empty cell."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, default=str)


def _table(name: str, objects: list[tuple[int, dict]], bad: int) -> Table:
    columns: dict[str, None] = {}
    for _, value in objects:
        columns.update(dict.fromkeys(value))
    names = list(columns)
    return Table(name, names, [(i, [cell(o.get(c)) for c in names]) for i, o in objects], bad_rows=bad)
