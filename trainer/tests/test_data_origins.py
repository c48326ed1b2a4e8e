"""Runs that read several datasets: which rows stay together, and what is said where they cannot."""

import io
from dataclasses import replace

import loading
import pytest
from PIL import Image
from test_data_load import spec_of, table

from trainer.core.example import SPLITS
from trainer.data import origins
from trainer.errors import UserError
from trainer.run_folder.events import Events


@pytest.fixture
def load(tmp_path):
    """load(datasets, **settings) reads datasets: their names to their files; one called "own" is that with which the run began."""

    def call(datasets: dict[str, dict], **settings):
        named = {(f"{name}/{file}" if name != "own" else file): (name, body) for name, files in datasets.items() for file, body in files.items()}
        spec = spec_of(tmp_path, {file: body for file, (_, body) in named.items()})
        spec.inputs = tuple(replace(i, dataset=named[i.name][0]) for i in spec.inputs)
        call.events = Events(tmp_path / "events.jsonl", 1)
        return loading.load(spec, call.events, datasets="collection:5e0000000000000000000001", **settings)

    return call


def rows(start: int, label=lambda i: "yes" if i % 2 else "no") -> str:
    return table(["text", "label"], [(f"some words of the row {start + i} that differ {(start + i) ** 3}", label(i)) for i in range(6)])


def captures(count: int, **more) -> dict[str, dict]:
    return {f"plot {n}": {"train rows.csv": rows(100 * n, **more)} for n in range(count)}


def places(data) -> dict[str, set[str]]:
    return {name: {e.file.split("/")[0] for e in data.splits[name]} for name in SPLITS}


def codes(data) -> set[str]:
    return {c["code"] for c in data.checks if c["level"] == "warning"}


@pytest.mark.parametrize("split", ["auto", "group"])
def test_the_rows_of_one_dataset_stay_in_one_split(load, split):
    data = load(captures(20), split=split, validation_fraction=0.2, test_fraction=0.2)
    found = places(data)
    assert found["test"] and found["validation"]
    assert not found["train"] & found["test"] and not found["train"] & found["validation"] and not found["test"] & found["validation"]
    assert sum(map(len, found.values())) == 20
    assert origins.CODE not in codes(data)


def test_few_datasets_are_split_by_rows_with_a_warning(load):
    data = load(captures(4), test_fraction=0.2)
    assert places(data)["test"] & places(data)["train"]
    assert origins.CODE in codes(data)


def test_few_datasets_stay_whole_where_the_user_asks(load):
    found = places(load(captures(6), split="group", test_fraction=0.2))
    assert found["test"] and not found["train"] & found["test"]


def test_the_user_may_split_the_rows_of_datasets_at_random(load):
    data = load(captures(20), split="random", test_fraction=0.3)
    assert places(data)["test"] & places(data)["train"]


def test_two_datasets_cannot_be_held_out_whole(load):
    with pytest.raises(UserError) as fault:
        load(captures(2), split="group")
    assert fault.value.code == "too_few_groups"


def test_a_label_for_each_dataset_is_no_question(load):
    datasets = {f"plot {n}": {"rows.csv": rows(100 * n, label=lambda i, n=n: f"label {n}")} for n in range(12)}
    with pytest.raises(UserError) as fault:
        load(datasets)
    assert fault.value.code == "label_is_dataset"
    assert len(load(datasets, split="random").labels) == 12


def test_pictures_in_the_roots_of_datasets_are_not_classes_by_their_datasets(load):
    def picture(n: int) -> bytes:
        out = io.BytesIO()
        Image.new("RGB", (8, 8), (n % 256, n * 7 % 256, n * 13 % 256)).save(out, "PNG")
        return out.getvalue()

    with pytest.raises(UserError):
        load({f"plot {n}": {f"{i}.png": picture(10 * n + i) for i in range(3)} for n in range(12)})


def test_the_own_dataset_is_one_of_them():
    found = origins.of(loading_inputs({"a.csv": "own", "plot 1/b.csv": "plot 1", "plot 2/c.zip": "plot 2"}))
    assert [found.of(f) for f in ("a.csv", "plot 1/b.csv", "plot 2/c/inner/d.csv", "plot 3/e.csv")] == ["own", "plot 1", "plot 2", "own"]


def test_a_run_of_one_dataset_has_no_origins():
    assert origins.of(loading_inputs({"a.csv": "", "plot 1/b.csv": ""})) == origins.Origins()


def loading_inputs(names: dict[str, str]):
    from trainer.core.input import Input

    return [Input(name, None, 0, "", dataset=dataset) for name, dataset in names.items()]
