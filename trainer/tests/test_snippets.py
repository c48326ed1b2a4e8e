"""The few lines of Python that users get with a model, run as they are beside the unpacked archive, without network or our code."""

import ast
import contextlib
import csv
import io
import socket
import sys

import numpy
import pytest
from conftest import ROOT, small_reviews
from PIL import Image
from result_checks import check_success, predictions
from small_datasets import flowers, in_folders, prices, squares, visits, yields
from small_texts import conll
from test_base_model import install

from trainer.kinds.derived import part as parts
from trainer.run import run

pytestmark = pytest.mark.usefixtures("networks_only")

SNIPPETS = {f.stem: f for f in (ROOT / "trainer" / "kinds").glob("*/snippets/*.py")}


@pytest.fixture
def train(make_run, schemas, monkeypatch):
    """train(files, **parameters) gives the folder of what was delivered, the result and the test rows as dicts by their columns."""
    monkeypatch.setattr(sys.modules["trainer.export.training_results"], "_baseline_wins", lambda *_: True)

    def made(files: dict, **parameters):
        spec = make_run(files, **parameters)
        assert run(str(spec), "local") == 0
        rows = predictions(spec.parent)
        for row in rows:
            row["input"] = spec.parent / "inputs" / row["file"]
            if row["input"].suffix == ".csv":
                with open(row["input"], newline="") as f:
                    row["cells"] = list(csv.DictReader(f))[int(row["row"]) - 2]
        return spec.parent / "out", check_success(spec.parent, schemas), rows

    return made


@pytest.fixture
def use(monkeypatch):
    """use(name, folder) runs a snippet in a folder; gives its names and the lines that it printed."""

    def no_network(*_):
        raise AssertionError("a snippet asks the network")

    def used(name: str, folder) -> tuple[dict, list[str]]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(socket.socket, "connect", no_network)
        printed, names = io.StringIO(), {}
        with contextlib.redirect_stdout(printed):
            exec(compile(SNIPPETS[name].read_text(), name, "exec"), names)
        return names, printed.getvalue().splitlines()

    return used


@pytest.mark.parametrize("merge", ["no", "yes"])
def test_a_language_model_answers_in_python(make_run, use, merge):
    from language_models import conversations, install

    spec = make_run({"chats.jsonl": conversations(60)}, epochs=1, more_options=f"finetuning: lora\nmerge: {merge}")
    models = spec.parent.parent.parent / "models"
    install(models)
    assert run(str(spec), "local") == 0
    out = spec.parent / "out"
    (out / "acme").symlink_to(models / "acme")  # stands for the Hub, from which the base of an adapter comes
    names, printed = use("language", out)
    assert names["tokenizer"].chat_template
    assert len("\n".join(printed)) > 0


def simple_score(result: dict, metric: str) -> float:
    return next(b for b in result["metrics"]["baselines"] if b["name"] == "linear")["test"][metric]["value"]


def accuracy(rows: list[dict], said) -> float:
    return sum(row["label"] == answer for row, answer in zip(rows, said, strict=True)) / len(rows)


def test_texts(train, use):
    folder, result, rows = train({"all.csv": small_reviews(160)}, epochs=1)
    names, printed = use("text", folder)
    assert len(printed) == 2
    texts = [r["cells"]["review"] for r in rows]
    assert [a["label"] for a in names["classify"](texts, truncation=True)] == [r["predicted"] for r in rows]
    names, printed = use("baseline_text", folder)
    assert len(printed) == 2
    assert accuracy(rows, map(names["predict"], texts)) == pytest.approx(simple_score(result, "accuracy"))


def test_texts_by_an_encoder_as_it_is(make_run, train, use, monkeypatch):
    from trainer.train import frozen
    from trainer.training import comparing

    monkeypatch.setattr(frozen, "reserved", lambda plan, *_: 60.0 * plan.settings.max_minutes)
    monkeypatch.setattr(comparing, "_loss", lambda candidate, *_: float(not candidate.variant))
    install(make_run({}).parent.parent.parent / "models", "org/base")
    folder, result, rows = train({"all.csv": small_reviews(90)}, epochs=1)
    assert result["usage"]["snippet"] == "text/text_mean"
    names, printed = use("text_mean", folder)
    assert len(printed) == 2
    assert names["predict"]([r["cells"]["review"] for r in rows]) == [r["predicted"] for r in rows]


