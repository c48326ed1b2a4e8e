"""Conversations and documents as rows of tokens: what is learnt, cut, left out and counted, and the words that belong to a model."""

import json

import numpy
import pytest
from language_models import CHATML, NO_SYSTEM, tokenizer

from trainer.core.example import Dataset, Example
from trainer.kinds.language import encoding, masks
from trainer.kinds.rows.conversations import Turn

WORDS = tokenizer()
END, TEXT_END = WORDS.token_to_id("<|im_end|>"), WORDS.token_to_id("<|endoftext|>")
ASK, ANSWER = Turn("user", "What colour is the red lamp number 1?"), Turn("assistant", "red")
AGAIN, BLUE = Turn("user", "And the blue one?"), Turn("assistant", "blue")
SYSTEM = Turn("system", "Be short.")


def folder_of(folder, settings: dict | None = None, generation: dict | None = None, template: str | None = None):
    """A folder of a model with these files."""
    for name, document in (("tokenizer_config.json", settings), ("generation_config.json", generation)):
        if document is not None:
            (folder / name).write_text(json.dumps(document))
    if template is not None:
        (folder / encoding.TEMPLATE).write_text(template)
    return folder


@pytest.fixture
def make_encoder(tmp_path):
    def make(max_length: int = 200, template: str = CHATML, **description) -> encoding.Encoder:
        words = encoding.words(folder_of(tmp_path, {"eos_token": "<|im_end|>", "chat_template": template}), WORDS, {})
        return encoding.Encoder(words, {"max_length": max_length, **description}, {})

    return make


def chat(*turns: Turn) -> Example:
    return Example("chats.jsonl", 2, turns, "")


def document(text: str, file: str = "texts.csv") -> Example:
    return Example(file, 2, text, "")


@pytest.mark.parametrize(
    ("settings", "generation", "config", "stop", "pad"),
    [
        pytest.param(None, None, {}, (), 0, id="nothing is known"),
        pytest.param({"eos_token": "<|im_end|>"}, None, {}, (END,), END, id="the tokenizer names its end"),
        pytest.param({"eos_token": {"content": "<|im_end|>"}}, None, {}, (END,), END, id="as an object"),
        pytest.param(None, None, {"eos_token_id": END}, (END,), END, id="the model does"),
        pytest.param(None, None, {"eos_token_id": [END, TEXT_END]}, (TEXT_END, END), TEXT_END, id="two ends"),
        pytest.param(None, {"eos_token_id": [TEXT_END]}, {"eos_token_id": END}, (TEXT_END, END), TEXT_END, id="the settings of answers add one"),
        pytest.param({"pad_token": "<|im_start|>"}, None, {"eos_token_id": END}, (END,), WORDS.token_to_id("<|im_start|>"), id="a pad token"),
        pytest.param({"pad_token": "<|im_start|>"}, None, {"pad_token_id": 5}, (), 5, id="the model's pad wins"),
        pytest.param({"pad_token": "missing"}, None, {"pad_token_id": -1, "eos_token_id": END}, (END,), END, id="pads that do not exist"),
        pytest.param({"eos_token": "missing"}, None, {"eos_token_id": None}, (), 0, id="an end that does not exist"),
    ],
)
def test_the_ends_and_the_pad_of_a_model(tmp_path, settings, generation, config, stop, pad):
    words = encoding.words(folder_of(tmp_path, settings, generation), WORDS, config)
    assert (words.stop, words.pad_id) == (stop, pad)
    assert words.template.special["bos_token"] == ""


def test_a_model_that_names_its_end_only_by_number_gets_its_text(tmp_path):
    words = encoding.words(tmp_path, WORDS, {"eos_token_id": END})
    assert (words.template.special["eos_token"], words.end) == ("<|im_end|>", END)
    assert encoding.words(tmp_path, WORDS, {}).end is None


@pytest.mark.parametrize(
    ("settings", "file", "own", "text"),
    [
        pytest.param({}, None, False, masks.PLAIN, id="none"),
        pytest.param({"chat_template": CHATML}, None, True, CHATML, id="in the settings"),
        pytest.param({"chat_template": CHATML}, NO_SYSTEM, True, NO_SYSTEM, id="the file wins"),
        pytest.param(
            {"chat_template": [{"name": "rag", "template": "x"}, {"name": "default", "template": CHATML}]}, None, True, CHATML, id="by name"
        ),
        pytest.param({"chat_template": [{"name": "rag", "template": "x"}]}, None, False, masks.PLAIN, id="no default among the names"),
        pytest.param({"chat_template": 7}, None, False, masks.PLAIN, id="no text"),
    ],
)
def test_the_chat_template_of_a_model(tmp_path, settings, file, own, text):
    words = encoding.words(folder_of(tmp_path, settings, template=file), WORDS, {})
    assert (words.own_template, words.template.text) == (own, text)


