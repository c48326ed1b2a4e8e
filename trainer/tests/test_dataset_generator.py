"""The bundled reviews are what the generator makes, and hold what its text promises."""

import csv
import runpy
import subprocess
import sys

import pytest
from conftest import REVIEWS


def test_the_generator_makes_the_bundled_files_byte_for_byte(tmp_path):
    subprocess.run([sys.executable, REVIEWS.parent / "generate.py", tmp_path], check=True)
    for name in ("train.csv", "test.csv"):
        assert (tmp_path / name).read_bytes() == (REVIEWS / name).read_bytes(), name


def test_seed_and_number_of_rows_are_respected(tmp_path):
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, REVIEWS.parent / "generate.py", tmp_path / seed, "--rows", "50", "--test-rows", "0", "--seed", seed], check=True
        )
    assert (tmp_path / "1" / "train.csv").read_text() != (tmp_path / "2" / "train.csv").read_text()
    assert len((tmp_path / "1" / "train.csv").read_text().splitlines()) == 51
    assert not (tmp_path / "1" / "test.csv").exists()


@pytest.mark.parametrize(("name", "count"), [("train", 1200), ("test", 300)])
def test_a_classifier_by_words_is_wrong_only_on_the_noise(name, count):
    words = runpy.run_path(str(REVIEWS.parent / "generate.py"))
    with open(REVIEWS / f"{name}.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == count
    wrong = sum(_read(r["review"], words) != r["sentiment"] for r in rows)
    assert wrong == round(0.05 * count)


def _read(review: str, words: dict) -> str:
    """The sentiment of a review's last opinion."""
    text = review.lower()
    found = []
    for sentiment, opposite, group in (("positive", "negative", "GOOD"), ("negative", "positive", "BAD")):
        for verdict in words[f"{group}_VERDICTS"]:
            found.append((text.rfind(verdict.lower()), sentiment))
        for word in words[group]:
            at = text.rfind(f" {word}")
            found.append((at, opposite if text[:at].endswith(" not") else sentiment))
    return max(found)[1]


def test_no_test_review_is_in_the_training_file():
    texts = [{r["review"] for r in csv.DictReader((REVIEWS / f"{n}.csv").read_text().splitlines())} for n in ("train", "test")]
    assert len(texts[0]) == 1200
    assert not texts[0] & texts[1]
