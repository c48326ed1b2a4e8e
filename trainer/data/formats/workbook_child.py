"""Prints the sheets of a workbook as JSON lines. Runs in a process of its own with limits, because it parses what others wrote.

Its argument is the path of the file. A line is a sheet (an object) or a row of it that is not empty: its number, counted from 1, and its cells as
texts, the empty ones at the end left out. An object with an error ends the output.
"""

import datetime
import json
import sys

import python_calamine

MAX_MERGED = 100_000  # ranges of a sheet


def text(cell) -> str:
    """A cell as the text that a CSV file of it would hold."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    return "" if cell is None else str(cell)


def say(value) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def main(path: str) -> None:
    with open(path, "rb") as file, python_calamine.load_workbook(file) as book:
        for place, about in enumerate(book.sheets_metadata):
            visible = about.visible == python_calamine.SheetVisibleEnum.Visible
            if about.typ != python_calamine.SheetTypeEnum.WorkSheet:
                continue
            sheet = book.get_sheet_by_index(place)
            merged = [[*first, *last] for first, last in (sheet.merged_cell_ranges or ())][:MAX_MERGED]
            left = sheet.start[1] if sheet.start is not None else 0  # the first column of the rows
            say({"sheet": about.name, "visible": visible, "left": left, "merged": merged})
            if sheet.start is None or not visible:
                continue
            for number, row in enumerate(sheet.iter_rows(), 1):
                cells = [text(cell) for cell in row]
                while cells and not cells[-1]:
                    cells.pop()
                if cells:
                    say([number, *cells])
    say({"end": True})


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        main(sys.argv[1])
    except python_calamine.PasswordError:
        say({"error": "is protected by a password: save it without one"})
    except BaseException as e:  # a panic of the library is no Exception
        say({"error": f"cannot be read as a workbook ({type(e).__name__})"})
