"""Batch prediction with an earlier model, and the comparison of a training with the champion."""

import csv
import io
import itertools
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from conftest import events_of, small_reviews
from result_checks import blocks_of, check_files, check_success, error_of, predictions, result_of
from small_datasets import flowers, in_folders, squares, table, yields

from trainer.parted import rows
from trainer.run import run
from trainer.run_folder.lease import Lease

pytestmark = pytest.mark.usefixtures("networks_only")

FILES = {
    "text": {"reviews.csv": small_reviews(120)},
    "table": {"flowers.csv": flowers()},
    "number": {"fields.csv": yields()},
    "image": in_folders(squares()),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory, request):
    """trained(kind) is the folder of a finished training of that kind."""
    known = {}

    def of(kind: str, make_run) -> Path:
        if kind not in known:
            spec = make_run(FILES[kind], run="ft-earlier", epochs=2)
            assert run(str(spec), "local") == 0
            known[kind] = tmp_path_factory.mktemp(kind) / "run"
            shutil.copytree(spec.parent, known[kind])
        return known[kind]

    return of


@pytest.fixture
def model(trained, make_run, tmp_path):
    """model(kind) puts the trained model on this test's shared volume and returns the spec's field that names it."""

    def of(kind: str) -> dict:
        path = tmp_path / "shared" / "registry" / kind
        shutil.copytree(trained(kind, make_run) / "out" / "model", path, dirs_exist_ok=True)
        return {"model": {"path": f"../../registry/{kind}", "run": "ft-earlier", "name": kind, "version": 2}}

    return of


@pytest.fixture
def answer(make_run, schemas):
    """answer(files, more, **parameters) predicts and returns the run folder and result.json."""

    numbers = itertools.count(1)

    def answered(files: dict, more: dict | None = None, **parameters):
        spec = make_run(files, run=f"pr-test-{next(numbers)}", kind="predict", more=more, **parameters)
        assert run(str(spec), "local") == 0
        result = check_files(spec.parent, schemas)
        assert result["kind"] == "prediction"
        others = {a["path"] for a in result["artifacts"]} - {"out/predictions.csv"}
        assert others <= {"out/next-labels.csv"}, "only where rows have no label"
        assert len(predictions(spec.parent)) == result["prediction"]["rows"]
        return spec.parent, result["prediction"]

    return answered


@pytest.fixture
def refusal(make_run, schemas):
    """refusal(files, more, **parameters) predicts, expects the user's error and returns it."""

    def refused(files: dict, more: dict | None = None, **parameters) -> dict:
        spec = make_run(files, run="pr-test", kind="predict", more=more, **parameters)
        assert run(str(spec), "local") == 2
        error = error_of(spec.parent)
        schemas["error"].validate(error)
        assert not (spec.parent / "result.json").exists()
        return error

    return refused


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def model_zip(folder: Path, **more: bytes) -> bytes:
    """out/model of a run as the service packs it, under model/."""
    return zipped({**{f"model/{f.name}": f.read_bytes() for f in folder.iterdir()}, **more})


def own_test_rows(kind: str, folder: Path) -> str:
    """The rows of the one table of a training that were its test rows, as a table."""
    ((_, text),) = FILES[kind].items()
    lines = list(csv.reader(text.splitlines()))
    return table(lines[0], [lines[int(r["row"]) - 1] for r in predictions(folder)])


@pytest.mark.parametrize("kind", ["text", "table", "number"])
def test_a_network_answers_many_rows_in_parts_as_few_together(model, answer, monkeypatch, kind):
    ((name, content),) = FILES[kind].items()
    whole, _ = answer({name: content}, model(kind), top_k=2)
    monkeypatch.setattr(rows, "LEAST", 100)
    monkeypatch.setattr(rows, "PART", 50)
    parted, found = answer({name: content}, model(kind), top_k=2)
    assert found["rows"] > 100 and not (parted / rows.FOLDER).exists()
    for one, other in zip(predictions(parted), predictions(whole), strict=True):
        assert (list(one), one["row"], one["content"]) == (list(other), other["row"], other["content"])
        assert (
            one["predicted"] == other["predicted"]
            if kind != "number"
            else float(one["predicted"]) == pytest.approx(float(other["predicted"]), rel=1e-4)
        )


