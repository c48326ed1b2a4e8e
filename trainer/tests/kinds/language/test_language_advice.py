"""What a user is told of a language model and its data before the training."""

import collections
from types import SimpleNamespace

import pytest
from language_models import tokenizer

from trainer.core.example import Dataset, Example
from trainer.errors import UserError
from trainer.kinds.language import advice, masks
from trainer.models.catalogue import Base

BASE = Base("org/x", "language")


class Recorder:
    """The events of a run."""

    def __init__(self):
        self.warnings: dict[str, str] = {}

    def warning(self, code: str, text: str) -> None:
        self.warnings[code] = text


def said(texts: list[str], held_out: tuple[str, ...] = (), **changed) -> dict[str, str]:
    """The warnings about texts, with what the encoder noted of them."""
    encoder = SimpleNamespace(
        notes=collections.Counter(changed.pop("notes", {})), ways=collections.Counter(changed.pop("ways", {masks.PREFIX: len(texts)})),
        refused=changed.pop("refused", []), rows=len(texts), ended=changed.pop("ended", len(texts)), max_length=64,
        words=SimpleNamespace(tokenizer=tokenizer()),
    )  # fmt: skip
    assert not changed
    rows = {n: [Example("a.jsonl", i, t, "") for i, t in enumerate(found)] for n, found in (("train", texts), ("test", held_out))}
    events = Recorder()
    advice.check(encoder, Dataset("text-generation", "language", {**rows, "validation": []}, [], ("text",), ""), BASE, events)
    return events.warnings


TEXTS = [f"What colour is the red lamp of room {i}? red" for i in range(8)]


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        pytest.param({}, None, "", id="nothing to say"),
        pytest.param(
            {"notes": {"system turn moved": 3}}, "system_turn",
            "The chat template of org/x refuses a system turn; it is put before the first question instead.", id="a system turn",
        ),
        pytest.param(
            {"notes": {"turns dropped": 1, "examples": 412}, "ways": {masks.EACH: 160}}, "chat_template_turns",
            "The chat template of org/x drops earlier turns, so each answer is learnt as an example of its own "
            "(412 examples from 160 rows; 160 rows so).",
            id="dropped turns",
        ),
        pytest.param(
            {"notes": {"refused": 2}, "refused": ["two assistant turns follow each other"]}, "chat_template",
            "2 examples cannot be learnt: two assistant turns follow each other.", id="some conversations are refused",
        ),
        pytest.param(
            {"ended": 0}, "no_ends",
            "The answers no longer end: no example of the training data kept its end-of-text within 64 tokens. Raise max_length.", id="no ends",
        ),
    ],
)  # fmt: skip
def test_what_the_chat_template_did_is_said(change, code, text):
    found = said(TEXTS, **change)
    assert found == ({} if code is None else {code: text})


def test_a_template_that_accepts_nothing_is_refused():
    with pytest.raises(UserError, match="accepts none of the conversations"):
        said(TEXTS, notes={"refused": 8}, refused=["the first turn is missing"], ways={})


def test_a_script_that_the_tokenizer_hardly_knows_is_named():
    found = said([chr(0x1F300 + i) * 12 + chr(0x0E01 + i) * 9 for i in range(8)])
    assert found["script"].startswith("The tokenizer of org/x needs ")
    assert found["script"].endswith(": it hardly knows their script.")


def test_held_out_texts_that_stand_in_the_training_rows_are_counted():
    long = [" ".join(f"w{i * 40 + k}" for k in range(40)) for i in range(8)]
    found = said(long, tuple(long[:2]))
    assert found["text_overlap"].startswith("2 of 2 held-out examples (100.0%) share ")
    assert "text_overlap" not in said(long, tuple(f"other words {i}" for i in range(2)))
