"""Texts as people write them: pages of HTML, Word documents and e-mails. Of each the words are read that a reader sees, without scripts and forms."""

import email
import email.policy
import io
import re
import zipfile
import zlib
from email.message import EmailMessage
from html.parser import HTMLParser
from xml.parsers import expat

from trainer.data.formats.decode import NotText, decode

PAGES, WORD, MAIL = ("html", "htm", "xhtml"), ("docx",), ("eml",)
ENDINGS = (*PAGES, *WORD, *MAIL)
_MOST = 64 << 20  # bytes of the text in a document, which is compressed
_BODY = "word/document.xml"
_UNSEEN = frozenset(("script", "style", "template", "noscript", "svg", "head"))
_BLOCKS = frozenset("address article br dd div dl dt footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul".split())
_BLANKS, _LINES = re.compile(r"[^\S\n]+"), re.compile(r"\s*\n\s*")


def text(data: bytes, ending: str, encoding: str) -> str:
    """The words in a file with this ending, one of ``ENDINGS``. Raises NotText for one that is damaged, or another file."""
    if ending in WORD:
        return _word(data)
    if ending in MAIL:
        return _mail(data)
    return _page(decode(data, encoding)[0])


class _Page(HTMLParser):
    """Gathers what is seen of a page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag == "body":
            self._unseen.clear()  # a head that is not closed
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        if tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self._unseen:
            self.parts.append(data)


def _page(source: str) -> str:
    page = _Page()
    page.feed(source)
    page.close()
    return _tidy("".join(page.parts))


def _word(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(_BODY) as file:
            body = file.read(_MOST + 1)
    except (zipfile.BadZipFile, zlib.error, KeyError, OSError, RuntimeError, NotImplementedError, ValueError, EOFError) as e:
        raise NotText("is no Word document, or a damaged one") from e
    if len(body) > _MOST:
        raise NotText(f"has more than {_MOST >> 20} MiB of text")
    return _tidy(_paragraphs(body))


def _paragraphs(body: bytes) -> str:
    parts: list[str] = []
    seen = False  # within a run of text

    def start(tag: str, _) -> None:
        nonlocal seen
        name = tag.rpartition(":")[2]
        seen = name == "t"
        if name in ("tab", "br", "cr", "p", "tc"):
            parts.append("\n" if name != "tab" else "\t")

    def end(_) -> None:
        nonlocal seen
        seen = False

    def characters(found: str) -> None:
        if seen:
            parts.append(found)

    def refuse(*_) -> None:  # of entities nothing is expanded
        raise NotText("defines entities, which no Word document does")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body, True)
    except expat.ExpatError as e:
        raise NotText("is a damaged Word document") from e
    return "".join(parts)


def _mail(data: bytes) -> str:
    """The subject and the text of an e-mail; not who wrote to whom."""
    try:
        message = email.message_from_bytes(data, EmailMessage, policy=email.policy.default)
        body = message.get_body(("plain", "html"))
        content = body.get_content() if body is not None else ""
        subject, page = str(message["subject"] or ""), body is not None and body.get_content_subtype() == "html"
    except (LookupError, ValueError, TypeError, AttributeError, IndexError, AssertionError, RecursionError) as e:  # of damaged parts
        raise NotText("is a damaged e-mail") from e
    return _tidy(f"{subject}\n{_page(content) if page else content}")


def _tidy(found: str) -> str:
    return _LINES.sub("\n", _BLANKS.sub(" ", found.replace("\r", "\n"))).strip()
