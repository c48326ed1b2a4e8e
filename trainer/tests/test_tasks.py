"""Every task from files to a model, and the model used without our code: its answers are those of predictions.csv."""

import json

import numpy
import pytest
from conftest import small_reviews
from PIL import Image
from result_checks import check_success, predictions, setting
from small_datasets import flowers, in_folders, png, prices, squares, table, yields

from trainer.run import run


def trained(spec, schemas) -> dict:
    assert run(str(spec), "local") == 0
    return check_success(spec.parent, schemas)


def test_a_text_classifier_answers_the_same_in_a_pipeline(make_run, schemas):
    from transformers import pipeline

    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", epochs=2)
    result = trained(spec, schemas)
    assert result["task"] == "text-classification"
    rows = predictions(spec.parent)
    classify = pipeline("text-classification", model=str(spec.parent / "out" / "model"), device=-1)
    texts = [_review(spec, row) for row in rows]
    for row, said in zip(rows, classify(texts, truncation=True), strict=True):
        assert said["label"] == row["predicted"]
        assert said["score"] == pytest.approx(float(row["confidence"]), abs=2e-3)


def _review(spec, row: dict) -> str:
    import csv

    with open(spec.parent / "inputs" / row["file"], newline="") as f:
        return list(csv.reader(f))[int(row["row"]) - 1][1]


def test_a_text_regression_answers_in_the_unit_of_the_data(make_run, schemas):
    from transformers import pipeline

    spec = make_run({"ads.csv": prices()}, model="bert-tiny", label_column="price", epochs=6)
    result = trained(spec, schemas)
    assert result["task"] == "text-regression"
    assert result["data"]["target"]["max"] > 8000
    assert result["metrics"]["test"]["r2"]["value"] > 0.3
    answer = pipeline("text-classification", model=str(spec.parent / "out" / "model"), device=-1)
    rows = predictions(spec.parent)
    for row, said in zip(rows, answer([r["content"] for r in rows], truncation=True, function_to_apply="none"), strict=True):
        assert said["score"] == pytest.approx(float(row["predicted"]), rel=1e-3)


def test_folders_of_images_are_classes_and_the_model_works_with_its_own_processor_file(make_run, schemas):
    import torch
    from transformers import AutoModelForImageClassification

    spec = make_run(in_folders(squares()), epochs=8)
    result = trained(spec, schemas)
    assert (result["task"], result["model"]["labels"], result["data"]["label_column"]) == ("image-classification", ["left", "right"], "")
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.9
    assert any("image" in sample for sample in result["data"]["samples"])
    folder = spec.parent / "out" / "model"
    wants = json.loads((folder / "preprocessor_config.json").read_text())
    model = AutoModelForImageClassification.from_pretrained(folder).eval()
    for row in predictions(spec.parent):
        with Image.open(spec.parent / "inputs" / row["file"]) as image:
            size = (wants["size"]["width"], wants["size"]["height"])
            pixels = numpy.asarray(image.convert("RGB").resize(size, wants["resample"])) * wants["rescale_factor"]
        values = (pixels - numpy.asarray(wants["image_mean"])) / numpy.asarray(wants["image_std"])
        with torch.inference_mode():
            sure = model(torch.tensor(values.transpose(2, 0, 1)[None], dtype=torch.float32)).logits.softmax(-1)[0]
        assert model.config.id2label[int(sure.argmax())] == row["predicted"]
        assert float(sure.max()) == pytest.approx(float(row["confidence"]), abs=2e-3)


def test_a_table_can_hold_the_labels_of_images(make_run, schemas):
    pictures = squares(40)
    listed = table(["image", "side"], [[f"pictures/{name}", name.split("-")[0]] for name in pictures])
    spec = make_run({"labels.csv": listed, **{f"pictures/{n}": d for n, d in pictures.items()}}, epochs=2)
    result = trained(spec, schemas)
    assert (result["task"], result["data"]["label_column"], result["model"]["labels"]) == ("image-classification", "side", ["left", "right"])
    assert {row["content"] for row in predictions(spec.parent)} <= {f"pictures/{name}" for name in pictures}


def use_table_model(folder, records: list[dict]) -> numpy.ndarray:
    """What anybody can write to use a table model: its outputs for rows given as column -> cell."""
    from safetensors.numpy import load_file

    config, weights = json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors")
    parts = []
    for c in config["columns"]:
        cells = [r[c["name"]] for r in records]
        if c["type"] == "category":
            parts.append([[float(cell == known) for known in c["categories"]] for cell in cells])
        else:
            parts.append([[(float(cell or c["mean"]) - c["mean"]) / c["std"]] for cell in cells])
    values = numpy.concatenate([numpy.asarray(p) for p in parts], axis=1).clip(-10, 10)
    for i in range(last := len(config["layers"]) - 2):
        values = numpy.maximum(values @ weights[f"layers.{i}.weight"].T + weights[f"layers.{i}.bias"], 0)
    return values @ weights[f"layers.{last}.weight"].T + weights[f"layers.{last}.bias"]


def records_of(text: str, rows: list[dict]) -> list[dict]:
    import csv

    lines = list(csv.DictReader(text.splitlines()))
    return [lines[int(r["row"]) - 2] for r in rows]  # rows count from 1, with the header


def test_a_table_classifier_needs_ten_lines_of_numpy(make_run, schemas):
    spec = make_run({"flowers.csv": flowers()}, model="mlp")
    result = trained(spec, schemas)
    assert (result["task"], result["model"]["columns"]) == ("tabular-classification", ["length", "width", "colour"])
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.9
    rows = predictions(spec.parent)
    logits = use_table_model(spec.parent / "out" / "model", records_of(flowers(), rows))
    shares = numpy.exp(logits) / numpy.exp(logits).sum(axis=1, keepdims=True)
    assert [["a", "b", "c"][i] for i in shares.argmax(axis=1)] == [r["predicted"] for r in rows]
    assert shares.max(axis=1) == pytest.approx([float(r["confidence"]) for r in rows], abs=1e-3)


def test_a_table_regression_answers_in_the_unit_of_the_data(make_run, schemas):
    spec = make_run({"fields.csv": yields()}, model="mlp")
    result = trained(spec, schemas)
    assert result["task"] == "tabular-regression"
    assert result["metrics"]["test"]["r2"]["value"] >= 0.9
    rows = predictions(spec.parent)
    answers = use_table_model(spec.parent / "out" / "model", records_of(yields(), rows))[:, 0]
    assert answers == pytest.approx([float(r["predicted"]) for r in rows], rel=1e-4)


def test_breast_cancer_is_classified_with_default_settings(make_run, schemas):
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    rows = [[*values, data.target_names[t]] for values, t in zip(data.data, data.target, strict=True)]
    result = trained(make_run({"cancer.csv": table([*data.feature_names, "diagnosis"], rows)}), schemas)
    assert result["task"] == "tabular-classification"
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.94


def test_digits_are_classified_with_default_settings(make_run, schemas):
    from sklearn.datasets import load_digits

    data = load_digits()
    pictures = {f"{t}/{i:04d}.png": png((p * 15).astype(numpy.uint8)) for i, (p, t) in enumerate(zip(data.images, data.target, strict=True))}
    result = trained(make_run(pictures), schemas)
    assert result["model"]["labels"] == [str(d) for d in range(10)]
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.97
    assert setting(result, "image_size") == (32, "chosen")
