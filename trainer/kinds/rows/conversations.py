"""The forms in which data for a language model comes, found by the columns of a table and by what is in them.

Every form becomes either a conversation, which is a tuple of turns, or a document, which is a text. Nothing here depends on a model.
"""

import json
from dataclasses import dataclass, field

from trainer.data import names
from trainer.data.columns import choices, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError

TASK = "text-generation"
SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
MAX_TURNS = 1000
FREE_ANSWERS = 20  # different answers, from which they are many
FREE_SHARE = 0.5  # of the rows with an answer of their own, from which answers are free; below a fifth they are classes
CLASS_SHARE = 0.2
_ROLES = {
    "system": SYSTEM, "developer": SYSTEM, "user": USER, "human": USER, "prompter": USER, "question": USER,
    "assistant": ASSISTANT, "gpt": ASSISTANT, "bot": ASSISTANT, "model": ASSISTANT, "chatgpt": ASSISTANT, "answer": ASSISTANT,
}  # fmt: skip
_CHATS = (*names.CHATS, "chat", "dialogue", "dialog")
_ANSWERS = {
    "prompt": ("completion", "response", "answer", "output", "chosen"),
    "question": ("answer", "response", "output"),
    "instruction": ("output", "response", "answer", "completion"),
    "input": ("output",),
}
_EXTRA = {"instruction": ("input", "system", "history"), "prompt": ("system",), "question": ("system", "context")}


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. ``learnt`` is False for an answer that the data says not to learn."""

    role: str
    text: str
    learnt: bool = True


Conversation = tuple[Turn, ...]


@dataclass
class Form:
    """``parts`` says of each column that is read what it holds: messages, prompt, input, answer, system, history or text."""

    name: str
    parts: dict[str, str]
    why: str
    answer: str = ""  # the column with the answers, if there is one
    advice: list[str] = field(default_factory=list)


def find(tables: list[Table], seen: dict[str, Profile], settings, where: str) -> Form | None:
    """The form of ``tables``, or None where they are not for a language model. Raises UserError where it is not clear.

    With the task text-generation, any column of texts will do. Without a task, only data that nobody would classify.
    """
    asked = settings.task == TASK
    if not asked and (settings.task != "auto" or settings.label_column.strip() or settings.text_column.strip()):
        return None
    by_name = {n.strip().lower(): n for n in seen}
    if chat := _chat(tables, by_name, settings.text_column):
        return Form("messages", {chat: "messages"}, f"{names.column(chat)} holds conversations as lists of turns.")
    if "chosen" in by_name and "rejected" in by_name and not (asked and settings.label_column.strip()):
        raise UserError(
            "preferences",
            f"The columns chosen and rejected of {where} are preferences between answers, which this training does not learn from.",
            "Set task to text-generation and label_column to chosen to finetune on the chosen answers.",
        )
    if asked and settings.label_column.strip():
        return _named(seen, settings, where)
    if pair := _pair(by_name):
        return _answers(pair, by_name, seen, asked, where)
    if text := _text(seen, by_name, settings.text_column, asked, where):
        return Form("text", {text: "text"}, f"{names.column(text)} holds texts without labels.")
    if asked:
        raise UserError(
            "no_text",
            f"No column of {where} holds conversations, prompts with answers, or texts.",
            "Set text_column to the column with the prompts or texts and label_column to the one with the answers.",
        )
    return None


def content(cells: dict[str, str]) -> tuple[Conversation | str | None, str]:
    """A conversation or a document from the cells of a row by their part, or None and the reason why there is none."""
    if "text" in cells:
        text = cells["text"].strip()
        return (text, "") if text else (None, "the text is empty")
    if "messages" in cells:
        return _messages(cells["messages"])
    turns = [Turn(SYSTEM, cells["system"].strip())] if cells.get("system", "").strip() else []
    turns += _history(cells.get("history", ""))
    question = "\n\n".join(t for t in (cells.get("prompt", "").strip(), cells.get("input", "").strip()) if t)
    answer = cells.get("answer", "").strip()
    if not question:
        return None, "the prompt is empty"
    if not answer:
        return None, "the answer is empty"
    return (*turns, Turn(USER, question), Turn(ASSISTANT, answer)), ""


def prompt(cells: dict[str, str]) -> Conversation | str | None:
    """What a model is to answer: the content without its last answer. None where there is nothing to answer."""
    if "text" in cells:
        return cells["text"].strip() or None
    if "messages" in cells:
        turns = _turns(cells["messages"])
        while turns and turns[-1].role == ASSISTANT:
            turns.pop()
        return tuple(turns) or None
    found, _ = content({**cells, "answer": "."})
    return None if found is None else found[:-1]


def question(of: Conversation | str) -> str:
    """The last question of a conversation before its last answer; a document itself."""
    if not isinstance(of, tuple):
        return str(of)
    return next((t.text for t in reversed(of) if t.role == USER), of[0].text if of else "")


def answer(of: Conversation | str) -> str:
    """The last answer of a conversation; empty for a document."""
    return "" if not isinstance(of, tuple) else next((t.text for t in reversed(of) if t.role == ASSISTANT), "")


def before_answer(of: Conversation | str) -> str:
    """All text before the last answer, by which two examples are the same prompt."""
    if not isinstance(of, tuple):
        return str(of)
    last = max((i for i, t in enumerate(of) if t.role == ASSISTANT), default=len(of))
    return "\x1f".join(f"{t.role}\x1e{t.text}" for t in of[:last])


def whole(of: Conversation | str) -> str:
    """All text of an example."""
    return "\n".join(turn.text for turn in of) if isinstance(of, tuple) else str(of)


def _chat(tables: list[Table], by_name: dict[str, str], wanted: str) -> str:
    asked = [wanted.strip().lower()] if wanted.strip() else []
    for name in (by_name[n] for n in (*asked, *_CHATS) if n in by_name):
        cells = [c for t in tables for c in t.sample(name) if c.strip()]
        if cells and sum(bool(_turns(c)) for c in cells) >= values.MOSTLY * len(cells):
            return name
    return ""


def _named(seen: dict[str, Profile], settings, where: str) -> Form:
    """The columns that the user names for prompt and answer."""
    answers = choices.resolve(settings.label_column, seen, "label_column", where)
    by_name = {n.strip().lower(): n for n in seen if n != answers}
    wanted = settings.text_column.strip()
    first = (
        choices.resolve(wanted, seen, "text_column", where) if wanted else next((by_name[n] for n in (*_ANSWERS, *names.TEXTS) if n in by_name), "")
    )
    if not first:
        raise UserError("no_prompt", f"No column of {where} is known to hold the prompts.", "Set text_column to the column with the prompts.")
    return Form("prompt", {first: "prompt", answers: "answer"}, f"{first} holds the prompts and {answers} the answers, as requested.", answers)


def _pair(by_name: dict[str, str]) -> tuple[str, str] | None:
    for first, seconds in _ANSWERS.items():
        if first in by_name and (second := next((s for s in seconds if s in by_name), "")):
            return first, second
    return None


def _answers(pair: tuple[str, str], by_name: dict[str, str], seen: dict[str, Profile], asked: bool, where: str) -> Form | None:
    """Prompts and answers. Without a task, only where the answers are many and free."""
    first, second = by_name[pair[0]], by_name[pair[1]]
    profile = seen[second]
    labelled = any(by_name[n] for n in names.LABELS if n in by_name and n != "target" and by_name[n] not in (first, second))
    if not asked:
        if labelled or (not seen[first].is_free_text and pair[0] not in ("prompt", "instruction")):
            return None
        if profile.numeric or profile.distinct < FREE_ANSWERS or profile.distinct < CLASS_SHARE * profile.cells:
            return None
        if profile.distinct < FREE_SHARE * profile.cells:
            raise UserError(
                "ambiguous_task",
                f"The rows of {where} have a {pair[0]} and an {pair[1]}, with {profile.distinct} different answers in {profile.cells} rows: "
                "they could be classes or free answers.",
                "Set task to text-classification to predict the answers, or to text-generation to write them.",
            )
    parts = {first: "prompt", second: "answer"}
    parts |= {by_name[n]: n if n != "context" else "input" for n in _EXTRA.get(pair[0], ()) if n in by_name}
    why = f"{first} holds the prompts and {second} the answers: {profile.distinct} different ones in {profile.cells} rows."
    return Form("instruction" if pair[0] == "instruction" else "prompt", parts, why, second)


def classes_in_answers(seen: dict[str, Profile]) -> str:
    """A sentence for questions with few different answers, which are read as classes; empty for other data."""
    by_name = {n.strip().lower(): n for n in seen}
    pair = _pair(by_name)
    if pair is None:
        return ""
    found = seen[by_name[pair[1]]]
    if found.distinct >= FREE_ANSWERS and found.distinct >= CLASS_SHARE * found.cells:
        return ""
    return (
        f"The rows have a {pair[0]} and an {pair[1]}, but only {found.distinct} different answers: that is classification. "
        "Set task to text-generation if you want it to write them."
    )


def _text(seen: dict[str, Profile], by_name: dict[str, str], wanted: str, asked: bool, where: str) -> str:
    """The column of documents. Without a task, only the single column of a table that is no list of numbers, dates or names."""
    if wanted.strip():
        return choices.resolve(wanted, seen, "text_column", where)
    if asked:
        named = [by_name[n] for n in names.TEXTS if n in by_name and not seen[by_name[n]].numeric]
        free = sorted((p for p in seen.values() if p.is_free_text), key=lambda p: -p.words)
        return next(iter([*named, *(p.name for p in free)]), "")
    if any(p.distinct == 1 and p.name.strip().lower() in names.LABELS for p in seen.values()):
        return ""  # a classification whose labels are all the same, which is an error
    rest = [p for p in seen.values() if not p.is_identifier and p.distinct > 1]
    return rest[0].name if len(rest) == 1 and rest[0].is_free_text and rest[0].name.strip().lower() in names.TEXT_NAMES else ""


def _turns(cell: str) -> list[Turn]:
    """The turns of a cell with JSON; none where it holds no turns."""
    try:
        listed = json.loads(cell)
    except (ValueError, RecursionError):
        return []
    if isinstance(listed, dict):
        listed = next((listed[n] for n in _CHATS if isinstance(listed.get(n), list)), [])
    found = []
    for entry in listed[:MAX_TURNS] if isinstance(listed, list) else []:
        if not isinstance(entry, dict):
            return []
        role = entry.get("role", entry.get("from"))
        text = entry.get("content", entry.get("value"))
        if isinstance(text, list):  # the parts of a message
            text = "".join(p.get("text", "") for p in text if isinstance(p, dict) and isinstance(p.get("text"), str))
        if not isinstance(role, str) or not isinstance(text, (str, type(None))):
            return []
        found.append(Turn(_ROLES.get(role.strip().lower(), role.strip().lower()), (text or "").strip(), entry.get("weight", 1) != 0))
    return found


def _messages(cell: str) -> tuple[Conversation | None, str]:
    turns = _turns(cell)
    if not turns:
        return None, "the conversation is empty" if not cell.strip() else "it is not a list of turns with role and content"
    if reason := _disorder(turns):
        return None, reason
    return tuple(turns), ""


def _disorder(turns: list[Turn]) -> str:
    """What is wrong with the order of the roles, as the end of a sentence; empty where nothing is."""
    if unknown := next((t.role for t in turns if t.role not in (SYSTEM, USER, ASSISTANT, "tool", "function")), ""):
        return f"the role {unknown[:40]} is not known"
    if any(t.role == SYSTEM for t in turns[1:]):
        return "a system turn is not the first turn"
    for a, b in zip(turns, turns[1:]):
        if a.role == b.role and a.role in (USER, ASSISTANT):
            return f"two {a.role} turns follow each other"
    talk = [t for t in turns if t.role != SYSTEM]
    if not talk or talk[-1].role != ASSISTANT:
        return "the conversation ends with the user, so there is no answer to learn"
    if talk[0].role == ASSISTANT:
        return "the conversation begins with an answer"
    if not any(t.text and t.learnt for t in talk if t.role == ASSISTANT):
        return "the answer is empty"
    return ""


def _history(cell: str) -> list[Turn]:
    """Earlier turns as lists of question and answer."""
    try:
        listed = json.loads(cell) if cell.strip() else []
    except (ValueError, RecursionError):
        return []
    pairs = [p for p in listed if isinstance(p, list) and len(p) == 2 and all(isinstance(t, str) for t in p)] if isinstance(listed, list) else []
    return [turn for a, b in pairs[:MAX_TURNS] for turn in (Turn(USER, a.strip()), Turn(ASSISTANT, b.strip(), learnt=False))]
