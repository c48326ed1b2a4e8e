"""Data for language models is found by its columns, and classification data is left alone."""

import json

import pytest
from conftest import events_of
from language_models import COLOURS, THINGS, conversations, install, question
from result_checks import blocks_of, check_success, codes, error_of
from small_datasets import table

from trainer.data.columns import profiles
from trainer.data.formats.table import Table
from trainer.errors import UserError
from trainer.kinds.rows import conversations as forms, documents
from trainer.run import run


class Asked:
    """The settings that a form depends on."""

    def __init__(self, task="auto", text_column="", label_column=""):
        self.task, self.text_column, self.label_column = task, text_column, label_column


def found(head: list[str], row, settings: Asked | None = None, rows: int = 60):
    read = Table("a.jsonl", head, [(i, [c if isinstance(c, str) else json.dumps(c) for c in row(i)]) for i in range(1, rows + 1)])
    return read, forms.find([read], profiles.of([read]), settings or Asked(), "a.jsonl")


def turn(role: str, text: str) -> dict:
    return {"role": role, "content": text}


def said(i: int) -> str:
    return f"the {THINGS[i % 10]} of number {i} is here"


@pytest.mark.parametrize(
    ("head", "row", "name", "turns"),
    [
        pytest.param(
            ["messages"], lambda i: [[turn("system", "S"), turn("user", "Q"), turn("assistant", f"A {i}")]],
            "messages", [("system", "S"), ("user", "Q"), ("assistant", "A 1")], id="messages of OpenAI",
        ),
        pytest.param(
            ["conversations"], lambda i: [[{"from": "human", "value": "Q"}, {"from": "gpt", "value": f"A {i}"}]],
            "messages", [("user", "Q"), ("assistant", "A 1")], id="conversations of ShareGPT",
        ),
        pytest.param(
            ["prompt", "completion"], lambda i: [f"write of {i}", said(i)],
            "prompt", [("user", "write of 1"), ("assistant", said(1))],
            id="prompt and completion",
        ),
        pytest.param(
            ["question", "answer"], lambda i: [f"what is thing {i}", said(i)],
            "prompt", [("user", "what is thing 1"), ("assistant", said(1))],
            id="question and answer",
        ),
        pytest.param(
            ["instruction", "input", "output"], lambda i: ["tell me of it", f"thing {i}", said(i)],
            "instruction", [("user", "tell me of it\n\nthing 1"), ("assistant", said(1))], id="instructions of Alpaca",
        ),
        pytest.param(
            ["instruction", "input", "output", "history", "system"], lambda i: ["go on", "", said(i), [["a", "b"]], "S"],
            "instruction", [("system", "S"), ("user", "a"), ("assistant", "b"), ("user", "go on"), ("assistant", said(1))],
            id="with history and system",
        ),
    ],
)  # fmt: skip
def test_a_form_is_found_and_read_as_turns(head, row, name, turns):
    read, form = found(head, row)
    assert form.name == name
    content, why = forms.content({part: read.cells(column)[0] for column, part in form.parts.items()})
    assert why == ""
    assert [(t.role, t.text) for t in content] == turns


def test_texts_alone_are_documents():
    read, form = found(["text"], lambda i: [said(i)])
    assert form.parts == {"text": "text"}
    assert forms.content({"text": read.cells("text")[0]}) == (said(1), "")


@pytest.mark.parametrize(
    ("head", "row"),
    [
        pytest.param(["text", "label"], lambda i: [said(i), "ab"[i % 2]], id="texts with labels"),
        pytest.param(["question", "answer"], lambda i: [f"what is thing {i} like", COLOURS[i % 3]], id="questions with three answers"),
        pytest.param(["question", "answer", "label"], lambda i: [f"what is thing {i}", said(i), "ab"[i % 2]], id="answers with labels"),
        pytest.param(["question", "answer"], lambda i: [f"how much is thing {i}", str(i * 1.5)], id="questions with numbers"),
        pytest.param(["length", "width"], lambda i: [str(i), str(i * i)], id="numbers"),
    ],
)
def test_data_for_other_tasks_is_left_alone(head, row):
    assert found(head, row)[1] is None


def test_questions_with_few_answers_are_classes_and_the_user_is_told():
    read, _ = found(["question", "answer"], lambda i: [f"what is thing {i} like", COLOURS[i % 3]])
    assert forms.classes_in_answers(profiles.of([read])) == (
        "The rows have a question and an answer, but only 3 different answers: that is classification. "
        "Set task to text-generation if you want it to write them."
    )
    _, form = found(["question", "answer"], lambda i: [f"what is thing {i} like", COLOURS[i % 3]], Asked(task="text-generation"))
    assert form.parts == {"question": "prompt", "answer": "answer"}


