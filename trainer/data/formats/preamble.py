"""The lines before a table: comments with a mark, which may name the columns and the value of a gap."""

import re
from dataclasses import dataclass

MARKS = ("#", "%", "//", ";", "!")
_QUOTED = '"'  # programs quote a comment that holds a delimiter
_MANY = 5000  # comment lines that are looked at for what they say
_GAP = re.compile(
    r"(?:missing(?:[ _]?(?:data|values?|flag|code|indicator))*|_?fill[ _]?values?|no[ _]?data(?:[ _]?values?)?|bad[ _](?:data|values?)[ _]?(?:flag)?)"
    r"[^\n0-9+\-]{0,40}?([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w/:])",
    re.IGNORECASE,
)
_BLANK = re.compile(r"\s*")
_NOT_NUMBERS = re.compile(r"[A-Za-z]{4,}")  # between the words and the number: a sentence about something else


@dataclass(frozen=True)
class Comments:
    """The block of comment lines at the beginning of a text. ``end`` is where the rest begins, ``lines`` how many lines lie before it."""

    mark: str
    end: int
    lines: int
    texts: tuple[str, ...]  # the comment lines without their mark, the newest _MANY

    @property
    def fills(self) -> tuple[str, ...]:
        """The numbers that the comments name as the value of a gap."""
        return fills(self.texts)


def comments(text: str) -> Comments | None:
    """The comment lines before the first other line; None where the text begins with no mark, or has nothing else."""
    at = _BLANK.match(text).end()
    mark = _mark(text, at)
    if not mark:
        return None
    lines = text.count("\n", 0, at)
    texts: list[str] = []
    place = text.rfind("\n", 0, at) + 1
    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        line = text[place : min(end, place + 4000)].strip()
        if line and not line.startswith((mark, _QUOTED + mark)):
            break
        if line:
            texts.append(line.strip(_QUOTED).lstrip(mark).strip() if line.startswith(_QUOTED) else line.removeprefix(mark).lstrip(mark).strip())
            del texts[: -2 * _MANY]
        place, lines = end, lines + 1
    if _BLANK.match(text, place).end() == len(text):
        return None
    return Comments(mark, place, lines, tuple(texts[-_MANY:]))


def fills(lines) -> tuple[str, ...]:
    """The numbers that ``lines`` name as the value of a gap, such as "missing value: -9999"."""
    named = []
    for line in lines:
        for match in _GAP.finditer(line[:1000]):
            between = line[match.start() : match.start(1)]
            if len(_NOT_NUMBERS.findall(between)) <= 3 and _looks_like_a_gap(match[1]):
                named.append(match[1])
    return tuple(dict.fromkeys(named))[:20]


def _looks_like_a_gap(number: str) -> bool:
    """Not "missing values: 12", which counts them: a gap is negative, all nines, or enormous."""
    digits = re.sub(r"[^\d]", "", number.lower().partition("e")[0]).rstrip("0")
    return number.startswith("-") or (len(digits) > 1 and set(digits) == {"9"}) or abs(float(number)) >= 1e15


def _mark(text: str, at: int) -> str:
    start = at + 1 if text.startswith(_QUOTED, at) else at
    return next((m for m in MARKS if text.startswith(m, start)), "")
