"""Files that metadata describe: a label for each table, and several columns for images, texts and tables."""

import collections

import pytest

from trainer.errors import UserError
from trainer.tests.test_data_load import load, small_images, table  # noqa: F401 (load is a fixture)

KEYS = "metadata.site, metadata.species, metadata.height"


def described(names, species=lambda i: ("wren", "robin")[i % 2], height=lambda i: f"{i * 7 % 90}.5") -> dict:
    return {name: (("site", "abc"[i % 3]), ("species", species(i)), ("height", height(i))) for i, name in enumerate(names)}


def plots(count: int, rows: int = 12) -> dict:
    """Tables of measures, one for each capture."""
    cells = {n: [[f"{(i * 37 + n) % 90}.5", f"{i * 11 % 70 + n}.1"] for i in range(rows)] for n in range(count)}
    return {f"plot {n}.csv": table(["depth", "flow"], of) for n, of in cells.items()}


def test_a_column_of_several_is_the_label_of_pictures(load):  # noqa: F811
    files = small_images([f"{i}.png" for i in range(62)])
    found = load(files, columns=described(list(files)[:60]), label_from=KEYS, label_column="species")
    assert (found.task, found.labels, found.label_column, found.columns) == ("image-classification", ("robin", "wren"), "species", ())
    rows = [e for part in found.splits.values() for e in part]
    assert {e.file for e in rows} == set(list(files)[:60])
    assert all(e.content.is_file() and e.row == 0 and e.target == ("wren", "robin")[int(e.file[:-4]) % 2] for e in rows)
    assert "it has none of metadata.site" in (load.folder / "events.jsonl").read_text()


def test_a_number_of_several_columns_is_predicted_from_pictures(load):  # noqa: F811
    files = small_images([f"{i}.png" for i in range(60)])
    found = load(files, columns=described(files), label_from=KEYS, label_column="height", task="image-regression")
    assert (found.task, found.label_column) == ("image-regression", "height")


def test_without_a_label_column_the_last_of_several_that_fit_is_used_and_says_so(load):  # noqa: F811
    files = small_images([f"{i}.png" for i in range(60)])
    columns = {name: (("site", "abc"[i % 3]), ("species", "xy"[i % 2])) for i, name in enumerate(files)}
    assert load(files, columns=columns, label_from="metadata.site, metadata.species").label_column == "species"
    assert "If the label is site, set label_column" in (load.folder / "events.jsonl").read_text()


def test_columns_of_zero_and_one_are_several_labels_of_pictures(load):  # noqa: F811
    files = small_images([f"{i}.png" for i in range(80)])
    columns = {name: (("red", str(i % 2)), ("blue", str(i // 2 % 2)), ("green", str(i % 3 % 2))) for i, name in enumerate(files)}
    found = load(files, columns=columns, label_from="metadata.red, metadata.blue, metadata.green")
    assert found.task == "image-multi-label-classification"


def test_a_column_of_several_is_the_label_of_texts_in_folders_of_splits(load):  # noqa: F811
    files = {f"{('train', 'test')[i % 3 == 0]}/{i}.txt": f"The bird number {i} sings here in the garden of day {i}" for i in range(60)}
    found = load(files, columns=described(files), label_from=KEYS, label_column="species")
    assert (found.task, found.columns, found.labels) == ("text-classification", ("text",), ("robin", "wren"))
    assert len(found.splits["test"]) == 20
    assert all(e.content.startswith("The bird number") for e in found.splits["train"])


def test_the_label_of_a_table_is_that_of_its_rows_which_stay_together(load):  # noqa: F811
    files = plots(24)
    found = load(files, labels={name: ("wheat", "maize")[i % 2] for i, name in enumerate(files)}, label_from="metadata.genotype")
    assert (found.task, found.label_column, found.labels) == ("tabular-classification", "genotype", ("maize", "wheat"))
    assert found.columns == ("depth", "flow")
    splits = collections.defaultdict(set)
    for name, rows in found.splits.items():
        for e in rows:
            splits[e.file].add(name)
    assert all(len(of) == 1 for of in splits.values())
    assert {name for of in splits.values() for name in of} == {"train", "validation", "test"}
    assert "few_files" not in [c["code"] for c in found.checks]


def test_metadata_of_tables_are_features_beside_a_label_of_their_own(load):  # noqa: F811
    files = {n: t.replace("flow", "class").replace(".1", "") for n, t in plots(6, 40).items()}
    columns = {name: (("site", "abc"[i % 3]), ("height", str(i * 1.5 + 2))) for i, name in enumerate(files)}
    found = load(files, columns=columns, label_from="metadata.site, metadata.height", label_column="class", task="tabular-regression")
    assert found.columns == ("depth", "site", "height")
    assert found.label_column == "class"


def test_a_key_with_the_name_of_a_column_has_a_name_of_its_own(load):  # noqa: F811
    files = plots(24)
    labels = {name: ("wheat", "maize")[i % 2] for i, name in enumerate(files)}
    found = load(files, labels=labels, label_from="metadata.Flow")
    assert (found.label_column, found.columns) == ("metadata.Flow", ("depth", "flow"))


def test_a_label_for_each_table_alone_is_refused(load):  # noqa: F811
    files = plots(3, 40)
    labels = {name: "xyz"[i] for i, name in enumerate(files)}
    with pytest.raises(UserError) as e:
        load(files, labels=labels, label_from="metadata.genotype")
    assert e.value.code == "label_is_file"
    assert load(files, labels=labels, label_from="metadata.genotype", split="random").labels == ("x", "y", "z")


def test_few_tables_with_a_label_each_cause_a_warning(load):  # noqa: F811
    files = plots(8, 20)
    found = load(files, labels={name: "xy"[i % 2] for i, name in enumerate(files)}, label_from="metadata.genotype")
    assert "few_files" in [c["code"] for c in found.checks]