def test_numbers_from_texts(train, use):
    folder, result, rows = train({"ads.csv": prices(80)}, label_column="price", epochs=1)
    _, printed = use("text_regression", folder)
    assert len(printed) == 2
    names, _ = use("baseline_text", folder)
    errors = [abs(names["predict"](r["cells"]["text"]) - float(r["label"])) for r in rows]
    assert sum(errors) / len(errors) == pytest.approx(simple_score(result, "mae"), rel=1e-3)


def test_images(train, use):
    folder, result, rows = train(in_folders(squares()), epochs=1)
    (folder / "a picture of yours.png").write_bytes(rows[0]["input"].read_bytes())
    _, printed = use("image", folder)
    assert printed[0].split() == [rows[0]["predicted"], f"{float(rows[0]['confidence']):.3f}"]
    names, printed = use("baseline_image", folder)
    assert len(printed) == 1
    assert accuracy(rows, (names["predict"](r["input"]) for r in rows)) == pytest.approx(simple_score(result, "accuracy"))


@pytest.mark.parametrize("numbers", [False, True])
def test_images_of_instruments(train, use, numbers):
    from trainer.tests.zoo.instruments import levels, tiff

    pictures = {f"{'left' if i % 2 else 'right'}/{i:03}.tif": tiff(levels(i, (24, 24, 5), 0, 900 + 700 * (i % 2), numpy.uint16)) for i in range(60)}
    listed = "file,height\n" + "".join(f"{name},{i * 1.5 + 10}\n" for i, name in enumerate(pictures))
    folder, result, rows = train({**pictures, **({"heights.csv": listed} if numbers else {})}, epochs=1)
    assert result["model"]["image_form"] == "5 bands of 16 bits"
    named = "content" if numbers else "file"
    files = [folder.parent / "inputs" / r[named] for r in rows]
    (folder / "a picture of yours.tif").write_bytes(files[0].read_bytes())
    (folder / "a picture of yours.png").write_bytes(files[0].read_bytes())
    names, printed = use("image_bands", folder)
    assert len(printed) == 1
    if numbers:
        assert [names["predict"](file) for file in files] == pytest.approx([float(r["predicted"]) for r in rows], rel=1e-3)
    else:
        assert [names["predict"](file) for file in files] == [r["predicted"] for r in rows]


def test_turned_and_deep_images(tmp_path):
    from trainer.data import rasters
    from trainer.tests.zoo.instruments import colours16, levels

    deep = levels(1, (24, 24, 3), 0, 900, numpy.uint16)
    (tmp_path / "deep.png").write_bytes(colours16(deep))
    turned = Image.fromarray(levels(2, (24, 12, 3), 0, 255, numpy.uint8))
    turned.getexif()[274] = 6
    turned.save(tmp_path / "turned.png", exif=turned.getexif())
    for name in ("image_bands", "baseline_image"):
        tree = ast.parse(SNIPPETS[name].read_text())
        parts = [part for part in tree.body if isinstance(part, ast.Import | ast.ImportFrom | ast.FunctionDef)]
        parts = [part for part in parts if getattr(part, "module", "") not in ("transformers", "safetensors.numpy")]
        names: dict = {"size": (12, 24), "side": 24}
        exec(compile(ast.Module(parts, []), name, "exec"), names)
        described = {"bands": 3, "dtype": "uint16", "low": [0] * 3, "high": [1000] * 3}
        names |= {"config": described, "encoder": described, "size": (24, 24)}
        assert abs(names["read"](tmp_path / "deep.png") - deep * 0.255).max() <= 0.5
        plain = {"clear": rasters.GREY}
        names |= {"config": plain, "encoder": plain, "size": (24, 12), "side": 24}
        expected = rasters.seen(tmp_path / "turned.png").resize((24, 12) if name == "image_bands" else (24, 24), Image.Resampling.BILINEAR)
        assert (names["read"](tmp_path / "turned.png") == numpy.asarray(expected)).all()


