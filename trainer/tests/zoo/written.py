"""Rows about texts as people write them: pages, Word documents and e-mails in a folder for each label."""

from trainer.tests.test_written import word
from trainer.tests.zoo.row import Reads, Refused, Row, write

READ = "texts of pages, documents and e-mails"
_WORDS = ("rain", "cloud", "river", "lake", "field", "road")


def _said(i: int) -> str:
    return f"The {_WORDS[i % 6]} was seen on day {i} by group {i * 7 % 11}."


def _folders(ending: str, content):
    def make(folder):
        for i in range(40):
            write(folder, f"{('wet', 'dry')[i % 2]}/{i}.{ending}", content(_said(i)))

    return make


def _report(folder):
    write(folder, "report.docx", word())


def _measures_and_readme(folder):
    write(folder, "t.csv", "depth,flow,class\n" + "".join(f"{i * 7 % 31 / 10},{i * 3 % 17 / 10},{'xy'[i % 2]}\n" for i in range(60)))
    for name in ("README.md", "docs/index.html", "docs/more.html", "about/index.html", "about/more.html"):
        write(folder, name, "<p>" + _said(3) * 200)


_TEXTS = Reads("text-classification", rows=40, classes=("dry", "wet"))

ROWS = (
    Row("pages-in-folders", "web pages in a folder for each label", "digital humanities", "made", "a model of texts",
        _folders("html", lambda s: f"<html><head><title>t</title></head><body><p>{s}</p></body></html>"), _TEXTS, READ),
    Row("word-in-folders", "Word documents in a folder for each label", "offices", "made", "a model of texts",
        _folders("docx", lambda s: word(f"<w:p><w:r><w:t>{s}</w:t></w:r></w:p>")), _TEXTS, READ),
    Row("mails-in-folders", "e-mails in a folder for each label", "spam filters", "made", "a model of texts",
        _folders("eml", lambda s: f"Subject: note\nFrom: a@b.org\n\n{s}\n"), _TEXTS, READ),
    Row("notes-in-folders", "Markdown in a folder for each label", "programmers", "made", "a model of texts",
        _folders("md", lambda s: f"# Note\n{s}\n"), _TEXTS, READ),
    Row("pages-about-a-table", "a table with pages and a README about it", "anyone", "made", "the table", _measures_and_readme,
        Reads("tabular-classification", rows=60, classes=("x", "y")), spares=READ),
    Row("one-word-document", "a report in Word alone", "anyone", "made", "what can be read", _report,
        Refused("no_table"), spares=READ),
)  # fmt: skip
