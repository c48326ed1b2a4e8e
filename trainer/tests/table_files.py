"""Reads a file made for a test as a table, and makes workbooks."""

import io
import zipfile
from types import SimpleNamespace
from xml.sax.saxutils import escape

from trainer.core.input import Input
from trainer.data.formats import tables
from trainer.data.formats.table import Table
from trainer.run_folder.events import Events

OPTIONS = {"encoding": "", "delimiter": "", "repairs": True, "sheet": "", "fill_values": "auto"}
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STYLES = f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
DATE = "date"  # (DATE, days since 1899-12-30)


def read_all(folder, name: str, content: str | bytes, wanted=(), **options) -> tuple[list[Table], dict[str, object]]:
    """The tables in a file with this name and content, and the decisions about it by code: the choice, of several the last."""
    file = folder / "file"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    events = Events(folder / "events.jsonl", 1)
    source = Input(name, file, file.stat().st_size, "")
    found = tables.read_all(source, set(wanted), SimpleNamespace(**{**OPTIONS, **options}), events)
    return found, {d["what"]: d["choice"] for d in events.decisions}


def read(folder, name: str, content: str | bytes, wanted=(), **options) -> tuple[Table, dict[str, object]]:
    found, decisions = read_all(folder, name, content, wanted, **options)
    return found[0], decisions


def rows_of(table: Table) -> list[list[str]]:
    return [row for _, row in table.rows]


def workbook(sheets: dict[str, list[list]], merged: dict[str, list[str]] | None = None, hidden: tuple[str, ...] = ()) -> bytes:
    """An .xlsx file. A cell is a number, a text, a bool, None, or (DATE, days)."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS.format(f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'))
        links, entries = [f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'], []
        for i, (name, rows) in enumerate(sheets.items(), 1):
            links.append(f'<Relationship Id="r{i}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>')
            state = ' state="hidden"' if name in hidden else ""
            entries.append(f'<sheet name="{escape(name)}" sheetId="{i}"{state} r:id="r{i}"/>')
            archive.writestr(f"xl/worksheets/sheet{i}.xml", _sheet(rows, (merged or {}).get(name, [])))
        archive.writestr("xl/_rels/workbook.xml.rels", _RELATIONS.format("".join(links)))
        archive.writestr("xl/styles.xml", _STYLES)
        archive.writestr("xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{"".join(entries)}</sheets></workbook>')
    return packed.getvalue()


def _sheet(rows: list[list], merged: list[str]) -> str:
    lines = []
    for r, row in enumerate(rows, 1):
        cells = "".join(_cell(f"{_letters(c)}{r}", value) for c, value in enumerate(row) if value is not None)
        lines.append(f'<row r="{r}">{cells}</row>')
    ranges = "".join(f'<mergeCell ref="{m}"/>' for m in merged)
    joined = f"<mergeCells>{ranges}</mergeCells>" if merged else ""
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData>{joined}</worksheet>'


def _letters(column: int) -> str:
    text = ""
    while column >= 0:
        text, column = chr(65 + column % 26) + text, column // 26 - 1
    return text


def _cell(place: str, value) -> str:
    if isinstance(value, tuple):
        return f'<c r="{place}" s="1"><v>{value[1]}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'
