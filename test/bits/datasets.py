"""The datasets of the runs, as name -> content. Each is a function of this checkout and a fixed seed, never of the checkout that is tested."""

import csv
import io
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "trainer" / "tests"))

import annotated_files  # noqa: E402
import language_models  # noqa: E402
import small_datasets  # noqa: E402
import small_graphs  # noqa: E402
import small_series  # noqa: E402

TOPICS = {
    "sports": "goal match team league coach".split(),
    "politics": "vote minister senate law election".split(),
    "science": "cell energy particle telescope genome".split(),
}
FILLERS = "the a of and with today people new long under about after report says".split()
NAMES, SURNAMES, TOWNS = "Anna Peter Maria John Olga Ivan".split(), "Smith Jones Mueller".split(), "Rome Paris Bonn Oslo Lima".split()


def reviews(rows: int = 400) -> dict:
    return {"reviews.csv": "".join(_review_lines()[: rows + 1])}


def noisy_reviews(rows: int = 1200) -> dict:
    """Reviews of which a quarter has a wrong label: two models together are better than each."""
    chance = random.Random(6)
    lines = [[i, text, chance.choice(["positive", "negative"]) if chance.random() < 0.5 else label] for i, text, label in _review_rows()[:rows]]
    return {"reviews.csv": small_datasets.table(["id", "review", "sentiment"], lines)}


def prices() -> dict:
    return {"prices.csv": small_datasets.prices()}


def pairs(rows: int = 120) -> dict:
    """Two texts that are about the same thing or not."""
    words = small_datasets.WORDS
    lines = [
        [f"the {words[i % 14]} was seen by people {i}", f"there was a {words[(i + 5 * (i % 2)) % 14]}", ["same", "other"][i % 2]] for i in range(rows)
    ]
    return {"pairs.csv": small_datasets.table(["premise", "hypothesis", "label"], lines)}


def several_labels(rows: int = 240) -> dict:
    """Texts with words of one to three topics, which are their labels."""
    chance = random.Random(3)
    lines = []
    for _ in range(rows):
        topics = chance.sample(list(TOPICS), chance.choices([1, 2, 3], [4, 4, 1])[0])
        words = [chance.choice(TOPICS[topic]) for topic in topics for _ in range(2)] + chance.choices(FILLERS, k=8)
        lines.append([" ".join(chance.sample(words, len(words))), "; ".join(topics)])
    return {"news.csv": small_datasets.table(["text", "labels"], lines)}


def tagged_words(rows: int = 100) -> dict:
    """Sentences in the CoNLL format, with names of persons and towns."""
    chance = random.Random(1)
    sentences = []
    for i in range(rows):
        words = [chance.choice(NAMES), chance.choice(SURNAMES), "visits", chance.choice(TOWNS), "in", str(i), "."]
        sentences.append("".join(f"{word} {tag}\n" for word, tag in zip(words, ["B-PER", "I-PER", "O", "B-LOC", "O", "O", "O"])))
    return {"train.conll": "-DOCSTART- O\n\n" + "\n".join(sentences)}


def untagged_sentences() -> dict:
    lines = [[f"{name} {SURNAMES[i % 3]} likes {TOWNS[i % 5]} ."] for i, name in enumerate(NAMES)]
    return {"new.csv": small_datasets.table(["text"], lines)}


def pictures() -> dict:
    return small_datasets.in_folders(small_datasets.squares())


def annotated_pictures() -> dict:
    scenes = annotated_files.scenes(80)
    return {**annotated_files.pictures(scenes), "instances.json": json.dumps(annotated_files.coco(scenes, "boxes"))}


def new_pictures() -> dict:
    return annotated_files.pictures(annotated_files.scenes(6, 1))


def flowers(rows: int = 300) -> dict:
    return {"flowers.csv": small_datasets.flowers(rows)}


def many_flowers() -> dict:
    """So many that a process that trains on them can be interrupted."""
    return flowers(4000)


def harvests() -> dict:
    return {"fields.csv": small_datasets.yields()}


