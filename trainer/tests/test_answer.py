"""Single answers: equal to those of the training, refused with a sentence, by the Open Inference Protocol over HTTP."""

import base64
import contextlib
import csv
import hashlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import ROOT, small_reviews
from small_datasets import flowers, in_folders, prices, squares, yields
from small_texts import conll

from trainer.answer import server as servers
from trainer.answer.model import Model
from trainer.answer.rows import MOST_ROWS, Refused
from trainer.answer.store import Loaded, Place, Registry, Single, Unknown
from trainer.kinds.tokens import entities
from trainer.models import onnx
from trainer.run import run

pytest.importorskip("onnxruntime")
FOLDER = "0a1b2c3d-0123456789abcdef01234567"
LIMIT_SECONDS = 300  # of a machine that many others use


def registered(spec: Path, root: Path, name: str = "reviews", number: int = 1) -> Path:
    """The model of a run in a registry of the form that the service makes; the folder of the version."""
    to = root / FOLDER / name / str(number)
    to.mkdir(parents=True)
    (spec.parent / "out" / "model").rename(to / "model")
    files = [{"path": f.name, "sha256": hashlib.sha256(f.read_bytes()).hexdigest()} for f in sorted((to / "model").iterdir())]
    (to / "version.json").write_text(json.dumps({"name": name, "version": number, "files": files}))
    return to


def predictions(spec: Path) -> list[dict]:
    return list(csv.DictReader((spec.parent / "out" / "predictions.csv").read_text().splitlines()))


def tensor(name: str, cells: list, datatype: str = "BYTES") -> dict:
    return {"name": name, "datatype": datatype, "shape": [len(cells)], "data": cells}


def outputs(model: Model, *inputs: dict) -> dict[str, list]:
    return {o["name"]: o["data"] for o in model.answer(list(inputs))}


def check_classes(found: dict, rows: list[dict], labels: tuple[str, ...]) -> None:
    assert found["label"] == [r["predicted"] for r in rows]
    for i, row in enumerate(rows):
        mine = found["probability"][i * len(labels) : (i + 1) * len(labels)]
        assert max(mine) == pytest.approx(float(row["confidence"]), abs=1e-3)
        assert sum(mine) == pytest.approx(1, abs=1e-5)
        assert ("possible" in found) is ("possible" in row)  # few held-out rows promise nothing
        if "possible" not in found:
            continue
        possible = found["possible"][i * len(labels) : (i + 1) * len(labels)]
        assert {n for n, is_one in zip(labels, possible) if is_one} == set(row["possible"].split("; "))


@pytest.mark.parametrize("model", ["words", "bert-tiny"])
def test_a_text_is_answered_as_in_the_training(make_run, model):
    spec = make_run({"train.csv": small_reviews()}, model=model, epochs=1)
    assert run(str(spec), "local") == 0
    folder = spec.parent / "out" / "model"
    assert (folder / onnx.ONNX).is_file() == (model == "bert-tiny")
    found, rows = Model(folder), predictions(spec)
    texts = [line["review"] for line in csv.DictReader(small_reviews().splitlines())]
    asked = [texts[int(row["row"]) - 2] for row in rows]
    check_classes(outputs(found, tensor("text", asked)), rows, found.labels)
    alone = outputs(found, tensor("text", asked[:1]))
    assert alone["label"] == [rows[0]["predicted"]], "one text, which has another length than a batch"


@pytest.mark.parametrize("model", ["trees", "linear", "perceptron", "ensemble", "mlp"])
def test_a_row_of_a_table_is_answered_as_in_the_training(make_run, model):
    spec = make_run({"flowers.csv": flowers()}, model=model, epochs=2)
    assert run(str(spec), "local") == 0
    found, rows = Model(spec.parent / "out" / "model"), predictions(spec)
    lines = flowers().splitlines()
    cells = [dict(zip(["length", "width", "colour"], lines[int(row["row"]) - 1].split(","))) for row in rows]
    numbers = [float(c["length"]) if c["length"] else None for c in cells]
    given = [tensor("length", numbers, "FP64"), tensor("width", [c["width"] for c in cells]), tensor("colour", [c["colour"] for c in cells])]
    check_classes(outputs(found, *given), rows, found.labels)
    described = found.described()
    assert [c["type"] for c in described["parameters"]["columns"]] == ["number", "number", "category"]
    assert described["parameters"]["columns"][2]["categories"] == ["blue", "red", "white"]
    assert outputs(found, tensor("colour", ["blue"]))["label"], "columns that are not given are empty"


