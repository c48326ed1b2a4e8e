"""The trials of a search and their record on the volume: what is saved is loaded, and anything else begins afresh."""

import hashlib
import json
import math
from types import SimpleNamespace

import pytest

from trainer.search import space, trials
from trainer.search.trials import Record, Search, State, Trial


class Lease:
    """A lease that is always held."""

    @staticmethod
    def write_json(path, document):
        path.write_text(json.dumps(document))


def plan(name: str, digest: str = "d") -> SimpleNamespace:
    return SimpleNamespace(base=SimpleNamespace(name=name), digest=digest)


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        (Trial(0, {}), "the default settings"),
        (Trial(1, {"learning_rate": 0.002, "batch_size": 64}), "learning_rate 0.002, batch_size 64"),
        (Trial(1, {"freeze_encoder": True}), "freeze_encoder true"),
        (Trial(2, {}, plan("bert-tiny")), "model bert-tiny"),
        (Trial(2, {"batch_size": 8}, plan("bert-tiny")), "model bert-tiny, batch_size 8"),
    ],
    ids=["none", "two", "truth value", "another model", "another model with settings"],
)
def test_the_settings_of_a_trial_in_words(trial, words):
    assert trial.words() == words


@pytest.mark.parametrize(
    ("losses", "newest", "at"),
    [
        ([], math.inf, [math.inf] * 4),
        ([0.5], 0.5, [math.inf, 0.5, math.inf, math.inf]),
        ([0.5, 0.25], 0.25, [math.inf, 0.5, 0.25, math.inf]),
        ([0.5, None], math.inf, [math.inf, 0.5, math.inf, math.inf]),
    ],
    ids=["before the first", "one", "two", "diverged"],
)
def test_the_loss_at_the_end_of_a_rung(losses, newest, at):
    record = Record(losses=losses)
    assert record.loss == newest
    assert [record.loss_at(rung) for rung in range(4)] == at
    assert record.loss_at(-1) == math.inf


def test_a_search_is_sealed_by_its_trials_and_not_by_its_time():
    one = Search((Trial(0, {}), Trial(1, {"batch_size": 8})))
    wanted = hashlib.sha256(json.dumps([[0, {}, ""], [1, {"batch_size": 8}, ""]], sort_keys=True).encode()).hexdigest()
    assert one.digest == wanted == Search(one.trials, minutes=5, repeats=True).digest
    others = [(Trial(0, {}), Trial(1, {"batch_size": 9})), (Trial(0, {}), Trial(2, {"batch_size": 8})), one.trials[:1]]
    others += [(Trial(0, {}), Trial(1, {"batch_size": 8}, plan("x", digest))) for digest in "ab"]
    assert len({wanted, *(Search(t).digest for t in others)}) == 1 + len(others)


SEARCH = Search((Trial(0, {}), Trial(1, {"batch_size": 8}), Trial(2, {}, plan("bert-tiny"))))


def full_state() -> State:
    record = Record("kept", [0.5, None], 0.75, 1.5, 2.5, "epochs", [{"epoch": 1, "step": 3, "train_loss": 0.1, "metrics": {"loss": 0.5}}])
    return State({0: record, 1: Record("dropped", [0.25], 0.5, 1.0), 2: Record()}, 3.0, True, "time", 12.5, 20.0)


def test_a_state_is_loaded_as_it_was_saved(tmp_path):
    state = full_state()
    state.save(tmp_path, "seal", Lease)
    again = trials.load(tmp_path, SEARCH, "seal")
    assert again.records == state.records
    assert (again.length, again.closed, again.ended, again.spent, again.estimate) == (3.0, True, "time", 12.5, 20.0)
    assert again.resumed == 1
    again.save(tmp_path, "seal", Lease)
    assert trials.load(tmp_path, SEARCH, "seal").resumed == 2


def change(key, value):
    def changed(document):
        document[key] = value

    return changed


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(change("digest", "other"), id="another search"),
        pytest.param(lambda d: d.pop("digest"), id="no digest"),
        pytest.param(lambda d: d.pop("records"), id="no records"),
        pytest.param(lambda d: d["records"].pop("2"), id="a trial is lacking"),
        pytest.param(lambda d: d["records"].update({"3": {}}), id="a trial too many"),
        pytest.param(lambda d: d["records"].update({"x": {}}), id="a trial without a number"),
        pytest.param(lambda d: d["records"]["1"].update(colour=1), id="a field of another version"),
        pytest.param(change("colour", 1), id="a state of another version"),
        pytest.param(change("records", [1]), id="records as a list"),
        pytest.param(lambda d: d["records"].update({"1": [1]}), id="a record as a list"),
    ],
)
def test_a_state_that_does_not_fit_begins_afresh(tmp_path, damage):
    full_state().save(tmp_path, "seal", Lease)
    document = json.loads((tmp_path / trials.FILE).read_text())
    damage(document)
    (tmp_path / trials.FILE).write_text(json.dumps(document))
    assert trials.load(tmp_path, SEARCH, "seal") == State({0: Record(), 1: Record(), 2: Record()})


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[]", b"null", b"\xff", b'"x"'], ids=["lacks", "empty", "half", "list", "null", "bytes", "text"]
)
def test_a_file_that_cannot_be_read_begins_afresh(tmp_path, content):
    if content is not None:
        (tmp_path / trials.FILE).write_bytes(content)
    assert trials.load(tmp_path, SEARCH, "seal") == State({0: Record(), 1: Record(), 2: Record()})


def test_the_table_of_the_result():
    rows = trials.table(SEARCH, full_state())
    assert rows[0] == {"number": 0, "settings": {}, "state": "kept", "rungs": 2, "epochs": 1.5, "seconds": 2.5, "default": True}  # diverged
    assert rows[1] == {
        "number": 1, "settings": {"batch_size": 8}, "state": "dropped", "rungs": 1, "epochs": 1.0, "seconds": 0.0, "default": False,
        "loss": 0.25, "value": 0.5,
    }  # fmt: skip
    assert rows[2]["model"] == "bert-tiny" and "loss" not in rows[2]
    assert "model" not in rows[1]


@pytest.mark.parametrize(
    "settings",
    [
        [], [{"learning_rate": 0.002}], [{"learning_rate": 0.002}, {"batch_size": 64}], [{"freeze_encoder": True, "scheduler": "cosine"}, {}],
        [{"model": "org/tiny", "batch_size": 8}], [{"label_smoothing": 0.0}, {"warmup_ratio": 0.5}],
    ],
    ids=["none", "one", "two", "a truth value and a word", "a model", "zeros"],
)  # fmt: skip
def test_a_list_of_trials_is_read_as_it_was_written(settings):
    text = space.as_list(settings)
    assert (space.listed(text) if settings else []) == settings
    assert space.is_list(text) == bool(settings)
    assert space.is_list(f"  \n{text}") == bool(settings)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{colour: red}", "search.space names no option called colour."),
        ("{batch_size: many}", "search.space: batch_size must be a whole number from 1 to 4096, not many."),
        ("{max_length: 8}", "search.space: max_length cannot be searched."),
        ("{batch_size}", "search.space: batch_size needs a value between two |."),
    ],
)
def test_a_wrong_list_of_trials_is_refused(text, what):
    from trainer.errors import UserError

    with pytest.raises(UserError) as e:
        space.listed(text)
    assert (e.value.code, e.value.what) == ("search_space", what)
