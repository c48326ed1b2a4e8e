"""The license of a base model, from its model card."""

import re
from pathlib import Path

_CARDS = ("CARD.yaml", "README.md", "model_card.md")
_HEAD = 20_000  # characters; a card names the license at its beginning
_LINE = re.compile(r"^license(?:_name)?\s*:\s*[\"']?([\w.+ -]{1,80}?)[\"']?\s*$", re.MULTILINE)


def of(folder: Path | None) -> str:
    """The license that the card in ``folder`` names, for example apache-2.0; empty where none does."""
    for name in _CARDS if folder is not None else ():
        try:
            with open(folder / name, encoding="utf-8", errors="replace") as card:
                head = card.read(_HEAD)
        except OSError:
            continue
        if found := _LINE.search(head):
            return found[1]
    return ""
