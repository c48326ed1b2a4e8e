"""Names of files and columns: what they say about the content, and what is never data."""

import pytest
from hypothesis import given, settings, strategies as st

from trainer.data import names


@pytest.mark.parametrize(
    ("name", "extension", "compression"),
    [
        ("a.csv", "csv", ""),
        ("A.CSV", "csv", ""),
        ("a.csv.gz", "csv", "gz"),
        ("a.tsv.BZ2", "tsv", "bz2"),
        ("x/y.z/a.jsonl.zst", "jsonl", "zst"),
        ("a.edges.xz", "edges", "xz"),
        ("a.tar.gz", "gz", ""),
        ("a.gz", "gz", ""),
        ("a.png.gz", "gz", ""),
        ("a.gz.csv", "csv", ""),
        ("a", "", ""),
        ("", "", ""),
        (".csv", "", ""),
        ("a.", "", ""),
        ("folder.csv/readme", "", ""),
        ("a.csv.gz.gz", "gz", ""),
    ],
)
def test_the_ending_of_a_name_and_its_compression(name, extension, compression):
    assert (names.extension(name), names.compression(name)) == (extension, compression)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.tar", "an unsupported archive format: use ZIP"),
        ("a.tar.gz", "an unsupported archive format: use ZIP"),
        ("a.rar", "an unsupported archive format: use ZIP"),
        ("a.svg", "an unsupported image format: use PNG or JPEG"),
        ("a.cr2", "an unsupported image format: use PNG or JPEG"),
        ("a.pkl", "weights or pickled objects, which are never loaded"),
        ("a.bin", "binary data of a form that its name does not tell: save it as CSV, or as images"),
        ("cube.xyz", "not a table, text or image by its file extension"),
        ("a.joblib", "weights or pickled objects, which are never loaded"),
        ("a.pdf", "a document: save its table as CSV, or its text as TXT"),
        ("a.sav", 'an SPSS file: save it as CSV in SPSS, or with pandas.read_spss(file).to_csv("table.csv") in Python'),
        ("a.xyz1", "not a table, text or image by its file extension"),
    ],
)
def test_the_reason_that_a_file_is_not_read(name, why):
    assert names.not_read(name) == why


@pytest.mark.parametrize(
    ("name", "hidden"),
    [(".a.csv", True), ("x/.git/a.csv", True), ("__MACOSX/a.csv", True), ("a.csv", False), ("a/b.c/d.csv", False), ("my__MACOSX/a", False)],
)
def test_hidden_files(name, hidden):
    assert names.is_hidden(name) is hidden


@pytest.mark.parametrize(
    ("name", "identifies"),
    [
        ("ID", True), (" key ", True), ("row_number_id", True), ("user id", True), ("user-id", True), ("userid", False), ("Unnamed: 3", True),
        ("column 1", True), ("column 2", False), ("no", True), ("nr", True), ("", False), ("ident", False), ("grid", False),
    ],
)  # fmt: skip
def test_a_column_is_an_identifier_by_its_name(name, identifies):
    assert names.is_identifier(name) is identifies


@pytest.mark.parametrize(
    ("files", "folders"),
    [
        (["train.bin"], {""}),
        (["d/train_01.bin", "d/val.bin", "e/val.bin"], {"d"}),
        (["weights.bin"], set()),
        (["train/weights.bin"], set()),
        (["train.txt"], set()),
    ],
)
def test_the_folders_of_tokens(files, folders):
    assert names.token_folders(files) == folders


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("d/train.bin", True), ("d/val.bin", True), ("d/meta.pkl", True), ("d/Tokenizer.json", True), ("d/weights.bin", False), ("d/a.txt", False),
        ("e/train.bin", False), ("train.bin", False), ("d/sub/train.bin", False), ("d/meta.json", False),
    ],
)  # fmt: skip
def test_only_files_beside_tokens_are_tokens(name, tokens):
    assert names.is_token_file(name, {"d"}) is tokens


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("testing.csv", "test"), ("TEST.csv", "test"), ("my_testset.csv", "test"), ("test-data.csv", "test"), ("tests.csv", None),
        ("attest.csv", None), ("test2.csv", "test"), ("valid.csv", "validation"), ("validate.csv", None), ("dev.tsv", "validation"),
        ("development.tsv", "validation"), ("device.csv", None), ("train.csv", "train"), ("training.csv", "train"), ("trainer.csv", None),
        ("restrain.csv", None), ("train/dev.csv", "validation"), ("test/x/data.csv", "test"), ("a/test/train/x.csv", "train"), ("data.csv", None),
        ("train.test.csv", "test"), ("", None), ("val_train.csv", "validation"),
    ],
)  # fmt: skip
def test_the_split_that_a_name_stands_for(name, split):
    assert names.split_of(name) == split


@pytest.mark.parametrize(
    ("name", "said"),
    [("price", 'Column "price"'), ("column 2", "Column 2"), ("column 12", "Column 12"), ("column x", 'Column "column x"'), ("", 'Column ""')],
)
def test_a_column_at_the_beginning_of_a_sentence(name, said):
    assert names.column(name) == said


@pytest.mark.parametrize(
    ("given", "sorted_names"),
    [
        (["a10", "a9", "a1"], ["a1", "a9", "a10"]),
        (["b", "1", "a", "10"], ["1", "10", "a", "b"]),
        (["1.10", "1.9"], ["1.9", "1.10"]),
        (["a", ""], ["", "a"]),
        (["٣", "2"], ["2", "٣"]),
        (["²", "1"], ["1", "²"]),
    ],
)
def test_names_are_sorted_by_their_numbers(given, sorted_names):
    assert sorted(given, key=names.natural) == sorted_names


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=6))
def test_any_names_can_be_sorted_and_looked_at(given_names):
    assert sorted(sorted(given_names, key=names.natural, reverse=True), key=names.natural) == sorted(sorted(given_names), key=names.natural)
    for name in given_names:
        assert names.split_of(name) in (None, "train", "validation", "test")
        assert names.not_read(name)
        assert names.compression(name) in ("", *names.COMPRESSED)
        assert not (names.compression(name) and names.extension(name) in names.COMPRESSED)
        assert isinstance(names.is_of_system(name), bool)
