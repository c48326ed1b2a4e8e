"""The forms of tagged words, their entities, and the sentences for data that cannot be used."""

import json

import pytest
from small_texts import conll, sentences
from test_data_load import load  # noqa: F401 - a fixture

from trainer.errors import UserError
from trainer.kinds.tokens import entities, forms, words


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("B-PER I-PER O B-LOC", [(0, 2, "PER"), (3, 4, "LOC")]),
        ("B-LOC B-LOC I-LOC", [(0, 1, "LOC"), (1, 3, "LOC")]),
        ("I-ORG I-LOC I-LOC", [(0, 1, "ORG"), (1, 3, "LOC")]),
        ("S-X B-X E-X S-X", [(0, 1, "X"), (1, 3, "X"), (3, 4, "X")]),
        ("E-X E-X I-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        ("PER PER O LOC", [(0, 2, "PER"), (3, 4, "LOC")]),
        ("O O", []),
    ],
)
def test_the_entities_of_tags(tags, found):
    assert entities.spans(tags.split()) == found


def test_the_scores_are_those_of_seqeval():
    """seqeval 1.2.2 gives these figures for the same tags."""
    truth = ["B-PER I-PER O B-LOC", "O B-ORG I-ORG I-ORG", "S-LOC O B-PER E-PER", "I-MISC I-MISC O O"]
    said = ["B-PER I-PER O B-ORG", "O B-ORG I-ORG O", "S-LOC B-LOC B-PER E-PER", "I-MISC B-MISC O B-PER"]
    found = entities.report([t.split() for t in truth], [s.split() for s in said], seed=1)
    overall = found["overall"]
    assert [overall[n]["value"] for n in ("precision", "recall", "f1")] == pytest.approx([1 / 3, 0.5, 0.4])
    assert [(t["type"], t["precision"]["value"], t["recall"]["value"], t["f1"]["value"], t["true"]) for t in found["types"]] == [
        ("LOC", 0.5, 0.5, 0.5, 2), ("MISC", 0, 0, 0, 1), ("ORG", 0, 0, 0, 1), ("PER", pytest.approx(2 / 3), 1, pytest.approx(0.8), 2),
    ]  # fmt: skip
    assert overall["f1"]["low"] <= 0.4 <= overall["f1"]["high"]
    assert {"true": "LOC", "predicted": "ORG", "count": 1} in found["confusion"]


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_conll_files_are_found(load, columns):  # noqa: F811
    found = load({"train.txt": conll(columns=columns)})
    assert (found.task, found.label_column) == ("token-classification", f"column {columns}")
    assert found.labels == ("B-LOC", "B-PER", "I-PER", "O")
    assert {n: len(rows) for n, rows in found.splits.items()}["train"] > 70
    why = next(d["why"] for d in load.events.decisions if d["what"] == "task")
    assert why == f"The task is token classification: train.txt has a word in each line, with its tag in column {columns}."


def lists(tag="ner_tags", tags=str) -> str:
    return "".join(json.dumps({"tokens": w, tag: list(map(tags, t))}) + "\n" for w, t in sentences())


def marked(entry, name: str = "text", mark: str = "entities") -> str:
    lines = []
    for w, _ in sentences():
        text = " ".join(w)
        person, town = len(w[0]) + len(w[1]) + 1, text.index(w[3])
        lines.append(json.dumps({name: text, mark: [entry(0, person, "PER"), entry(town, town + len(w[3]), "LOC")]}) + "\n")
    return "".join(lines)


