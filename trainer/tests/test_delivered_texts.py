"""What models of words and of language deliver, from made-up answers: tables of words, compared answers, and what is asked of a model."""

import contextlib
import csv
import io
import json
from types import SimpleNamespace

import numpy
import pytest
from conftest import events_of

from trainer.core import registry
from trainer.core.example import Example
from trainer.data import origins
from trainer.errors import UserError
from trainer.export import label_sets as label_results
from trainer.export.finished import Answered
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.language import lora, network as language, results as language_results, samples
from trainer.kinds.language.asking import Asked
from trainer.kinds.language.likelihoods import Likelihoods
from trainer.kinds.language.samples import Asks
from trainer.kinds.language.target import Tokens
from trainer.kinds.rows.conversations import ASSISTANT, Turn
from trainer.kinds.tokens import results as token_results
from trainer.kinds.tokens.reading import UNKNOWN
from trainer.kinds.tokens.results import Words
from trainer.kinds.tokens.target import Tags
from trainer.measure.predictions import Predictions
from trainer.models import onnx
from trainer.models.saved_model import ONNX
from trainer.run_folder.events import Events
from trainer.targets.number import Number

TAGS = Tags(("B-PER", "I-PER", "B-LOC", "O"))


def sentences(*pairs: tuple[str, str], **more) -> list[Example]:
    return [Example("a.conll", 10 * i, tuple(words.split()), tags, **more) for i, (words, tags) in enumerate(pairs)]


TWO = sentences(("Ada Byron wrote", "B-PER I-PER O"), ("in London", "O B-LOC"))


def tagged(*tags: str) -> numpy.ndarray:
    return numpy.array([TAGS.labels.index(t) for t in tags])