@pytest.mark.parametrize("kind", ["text", "table", "number"])
def test_on_its_own_test_rows_a_model_answers_and_scores_as_after_its_training(trained, model, answer, make_run, kind):
    earlier = trained(kind, make_run)
    folder, found = answer({"new.csv": own_test_rows(kind, earlier)}, model(kind))
    for column in ("predicted", *(("low", "high") if kind == "number" else ("possible",))):
        assert [r[column] for r in predictions(folder)] == [r[column] for r in predictions(earlier)]
    metrics = result_of(earlier)["metrics"]["test"]
    assert found["trained_scores"] == metrics
    for name, score in found["scores"].items():
        assert score["value"] == pytest.approx(metrics[name]["value"], rel=1e-4), name
    assert found["model"]["name"] == kind
    assert found["skipped"] == 0
    if kind != "number":
        assert sum(found["counts"].values()) == found["rows"]


def test_images_are_answered_one_by_one(model, answer):
    pictures = squares(12)
    _, found = answer({**pictures, "broken.png": b"\x89PNG no more"}, model("image"))
    assert (found["rows"], found["skipped"]) == (12, 1)
    assert {p["file"] for p in found["per_file"]} == set(pictures)
    assert all(p["id"].startswith("file") for p in found["per_file"])
    assert "scores" not in found


def test_rows_without_a_label_are_answered_and_unknown_labels_do_not_count(trained, model, answer, make_run):
    rows = list(csv.reader(own_test_rows("text", trained("text", make_run)).splitlines()))
    rows[1][2], rows[2][2] = "", "a label that the model never saw"
    folder, found = answer({"new.csv": table(rows[0], rows[1:])}, model("text"))
    told = {w["code"]: w["text"] for w in result_of(folder)["warnings"]}
    assert f"Of {len(rows) - 2} labels, 1 cannot" in told["labels_unused"] and "a label that the model never saw" in told["labels_unused"]
    assert found["rows"] == len(rows) - 1
    assert {s["n"] for s in found["scores"].values()} == {len(rows) - 3}
    folder, without = answer({"new.csv": table(rows[0][:2], [r[:2] for r in rows[1:]])}, model("text"))
    assert "scores" not in without and "labels_unused" not in [w["code"] for w in result_of(folder)["warnings"]]
    assert without["counts"] == found["counts"]


def test_rows_unlike_the_training_are_told_and_marked(model, answer):
    rows = list(csv.reader(flowers().splitlines()))
    folder, _ = answer({"new.csv": flowers()}, model("table"))
    assert "unlike_training" not in [w["code"] for w in result_of(folder)["warnings"]] and "unlike training" not in predictions(folder)[0]
    place = rows[0].index("width")
    for row in rows[1:]:
        row[place] = str(10 * float(row[place]))
    folder, _ = answer({"new.csv": table(rows[0], rows[1:])}, model("table"))
    told = {w["code"]: w["text"] for w in result_of(folder)["warnings"]}
    assert "width is larger" in told["unlike_training"]
    assert "width" in predictions(folder)[0]["unlike training"]
    assert [b["title"] for b in blocks_of(result_of(folder), "Are they like the training data?") if "title" in b] == ["What differs"]


def test_a_model_of_an_earlier_version_says_what_it_cannot_tell(model, answer, tmp_path):
    more = model("table")
    described = tmp_path / "shared" / "registry" / "table" / "trainer.json"
    found = json.loads(described.read_text())
    del found["profile"]
    found["target"].pop("promise", None)
    described.write_text(json.dumps(found))
    _, prediction = answer(FILES["table"], more)
    said = {f["name"]: f["value"] for f in prediction["facts"]}
    assert said["Like the training data"] == "Not compared: an earlier version trained the model."
    assert said["How sure answers are"].startswith("Not promised") and "unlike" not in prediction


def test_empty_rows_are_left_out_and_counted(model, answer):
    _, found = answer({"new.csv": "id,review\n1,some good words\n2,\n3,more words\n"}, model("text"))
    assert (found["rows"], found["skipped"]) == (2, 1)


@pytest.mark.parametrize("content", ["id,review\n1,\n2,\n", "id,review\n", ""], ids=["empty rows", "a header", "nothing"])
def test_a_table_without_any_row_to_answer_is_refused(model, refusal, content):
    error = refusal({"new.csv": content}, model("text"))
    assert "new.csv" in f"{error['what']} {error.get('why', '')}"