def test_numbers_from_images(train, use):
    pictures = squares()
    listed = "file,height\n" + "".join(f"{name},{i * 1.5 + 10}\n" for i, name in enumerate(pictures))
    folder, result, rows = train({**pictures, "heights.csv": listed}, epochs=1)
    files = [folder.parent / "inputs" / r["content"] for r in rows]
    (folder / "a picture of yours.png").write_bytes(files[0].read_bytes())
    names, printed = use("image_regression", folder)
    assert len(printed) == 1
    assert [names["predict"](file) for file in files] == pytest.approx([float(r["predicted"]) for r in rows], rel=1e-3)
    names, _ = use("baseline_image", folder)
    errors = [abs(names["predict"](file) - float(r["label"])) for file, r in zip(files, rows, strict=True)]
    assert sum(errors) / len(errors) == pytest.approx(simple_score(result, "mae"), rel=1e-3)


def test_tables(train, use):
    folder, result, rows = train({"flowers.csv": flowers()})
    (folder / "a table of yours.csv").write_text(flowers())  # with empty cells
    names, printed = use("table", folder)
    assert len(printed) == 150
    assert [names["predict"](r["cells"]) for r in rows] == [r["predicted"] for r in rows]
    names, printed = use("baseline_table", folder)
    assert len(printed) == 150
    assert accuracy(rows, (names["predict"](r["cells"]) for r in rows)) == pytest.approx(simple_score(result, "accuracy"))


def test_numbers_from_tables(train, use):
    folder, result, rows = train({"fields.csv": yields()}, epochs=2)
    (folder / "a table of yours.csv").write_text(yields())
    names, _ = use("table", folder)
    assert [names["predict"](r["cells"]) for r in rows] == pytest.approx([float(r["predicted"]) for r in rows], rel=1e-4)
    names, _ = use("baseline_table", folder)
    errors = [abs(names["predict"](r["cells"]) - float(r["label"])) for r in rows]
    assert sum(errors) / len(errors) == pytest.approx(simple_score(result, "mae"), rel=1e-3)


def test_tables_with_dates_texts_names_and_lists(train, use):
    folder, result, rows = train({"visits.csv": visits(False)}, label_column="outcome")
    assert result["model"]["base"] == "mlp" and {"visited", "town"} <= set(result["model"]["columns"])
    assert result["usage"]["snippet"] == "table/columns"
    (folder / "a table of yours.csv").write_text(visits(False))
    names, printed = use("columns", folder)
    assert len(printed) == 420
    assert [names["predict"](r["cells"]) for r in rows] == [r["predicted"] for r in rows]
    names, _ = use("baseline_table", folder)
    assert names["predict"](rows[0]["cells"]) is not None


@pytest.mark.parametrize("sort", ["date", "text", "list", "name"])
def test_the_lines_for_tables_read_columns_as_the_model_does(sort):
    cells = {
        "date": [f"{i % 28 + 1:02}.{i % 12 + 1:02}.{2001 + i % 19} {i % 24}:05" for i in range(99)] + ["", "9999-12-31", "31.02.2001", "1 mai 2004"],
        "text": [f"{'dry' if i % 2 else 'wet'} ground, no. {i % 5}" for i in range(60)] + ["", "UNSEEN", "dry dry ground"],
        "list": ["wool; silk", "tin", "wool;tin"] * 20 + ["", "[silk]; other"],
        "name": [f"town {i % 20}" for i in range(80)] + ["", "elsewhere"],
    }[sort]
    part = parts.wide(parts.learn(sort, cells))
    tree = ast.parse(SNIPPETS["columns"].read_text())
    patterns = {"unknown", "missing", "months", "name_of_month", "date", "clock", "period", "word"}
    body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)]
    body += [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in patterns]
    names: dict = {}
    exec(compile(ast.Module(body, []), "columns", "exec"), names)
    described = {"name": "c", "type": sort, **part.described()}
    found = [[float(v) for v in names["numbers"](cell, described)] for _, cell in (next(names["read"]({"c": c}, [described])) for c in cells)]
    assert numpy.array_equal(numpy.asarray(found), part.values([c.strip() for c in cells]), equal_nan=True), "to the last bit"


def test_tagged_words(make_run, use):
    spec = make_run({"train.conll": conll()}, epochs=8, learning_rate=0.003, model="bert-tiny")
    assert run(str(spec), "local") == 0
    names, printed = use("tokens", spec.parent / "out")
    assert printed[0] == "a text of yours"
    found = names["find"]("Anna Smith likes Rome in 3 .")
    assert [(e["entity_group"], e["start"], e["end"]) for e in found] == [("PER", 0, 10), ("LOC", 17, 21)]