def lines(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_words_of_sentences_are_examples_among_their_neighbours():
    words = Words(TWO)
    assert len(words) == 5
    assert [(w.row, w.content, w.target) for w in words] == [
        (0, "[Ada] Byron wrote", "B-PER"), (0, "Ada [Byron] wrote", "I-PER"), (0, "Ada Byron [wrote]", "O"),
        (10, "[in] London", "O"), (10, "in [London]", "B-LOC"),
    ]  # fmt: skip
    assert words[1:4] == [words[1], words[2], words[3]]
    assert words.parts([1, 2, 3, 4, 5]) == [[1, 2, 3], [4, 5]]
    for outside in (5, -1):
        with pytest.raises(IndexError):
            words[outside]
    assert list(Words([])) == []


def test_a_tag_that_nobody_knows_is_empty():
    words = Words(sentences(("a b", f"{UNKNOWN} O")))
    assert [w.target for w in words] == ["", "O"]


@pytest.mark.parametrize(("place", "before", "after"), [(0, False, True), (8, False, True), (9, True, True), (11, True, False), (19, True, False)])
def test_a_word_is_shown_with_eight_words_on_either_side(place, before, after):
    words = [f"w{i}" for i in range(20)]
    shown = [*words[max(0, place - 8) : place], f"[w{place}]", *words[place + 1 : place + 9]]
    assert token_results._among(tuple(words), place).split() == ["…"] * before + shown + ["…"] * after


def test_each_word_has_a_line_and_the_entity_that_begins_there():
    sure = numpy.array([0.9, 0.8, 0.7, 0.6, 0.5])
    found = lines(token_results.table(Words(TWO), TAGS.labels, tagged("B-PER", "I-PER", "O", "B-LOC", "I-PER"), sure, sure / 2, {}))
    assert [(r["row"], r["word"], r["content"], r["label"], r["predicted"], r["entity"]) for r in found] == [
        ("0", "1", "Ada", "B-PER", "B-PER", "PER: Ada Byron"), ("0", "2", "Byron", "I-PER", "I-PER", ""), ("0", "3", "wrote", "O", "O", ""),
        ("10", "1", "in", "O", "B-LOC", "LOC: in"), ("10", "2", "London", "B-LOC", "I-PER", "PER: London"),
    ]  # fmt: skip
    assert [(r["confidence"], r["probability of label"]) for r in found][3:] == [("0.6000", "0.3000"), ("0.5000", "0.2500")]


def test_words_without_known_tags_have_no_column_for_them():
    unknown = sentences(("=a b", f"{UNKNOWN} {UNKNOWN}"))
    found = lines(token_results.table(Words(unknown), TAGS.labels, tagged("O", "O"), numpy.ones(2), None, {"possible": ["O", "O; B-PER"]}))
    assert list(found[0]) == ["file", "row", "word", "content", "predicted", "entity", "confidence", "possible"]
    assert found[0]["content"] == "'=a"


@pytest.mark.parametrize(
    ("tags", "line"),
    [("B-PER I-PER O", "PER: Ada Byron"), ("B-PER B-LOC O", "PER: Ada; LOC: Byron"), ("O O O", "no entity"), ("O O I-LOC", "LOC: wrote")],
)
def test_the_entities_of_a_sentence_as_one_line(tags, line):
    assert token_results.summary(("Ada", "Byron", "wrote"), tags.split()) == line


def test_a_sentence_is_marked_with_true_and_predicted_entities():
    parts = token_results._marked(TWO[0], ["B-PER", "I-PER", "O"], ["B-PER", "O", "B-LOC"])["parts"]
    assert parts == [
        {"text": "Ada", "true": "PER", "predicted": "PER"}, {"text": "Byron", "true": "PER"}, {"text": "wrote", "predicted": "LOC"},
    ]  # fmt: skip
    long = sentences((" ".join(["x"] * 100), " ".join(["O"] * 100)))[0]
    assert token_results._marked(long, ["O"] * 100, ["B-PER"] + ["I-PER"] * 99)["parts"] == [{"text": " ".join(["x"] * 60), "predicted": "PER"}]


def finished(data, target, answers, simple=None, encoder=None, asked=None, details=None):
    """What the parts of the results read of a finished training."""
    return SimpleNamespace(
        data=data, settings=SimpleNamespace(seed=1), outcome=SimpleNamespace(answers={"test": answers}, details=asked),
        prepared=SimpleNamespace(plan=SimpleNamespace(target=target, details=details), encoder=encoder), simple=SimpleNamespace(predictions=simple),
        origins=origins.ONE,
    )  # fmt: skip


def test_entities_are_reported_beside_those_of_the_simple_model():
    data = SimpleNamespace(splits={"test": TWO})
    truth = tagged("B-PER", "I-PER", "O", "O", "B-LOC")
    test = Predictions(truth, tagged("B-PER", "I-PER", "O", "O", "O"))
    simple = Predictions(truth, tagged("O", "O", "O", "O", "O"))
    found = token_results.described(finished(data, TAGS, test, simple))
    assert (found["overall"]["precision"]["value"], found["overall"]["recall"]["value"]) == (1.0, 0.5)
    assert found["baseline"]["recall"]["value"] == 0
    assert [e["row"] for e in found["examples"]] == [0, 10]
    assert "baseline" not in token_results.described(finished(data, TAGS, test))


@pytest.mark.parametrize(("target", "rows"), [(Tags(("NOUN", "VERB")), 2), (TAGS, 0)], ids=["no entities", "no rows"])
def test_there_is_no_report_without_entities_or_rows(target, rows):
    data = SimpleNamespace(splits={"test": sentences(("a b", "NOUN VERB"))[:rows]})
    values = numpy.arange(rows)
    assert token_results.described(finished(data, target, Predictions(values, values))) is None


def test_several_labels_have_a_column_each_up_to_fifty():
    target = Labels(tuple(f"l{i:02}" for i in range(60)))
    outputs = numpy.zeros((2, 120))
    outputs[0, [1, 61, 62]] = 0.75, 1, 1
    examples = [Example("t.csv", 2, "a text", "l01;l02", id="@7"), Example("t.csv", 3, "b", "")]
    answered = Answered(registry.of("text"), examples, outputs, numpy.zeros((2, 60)), numpy.array([True, False]), target)
    found = lines(label_results.answers_table(answered, ["text"]))
    assert sum(name.startswith("probability of ") for name in found[0]) == label_results.SHOWN
    assert (found[0]["predicted"], found[0]["label"], found[0]["id"]) == ("l01; l02", "l01;l02", "'@7")
    assert (found[0]["probability of l01"], found[1]["predicted"]) == ("0.7500", "(none)")


def conversation(question: str, answer: str) -> tuple[Turn, ...]:
    return (Turn("user", question), Turn(ASSISTANT, answer))


class Encoder:
    """Token ids are places in a list of texts."""

    texts = ["red", " red\n", "blue", "green and red"]
    shown = ["What colour?", "Which?"]

    def text(self, ids: list[int]) -> str:
        return "".join(self.texts[i] for i in ids)


def asks(judged: list[int], shown: int = 1, **more) -> Asks:
    return Asks(
        **{"prompts": [[1]], "shown": shown, "judged": judged, "max_new_tokens": 4, "stop": (9,), "pad_id": 0, "sampled": False, "seed": 1, **more}
    )


def colours(split: str = "test", **more) -> SimpleNamespace:
    rows = [Example("c.jsonl", i, conversation("What colour?", answer), "") for i, answer in enumerate(["red", "blue", "red"])]
    splits = {"train": rows, "validation": [], "test": []} | {split: rows}
    return SimpleNamespace(splits=splits, kind=registry.of("language"), columns=(), checks=[], **more)


@pytest.mark.parametrize("split", ["test", "validation"])
def test_the_share_of_exact_answers_does_not_count_spaces(split):
    written = [[3], [1], [0], [2]]  # the first is only shown
    found = language_results.exact_match(Encoder(), colours(split), written, asks([0, 1, 2]))
    assert found["exact_match"]["value"] == pytest.approx(1 / 3) and found["exact_match"]["n"] == 3
    assert language_results.exact_match(Encoder(), colours(split), written, asks([])) == {}


def likelihoods(count: int) -> Likelihoods:
    return Likelihoods(numpy.full(count, 6.0), numpy.full(count, 3.0), numpy.full(count, 1.0), numpy.full(count, 12.0))


def test_the_baselines_are_the_usual_answer_and_the_model_before():
    asked = Asked([[0]] * 4, [[0], [0], [2], [2]], likelihoods(3), 10, None)
    usual, base = language_results.baselines(Encoder(), colours(), asked, asks([0, 1, 2]), 1, "acme/chat")
    assert (usual["name"], usual["test"]["exact_match"]["value"]) == ("constant", pytest.approx(2 / 3))
    assert base["title"] == "acme/chat before the training"
    assert (base["test"]["loss"]["value"], base["test"]["exact_match"]["value"]) == (2.0, pytest.approx(2 / 3))
    scratch = Asked([[0]] * 4, None, None, 10, None)
    assert language_results.baselines(Encoder(), colours(), scratch, asks([]), 1, "tiny") == []


def test_the_answers_of_a_language_model_are_beside_those_of_the_data(monkeypatch):
    monkeypatch.setattr(language_results.encoding, "of", lambda encoder: encoder)

    def written(answers: list[list[int]], judged: list[int]) -> list[dict]:
        asked = Asked(answers, None, None, 1, None)
        return lines(language_results.predictions(finished(colours(), Tokens(), likelihoods(3), None, Encoder(), asked, asks(judged))))

    found = written([[3], [2], [0]], [0, 2])
    assert [(r["label"], r["predicted"], r["loss"], r["tokens"]) for r in found] == [
        ("red", "blue", "2.0000", "3"), ("blue", "", "2.0000", "3"), ("red", "red", "2.0000", "3"),
    ]  # fmt: skip
    assert "predicted" not in written([[3]], [])[0]


def test_a_shown_answer_has_the_wanted_one_where_the_prompt_is_of_the_data():
    asked = Asked([[3], [2]], [[0], [0]], None, 1, None)
    first, second = (language_results._sample(Encoder(), colours(), asked, i) for i in (0, 1))
    assert first == {"prompt": "What colour?", "after": "green and red", "before": "red", "wanted": "red"}
    assert second == {"prompt": "Which?", "after": "blue", "before": "red"}


@pytest.mark.parametrize(("better", "level"), [(True, "ok"), (False, "warning")])
def test_a_model_that_is_no_better_than_a_table_is_warned_about(tmp_path, monkeypatch, better, level):
    monkeypatch.setattr(language_results.simple, "verdict", lambda test, table: (better, "The model says more."))
    data, events = colours(), Events(tmp_path / "events.jsonl", 1)
    language_results.judge({}, [], data, events)
    assert data.checks == []
    language_results.judge({}, [{"test": {}}], data, events)
    assert data.checks == [{"code": "ngrams", "level": level, "text": "The model says more."}]
    assert [e["code"] for e in (events_of(tmp_path) if events.path.exists() else [])] == ([] if better else ["ngrams"])


def test_prompts_are_answered_from_short_to_long_and_given_in_their_order(monkeypatch):
    asked, done = [], []
    monkeypatch.setattr(samples, "_generating", lambda model, asks: contextlib.nullcontext())
    monkeypatch.setattr(samples, "_BATCH", 2)
    monkeypatch.setattr(samples, "_generated", lambda model, prompts, asks, device: asked.append(prompts) or [[sum(p)] for p in prompts])
    prompts = [[1, 2, 3], [4], [5, 6], [7], [8, 9, 10, 11]]
    assert samples.answers(None, asks([], prompts=prompts), None, done.append) == [[6], [4], [11], [7], [38]]
    assert asked == [[[4], [7]], [[5, 6], [1, 2, 3]], [[8, 9, 10, 11]]] and done == [2, 4, 5]


def test_prompts_are_filled_up_at_the_beginning_and_answers_end_before_their_stop():
    import torch

    given = {}

    class Model(torch.nn.Module):
        def generate(self, input_ids, attention_mask, synced_gpus):
            assert not synced_gpus
            given.update(ids=input_ids.tolist(), mask=attention_mask.tolist())
            return torch.cat([input_ids, torch.tensor([[7, 9, 7], [7, 7, 7]])], dim=1)

    assert samples._generated(Model(), [[1], [2, 3, 4]], asks([]), "cpu") == [[7], [7, 7, 7]]
    assert given == {"ids": [[0, 0, 1], [2, 3, 4]], "mask": [[0, 0, 1], [1, 1, 1]]}


def test_written_answers_are_rows_filled_up_with_no_token(monkeypatch):
    features = SimpleNamespace(batch=lambda rows: {"input_ids": numpy.array([[int(rows[0])] * 2])})
    monkeypatch.setattr(samples, "answers", lambda model, asks, device, on_done: [p[:1] * i for i, p in enumerate(asks.prompts, 1)])

    class Rows:
        def __len__(self):
            return 2

    rows = Rows()
    rows.features = features
    assert samples.written(None, rows, asks([]), None).tolist() == [[0, -1, -1, -1], [1, 1, -1, -1]]


@pytest.mark.parametrize(
    ("files", "adapter"), [([lora.CONFIG, lora.WEIGHTS], True), ([lora.CONFIG], False), ([lora.WEIGHTS], False), (["config.json"], False)]
)
def test_an_adapter_has_its_weights_and_its_configuration(tmp_path, files, adapter):
    for name in files:
        (tmp_path / name).write_text("{}")
    assert lora.is_adapter(tmp_path) is adapter


def test_an_adapter_without_its_base_model_is_refused_with_the_remedy(tmp_path):
    for name in (lora.CONFIG, lora.WEIGHTS):
        (tmp_path / name).write_text("{}")
    with pytest.raises(UserError, match="belongs to is not installed here") as refused:
        language.load(tmp_path)
    assert refused.value.code == "base_missing" and "merge: yes" in refused.value.do


def test_the_configuration_of_an_adapter_is_plain_and_in_order():
    kind = SimpleNamespace(value="LORA")
    config = {"targets": {"v", "a", "q"}, "type": kind, "r": 8, "none": None, "fixed": frozenset("ba")}
    plain = {name: lora._plain(value) for name, value in config.items()}
    assert json.loads(json.dumps(plain)) == {"targets": ["a", "q", "v"], "type": "LORA", "r": 8, "none": None, "fixed": ["a", "b"]}


def fails(error: Exception):
    def raising(*_):
        raise error

    return raising


MISSING = ModuleNotFoundError("No module named 'onnxruntime'", name="onnxruntime")


@pytest.mark.parametrize(
    ("difference", "why"),
    [
        (lambda *_: 1e-5, ""),
        (lambda *_: onnx.CLOSE, ""),
        (lambda *_: 0.25, "its answers differ from those of the model by up to 0.25"),
        (lambda *_: float("inf"), "its answers differ from those of the model by up to inf"),
        (lambda *_: float("nan"), "its answers differ from those of the model by up to nan"),
        (fails(MISSING), "the Python environment of the Ray cluster lacks the package onnxruntime"),
        (fails(RuntimeError("Unsupported: aten::x")), "its architecture cannot be converted (RuntimeError)"),
    ],
    ids=["close", "as close as needed", "different", "another shape", "no numbers", "no package", "no form"],
)
def test_a_network_in_the_onnx_form_is_delivered_only_where_it_answers_the_same(tmp_path, monkeypatch, difference, why):
    (tmp_path / ONNX).write_bytes(b"x")
    monkeypatch.setattr(onnx, "_difference", difference)
    assert onnx.convert(tmp_path, "table", Number(0.0, 1.0), {"values": numpy.zeros((2, 3))}) == why
    assert (tmp_path / ONNX).exists() is (why == "")


def test_the_onnx_form_needs_a_row_to_compare_and_a_model_that_is_not_huge(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx, "_difference", fails(AssertionError("nothing is converted")))
    assert onnx.convert(tmp_path, "table", None, {"values": numpy.zeros((0, 3))}) == "there is no test row to compare it on"
    monkeypatch.setattr(onnx, "MOST_BYTES", 3)
    (tmp_path / "model.safetensors").write_bytes(b"1234")
    assert onnx.convert(tmp_path, "table", None, {"values": numpy.zeros((1, 3))}) == "the model is larger than the format allows"


def test_answers_are_compared_as_probabilities_or_in_deviations_of_the_target():
    words = numpy.log(numpy.array([[[0.25, 0.75, 0.5, 0.5]], [[1, 1, 1, 1]]]))
    found = onnx._answers(words, TAGS)
    assert found.shape == (2, 4) and found.sum(axis=1) == pytest.approx([1, 1])
    assert onnx._answers(numpy.array([[10.0], [-5.0]]), Number(3.0, 5.0)).tolist() == [[2], [-1]]