def test_answers_are_learnt_with_their_tokens_and_bytes(make_encoder):
    encoder = make_encoder()
    rows = encoder.encode([chat(ASK, ANSWER), chat(ASK, ANSWER, AGAIN, Turn("assistant", "bläu"))], numpy.zeros(2), "train", training=True)
    learnt = [len(WORDS.encode(t).ids) + 1 for t in ("red", "bläu")]  # each answer and its end
    assert rows.targets.tolist() == [[learnt[0], 3], [sum(learnt), 3 + 5]]
    assert rows.owner is None, "one row for each example"
    assert encoder.learnt_tokens == learnt[0] + sum(learnt)
    assert encoder.ways == {masks.PREFIX: 2} and encoder.notes["examples"] == 2
    assert "".join(part["text"] for part in encoder.example if part["learnt"]) == "red<|im_end|>"


def test_a_question_that_leaves_no_room_for_its_answer_is_left_out_of_training_only(make_encoder):
    encoder = make_encoder(max_length=8)
    examples = [chat(Turn("user", "a " * 30), ANSWER)]
    assert len(encoder.encode(examples, numpy.zeros(1), "train", training=True).targets) == 0
    assert (encoder.rows, encoder.cut, encoder.ended, encoder.learnt_tokens, encoder.example) == (1, 1, 0, 0, [])
    kept = encoder.encode(examples, numpy.zeros(1), "test")
    assert kept.targets.tolist() == [[0, 3]], "its bytes count in the measure"
    assert encoder.rows == 1, "only training rows are counted"


def test_a_conversation_that_the_template_refuses_is_counted_with_its_reason(make_encoder):
    refusing = "{{ raise_exception('Only questions') }}"
    encoder = make_encoder(template=refusing)
    rows = encoder.encode([chat(ASK, ANSWER)], numpy.zeros(1), "train", training=True)
    assert len(rows.targets) == 0 and encoder.notes["refused"] == 1
    assert len(encoder.refused) == 1 and "Only questions" in encoder.refused[0]
    encoder.encode([chat(ASK, ANSWER)], numpy.zeros(1), "test")
    assert encoder.notes["refused"] == 1
    assert WORDS.decode(encoder.prompt((ASK,))) == ASK.text, "it is asked without the template"


def test_a_moved_system_turn_is_noted(make_encoder):
    encoder = make_encoder(template=NO_SYSTEM)
    encoder.encode([chat(SYSTEM, ASK, ANSWER), chat(ASK, ANSWER)], numpy.zeros(2), "train", training=True)
    assert (encoder.notes["system turn moved"], encoder.notes["turns dropped"]) == (1, 0)


def test_a_document_is_learnt_whole_in_pieces_that_fit(make_encoder):
    encoder, text = make_encoder(max_length=6), "the red lamp and the blue river " * 3
    rows = encoder.encode([document("short"), document(text)], numpy.zeros(2), "train", training=True)
    ids = [*WORDS.encode(text).ids, END]
    pieces = -(-len(ids) // 6)
    assert [len(WORDS.encode("short").ids) + 1, *[6] * (pieces - 1), len(ids) - 6 * (pieces - 1)] == rows.targets[:, 0].tolist()
    assert rows.targets[:, 1].tolist() == [5, len(text.encode()), *[0] * (pieces - 1)], "its bytes count once"
    assert rows.owner.tolist() == [0, *[1] * pieces]


@pytest.mark.parametrize(("file", "ends"), [("texts.csv", True), ("all.jsonl", True), ("book.txt", False), ("BOOK.TXT", False)])
def test_the_end_of_a_document_is_learnt_where_it_is_known(make_encoder, file, ends):
    rows = make_encoder().encode([document("red", file)], numpy.zeros(1), "train", training=True)
    assert rows.targets[0, 0] == len(WORDS.encode("red").ids) + ends


def test_an_end_that_a_document_has_is_not_repeated(make_encoder):
    rows = make_encoder().encode([document("red<|im_end|>")], numpy.zeros(1), "train", training=True)
    assert rows.targets[0, 0] == len(WORDS.encode("red").ids) + 1


@pytest.mark.parametrize("content", ["", "\ud800", "🙂" * 50, "\x00"], ids=["empty", "half a character", "emoji", "nul"])
def test_the_bytes_of_any_document_are_counted(content):
    assert encoding._learnt_bytes(content) == len(content.encode("utf-8", "replace"))


def test_only_learnt_answers_count_as_bytes():
    turns = (SYSTEM, ASK, Turn("assistant", "red", learnt=False), AGAIN, BLUE)
    assert encoding._learnt_bytes(turns) == len("blue")


def test_a_prompt_ends_where_the_answer_begins_and_long_ones_keep_their_end(make_encoder):
    encoder = make_encoder()
    whole = encoder.prompt((ASK,))
    assert WORDS.decode(whole, skip_special_tokens=False).endswith("<|im_start|>assistant\n")
    assert make_encoder(max_length=5).prompt((ASK,)) == whole[-5:]
    assert make_encoder(max_length=5, reads=9).prompt((ASK,)) == whole[-9:]
    assert make_encoder(max_length=5).prompt(ASK.text) == WORDS.encode(ASK.text).ids[-5:]


def test_nothing_of_prompts_is_learnt(make_encoder):
    rows = make_encoder().prompts([chat(ASK), document("the red lamp")])
    assert rows.targets.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("length", "shown"), [(10, 10), (30, 20), (100, 50), (1000, 200)])