def months() -> dict:
    return {"levels.csv": small_series.monthly(160, stations=3)}


def later_months() -> dict:
    return {"new.csv": small_series.monthly(170, stations=3, begin=160)}


def stories() -> dict:
    """Two plain texts for a language model from random weights."""
    return {"one.txt": _story(900, 5), "two.txt": _story(700, 6)}


def conversations() -> dict:
    return {"chats.jsonl": language_models.conversations()}


def few_conversations() -> dict:
    return {"ask.jsonl": language_models.conversations(9)}


def prompts() -> dict:
    return {"prompts.csv": small_datasets.table(["id", "text"], [[i, f"The {small_datasets.WORDS[i]} and the"] for i in range(6)])}


def links() -> dict:
    return small_graphs.groups()


def more_links() -> dict:
    """So many that a network is better than counts of common neighbours."""
    return small_graphs.groups(nodes=300)


def many_links() -> dict:
    """So many that a training on them can be interrupted."""
    return small_graphs.groups(nodes=2000, count=4, degree=10)


def asked_pairs() -> dict:
    return {"asked.csv": small_datasets.table(["source", "target"], [[f"n{i}", f"n{i * 7 % 120}"] for i in range(1, 60)])}


def labelled_nodes() -> dict:
    return small_graphs.groups(labels=True)


def measured_nodes() -> dict:
    """Nodes with a number that follows from their features, for which a linear model is enough."""
    return _with_numbers(lambda own, neighbours: 10 + 3 * own[0] - 2 * own[1])


def bent_nodes() -> dict:
    """Nodes with a number that follows from the features of their neighbours, for which a linear model is not enough."""
    return _with_numbers(lambda own, neighbours: 10 + sum(abs(one[0]) + one[1] ** 2 for one in neighbours) / max(1, len(neighbours)))


def described_nodes() -> dict:
    """Nodes with a text, and a label that follows from it."""
    texts = [f"a {TOPICS[list(TOPICS)[i % 3]][i % 5]} and a {FILLERS[i % 14]} of the {FILLERS[i * 5 % 14]}" for i in range(120)]
    nodes = [[f"n{i}", text, ["red", "green", "blue"][i % 3]] for i, text in enumerate(texts)]
    return {"edges.csv": small_graphs.groups()["edges.csv"], "nodes.csv": small_datasets.table(["id", "text", "kind"], nodes)}


def asked_nodes() -> dict:
    return {"asked.csv": small_datasets.table(["id"], [[f"n{i}"] for i in range(0, 120, 3)])}


def texts_of_base_models() -> list[str]:
    """What the vocabulary of the installed text model is learnt from."""
    return [" ".join(words) for words in (*TOPICS.values(), FILLERS)] + [text for _, text, _ in _review_rows()]


def _review_lines() -> list[str]:
    return (ROOT / "test" / "dataset" / "reviews" / "train.csv").read_text().splitlines(keepends=True)


def _review_rows() -> list[list[str]]:
    return list(csv.reader(_review_lines()))[1:]


def _with_numbers(number) -> dict:
    """A graph whose nodes have ``number(own features, features of the neighbours)`` as y."""
    graph = small_graphs.groups(nodes=400)
    head, *nodes = csv.reader(io.StringIO(graph["nodes.csv"]))
    features = {name: list(map(float, cells)) for name, *cells in nodes}
    neighbours: dict = {name: [] for name in features}
    for source, target in list(csv.reader(io.StringIO(graph["edges.csv"])))[1:]:
        neighbours[source].append(features[target])
        neighbours[target].append(features[source])
    measured = [[*node, round(number(features[node[0]], neighbours[node[0]]), 3)] for node in nodes]
    return {**graph, "nodes.csv": small_datasets.table([*head, "y"], measured)}


def _story(lines: int, seed: int) -> str:
    chance, words = random.Random(seed), small_datasets.WORDS
    return "".join(f"The {chance.choice(words)} and the {chance.choice(words)} are {chance.choice(words)}-like.\n" for _ in range(lines))
