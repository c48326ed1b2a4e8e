"""Texts of nodes that an installed model reads, which is not trained."""

import json
import re
import shutil

import numpy
import pytest
from conftest import events_of
from graph_files import NODES, lines, pairs, read
from process_faults import KILLED, run_apart, start_apart  # noqa: F401 - fixtures
from result_checks import asked_of, check_files, error_of, facts_of, result_of, weights
from test_base_model import install

from trainer.errors import UserError
from trainer.kinds.graph import encoded_texts, features, reading_progress
from trainer.run import run

GOOD, BAD = "a good and funny film with a great story", "a dull and boring film that is far too long"
EDGES = lines([(f"n{a}", f"n{b}") for a, b in pairs()], head="source,target")


def titles(numbers=range(NODES), name="n") -> str:
    return lines([(f"{name}{i}", f"{GOOD if i % 2 else BAD} number {i}") for i in numbers], head="id,title")


FILES = {"edges.csv": EDGES, "nodes.csv": titles()}


@pytest.fixture
def base(tmp_path):
    install(tmp_path, "org/small")
    return encoded_texts.find(tmp_path, "org/small")


def test_a_text_has_the_same_vector_whatever_stands_beside_it(base):
    one = encoded_texts.vectors(base, [GOOD])
    many = encoded_texts.vectors(base, ["short", BAD, GOOD, "", GOOD, BAD * 100])
    assert one.shape == (1, 32) and many.dtype == numpy.float32
    assert numpy.allclose(many[[2, 4]], one, atol=1e-6) and numpy.isnan(many[3]).all() and numpy.isfinite(many[[0, 1, 5]]).all()
    assert numpy.abs(many[1] - many[2]).max() > 0.01


def test_an_installed_model_reads_the_texts_of_nodes_and_later_those_of_new_ones(tmp_path, base):
    graph, told = read(tmp_path, FILES, text_encoder="org/small")
    assert graph.x.shape == (NODES, 32) and 0.5 < graph.x.std() < 2
    assert any("org/small reads the texts in title: 32 numbers for each" in c["text"] for c in told.checks.entries)
    described = json.loads(json.dumps(graph.encoder))
    again = features.encode(described, graph.arrays, {"title": [f"{BAD} number 0", ""]}, 2, tmp_path)
    assert numpy.allclose(again[0], graph.x[graph.ids.to_pylist().index("n0")], atol=1e-4) and not again[1].any()
    assert not numpy.allclose(read(tmp_path / "words", FILES)[0].x.shape, graph.x.shape), "hashed words are others"


def test_the_time_is_told_before_texts_are_read_and_the_progress_while(tmp_path, base, monkeypatch):
    monkeypatch.setattr(encoded_texts, "BATCH_TOKENS", 100)
    monkeypatch.setattr(reading_progress, "INTERVAL_SECONDS", 0.0)
    _, told = read(tmp_path, FILES, text_encoder="org/small")
    assert told.sentences["reading_seconds"].startswith(f"org/small reads {NODES} different texts of nodes, which takes about ")
    assert told.phases == [told.sentences["reading_seconds"], "The texts are read. Preparing the graph."]
    done, of, left = zip(*[(d, o, m["eta_seconds"]) for d, o, m in told.steps])
    assert len(done) > 5 and list(done) == sorted(set(done)) and set(of) == {done[-1]} and min(left) == left[-1] == 0


def test_a_run_can_be_stopped_while_texts_are_read(tmp_path, base):
    (tmp_path / "stop").write_text("keep")
    with pytest.raises(UserError, match="stopped before there was anything to keep"):
        read(tmp_path, FILES, text_encoder="org/small")


def test_a_later_start_reads_only_the_texts_that_no_earlier_one_has_kept(tmp_path, base, monkeypatch):
    monkeypatch.setattr(encoded_texts, "PART_TOKENS", 100)
    monkeypatch.setattr(encoded_texts, "BATCH_TOKENS", 100)
    first, _ = read(tmp_path, FILES, text_encoder="org/small")
    kept = sorted((tmp_path / reading_progress.FOLDER).iterdir())
    assert len(kept) > 3
    content = kept[0].read_bytes()
    kept[0].write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    kept[1].write_bytes(kept[1].read_bytes()[:-4])
    kept[2].unlink()
    again, told = read(tmp_path, FILES, text_encoder="org/small")
    assert (again.x == first.x).all()
    said = told.sentences["reading_seconds"]
    some, rest = (int(n) for n in re.findall(r"(\d+) (?:different texts|others)", said))
    assert 0 < some < rest and some + rest == NODES, said
    assert kept[0].read_bytes() == content
    _, told = read(tmp_path, FILES, text_encoder="org/small")
    assert "reading_seconds" not in told.sentences and not told.steps
    others = {**FILES, "nodes.csv": titles(name="n").replace("number 7", "number seven")}
    _, told = read(tmp_path, others, text_encoder="org/small")
    assert "reading_seconds" in told.sentences, "another text is not the one that was read"


