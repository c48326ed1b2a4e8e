"""Tagged words in lines and lists, and several labels in a cell: which files are read so, and which are not."""

import json

import pytest

from trainer.data.formats.table import Table
from trainer.kinds.rows import label_sets as labels
from trainer.kinds.tokens import forms


def lines(*sentences: str) -> str:
    return "\n".join(s.replace("|", "\n") + "\n" for s in sentences)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(lines("a O|b B-X", "c O"), [("a", "b"), ("c",)], id="blanks"),
        pytest.param(lines("a\tO|b\tB-X", "c\tO"), [("a", "b"), ("c",)], id="tabs"),
        pytest.param(lines("# id 1|a\tO|b\tB-X", "# id 2 = x y|c\tO"), [("a", "b"), ("c",)], id="comments between tabs"),
        pytest.param(lines("# O|b B-X", "c O"), [("#", "b"), ("c",)], id="a sign is a word"),
        pytest.param("-DOCSTART- -X- O\n" + lines("a x O|b x B-X", "c x O"), [("a", "b"), ("c",)], id="the beginning of a document"),
        pytest.param("\n\n" + lines("a O|b B-X", "", "c O"), [("a", "b"), ("c",)], id="many empty lines"),
        pytest.param("a O\nb B-X\n\nc O", [("a", "b"), ("c",)], id="no end of the last line"),
        pytest.param(lines("a O|b NOUN", "c O"), [("a", "b"), ("c",)], id="tags of another kind"),
        pytest.param(lines("a O|b B-X"), None, id="one sentence"),
        pytest.param(lines("a O", "b B-X"), None, id="sentences of one word"),
        pytest.param(lines("a B-X|b B-X", "c B-X"), None, id="no word outside"),
        pytest.param(lines("a O|b x B-X", "c O"), None, id="other widths"),
        pytest.param(lines("a 1 2 3 O|b 1 2 3 O", "c 1 2 3 O"), None, id="five columns"),
        pytest.param(lines("a b\tO|c\tO", "d\tO"), None, id="words with blanks"),
        pytest.param(lines("a|b", "c"), None, id="no tags"),
        pytest.param("", None, id="empty"),
    ],
)
def test_words_in_lines(text, words):
    found = forms.conll(text, any_tags=False)
    assert (None if found is None else [s.words for s in found.sentences]) == words


def test_sentences_know_their_line_and_their_tags():
    found = forms.conll(lines("a x O|b x B-X", "c x O"))
    assert [(s.row, s.tags) for s in found.sentences] == [(1, ["O", "B-X"]), (4, ["O"])]
    assert (found.form, found.columns, found.label) == ("a word in each line, with its tag in column 3", ("column 1",), "column 3")


def test_words_to_predict_need_no_tag():
    found = forms.conll(lines("a|b", "c"), untagged=True)
    assert ([(s.words, s.tags) for s in found.sentences], found.columns) == ([(("a", "b"), None), (("c",), None)], ("word",))
    assert forms.conll(lines("a B-X|b B-X", "c B-X"), untagged=True).sentences[0].tags == ["B-X", "B-X"]


@pytest.mark.parametrize(("tags", "found"), [(49, True), (50, False)])
def test_very_many_tags_of_another_kind_are_no_tags(tags, found):
    text = lines("w O|w2 O", *(f"w T{i}|v O" for i in range(tags)))
    assert (forms.conll(text, any_tags=False) is not None) == found
    assert forms.conll(text) is not None, "where the task asks for tags"


def test_a_very_long_sentence_is_cut(monkeypatch):
    monkeypatch.setattr(forms, "MAX_WORDS", 2)
    found = forms.conll(lines("a O|b B-X|c O", "d O"))
    assert (found.sentences[0].words, found.sentences[0].tags) == (("a", "b"), ["O", "B-X"])
    read = Table("a", ["tokens", "tags"], [(1, ['["a", "b", "c"]', '["O", "O", "B-X"]'])])
    assert forms.table(read).sentences == [forms.Sentence(1, ("a", "b"), ["O", "O"])]


