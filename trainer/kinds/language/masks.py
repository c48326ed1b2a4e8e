"""Which tokens of a conversation are learnt: the answers and their ends, and nothing that the user or a template writes.

The text of a conversation comes from the chat template of the model, in the sandbox of transformers, which has no access to files,
modules or attributes. Templates differ in what they tell about the place of an answer, so there are three ways to find it, from the
surest to the one that always holds, and every conversation is checked.
"""

import re
from dataclasses import dataclass, replace

import numpy
from tokenizers import Tokenizer

from trainer.kinds.rows.conversations import ASSISTANT, SYSTEM, USER, Conversation, Turn

TAGS, PREFIX, EACH = "generation tags", "checked prefix", "one example per answer"
WAYS = (TAGS, PREFIX, EACH)
_TAG = re.compile(r"\{%-?\s*generation\s*-?%\}")
# For a model that has no chat template. An answer ends with the end-of-text token, so that the model learns to stop.
PLAIN = (
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}{{ '### Question\\n' + message['content'] + '\\n\\n' }}"
    "{% elif message['role'] == 'assistant' %}{{ '### Answer\\n' + message['content'] + eos_token + '\\n\\n' }}"
    "{% else %}{{ message['content'] + '\\n\\n' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '### Answer\\n' }}{% endif %}"
)
Piece = tuple[numpy.ndarray, numpy.ndarray]  # ids, and which of them are learnt


class Refused(ValueError):
    """The template does not accept the conversation, or does not show its answer."""


@dataclass(frozen=True)
class Learnt:
    """A conversation as sequences of tokens with the learnt places. ``moved`` says that the system turn was put before the question."""

    pieces: list[Piece]
    way: str
    moved: bool = False
    dropped: bool = False  # the template leaves out earlier turns


class Template:
    """A chat template with its tokenizer. ``special`` holds the texts of special tokens by the names that templates use."""

    def __init__(self, tokenizer: Tokenizer, text: str, special: dict[str, str]):
        self.tokenizer, self.text, self.special = tokenizer, text, special
        self.tagged = _TAG.search(text) is not None

    def prompt(self, turns: Conversation) -> list[int]:
        """The tokens after which a model begins its answer to ``turns``. Raises Refused."""
        return self._ids(self._accepted(turns, prompt=True)[0])

    def learn(self, turns: Conversation) -> Learnt:
        """``turns`` with the tokens of their answers learnt. Raises Refused."""
        whole, turns, moved = self._accepted(turns)
        dropped = any(t.text.strip() and t.text.strip() not in whole for t in turns)
        if not dropped:
            for way, find in ((TAGS, self._by_tags), (PREFIX, self._by_prefix)):
                if piece := find(whole, turns):
                    return Learnt([piece], way, moved)
        return Learnt(self._one_by_one(turns), EACH, moved, dropped)

    def _accepted(self, turns: Conversation, prompt: bool = False) -> tuple[str, Conversation, bool]:
        """The text of ``turns``; with the system turn before the first question where the template refuses one."""
        try:
            return self._render(turns, prompt), turns, False
        except Refused:
            if turns[0].role != SYSTEM or len(turns) < 2 or turns[1].role != USER:
                raise
        joined = (replace(turns[1], text=f"{turns[0].text}\n\n{turns[1].text}"), *turns[2:])
        return self._render(joined, prompt), joined, True

    def _by_tags(self, whole: str, turns: Conversation) -> Piece | None:
        if not self.tagged:
            return None
        from transformers.utils.chat_template_utils import render_jinja_template

        _, found = render_jinja_template([_messages(turns)], chat_template=self.text, return_assistant_tokens_mask=True, **self.special)
        answers = [t for t in turns if t.role == ASSISTANT]
        if len(found[0]) != len(answers):
            return None
        spans = [span for span, turn in zip(found[0], answers, strict=True) if turn.learnt and turn.text]
        return self._piece(whole, spans) if spans else None

    def _by_prefix(self, whole: str, turns: Conversation) -> Piece | None:
        """The answers, where the text before each with the beginning of an answer is a beginning of the whole, and so are its tokens."""
        spans, ids = [], self._ids(whole)
        for i, turn in enumerate(turns):
            if turn.role != ASSISTANT or not (turn.learnt and turn.text):
                continue
            try:
                before, after = self._render(turns[:i], prompt=True), self._render(turns[: i + 1])
            except Refused:
                return None
            if not whole.startswith(before) or not whole.startswith(after.rstrip()) or len(after.rstrip()) <= len(before):
                return None
            start = self._ids(before)
            if ids[: len(start)] != start:
                return None
            spans.append((len(before), len(after.rstrip())))
        return self._piece(whole, spans) if spans else None

    def _one_by_one(self, turns: Conversation) -> list[Piece]:
        """One sequence for each answer, behind what the template writes where the model is to answer, encoded by itself."""
        found = []
        for i, turn in enumerate(turns):
            if turn.role != ASSISTANT or not (turn.learnt and turn.text):
                continue
            after = self._render(turns[: i + 1]).rstrip()
            before = self._render(turns[:i], prompt=True)
            start = len(before) if after.startswith(before) else after.rfind(turn.text.strip())
            if start < 0 or turn.text.strip() not in after[start:]:
                raise Refused("its text lacks the answer")
            first, second = self._ids(before), self._ids(after[start:])
            found.append((numpy.array(first + second, numpy.int32), numpy.arange(len(first) + len(second)) >= len(first)))
        if not found:
            raise Refused("it has no answer to learn")
        return found

    def _piece(self, whole: str, spans: list[tuple[int, int]]) -> Piece | None:
        """The tokens of ``whole`` up to the last span, of which those inside a span are learnt. None if a token crosses its beginning."""
        encoded = self.tokenizer.encode(whole, add_special_tokens=False)
        begin, end = (numpy.array(side) for side in zip(*encoded.offsets, strict=True))
        learnt = numpy.zeros(len(encoded.ids), bool)
        for first, last in spans:
            if ((begin < first) & (end > first)).any():
                return None
            learnt |= (begin >= first) & (end <= last) & (end > begin)
        kept = int(numpy.flatnonzero(learnt)[-1]) + 1 if learnt.any() else 0
        return (numpy.array(encoded.ids[:kept], numpy.int32), learnt[:kept]) if kept else None

    def _render(self, turns: Conversation, prompt: bool = False) -> str:
        from jinja2 import TemplateError
        from transformers.utils.chat_template_utils import render_jinja_template

        try:
            texts, _ = render_jinja_template([_messages(turns)], chat_template=self.text, add_generation_prompt=prompt, **self.special)
        except (TemplateError, TypeError, ValueError, KeyError, OverflowError) as e:  # a template is a small program
            raise Refused(str(e).split("\n")[0][:200]) from e
        return texts[0]

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids


def marked(tokenizer: Tokenizer, piece: Piece) -> list[dict]:
    """The text of a sequence in parts that are learnt or not, to show to a person."""
    ids, learnt = piece
    bounds = [0, *(numpy.flatnonzero(numpy.diff(learnt.astype(int))) + 1).tolist(), len(ids)]
    parts = [(ids[a:b].tolist(), bool(learnt[a])) for a, b in zip(bounds, bounds[1:], strict=False) if b > a]
    return [{"text": tokenizer.decode(part, skip_special_tokens=False), "learnt": flag} for part, flag in parts]


def _messages(turns: tuple[Turn, ...]) -> list[dict]:
    return [{"role": t.role, "content": t.text} for t in turns]