@pytest.mark.parametrize(
    ("name", "content", "model"), [("yields", yields(), "mlp"), ("yields", yields(), "trees"), ("prices", prices(), "bert-tiny")]
)
def test_a_number_is_answered_in_the_unit_of_the_data(make_run, name, content, model):
    spec = make_run({"data.csv": content}, model=model, epochs=1, label_column="harvest" if name == "yields" else "price")
    assert run(str(spec), "local") == 0
    found, rows = Model(spec.parent / "out" / "model"), predictions(spec)
    lines = list(csv.DictReader(content.splitlines()))
    asked = [lines[int(row["row"]) - 2] for row in rows]
    columns = ["rain", "heat"] if name == "yields" else ["text"]
    found = outputs(found, *(tensor(c, [line[c] for line in asked]) for c in columns))
    for name, column in {"value": "predicted", "low": "low", "high": "high"}.items():
        assert found[name] == pytest.approx([float(r[column]) for r in rows], rel=1e-4, abs=1e-3)


def test_an_image_is_answered_as_in_the_training(make_run):
    pictures = in_folders(squares(40))
    spec = make_run(pictures, epochs=1)
    assert run(str(spec), "local") == 0
    found, rows = Model(spec.parent / "out" / "model"), predictions(spec)
    asked = [base64.b64encode(pictures[row["file"]]).decode() for row in rows]
    check_classes(outputs(found, tensor("image", asked)), rows, found.labels)
    for broken, said in (("%%%", "base64"), (base64.b64encode(b"no image").decode(), "decoded"), (17, "string")):
        with pytest.raises(Refused, match=said):
            found.answer([tensor("image", [broken])])


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where ``reviews_spec`` keeps its run for the next tests."""
    return tmp_path_factory.mktemp("kept") / "run"


@pytest.fixture
def reviews_spec(make_run, kept):
    """A finished training of texts, whose files a test may change."""
    spec = make_run({"train.csv": small_reviews()}, model="words")
    if kept.exists():
        shutil.copytree(kept, spec.parent, dirs_exist_ok=True)
    else:
        assert run(str(spec), "local") == 0
        shutil.copytree(spec.parent, kept)
    return spec


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (None, "list of tensors"),
        ([], "no input|is missing"),
        ([tensor("txt", ["a"])], "no input txt: it reads text"),
        ([tensor("text", [])], "1 to 64 rows"),
        ([tensor("text", ["a"] * (MOST_ROWS + 1))], "1 to 64 rows"),
        ([tensor("text", [1])], "must be a string"),
        ([tensor("text", ["  "])], "empty"),
        ([{**tensor("text", ["a"]), "shape": [2]}], "shape"),
        ([tensor("text", [["a"]])], "flat list"),
        ([tensor("text", ["a"]), tensor("text", ["a"])], "twice"),
        ([tensor("text", ["a" * 1_000_001])], "more than 1000000 characters"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_sentence(reviews_spec, inputs, said):
    with pytest.raises(Refused, match=said):
        Model(reviews_spec.parent / "out" / "model").answer(inputs)


def test_a_cell_that_is_no_number_is_refused(make_run):
    spec = make_run({"flowers.csv": flowers()}, model="trees")
    assert run(str(spec), "local") == 0
    with pytest.raises(Refused, match="length must be a number, not long"):
        Model(spec.parent / "out" / "model").answer([tensor("length", ["long"])])


class TestOnnx:
    """The conversion, by a training that delivers a network."""

    def trained(self, make_run, monkeypatch, **constants) -> tuple[int, Path, dict]:
        for name, value in constants.items():
            monkeypatch.setattr(onnx, name, value)
        spec = make_run({"flowers.csv": flowers()}, model="mlp", epochs=1)
        code = run(str(spec), "local")
        return code, spec.parent / "out" / "model" / onnx.ONNX, json.loads((spec.parent / "result.json").read_text())

    def test_it_is_listed_with_the_other_files(self, make_run, monkeypatch):
        code, file, result = self.trained(make_run, monkeypatch)
        assert code == 0 and file.is_file()
        assert "out/model/model.onnx" in [a["path"] for a in result["artifacts"]]
        assert not [w for w in result["warnings"] if w["code"] == "no_onnx"]

    @pytest.mark.parametrize(
        ("constants", "why"),
        [({"CLOSE": -1.0}, "differ from those of the model"), ({"MOST_BYTES": 10}, "larger than"), ({"_OPSET": 3}, "cannot be converted")],
    )
    def test_it_is_left_out_with_the_reason(self, make_run, monkeypatch, constants, why):
        code, file, result = self.trained(make_run, monkeypatch, **constants)
        assert code == 0 and not file.exists()
        assert why in next(w["text"] for w in result["warnings"] if w["code"] == "no_onnx")


class TestStore:
    def test_a_name_leads_to_its_version_and_nowhere_else(self, reviews_spec, tmp_path):
        version = registered(reviews_spec, tmp_path / "registry")
        registry = Registry(tmp_path / "registry")
        name = f"{FOLDER}.reviews"
        assert registry.place(name, "1").folder == version
        assert registry.place(name, "").version == "1", "the newest, where there is no champion"
        for strange in ("reviews", f"{FOLDER}.films", "../x.reviews", f"{FOLDER}.reviews/1", f"{FOLDER}.", ""):
            with pytest.raises(Unknown):
                registry.place(strange, "1")
        for number in ("2", "0", "01", "../1", "x"):
            with pytest.raises(Unknown):
                registry.place(name, number)
        (version.parent / "2").symlink_to(version)
        (tmp_path / "registry" / "other").symlink_to(version.parent.parent)
        with pytest.raises(Unknown):
            registry.place("other.reviews", "1")

    def test_the_champion_answers_where_no_version_is_named(self, reviews_spec, tmp_path):
        version = registered(reviews_spec, tmp_path / "registry")
        (version.parent / "7" / "model").mkdir(parents=True)
        (version.parent / "champion.json").write_text('{"version": 1}')
        assert Registry(tmp_path / "registry").place(f"{FOLDER}.reviews", "").version == "1"

    def test_a_changed_file_is_not_answered_from(self, reviews_spec, tmp_path):
        version = registered(reviews_spec, tmp_path / "registry")
        (version / "model" / "terms.json").write_text("{}")
        with pytest.raises(Refused, match="damaged"):
            Loaded(1 << 30).get(Place("reviews", "1", version))

    def test_a_network_without_onnx_says_so(self, make_run, tmp_path):
        spec = make_run({"flowers.csv": flowers()}, model="mlp", epochs=1)
        assert run(str(spec), "local") == 0
        (spec.parent / "out" / "model" / onnx.ONNX).unlink()
        with pytest.raises(Refused, match=r"has no model\.onnx"):
            Loaded(1 << 30).get(Place("flowers", "1", registered(spec, tmp_path / "registry")))

    def test_the_least_recently_used_model_leaves_the_memory(self, reviews_spec, tmp_path):
        first = registered(reviews_spec, tmp_path / "registry")
        places = [Place("reviews", str(n), first.parent / str(n)) for n in (1, 2, 3)]
        for place in places[1:]:
            subprocess.run(["cp", "-r", str(first), str(place.folder)], check=True)
        size = Loaded(0).get(places[0]).bytes
        loaded = Loaded(2 * size)
        kept = loaded.get(places[0])
        loaded.get(places[1])
        assert loaded.get(places[0]) is kept
        loaded.get(places[2])
        assert loaded.get(places[0]) is kept and len(loaded) == 2

    def test_a_version_is_pinned_by_its_hash(self, reviews_spec, tmp_path):
        version = registered(reviews_spec, tmp_path / "registry")
        digest = hashlib.sha256((version / "version.json").read_bytes()).hexdigest()
        assert Single(version, digest).place("reviews", "").version == "1"
        with pytest.raises(Unknown):
            Single(version, digest).place("reviews", "2")
        with pytest.raises(ValueError, match="sha256"):
            Single(version, "0" * 64)


@contextlib.contextmanager
def served(source, token: str = "secret"):
    server = servers.Server(("127.0.0.1", 0), source, Loaded(1 << 30), token)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(server, method: str, path: str, body=None, token: str = "secret", **headers) -> tuple[int, dict]:
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=LIMIT_SECONDS)
    with contextlib.closing(connection):
        connection.request(method, path, body=body if body is None else json.dumps(body), headers={"Authorization": f"Bearer {token}", **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


class TestProtocol:
    def test_the_routes_of_the_protocol(self, reviews_spec, tmp_path):
        registered(reviews_spec, tmp_path / "registry")
        model = f"/v2/models/{FOLDER}.reviews"
        with served(Registry(tmp_path / "registry")) as server:
            assert ask(server, "GET", "/v2/health/live", token="")[0] == 200
            assert ask(server, "GET", "/v2/health/ready", token="") == (200, {"ready": True})
            assert ask(server, "GET", "/v2")[1]["name"] == "clowder-ray"
            assert ask(server, "GET", model + "/versions/1/ready")[1]["ready"] is True
            described = ask(server, "GET", model)[1]
            assert described["versions"] == ["1"] and described["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]
            assert described["parameters"]["labels"] == ["negative", "positive"]
            status, found = ask(server, "POST", model + "/versions/1/infer", {"id": "a", "inputs": [tensor("text", ["a fine film"])]})
            assert status == 200 and found["model_version"] == "1" and found["id"] == "a"
            assert [o["shape"] for o in found["outputs"]] == [[1], [1, 2], [1, 2]]
            assert [o["name"] for o in found["outputs"]] == [o["name"] for o in described["outputs"]] == ["label", "probability", "possible"]
            assert ask(server, "POST", model + "/infer", {"inputs": []})[0] == 400
            assert ask(server, "POST", model + "/versions/9/infer", {"inputs": []}) == (404, {"error": "There is no such model or version."})
            assert ask(server, "GET", "/v2/models/none.reviews")[0] == 404
            assert ask(server, "GET", "/etc/passwd")[0] == 404
            assert ask(server, "POST", model + "/infer", [1])[0] == 400
            assert ask(server, "GET", model + "/infer")[0] == 405

    def test_who_has_no_token_learns_nothing(self, reviews_spec, tmp_path):
        registered(reviews_spec, tmp_path / "registry")
        with served(Registry(tmp_path / "registry")) as server:
            for path in (f"/v2/models/{FOLDER}.reviews", "/v2/models/none.x", "/v2"):
                assert ask(server, "GET", path, token="wrong") == (401, {"error": "The token is missing or wrong."})
            assert ask(server, "POST", f"/v2/models/{FOLDER}.reviews/infer", {"inputs": []}, token="")[0] == 401

    def test_a_large_request_is_not_read(self, tmp_path):
        with served(Registry(tmp_path)) as server:
            assert ask(server, "POST", "/v2/models/a.b/infer", token="secret", **{"Content-Length": str(servers.MOST_BYTES + 1)})[0] == 413
            assert ask(server, "POST", "/v2/models/a.b/infer", token="secret", **{"Content-Length": "x"})[0] == 411


def test_the_process_answers_without_torch_logs_no_input_and_sleeps(reviews_spec, tmp_path):
    registered(reviews_spec, tmp_path / "registry")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "ANSWER_TOKEN": "secret"}
    command = [sys.executable, "-m", "trainer", "answer", "--registry", str(tmp_path / "registry"), "--sleep", "4"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True) as process:
        port = json.loads(process.stdout.readline())["port"]

        class Address:
            server_address = ("127.0.0.1", port)

        text = {"inputs": [tensor("text", ["canary words"])]}
        assert ask(Address, "POST", f"/v2/models/{FOLDER}.reviews/infer", text)[0] == 200
        assert ask(Address, "POST", f"/v2/models/{FOLDER}.reviews/infer", {"inputs": [tensor("canary", ["canary"])]})[0] == 400
        loaded = Path(f"/proc/{process.pid}/maps").read_text()
        assert "libtorch" not in loaded
        out, errors = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, "it ends after some seconds without a request"
    assert "canary" not in out + errors and "secret" not in out + errors


def test_the_process_ends_with_its_parent(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-m", "trainer", "answer", "--registry", str(tmp_path), "--with-parent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert json.loads(process.stdout.readline())["port"]
        process.stdin.close()
        assert process.wait(timeout=LIMIT_SECONDS) == 0


def test_the_entities_of_a_text_are_those_of_the_training(make_run):
    spec = make_run({"train.conll": conll()}, epochs=8, learning_rate=0.003, model="bert-tiny", seed=1)
    assert run(str(spec), "local") == 0
    found = Model(spec.parent / "out" / "model")
    rows = predictions(spec)
    sentences: dict[str, list[dict]] = {}
    for row in rows:
        sentences.setdefault(row["row"], []).append(row)
    for some in sentences.values():
        text = "  " + " ".join(r["word"] for r in some)
        said = outputs(found, tensor("text", [text]))
        tags = [r["predicted"] for r in some]
        expected = [(kind, " ".join(r["word"] for r in some[a:b])) for a, b, kind in entities.spans(tags)]
        assert list(zip(said["entity"], said["text"], strict=True)) == expected
        assert [text[a:b] for a, b in zip(said["start"], said["end"], strict=True)] == said["text"]
        assert all(0 < p <= 1 for p in said["probability"])
    twice = outputs(found, tensor("text", [text, text]))
    assert twice["row"] == [0] * len(said["row"]) + [1] * len(said["row"])
    assert any(row["entity"] for row in rows)
    for cells, why in {(" ",): "no word", (1,): "must be a string", (): "1 to 64 rows"}.items():
        with pytest.raises(Refused, match=why):
            found.answer([tensor("text", list(cells))])
    assert found.described()["outputs"][3]["name"] == "entity"