def test_preferences_are_refused_unless_the_chosen_answers_are_named():
    head, row = ["prompt", "chosen", "rejected"], lambda i: [f"thing {i}", said(i), said(i + 1)]
    with pytest.raises(UserError, match="are preferences between answers"):
        found(head, row)
    assert found(head, row, Asked(task="text-generation", label_column="chosen"))[1].parts == {"prompt": "prompt", "chosen": "answer"}


@pytest.mark.parametrize(
    ("roles", "why"),
    [
        (["user", "user", "assistant"], "two user turns follow each other"),
        (["user", "assistant", "assistant"], "two assistant turns follow each other"),
        (["user"], "the conversation ends with the user, so there is no answer to learn"),
        (["assistant"], "the conversation begins with an answer"),
        (["user", "system", "assistant"], "a system turn is not the first turn"),
        (["user", "narrator"], "the role narrator is not known"),
    ],
)
def test_turns_in_the_wrong_order_are_named(roles, why):
    assert forms.content({"messages": json.dumps([{"role": r, "content": "x"} for r in roles])}) == (None, why)


def test_a_row_that_cannot_be_learnt_is_named_and_left_out(make_run, schemas):
    wrong = json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "assistant", "content": "c"}]})
    spec = make_run({"chats.jsonl": conversations(60) + wrong + "\n"}, epochs=1)
    install(spec.parent.parent.parent / "models")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    text = next(w["text"] for w in result["warnings"] if w["code"] == "empty_rows")
    assert "two assistant turns follow each other (the first is row 61)" in text


def test_passages_are_the_whole_text_and_the_end_of_each_file_is_held_out():
    text = "\n\n".join(f"Paragraph {i} " + "word " * 80 for i in range(40))
    parts = documents.passages(text)
    assert "".join(p for _, p in parts) == text
    assert max(len(p) for _, p in parts) <= documents.PASSAGE
    assert parts[1][0] == 1 + text[: len(parts[0][1])].count("\n")


@pytest.mark.parametrize("name", ["story.txt", "story.md"])
def test_plain_texts_are_learnt_where_the_task_says_so(make_run, schemas, name):
    text = "\n\n".join(question(COLOURS[i % 3], THINGS[i % 10], i) + " " + said(i) * 5 for i in range(300))
    spec = make_run({name: text}, task="text-generation", model="acme/chat", epochs=1)
    install(spec.parent.parent.parent / "models")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert "drawn at random" in blocks_of(result, "Answers before and after")[0]["text"][0]
    assert result["metrics"]["test"]["bits_per_byte"]["low"] > 0


def test_a_training_of_days_is_refused_with_the_number(make_run, monkeypatch):
    from trainer.train import estimate

    monkeypatch.setattr(estimate, "seconds", lambda *_: 31 * 3600.0)
    spec = make_run({"chats.jsonl": conversations(60)}, epochs=1)
    install(spec.parent.parent.parent / "models")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["what"].startswith("This would take about 31 hours on ")


def test_a_model_that_does_not_fit_is_refused_with_what_would(make_run, monkeypatch):
    from trainer.kinds.language import held

    monkeypatch.setattr(held, "memory", lambda: 500_000_000)
    spec = make_run({"chats.jsonl": conversations(60)}, epochs=1)
    install(spec.parent.parent.parent / "models")
    assert run(str(spec), "local") == 2
    error = error_of(spec.parent)
    assert error["what"] == "acme/chat has 1 million weights: full finetuning needs about 0.6 GB and the worker has 0.5 GB."
    assert "Choose a smaller model, a smaller batch_size, or ask for more memory." in error["do"]


def test_the_same_words_in_training_and_test_are_told(make_run, schemas):
    copied = "this one long sentence about a river and a lamp is written twice in the data word by word"
    rows = [[f"what is thing number {i} about", f"{copied} {i}"] for i in range(60)]
    spec = make_run({"a.csv": table(["question", "answer"], rows)}, epochs=1)
    install(spec.parent.parent.parent / "models")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert "text_overlap" in codes(result)
    assert any("has 1 million weights; training it needs about" in e.get("why", e.get("text", "")) for e in events_of(spec.parent))