def test_confidence_and_the_next_likely_classes_are_written(model, answer):
    folder, found = answer({"new.csv": flowers()}, model("table"), top_k=2, min_confidence=1)
    row = predictions(folder)[0]
    assert {"choice 2", "probability 2", "unsure"} <= set(row)
    assert "choice 3" not in row
    assert row["choice 2"] != row["predicted"]
    assert float(row["confidence"]) >= float(row["probability 2"])
    assert found["unsure"] == sum(r["unsure"] == "yes" for r in predictions(folder)) > 0


def test_a_person_chooses_the_threshold_of_two_classes(model, answer):
    texts = {"new.csv": small_reviews(30)}
    for threshold in (0.999, 0.2):
        folder, _ = answer(texts, model("text"), threshold=threshold)
        rows = predictions(folder)
        for row in rows:
            chance = float(row["confidence"]) if row["predicted"] == "positive" else 1 - float(row["confidence"])
            assert row["predicted"] == ("positive" if chance >= threshold else "negative") != row["choice 2"]
        why = next(e["why"] for e in events_of(folder) if e.get("what") == "threshold")
        assert why == f"positive is answered from a probability of {threshold:g} on, else negative."


def test_a_threshold_needs_two_classes(model, refusal):
    assert refusal({"new.csv": flowers()}, model("table"), threshold=0.3)["code"] == "no_threshold"


def test_a_model_file_of_the_dataset_is_used(trained, model, answer, make_run):
    archive = model_zip(trained("text", make_run) / "out" / "model")
    texts = {"new.csv": small_reviews(30)}
    by_file, _ = answer({**texts, "model.zip": archive}, model_file="model.zip")
    answers = [r["predicted"] for r in predictions(by_file)]
    by_name, _ = answer(texts, model("text"))
    assert answers == [r["predicted"] for r in predictions(by_name)]


def test_hostile_members_of_a_model_file_are_never_written(trained, answer, make_run, tmp_path, monkeypatch):
    inner = trained("text", make_run) / "out" / "model"
    hostile = {
        "../../../escaped.json": b"{}", "/escaped.json": b"{}", "model/../../escaped.json": b"{}", "model/pytorch_model.bin": b"pickled",
        "model/code.py": b"raise SystemExit", "model/deep/er.json": b"{}", "model/.hidden.json": b"{}", "other/config.json": b"{}",
    }  # fmt: skip
    unpacked = []
    monkeypatch.setattr(Lease, "end", lambda lease: unpacked.extend(f.name for f in (lease.folder / "model").rglob("*")))
    answer({"new.csv": small_reviews(10), "model.zip": model_zip(inner, **hostile)}, model_file="model.zip")
    assert set(unpacked) == {f.name for f in inner.iterdir()} - {"model.onnx"}, "it is for other programs"
    assert not list(tmp_path.rglob("escaped.json"))


NONE = "no model of an earlier run"
HALF = {"model/trainer.json": b'{"schema": 1, "kind": "text"}', "model/model.safetensors": b"x"}


@pytest.mark.parametrize(
    ("archive", "named"),
    [
        pytest.param(b"no archive", "cannot be read as a ZIP", id="no archive"),
        pytest.param(zipped({}), NONE, id="an empty archive"),
        pytest.param(zipped({"model/model.safetensors": b"x", "model/config.json": b"{}"}), NONE, id="a foreign model"),
        pytest.param(zipped({"model/trainer.json": b"[]", "model/model.safetensors": b"x"}), NONE, id="a wrong description"),
        pytest.param(zipped(HALF), NONE, id="half a description"),
    ],
)
def test_a_model_file_without_a_model_is_refused(refusal, archive, named):
    error = refusal({"new.csv": small_reviews(10), "model.zip": archive}, model_file="model.zip")
    assert error["code"] == "model_file"
    assert "model.zip" in error["what"]
    assert named in error["what"]


def test_a_model_file_of_a_newer_version_is_refused_as_such(refusal):
    newer = {"model/trainer.json": b'{"schema": 2, "kind": "text"}', "model/weights.bin": b"x"}
    error = refusal({"new.csv": small_reviews(10), "model.zip": zipped(newer)}, model_file="model.zip")
    assert error["code"] == "model_newer"
    assert error["what"] == "A newer version of this program wrote model.zip."
    assert error["do"].startswith("Update this program to the version that trained the model")