def test_a_training_killed_while_texts_are_read_goes_on_with_the_next_one(make_run, run_apart, schemas):  # noqa: F811
    given = {"model": "org/small", "epochs": 1, "more_options": "hidden: 16\neval_negatives: 20\ndecoder: cosine"}
    spec, whole = make_run(FILES, **given), make_run(FILES, run="ft-whole", **given)
    install(spec.parent.parent.parent / "models", "org/small")
    assert run_apart(spec, "text", 6) == KILLED
    kept = {p: p.stat().st_mtime_ns for p in (spec.parent / reading_progress.FOLDER).iterdir()}
    assert kept
    assert run_apart(spec) == 0
    assert {p: p.stat().st_mtime_ns for p in kept} == kept, "what is kept is not written again"
    said = [e["text"] for e in events_of(spec.parent) if "read by an earlier start" in e.get("text", "")]
    assert said and f"{NODES} different" not in said[0]
    check_files(spec.parent, schemas)
    assert run_apart(whole) == 0
    assert weights(spec.parent) == weights(whole.parent)


@pytest.mark.parametrize(("change", "said"), [("gone", "is not installed here"), ("another", "is another version here")])
def test_a_model_that_is_not_there_any_more_is_named(tmp_path, base, change, said):
    about = encoded_texts.described(base)
    if change == "gone":
        shutil.rmtree(tmp_path / "org")
    else:
        about["bytes"] += 1
    with pytest.raises(UserError, match=said):
        encoded_texts.restored(tmp_path, about)


@pytest.mark.parametrize(
    ("files", "given", "code"),
    [
        ({"edges.csv": EDGES}, {"text_encoder": "org/small"}, "no_texts"),
        (FILES, {"text_encoder": "org/none"}, "model_not_installed"),
        (FILES, {"text_encoder": "bert-tiny"}, "encoder_unfit"),
    ],
)
def test_a_model_that_cannot_read_the_texts_is_refused(tmp_path, base, files, given, code):
    with pytest.raises(UserError) as error:
        read(tmp_path, files, **given)
    assert error.value.code == code


def test_a_training_with_a_text_model_reads_texts_with_it_and_answers_for_new_nodes(make_run, schemas, tmp_path):
    spec = make_run(FILES, run="ft-earlier", model="org/small", epochs=1, more_options="hidden: 16\neval_negatives: 20")
    install(spec.parent.parent.parent / "models", "org/small")
    assert run(str(spec), "local") == 0, events_of(spec.parent)[-1]
    result = result_of(spec.parent)
    schemas["result"].validate(result)
    told = [e for e in events_of(spec.parent) if e["kind"] in ("phase", "progress")]
    reads = next(i for i, e in enumerate(told) if "which takes about" in e.get("text", ""))
    assert told[reads + 1]["fraction"] == 1 and "epoch" not in told[reads + 1] and told[reads + 2]["phase"] == "prepare"
    settings = {s["name"]: s["value"] for s in result["settings"]}
    assert (settings["text_encoder"], settings["model"]) == ("org/small", "auto") and facts_of(result, "Graph")["Features"]
    shutil.copytree(spec.parent / "out" / "model", tmp_path / "shared" / "registry" / "model", dirs_exist_ok=True)
    more = {"model": {"path": "../../registry/model", "run": "ft-earlier", "name": "model", "version": 1}}
    asked = {"new.csv": titles(range(3), "later"), "edges.csv": lines([("later0", "n2"), ("later1", "n3")], head="source,target")}
    later = make_run(asked, run="pr-1", kind="predict", more=more)
    assert run(str(later), "local") == 0, events_of(later.parent)[-1]
    assert "3 new nodes" in asked_of(check_files(later.parent, schemas)["prediction"])["Known nodes"]
    shutil.rmtree(spec.parent.parent.parent / "models" / "org")
    last = make_run(asked, run="pr-2", kind="predict", more=more)
    assert run(str(last), "local") == 2 and error_of(last.parent)["code"] == "encoder_missing"
