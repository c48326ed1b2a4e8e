"""Finds two columns that are a pair of texts: two sentences to compare, or a question and the text that may answer it."""

import re

from trainer.data import names
from trainer.data.columns.choices import Choice
from trainer.data.columns.profiles import Profile
from trainer.errors import some

_NAMED = (
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("text_a", "text_b"), ("text1", "text2"),
    ("sentence_a", "sentence_b"), ("sentence_1", "sentence_2"), ("text", "text_pair"), ("query", "passage"), ("query", "document"),
    ("question", "passage"), ("question", "context"), ("question", "sentence"), ("question", "answer"), ("claim", "evidence"),
)  # fmt: skip
_NUMBERED = re.compile(r"(.*[^\W\d_])[ _.\-]?([12ab])", re.IGNORECASE)
MIN_WORDS = 2.0  # on average


def find(seen: dict[str, Profile]) -> Choice | None:
    """The two columns in their order, by their names; None where no two columns are clearly a pair.

    ``seen`` lacks the label column. They are no pair if a third column is named like a text and is longer than both.
    """
    texts = {n.strip().lower(): n for n in reversed(list(seen)) if _is_text(seen[n])}
    for first, second in (*_NAMED, *_numbered(texts)):
        if first not in texts or second not in texts:
            continue
        pair = (texts[first], texts[second])
        words = [seen[n].words for n in pair]
        longer = [n for n, p in seen.items() if n not in pair and n.strip().lower() in names.TEXT_NAMES and p.words > max(words)]
        if longer:
            return None
        others = [n for n, p in seen.items() if n not in pair and p.is_free_text]
        left = f"; {some(others, 4)} {'are' if len(others) > 1 else 'is'} not used" if others else ""
        how = f"they have {words[0]:.0f} and {words[1]:.0f} words on average"
        alone = f"To use only one of them, set text_column to {pair[0]} or {pair[1]}"
        return Choice(pair, f"{pair[0]} and {pair[1]} are read as a pair of texts because of their names; {how}{left}. {alone}.")
    return None


def _numbered(texts: dict[str, str]) -> list[tuple[str, str]]:
    """Two names that differ only in 1 and 2, or a and b, at their end: headline_1 and headline_2. With a third one, they are no pair."""
    stems: dict[str, list[str]] = {}
    for name in texts:
        if (found := _NUMBERED.fullmatch(name)) and not name.startswith("column "):
            stems.setdefault(found[1], []).append(name)
    pairs = [sorted(group) for group in stems.values() if len(group) == 2]
    return [(a, b) for a, b in pairs if (a[-1], b[-1]) in (("1", "2"), ("a", "b"))]


def _is_text(p: Profile) -> bool:
    return p.cells > 0 and not p.numeric and p.words >= MIN_WORDS and not p.is_class