def test_damaged_weights_are_the_users_error(trained, refusal, make_run):
    archive = model_zip(trained("table", make_run) / "out" / "model", **{"model/model.safetensors": b"\0" * 100})
    error = refusal({"new.csv": flowers(), "model.zip": archive}, model_file="model.zip")
    assert error["code"] == "model_file"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trainer.json", {"encoder": {}}),
        ("trainer.json", {"target": []}),
        ("trainer.json", {"target": {"labels": ["bad", "good", "new"]}}),
        ("trainer.json", {"target": {"labels": ["good"]}}),
        ("trainer.json", {"types": None}),
        ("trainer.json", {"kind": "image"}),
        ("config.json", {"model_type": "none"}),
        ("tokenizer.json", {"model": {}}),
    ],
)
def test_a_model_whose_files_do_not_fit_together_is_the_users_error(trained, refusal, make_run, name, change):
    members = {f"model/{f.name}": f.read_bytes() for f in (trained("text", make_run) / "out" / "model").iterdir()}
    members[f"model/{name}"] = json.dumps({**json.loads(members[f"model/{name}"]), **change}).encode()
    error = refusal({"new.csv": small_reviews(10), "model.zip": zipped(members)}, model_file="model.zip")
    assert error["code"] == "model_file"


def test_code_beside_a_model_is_never_run_nor_asked_for(model, refusal, tmp_path, monkeypatch):
    field = model("text")
    folder = tmp_path / "shared" / "registry" / "text"
    config = json.loads((folder / "config.json").read_text())
    named = {"AutoConfig": "code.Config", "AutoModelForSequenceClassification": "code.Model"}
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "another", "auto_map": named}))
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    asked = []
    monkeypatch.setattr("builtins.input", lambda text="": asked.append(text) or "y")
    assert refusal({"new.csv": small_reviews(10)}, field)["code"] == "model_file"
    assert (asked, (tmp_path / "ran").exists()) == ([], False)


def test_a_dataset_without_a_readable_image_is_refused(model, refusal):
    error = refusal({"a.png": b"no image"}, model("image"))
    assert (error["code"], error["what"]) == ("broken_images", "No image can be decoded: a.png.")


def test_a_text_column_of_another_name_is_asked_for(model, refusal):
    error = refusal({"new.csv": "words,n\nsome words,1\nother words,2\n"}, model("text"))
    assert "text_column" in error["do"]


def test_without_a_model_the_user_is_told_how_to_name_one(refusal):
    assert refusal({"new.csv": small_reviews(10)})["code"] == "no_model"
    error = refusal({"new.csv": small_reviews(10), "other.zip": zipped({})}, model_file="model.zip")
    assert error["code"] == "unknown_file"
    assert "other.zip" in error["why"]


def test_a_table_without_the_columns_of_the_model_is_named(model, refusal):
    error = refusal({"new.csv": "length,colour\n1,red\n2,blue\n"}, model("table"))
    assert error["code"] == "no_data"
    assert "width" in error["what"]
    assert "new.csv" in error["why"]


def test_a_model_path_that_leads_out_of_the_volume_is_refused(make_run):
    spec = make_run({"new.csv": small_reviews(10)}, kind="predict", more={"model": {"path": "../../../outside"}})
    with pytest.raises(ValueError, match="leads out"):
        run(str(spec), "local")


def champion(field: dict) -> dict:
    return {"champion": field["model"]}


@pytest.mark.parametrize(
    ("theirs", "files", "why"),
    [
        pytest.param("number", FILES["table"], "tabular-regression", id="another task"),
        pytest.param("table", {"f.csv": flowers().replace(",c\n", ",d\n")}, "different classes", id="other classes"),
        pytest.param("table", {"f.csv": flowers().replace("width", "breadth")}, "columns", id="columns that are gone"),
        pytest.param("none", FILES["table"], "cannot be read", id="files that are gone"),
    ],
)
def test_the_reason_why_a_champion_cannot_be_compared_is_reported(model, make_run, schemas, theirs, files, why):
    field = {"model": {"path": "../../registry/none", "run": "ft-gone", "name": "none", "version": 1}} if theirs == "none" else model(theirs)
    spec = make_run(files, epochs=2, more=champion(field))
    assert run(str(spec), "local") == 0
    found = check_success(spec.parent, schemas)["champion"]
    assert found["comparable"] is False
    assert why in found["why"]