@pytest.mark.parametrize(
    ("rows", "words", "bad"),
    [
        ([(["a", "b"], ["O", "X"])], [("a", "b")], 0),
        ([(["a", "b"], ["O", "X"]), (["a"], ["O", "O"])], [("a", "b")], 1),
        ([(["a", "b"], ["O", "X"]), (["a"], ["O", "O"]), ([], [])], None, 0),
        ([(["a", "b"], ["O", "X"]), (["a"], [])], [("a", "b"), ("a",)], 0),
        ([(["a"], ["O"])], None, 0),
        ([([1, 2], [0, 1])], [("1", "2")], 0),
        ([("a b", ["O", "X"])], None, 0),
    ],
    ids=["lists", "one that does not fit", "most do not fit", "one without tags", "one word each", "numbers", "a text"],
)
def test_lists_of_words_and_tags(rows, words, bad):
    found = forms.table(Table("a", ["Tokens", "ner_tags"], [(i, [json.dumps(a), json.dumps(b)]) for i, (a, b) in enumerate(rows, 1)]))
    assert (None if found is None else [s.words for s in found.sentences]) == words
    assert found is None or (found.bad, found.columns, found.label) == (bad, ("Tokens",), "ner_tags")


def test_tags_have_no_blanks_and_are_not_endless():
    read = Table("a", ["tokens", "tags"], [(1, [json.dumps(["a", "b", "c", "d"]), json.dumps(["B-a b", "", 3, "x" * 200])])])
    assert forms.table(read).sentences[0].tags == ["B-a_b", "O", "3", "x" * 100]


@pytest.mark.parametrize(
    ("cells", "separator", "targets"),
    [
        (["b; a", "", " ", "(none)", "a;a", "[]"], ";", ["a; b", "", "", "(none)", "a", "(none)"]),
        (["b|a", '["x|y"]'], "|", ["a | b", "x y"]),
        (["10,9"], ",", ["9, 10"]),
    ],
    ids=["semicolons", "bars", "in natural order"],
)
def test_the_targets_of_a_column(cells, separator, targets):
    read = Table("a", ["labels"], [(i, [c]) for i, c in enumerate(cells)])
    assert labels.Form(("labels",), separator, "").targets(read) == targets


def test_the_targets_of_columns_of_zeros_and_ones():
    rows = [["1", "0"], ["0", "0"], ["", "1"], ["TRUE", "yes"], ["1.0", " 1 "], ["no", "False"]]
    form = labels.Form(("b", "a "), ";", "")
    assert form.targets(Table("t", ["b", "a "], list(enumerate(rows)))) == ["b", "(none)", "", "a; b", "a; b", "(none)"]
    assert (form.name, labels.Form(("x",), ";", "").name) == ("b, a ", "x")


@pytest.mark.parametrize(
    ("found", "asked", "yes"),
    [
        (["ab", "a", "b", "bc", "c", "ac"], False, True),
        (["ab"] * 6, False, False),  # always together: one label with a separator in it
        (["a", "b"] * 5, False, False),
        (["a", "b"] * 50 + ["ab", "bc", "c", "c"], False, False),  # too few rows with several
        (["a", "b"] * 50 + ["ab", "bc", "c", "c"], True, True),
        (["ab", "cd", "ac", "bd"], False, False),  # labels hardly repeat
        (["a", "ab", "abc"] * 6, False, False),  # one label in three comes in one combination
        (["a", "ab", "abc"] * 6, True, True),
        (["ab"] * 6, True, False),
        ([], True, False),
    ],
    ids=[
        "combined",
        "always together",
        "one each",
        "few",
        "few, as requested",
        "hardly repeated",
        "nested",
        "nested, as requested",
        "always together, as requested",
        "none",
    ],
)
def test_labels_come_together_in_several_combinations(found, asked, yes):
    assert labels._combine([tuple(f) for f in found], asked) is yes


@pytest.mark.parametrize(("label", "yes"), [("x" * 60, True), ("x" * 61, False), ("a b c d", True), ("a b c d e", False)])
def test_labels_are_short(label, yes):
    assert labels._combine([(label, "a"), (label,), ("a", "b"), ("b",), (label, "b"), ("a",), ("b", label)], False) is yes
