"""docs/zoo.md: the rows of the zoo as a page."""

from pathlib import Path

from trainer.tests.zoo.row import Row

FILE = Path(__file__).resolve().parents[3] / "docs" / "zoo.md"
_HEAD = """# The zoo

Small made data sets as people have them, and what becomes of each. `trainer/tests/zoo` makes them, `trainer/tests/test_zoo.py` reads them all.
A row with a *rule* must trigger it; a *counterexample* looks alike and must not. This page is written by
`python -m trainer.tests.zoo --docs`; do not edit it.
"""


def text(topics: dict[str, tuple[Row, ...]]) -> str:
    """The page, with a table for each topic."""
    parts = [_HEAD]
    for topic, rows in topics.items():
        parts.append(f"\n## {topic.capitalize()}\n\n| data set | who has it | expected | outcome | rule |\n|---|---|---|---|---|\n")
        parts += [_line(row) for row in rows]
    return "".join(parts)


def _line(row: Row) -> str:
    rule = row.rule or (f"counterexample of *{row.spares}*" if row.spares else "")
    cells = (f"**{row.name}**: {row.layout}", f"{row.who} ({row.source})", row.expects, str(row.outcome), rule)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
