"""Files that a person chose in the form: the service puts each into a folder that says what for, and the choice counts before all names."""

import random

import graph_files
import pytest
from test_data_load import archive, load as load, made, png, table

from trainer.data import names
from trainer.errors import UserError


def rows(n: int, word: str) -> str:
    return made(["review", "sentiment"], lambda i: [f"{word} review number {i}", "ab"[i % 2]], n)


def counts(data) -> dict[str, int]:
    return {name: len(examples) for name, examples in data.splits.items()}


@pytest.mark.parametrize(
    ("name", "purpose", "split", "inner"),
    [
        ("test (form)/train.csv", "test", "test", "train.csv"),
        ("train (form, My test garden, val)/test/1.jpg", "train", "train", "test/1.jpg"),
        ("data (form)/test.csv", "data", "test", "test.csv"),
        ("labels (form)/a.csv", "labels", None, "a.csv"),
        ("test/train (form)/a.csv", "", "train", "test/train (form)/a.csv"),
        ("test (former)/a.csv", "", "test", "test (former)/a.csv"),
    ],
)
def test_the_folder_of_a_chosen_file_says_what_for(name, purpose, split, inner):
    assert (names.chosen_as(name), names.split_of(name), names.in_form(name)) == (purpose, split, inner)


def test_chosen_tables_are_in_their_splits_whatever_their_names(load):
    data = load({"train (form)/test.csv": rows(40, "a"), "test (form, Other)/train.csv": rows(20, "the"), "unchosen.csv": rows(99, "no")})
    assert len(data.splits["test"]) == 20 and {e.file for e in data.splits["test"]} == {"test (form, Other)/train.csv"}
    assert counts(data)["train"] + counts(data)["validation"] == 40


def test_a_chosen_test_file_leaves_the_rest_of_the_dataset_for_training(load):
    data = load({"reviews.csv": rows(60, "a"), "test (form)/b.csv": rows(20, "the")})
    assert len(data.splits["test"]) == 20 and {e.file for e in data.splits["train"]} == {"reviews.csv"}


def test_only_the_chosen_folder_is_read(load):
    data = load({"data (form, 2024)/a.csv": rows(60, "a"), "data (form, 2024)/test.csv": rows(12, "the"), "b.csv": rows(60, "no")})
    assert set(data.files) == {"data (form, 2024)/a.csv", "data (form, 2024)/test.csv"}
    assert len(data.splits["test"]) == 12


def test_what_lies_in_a_chosen_folder_by_accident_is_no_data(load):
    data = load({"data (form, a)/a.csv": rows(60, "a"), "data (form, a)/.hidden.csv": rows(9, "x"), "data (form, a)/Thumbs.db": b"x"})
    assert data.files == ["data (form, a)/a.csv"]


def pictures(folder: str, n: int, first: int = 0) -> dict[str, bytes]:
    return {f"{folder}{label}/{i}.png": png(first + 2 * i + (label == "dogs")) for label in ("cats", "dogs") for i in range(n)}


def test_folders_of_pictures_keep_their_labels_and_get_their_split(load):
    data = load(pictures("", 20) | pictures("validation (form, Other, val)/", 5, 50) | pictures("test (form, Other, train)/", 6, 80))
    assert data.labels == ("cats", "dogs")
    assert counts(data) == {"train": 40, "validation": 10, "test": 12}


def test_an_archive_is_in_the_split_for_which_it_was_chosen(load):
    data = load({"train (form)/test.zip": archive(pictures("", 20)), "test (form)/train.zip": archive(pictures("", 6, 90))})
    assert data.labels == ("cats", "dogs") and len(data.splits["test"]) == 12


def test_the_picture_and_not_the_table_of_labels_tells_the_split(load):
    files = {f"train (form, a)/p{i}.png": png(i) for i in range(40)} | {f"test (form, b)/q{i}.png": png(100 + i) for i in range(10)}
    labels = table(["image", "label"], [[name.rpartition("/")[2], "xy"[i % 2]] for i, name in enumerate(files)])
    data = load(files | {"labels (form)/all.csv": labels})
    assert len(data.splits["test"]) == 10 and len(data.splits["train"]) + len(data.splits["validation"]) == 40


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"reviews.csv": rows(60, "a"), "test (form)/b.csv": table(["other", "columns"], [[i, i * i] for i in range(90)][:20])},
            "without the column",
        ),
        ({"reviews.csv": rows(60, "a"), "test (form)/b.csv": table(["review", "sentiment"], [[f"no label {i}", ""] for i in range(20)])}, "the test"),
        ({"test (form)/b.csv": rows(60, "a")}, "left to train on"),
        ({"reviews.csv": rows(60, "a"), "validation (form)/b.rar": b"Rar!"}, "unsupported archive"),
    ],
)
def test_a_chosen_file_that_cannot_be_used_ends_the_run(load, files, said):
    with pytest.raises(UserError, match=said) as e:
        load(files)
    assert e.value.code == "chosen_file"


def test_long_texts_are_tested_on_the_chosen_one(load):
    words = " ".join(random.Random(1).choices("the sea and wind over hills of old stone".split(), k=6000))
    data = load({"a.txt": words, "test (form)/b.txt": words[::-1]}, task="text-generation")
    assert {e.file for e in data.splits["test"]} == {"test (form)/b.txt"}
    assert {e.file for e in data.splits["train"]} == {"a.txt"}


def edges(first: int, n: int) -> str:
    chance = random.Random(first)
    return table(["source", "target"], sorted({(chance.randrange(60), chance.randrange(60)) for _ in range(n)}))


def test_edges_of_a_graph_are_tested_on_the_chosen_file(tmp_path):
    graph, _ = graph_files.read(tmp_path, {"edges.csv": edges(1, 400), "test (form)/edges.csv": edges(2, 60)})
    assert set(graph.given) == {"train", "test"}


def test_tagged_sentences_are_tested_on_the_chosen_file(load):
    def sentences(n: int, word: str) -> str:
        return "".join(f"{word}{i} O\nBerlin B-LOC\nsleeps O\n\n" for i in range(n))

    data = load({"all.conll": sentences(60, "a"), "test (form)/train.conll": sentences(12, "b")})
    assert len(data.splits["test"]) == 12


def test_settings_and_models_that_were_chosen_are_no_data(load):
    data = load(
        {"a.csv": rows(60, "a"), "settings (form, Other)/b.json": '{"epochs": 3}', "model (form)/model.zip": archive({"x.csv": rows(9, "x")})}
    )
    assert data.files == ["a.csv"]
