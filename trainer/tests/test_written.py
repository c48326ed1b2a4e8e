"""The words of web pages, Word documents and e-mails."""

import io
import zipfile

import pytest
from hypothesis import given, strategies as st

from trainer.data import written
from trainer.data.formats.decode import NotText

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_FIRST = "<w:p><w:r><w:t>Dry </w:t></w:r><w:r><w:tab/><w:t>field &amp; road</w:t></w:r></w:p>"
_BODY = f"{_FIRST}<w:p><w:r><w:delText>gone</w:delText><w:t>wet</w:t></w:r></w:p>"
_PARTS = b"--x\nContent-Type: text/html\n\n<p>html\n--x\nContent-Type: text/plain\n\nplain\n--x--\n"


def word(body: str = _BODY, name: str = "word/document.xml", head: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, f'<?xml version="1.0"?>{head}<w:document {_W}><w:body>{body}</w:body></w:document>')
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (
            "<html><head><title>T</title><style>p{}</style></head><body><p>one <b>two</b></p><script>no()</script>three</body></html>",
            "one two\nthree",
        ),
        ("<p>a&nbsp;&amp;&eacute;<br>b<p>c", "a &é\nb\nc"),
        ("<head><title>never closed<body>seen", "seen"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "1\n2"),
        ("plain words", "plain words"),
        ("<style>all", ""),
        ("", ""),
    ],
)
def test_of_a_page_the_words_are_read_that_are_seen(page, words):
    assert written.text(page.encode(), "html", "") == words


def test_a_page_may_have_another_encoding():
    assert written.text("<p>größer".encode("cp1252"), "htm", "") == "größer"


def test_of_a_word_document_the_paragraphs_are_read():
    assert written.text(word(), "docx", "") == "Dry field & road\nwet"


@pytest.mark.parametrize(
    ("mail", "words"),
    [
        (b"Subject: Rain\nFrom: a@b\nContent-Type: text/plain; charset=iso-8859-1\n\nd\xfcrr und\n nass\n", "Rain\ndürr und\nnass"),
        (b"Subject: =?utf-8?q?R=C3=A4in?=\nContent-Type: text/html\n\n<p>one</p><p>two", "Räin\none\ntwo"),
        (b"Content-Type: multipart/alternative; boundary=x\n\n" + _PARTS, "plain"),
        (b"Subject: only\n\n", "only"),
        (b"no mail at all", "no mail at all"),
    ],
)  # fmt: skip
def test_of_a_mail_the_subject_and_the_text_are_read(mail, words):
    assert written.text(mail, "eml", "") == words


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no archive", "no Word document"),
        (word(name="other.xml"), "no Word document"),
        (word()[:-30], "no Word document"),
        (word("<w:p>"), "damaged"),
        (word("&a;", head='<!DOCTYPE w [<!ENTITY a "aaaa">]>'), "entities"),
        (word("x" * (written._MOST + 1)), "64 MiB"),
    ],
)
def test_what_is_no_word_document_is_none(data, said):
    with pytest.raises(NotText, match=said):
        written.text(data, "docx", "")


@given(st.binary(max_size=300), st.sampled_from(written.ENDINGS))
def test_any_bytes_are_a_text_or_none(data, ending):
    for content in (data, b"<p>" + data, b"Content-Type: multipart/mixed; boundary=x\n\n--x\n" + data):
        try:
            found = written.text(content, ending, "")
        except NotText:
            continue
        assert found == found.strip()


@given(st.text(alphabet="<>/!-&;#x=\"' ptdheadscriptbodybr\n", max_size=200))
def test_any_page_is_read(page):
    assert "\n\n" not in written.text(page.encode(), "html", "")