@pytest.mark.parametrize(
    "content",
    [
        lists(), lists("tags"), marked(lambda a, b, t: [a, b, t]), marked(lambda a, b, t: [a, b, t], mark="label"),
        marked(lambda a, b, t: {"start_offset": a, "end_offset": b, "label": t}),
        marked(lambda a, b, t: {"start": a, "end": b, "label": t}, mark="spans"),
        marked(lambda a, b, t: {"start": a, "end": b, "labels": [t], "text": "x"}, mark="label"),
    ],
    ids=["lists ner_tags", "lists tags", "spaCy", "doccano", "newer doccano", "prodigy", "Label Studio"],
)  # fmt: skip
def test_json_forms_are_found(load, content):  # noqa: F811
    found = load({"all.jsonl": content})
    assert (found.task, found.labels) == ("token-classification", ("B-LOC", "B-PER", "I-PER", "O"))
    first = found.splits["train"][0]
    assert first.target.split(" ")[:4] == ["B-PER", "I-PER", "O", "B-LOC"]


def test_the_export_of_label_studio_is_read(load):  # noqa: F811
    values = [json.loads(line) for line in marked(lambda a, b, t: {"value": {"start": a, "end": b, "labels": [t]}}).splitlines()]
    found = load({"all.json": json.dumps([{"data": {"text": v["text"]}, "annotations": [{"result": v["entities"]}]} for v in values])})
    assert found.labels == ("B-LOC", "B-PER", "I-PER", "O")


def test_numbers_of_tags_have_the_names_of_the_file(load):  # noqa: F811
    from test_data_parquet_images import written

    names = ["O", "B-PER", "I-PER", "B-LOC"]
    columns = {"tokens": [w for w, _ in sentences()], "ner_tags": [[names.index(x) for x in t] for _, t in sentences()]}
    features = {"ner_tags": {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}}
    assert load({"a.parquet": written(columns, features)}).labels == ("B-LOC", "B-PER", "I-PER", "O")
    assert load({"a.parquet": written(columns)}).labels == ("1", "2", "3", "O")


def test_texts_with_labels_remain_texts(load):  # noqa: F811
    lines = "".join(json.dumps({"text": f"some words on {i}", "label": "ab"[i % 2]}) + "\n\n" for i in range(60))
    assert load({"a.jsonl": lines}).task == "text-classification"
    assert load({"a.tsv": "text\tlabel\n" + "".join(f"some words on {i}\t{'ab'[i % 2]}\n\n" for i in range(60))}).task == "text-classification"


@pytest.mark.parametrize(
    ("files", "settings", "sentence"),
    [
        ({"a.conll": conll(8)}, {}, "There are only 8 tagged sentences, which is too few to train a model"),
        (
            {"a.conll": conll().replace("B-PER", "O").replace("I-PER", "O").replace("B-LOC", "O")},
            {},
            "have the tag O, so there is nothing to predict",
        ),
        ({"a.csv": "text,label\nsome words,a\n"}, {"task": "token-classification"}, "No file of the dataset has words with a tag for each of them"),
    ],
    ids=["few", "one tag", "none"],
)
def test_data_that_cannot_be_tagged_is_refused(load, files, settings, sentence):  # noqa: F811
    with pytest.raises(UserError, match=sentence):
        load(files, **settings)


def test_rows_whose_words_and_tags_do_not_fit_are_left_out(load):  # noqa: F811
    found = load({"a.jsonl": lists() + json.dumps({"tokens": ["a", "b"], "ner_tags": ["O"]}) + "\n"})
    assert ("words and tags do not fit together", 1) in found.dropped


@pytest.mark.parametrize("spans", ["[[0, 99, 'A']]", "[[-1, 2, 'A']]", "[[2, 1, 'A']]", "[[0, 2]]", "[['a', 2, 'A']]", "[[0, 2, 7]]"])
def test_marks_outside_of_the_text_are_no_entities(spans):
    assert forms._spans(json.loads(spans.replace("'", '"')), "a short text") is None


def test_a_text_is_split_into_words_and_signs():
    assert [w for w, _, _ in words.split("Dr. O'Neil paid $3.50 \u6771\u4eac")] == [
        "Dr",
        ".",
        "O",
        "'",
        "Neil",
        "paid",
        "$",
        "3.50",
        "\u6771",
        "\u4eac",
    ]
    assert words.tagged("New York Times", [(0, 8, "LOC"), (0, 14, "ORG")])[1] == ["B-ORG", "I-ORG", "I-ORG"]
