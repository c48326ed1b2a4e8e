"""What a user should know of the data of a language model before it is trained."""

import re

from trainer.core.example import Dataset
from trainer.errors import UserError, count
from trainer.kinds.language import masks
from trainer.kinds.language.encoding import Encoder
from trainer.kinds.rows import conversations as forms
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

NGRAM = 13  # words in a row that two texts share only if one is copied from the other
OVERLAP_SHARE = 0.01  # of the test examples, from which the user is warned
MOST_TOKENS_PER_BYTE = 0.6  # more, and the tokenizer does not know the script
_SAMPLE = 200
_WORD = re.compile(r"\w+")


def check(encoder: Encoder, data: Dataset, base: Base, events: Events) -> None:
    """Add checks to ``data``. Raises UserError where the model cannot learn from the data at all."""
    _templates(encoder, data, base, events)
    _ends(encoder, data, events)
    _overlap(data, events)
    _script(encoder, data, base, events)


def _templates(encoder: Encoder, data: Dataset, base: Base, events: Events) -> None:
    """How the chat template of the model treated the conversations."""
    if refused := encoder.notes["refused"]:
        if not encoder.ways:
            raise UserError(
                "chat_template",
                f"The chat template of {base.name} accepts none of the conversations.",
                "Choose another model, or correct the order of the turns.",
                encoder.refused[0],
            )
        _note(data, events, "chat_template", False, f"{count(refused, 'example')} cannot be learnt: {encoder.refused[0]}.")
    if encoder.notes["system turn moved"]:
        text = f"The chat template of {base.name} refuses a system turn; it is put before the first question instead."
        _note(data, events, "system_turn", False, text)
    if each := encoder.ways[masks.EACH]:
        why = "drops earlier turns" if encoder.notes["turns dropped"] else "does not show where an answer begins"
        _note(
            data, events, "chat_template_turns", False,
            f"The chat template of {base.name} {why}, so each answer is learnt as an example of its own "
            f"({encoder.notes['examples']} examples from {sum(encoder.ways.values())} rows; {each} rows so).",
        )  # fmt: skip


def _ends(encoder: Encoder, data: Dataset, events: Events) -> None:
    if encoder.rows and not encoder.ended:
        text = f"The answers no longer end: no example of the training data kept its end-of-text within {encoder.max_length} tokens."
        events.warning("no_ends", f"{text} Raise max_length.")
        data.checks.append({"code": "no_ends", "level": "warning", "text": text})


def _overlap(data: Dataset, events: Events) -> None:
    """Held-out examples that share many words in a row with a training example."""
    test = data.splits["test"] or data.splits["validation"]
    train = [_words(e.content) for e in data.splits["train"]]
    same = _shared_beginning(train)  # a question that all prompts begin with is no copy
    known = {gram for words in train for gram in _grams(words[same:])}
    shared = sum(any(gram in known for gram in _grams(_words(e.content)[same:])) for e in test)
    what = f"{shared} of {len(test)} held-out examples ({shared / max(1, len(test)):.1%}) share {NGRAM} words in a row with a training example"
    if shared > OVERLAP_SHARE * len(test):
        _note(data, events, "text_overlap", False, f"{what}: the metrics may be too optimistic.")
    else:
        _note(data, events, "text_overlap", True, f"{what}.")


def _words(content) -> list[str]:
    return _WORD.findall(forms.whole(content).lower())


def _shared_beginning(texts: list[list[str]]) -> int:
    """How many words all texts begin with."""
    first, last = min(texts, default=[]), max(texts, default=[])
    return next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))


def _grams(words: list[str]) -> set[int]:
    return {hash(tuple(words[i : i + NGRAM])) for i in range(len(words) - NGRAM + 1)}


def _script(encoder: Encoder, data: Dataset, base: Base, events: Events) -> None:
    texts = [forms.whole(e.content) for e in data.splits["train"][:_SAMPLE]]
    size = sum(len(t.encode("utf-8", "replace")) for t in texts)
    tokens = sum(len(encoder.words.tokenizer.encode(t, add_special_tokens=False).ids) for t in texts)
    share = tokens / max(1, size)
    if share > MOST_TOKENS_PER_BYTE:
        text = f"The tokenizer of {base.name} needs {share:.2f} tokens for a byte of these texts: it hardly knows their script."
        _note(data, events, "script", False, text)
    else:
        _note(data, events, "script", True, f"The tokenizer needs {share:.2f} tokens for a byte of these texts.")


def _note(data: Dataset, events: Events, code: str, is_ok: bool, text: str) -> None:
    data.checks.append({"code": code, "level": "ok" if is_ok else "warning", "text": text})
    if not is_ok:
        events.warning(code, text)
