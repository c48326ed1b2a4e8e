"""Texts of nodes that an installed model reads in parts."""

import hashlib
from dataclasses import replace
from types import SimpleNamespace

import numpy
import pytest
import torch
from graph_files import RecordedEvents

from trainer.core import registry
from trainer.errors import UserError
from trainer.kinds.graph import encoded_texts, reading_progress
from trainer.kinds.graph.reading_progress import ReadingProgress
from trainer.models.catalogue import Base
from trainer.run_folder import lease as leases


class Encoder:
    """Stands for a model whose vector of a token is its number and one. It counts the tokens that it has read."""

    def __init__(self):
        self.shapes: list[tuple[int, int]] = []

    def __call__(self, input_ids, attention_mask):
        assert attention_mask.all()
        self.shapes.append(tuple(input_ids.shape))
        return SimpleNamespace(last_hidden_state=torch.stack([input_ids, torch.ones_like(input_ids)], dim=2))


BASE = Base("org/small", "text", size=10, fresh=False, commit="abc1234")
TOKENS = [numpy.array(t, numpy.int64) for t in ([1, 3], [], [5], [2, 2], [4, 8], [6, 6, 6])]
TEXTS = [f"text {i}" for i in range(len(TOKENS))]
MEANS = [2, None, 5, 2, 6, 6]


def progress(folder) -> ReadingProgress:
    lease = leases.take(folder / "starts")
    return ReadingProgress(RecordedEvents(), folder, lease.folder)


def vectors(kept=None) -> tuple[numpy.ndarray, Encoder]:
    encoder, found = Encoder(), numpy.full((len(TOKENS) + 1, 2), numpy.nan, numpy.float32)
    encoded_texts._read(BASE, encoder, TEXTS, TOKENS, found, kept)
    return found, encoder


def right(found) -> bool:
    known = [i for i, m in enumerate(MEANS) if m is not None]
    return found[known].tolist() == [[MEANS[i], 1] for i in known] and numpy.isnan(found[[1, 6]]).all()


def test_texts_of_one_length_are_read_together_without_padding(monkeypatch):
    found, encoder = vectors()
    assert right(found) and encoder.shapes == [(1, 1), (3, 2), (1, 3)]
    monkeypatch.setattr(encoded_texts, "BATCH_TOKENS", 4)
    found, encoder = vectors()
    assert right(found) and encoder.shapes == [(1, 1), (2, 2), (1, 2), (1, 3)]
    monkeypatch.setattr(encoded_texts, "BATCH_TOKENS", 1)
    assert right(vectors()[0])


def test_parts_that_an_earlier_start_has_kept_are_not_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(encoded_texts, "PART_TOKENS", 5)
    first = progress(tmp_path)
    assert right(vectors(first)[0])
    kept = sorted((tmp_path / reading_progress.FOLDER).iterdir())
    assert len(kept) == 2 and first.events.sentences["reading_seconds"].startswith("org/small reads 5 different texts of nodes")
    second = progress(tmp_path)
    found, encoder = vectors(second)
    assert right(found) and not encoder.shapes and not second.events.sentences
    kept[0].write_bytes(b"damaged")
    third = progress(tmp_path)
    found, encoder = vectors(third)
    assert right(found) and encoder.shapes and "read by an earlier start of this run." in third.events.sentences["reading_seconds"]


def test_the_name_of_a_part_is_of_the_model_and_its_texts():
    one = encoded_texts._name(BASE, ["a", "b"])
    others = [(replace(BASE, commit="other"), ["a", "b"]), (replace(BASE, size=11), ["a", "b"]), (BASE, ["ab"]), (BASE, ["b", "a"])]
    assert len({one, *(encoded_texts._name(*o) for o in others)}) == 5 and one == encoded_texts._name(BASE, ["a", "b"])


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda p: p.unlink(), id="lacks"),
        pytest.param(lambda p: p.write_bytes(b""), id="empty"),
        pytest.param(lambda p: p.write_bytes(p.read_bytes()[:-4]), id="cut off"),
        pytest.param(lambda p: p.write_bytes(p.read_bytes() + b"1234"), id="too long"),
        pytest.param(lambda p: p.write_bytes(p.read_bytes()[:-1] + b"\x07"), id="another byte"),
        pytest.param(lambda p: p.write_bytes(hashlib.sha256(b"").digest()), id="no vectors"),
    ],
)
def test_vectors_that_are_damaged_are_not_taken(tmp_path, damage):
    reading = progress(tmp_path)
    values = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    reading.keep("part", values)
    assert numpy.array_equal(reading.kept("part", 2, 3), values)
    assert reading.kept("part", 3, 3) is None and reading.kept("other", 2, 3) is None
    damage(tmp_path / reading_progress.FOLDER / "part")
    assert reading.kept("part", 2, 3) is None


def test_the_reading_is_told_seldom_and_at_its_end(tmp_path, monkeypatch):
    reading = progress(tmp_path)
    monkeypatch.setattr(reading_progress, "progress_interval", lambda *_: 1e9)
    for done in (1, 2, 3):
        reading.read(done, 3)
    assert [(d, o) for d, o, _ in reading.events.steps] == [(3, 3)] and reading.events.phases == ["The texts are read. Preparing the graph."]


@pytest.mark.parametrize(
    ("installed", "about", "said"),
    [
        ([], {}, "is not installed here"),
        ([replace(BASE, kind=registry.of("image"))], {}, "is not installed here"),
        ([BASE], {"commit": "other"}, "is another version here than in the training"),
        ([BASE], {"bytes": 11}, "is another version here than in the training"),
    ],
    ids=["none", "of images", "commit", "size"],
)
def test_a_model_that_is_another_one_now_names_the_remedy(monkeypatch, tmp_path, installed, about, said):
    monkeypatch.setattr(encoded_texts.catalogue, "installed", lambda models: installed)
    with pytest.raises(UserError, match=said) as e:
        encoded_texts.restored(tmp_path, encoded_texts.described(BASE) | about)
    assert e.value.code == "encoder_missing" and "extractor models install org/small" in e.value.do
    monkeypatch.setattr(encoded_texts.catalogue, "installed", lambda models: [BASE])
    assert encoded_texts.restored(tmp_path, encoded_texts.described(BASE)) is BASE


def test_a_model_that_is_not_installed_reads_no_texts(monkeypatch, tmp_path):
    monkeypatch.setattr(encoded_texts.catalogue, "choose", lambda *_: Base("transformer", "text"))
    with pytest.raises(UserError, match="transformer is not an installed model") as e:
        encoded_texts.find(tmp_path, "transformer")
    assert e.value.code == "encoder_unfit" and "owner/name" in e.value.do