def test_the_opening_of_a_document_leaves_something_to_write(make_encoder, length, shown):
    text = ("red lamp " * 200)[:length]
    assert make_encoder(max_length=500).opening(text) == WORDS.encode(text[:shown]).ids


@pytest.mark.parametrize(
    ("written", "text"), [("red", "red"), (" a\x07b\x1b[0m ", "ab[0m"), ("a\nb\tc", "a\nb\tc"), ("red<|im_end|>", "red"), ("", "")]
)
def test_answers_are_shown_without_control_characters(make_encoder, written, text):
    assert make_encoder().text(WORDS.encode(written).ids) == text


def test_the_report_says_how_much_was_cut(make_encoder):
    encoder = make_encoder(max_length=40)
    assert encoder.described()["data"]["truncated_share"] == 0
    encoder.encode([chat(ASK, ANSWER), chat(ASK, Turn("assistant", "red " * 60))], numpy.zeros(2), "train", training=True)
    found = encoder.described()
    assert (found["data"]["truncated_share"], found["model"]) == (0.5, {"max_length": 40})
    assert found["data"]["lengths"]["unit"] == "tokens"


def test_a_saved_encoder_reads_as_the_training_did(make_encoder, tmp_path):
    encoder, saved = make_encoder(), tmp_path / "saved"
    encoder.source = tmp_path / "source"
    for folder in (saved, encoder.source):
        folder.mkdir()
    (encoder.source / "merges.txt").write_text("#version")
    encoder.words.settings["auto_map"] = {"AutoTokenizer": "code of others"}
    encoder.save(saved)
    settings = json.loads((saved / "tokenizer_config.json").read_text())
    assert settings == {"eos_token": "<|im_end|>", "tokenizer_class": "PreTrainedTokenizerFast"}, "no code is loaded, the template is a file"
    again = encoding.words(saved, WORDS, {})
    assert again.template.prompt((ASK,)) == encoder.prompt((ASK,)) and again.stop == encoder.words.stop
    assert (saved / "merges.txt").read_text() == "#version" and not (saved / "vocab.json").exists()


def test_the_usual_length_covers_its_share_of_the_examples(make_encoder):
    words = make_encoder().words
    train = [chat(ASK, ANSWER)] * 9 + [chat(ASK, Turn("assistant", "red " * 40))]
    data = Dataset("text-generation", "chat", {"train": train}, ["chats.jsonl"], (), "")
    short, long = (len(words.template.learn(e.content).pieces[0][0]) for e in (train[0], train[-1]))
    assert encoding.usual_length(words, data, 50) == (short, len(WORDS.encode("red").ids))
    assert encoding.usual_length(words, data, 100)[0] == long > short


def test_the_usual_length_of_documents_and_of_refused_conversations(make_encoder):
    words = make_encoder(template="{{ raise_exception('no') }}").words
    assert encoding.usual_length(words, Dataset("text-generation", "chat", {"train": [chat(ASK, ANSWER)]}, [], (), ""), 90) == (1, 0.0)
    texts = Dataset("text-generation", "chat", {"train": [document("red")]}, [], (), "")
    assert encoding.usual_length(words, texts, 90) == (len(WORDS.encode("red").ids) + 1, 0.0)


def test_another_encoder_is_not_taken_for_one_of_a_language_model(make_encoder):
    encoder = make_encoder()
    assert encoding.of(encoder) is encoder
    with pytest.raises(AssertionError):
        encoding.of(object())
