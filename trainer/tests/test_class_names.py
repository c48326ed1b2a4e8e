"""Files that name classes: which names they give to numbers, and that no content keeps the reader busy or breaks it."""

import pytest
from hypothesis import given, strategies as st

from trainer.core.input import Input
from trainer.kinds.rows.clues import class_names

BIRDS = {"0": "wren", "1": "robin", "2": "house sparrow"}


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """named(files, classes) is what files of these contents call the classes, and the file that does."""
    folder = tmp_path_factory.mktemp("names")

    def find(files: dict[str, str | bytes], classes=BIRDS):
        sources = []
        for number, (name, content) in enumerate(files.items()):
            file = folder / str(number)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            sources.append(Input(name, file, file.stat().st_size, ""))
        return class_names.find(sources, (), classes)

    return find


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("classes.txt", "wren\nrobin\nhouse sparrow\n"),
        ("classes.txt", "0 wren\n1 robin\n2  house   sparrow\n"),
        ("labels.csv", "name,id\nwren,0\nrobin,1\nhouse sparrow,2\n"),
        ("label_map.json", '{"wren": 0, "robin": 1, "house sparrow": 2}'),
        ("label_map.json", '{"id2label": {"0": "wren", "1": "robin", "2": "house sparrow"}}'),
        ("README.md", "---\n  class_label:\r\n    names:\r\n      '0': wren\n      '1': robin\n      '2': house sparrow\n---\n"),
    ],
)
def test_a_file_names_classes(named, name, content):
    found, file = named({name: content})
    assert file == name
    if name != "README.md":
        assert found == BIRDS


@pytest.mark.parametrize(
    "files",
    [
        {"classes.txt": "wren\nrobin\n"},
        {"classes.txt": "wren\nwren\nrobin\n"},
        {"notes.txt": "wren\nrobin\nhouse sparrow\n"},
        {"classes.txt": "wren\nrobin\nsparrow\n", "labels.txt": "robin\nwren\nsparrow\n"},
    ],
    ids=["too few", "one name twice", "another file", "two that differ"],
)
def test_nothing_is_named_where_it_is_not_certain(named, files):
    assert named(files) == ({}, "")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("classes.txt", "a" + " " * 500_000 + "b\n1 c\n2 d\n"),
        ("classes.txt", "0" + "\t" * 500_000 + "\x00\n" + "1 " * 200_000),
        ("README.md", "class_label:" + "\n" * 500_000 + "names"),
        ("README.md", "class_label:\nnames:\n" + "1:\n" * 200_000 + " " * 200_000),
        ("label_map.json", "[" * 500_000),
        ("classes.txt", "0 wren\n1 robin\n" + "2" * 5000 + " sparrow\n"),
    ],
    ids=["blanks", "tabs", "empty lines", "a long card", "brackets", "a long number"],
)
def test_hostile_contents_are_read_soon(named, name, content):
    assert named({name: content}) == ({}, "")


@given(st.sampled_from(["classes.txt", "labels.csv", "label_map.json", "README.md"]), st.binary(max_size=200) | st.text(max_size=200))
def test_any_content_names_all_classes_or_none(named, name, content):
    found, file = named({name: content if isinstance(content, bytes) else content.encode(errors="replace")})
    assert (found.keys() == BIRDS.keys() and len({*found.values()}) == len(BIRDS)) if file else not found
