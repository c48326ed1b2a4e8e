"""Which tokens of a conversation are learnt, by the chat templates that models come with."""

import numpy
import pytest
from language_models import CHATML, DROPPING, NO_SYSTEM, TAGGED, tokenizer

from trainer.kinds.language import masks, sequences
from trainer.kinds.language.masks import EACH, PREFIX, TAGS, Refused, Template
from trainer.kinds.rows.conversations import Turn

SYSTEM, ASK, ANSWER = Turn("system", "Be short."), Turn("user", "What colour is the red lamp?"), Turn("assistant", "red")
AGAIN, BLUE = Turn("user", "And the blue one?"), Turn("assistant", "blue")
WORDS = tokenizer()


def template(text: str, end: str = "<|im_end|>") -> Template:
    return Template(WORDS, text, {"eos_token": end, "bos_token": ""})


def learnt(found) -> list[list[str]]:
    """Of each sequence, the parts of its text that are learnt."""
    return [[part["text"] for part in masks.marked(WORDS, piece) if part["learnt"]] for piece in found.pieces]


@pytest.mark.parametrize(
    ("text", "turns", "way", "parts"),
    [
        pytest.param(CHATML, (ASK, ANSWER), PREFIX, [["red<|im_end|>"]], id="one answer"),
        pytest.param(CHATML, (SYSTEM, ASK, ANSWER, AGAIN, BLUE), PREFIX, [["red<|im_end|>", "blue<|im_end|>"]], id="two answers"),
        pytest.param(TAGGED, (ASK, ANSWER, AGAIN, BLUE), TAGS, [["red<|im_end|>", "blue<|im_end|>"]], id="generation tags"),
        pytest.param(DROPPING, (ASK, ANSWER, AGAIN, BLUE), EACH, [["red<|im_end|>"], ["blue<|im_end|>"]], id="a template that drops turns"),
        pytest.param(CHATML, (ASK, Turn("assistant", "red", learnt=False), AGAIN, BLUE), PREFIX, [["blue<|im_end|>"]], id="an answer of weight 0"),
        pytest.param(
            TAGGED, (ASK, Turn("assistant", "red", learnt=False), AGAIN, BLUE), TAGS, [["blue<|im_end|>"]], id="an answer of weight 0 with tags"
        ),
    ],
)
def test_answers_and_their_ends_are_learnt_and_nothing_else(text, turns, way, parts):
    found = template(text).learn(turns)
    assert (found.way, learnt(found)) == (way, parts)


def test_a_model_without_a_template_gets_a_plain_one_whose_answers_end():
    found = template(masks.PLAIN, "<|endoftext|>").learn((ASK, ANSWER))
    assert (found.way, learnt(found)) == (PREFIX, [["red<|endoftext|>"]])
    assert WORDS.decode(template(masks.PLAIN).prompt((ASK,))) == f"### Question\n{ASK.text}\n\n### Answer\n"


def test_a_system_turn_that_is_refused_is_put_before_the_question():
    found = template(NO_SYSTEM).learn((SYSTEM, ASK, ANSWER))
    assert found.moved
    assert learnt(found) == [["red<|im_end|>"]]
    assert "Be short.\n\nWhat colour" in WORDS.decode(found.pieces[0][0].tolist())


@pytest.mark.parametrize(
    "hostile",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{% include '/etc/passwd' %}",
        "{% for i in range(10**9) %}{{ i }}{% endfor %}",
    ],
)
def test_a_template_is_not_a_program_that_can_do_anything(hostile):
    with pytest.raises(Refused):
        template(hostile).learn((ASK, ANSWER))


def test_a_template_that_hides_the_answer_is_refused():
    with pytest.raises(Refused, match="lacks the answer"):
        template("{{ messages[0]['content'] }}").learn((ASK, ANSWER))


def test_the_end_of_an_answer_is_learnt_where_batches_are_filled_up_with_it():
    end = WORDS.token_to_id("<|im_end|>")
    found = [template(CHATML).learn(turns).pieces[0] for turns in ((ASK, ANSWER), (SYSTEM, ASK, ANSWER))]
    rows = sequences.of(found, pad_id=end)
    batch = rows.batch(numpy.arange(2))
    for row in range(2):
        wanted = batch["labels"][row]
        assert (wanted == end).sum() == 1  # the answer's own end, and none of what fills up the row
        assert (batch["attention_mask"][row] == 0).sum() == batch["labels"].shape[1] - rows.lengths[row]
