"""The license of a base model, from model.json or its model card, and whether a default may have it."""

import re
from pathlib import Path

from trainer.run_folder import files

_CARDS = ("CARD.yaml", "README.md", "model_card.md")
_HEAD = 20_000  # characters; a card names the license at its beginning
_SPELLING = r"[\"']?([\w.+ -]{1,80}?)[\"']?\s*$"
_LINE = re.compile(rf"^license(?:_name)?[ \t]*:[ \t]*{_SPELLING}", re.MULTILINE)
_LIST = re.compile(r"^license[ \t]*:[ \t]*(?:\[([^\]\n]{1,200})\]|((?:\n[ \t]*-[ \t]+[^\n]{1,80}){1,10}))", re.MULTILINE)
_ENTRY = re.compile(rf"^{_SPELLING}")
# The service has the same rule (internal/basemodel/license.go).
_NOT_FOR_ALL = re.compile(r"(?:^|[^a-z])nc(?:[^a-z]|$)|non[-_ ]?commercial|research[-_ ]?only|nvidia[-_ ]source", re.IGNORECASE)
_UNKNOWN = "other"  # what cards name where the terms are in a file of their own


def suits_all(named: str, preferred: bool) -> bool:
    """Whether a model under the license ``named`` may be taken where nobody chose one: not one for non-commercial use, and one whose terms are
    in a file of their own only where the administrator ``preferred`` it, who has read them."""
    return not _NOT_FOR_ALL.search(named) and (preferred or named.strip().lower() != _UNKNOWN)


def of(folder: Path | None) -> str:
    """The license that model.json or the card in ``folder`` names, for example apache-2.0; several with commas; empty where none does."""
    if folder is None:
        return ""
    return _installed(folder) or next(filter(None, (_named(folder / card) for card in _CARDS)), "")


def _installed(folder: Path) -> str:
    try:
        described = files.read_json(folder / "model.json", 16 << 20)
    except (OSError, ValueError):
        return ""
    named = described.get("license") if isinstance(described, dict) else ""
    return named[:200] if isinstance(named, str) else ""


def _named(card: Path) -> str:
    try:
        with open(card, encoding="utf-8", errors="replace") as file:
            head = file.read(_HEAD)
    except OSError:
        return ""
    if found := _LINE.search(head):
        return found[1]
    if found := _LIST.search(head):
        entries = found[1].split(",") if found[1] else re.split(r"\n[ \t]*-[ \t]+", found[2])
        return ", ".join(m[1] for e in entries if (m := _ENTRY.match(e.strip())))
    return ""
