#!/usr/bin/env python3
"""Generate reviews with a sentiment label, for tests, the demo and benchmarks.

    python3 test/dataset/generate.py OUT --rows 1200 --test-rows 300 --seed 7

writes OUT/train.csv and OUT/test.csv with the header ``id,review,sentiment``. Only the standard library is used, so
any Python 3.8 or later makes the same bytes from the same arguments.

What accuracy can be reached is known by construction. Every review contains at least one opinion, and its true
sentiment is always that of its last clause, which no other sentence contradicts without an "overall" or a "but" to
announce the turn. A reader who knows the words is therefore right on every row, except on those where the label was
flipped afterwards: exactly ``round(noise * rows)`` rows of each file. The best possible accuracy on the test file is
thus ``1 - round(noise * rows) / rows``: 0.95 for the defaults. A model that only counts opinion words reaches
less, because about one review in eight turns at the end, and one in five words an opinion by negating its opposite.
No review of the test file occurs in the training file.
"""

import argparse
import csv
import random
from pathlib import Path

SUBJECTS = {
    "film": ["acting", "plot", "soundtrack", "ending", "dialogue", "camera work", "cast", "script", "pacing"],
    "blender": ["motor", "jar", "lid", "blade", "cable", "warranty", "design", "noise level", "price"],
    "headset": ["sound", "microphone", "battery", "padding", "packaging", "bass", "cable", "fit", "price"],
    "novel": ["opening chapter", "prose", "ending", "translation", "cover", "dialogue", "hero", "setting", "pacing"],
    "hotel": ["room", "breakfast", "staff", "view", "bed", "location", "bathroom", "lobby", "price"],
}
GOOD = [
    "superb",
    "wonderful",
    "excellent",
    "delightful",
    "brilliant",
    "charming",
    "solid",
    "impressive",
    "flawless",
    "great",
    "splendid",
    "outstanding",
    "lovely",
    "perfect",
    "terrific",
    "fantastic",
    "pleasant",
    "reliable",
    "elegant",
    "stunning",
]
BAD = [
    "awful",
    "terrible",
    "dreadful",
    "boring",
    "disappointing",
    "flimsy",
    "broken",
    "horrible",
    "useless",
    "poor",
    "clumsy",
    "annoying",
    "dull",
    "mediocre",
    "unbearable",
    "shoddy",
    "pathetic",
    "tedious",
    "ugly",
    "careless",
]
GOOD_VERDICTS = [
    "I would buy it again",
    "I recommend it to everyone",
    "it made my week",
    "worth every cent",
    "I loved it",
    "it exceeded what I hoped for",
    "five stars from me",
    "my whole family enjoyed it",
]
BAD_VERDICTS = [
    "I want my money back",
    "avoid it",
    "it ruined my week",
    "a waste of time",
    "I hated it",
    "it fell short of every promise",
    "one star is too many",
    "nobody in my family could stand it",
]
OPENERS = [
    "I got this {item} in {month}.",
    "A friend told me about this {item}.",
    "This was my first {item} of this kind.",
    "We tried the {item} on a rainy {day}.",
    "I waited two weeks for this {item}.",
    "My sister chose the {item} for us.",
    "",
    "",
]
NEUTRAL = [
    "It arrived on a {day}.",
    "Nothing to say about the {part}.",
    "I compared three of them.",
    "The {part} looks as pictured.",
    "I spent about an hour with it.",
    "",
    "",
    "",
    "",
]
CLAUSES = ["the {part} is {word}", "the {part} was {degree} {word}", "I found the {part} {degree} {word}", "what a {word} {part}"]
DEGREES = ["really", "quite", "simply", "truly", "rather", "absolutely"]
MONTHS = ["January", "March", "May", "July", "September", "November"]
DAYS = ["Monday", "Tuesday", "Friday", "Sunday"]


def clause(rng, parts, good):
    """One opinion on one part. One in ten is worded by negating the opposite: "not boring"."""
    if rng.random() < 0.1:
        return f"the {rng.choice(parts)} is not {rng.choice(BAD if good else GOOD)} at all"
    text = rng.choice(CLAUSES)
    return text.format(part=rng.choice(parts), degree=rng.choice(DEGREES), word=rng.choice(GOOD if good else BAD))


def sentence(text):
    return text[0].upper() + text[1:] + "."


def review(rng, good):
    """One review whose last opinion has the sentiment ``good``."""
    item, parts = rng.choice(list(SUBJECTS.items()))
    fill = {"item": item, "month": rng.choice(MONTHS), "day": rng.choice(DAYS), "part": rng.choice(parts)}
    said = [rng.choice(OPENERS).format(**fill), rng.choice(NEUTRAL).format(**fill)]
    if rng.random() < 0.125:
        said.append(sentence(clause(rng, parts, not good)))
        said.append(f"But {clause(rng, parts, good)}, and overall {rng.choice(GOOD_VERDICTS if good else BAD_VERDICTS)}.")
    else:
        said.append(sentence(f"{clause(rng, parts, good)} and {clause(rng, parts, good)}"))
        if rng.random() < 0.5:
            said.append(sentence(rng.choice(GOOD_VERDICTS if good else BAD_VERDICTS)))
    return " ".join(s for s in said if s)


def rows(rng, count, noise, seen):
    """``count`` rows of (review, label), half of each sentiment, none of them in ``seen``, with exactly round(noise * count) labels flipped."""
    made = []
    while len(made) < count:
        good = len(made) % 2 == 0
        text = review(rng, good)
        if text not in seen:
            seen.add(text)
            made.append((text, good))
    wrong = set(rng.sample(range(count), round(noise * count)))
    made = [(text, "positive" if good != (i in wrong) else "negative") for i, (text, good) in enumerate(made)]
    rng.shuffle(made)
    return made


def write(path, made, first_id):
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["id", "review", "sentiment"])
        out.writerows([first_id + i, text, label] for i, (text, label) in enumerate(made))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to write train.csv and test.csv into; made if missing")
    parser.add_argument("--rows", type=int, default=1200, help="rows of train.csv")
    parser.add_argument("--test-rows", type=int, default=300, help="rows of test.csv; 0 writes none")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--noise", type=float, default=0.05, help="share of flipped labels in each file")
    args = parser.parse_args()
    rng, seen = random.Random(args.seed), set()
    args.out.mkdir(parents=True, exist_ok=True)
    write(args.out / "train.csv", rows(rng, args.rows, args.noise, seen), 1)
    if args.test_rows:
        write(args.out / "test.csv", rows(rng, args.test_rows, args.noise, seen), args.rows + 1)


if __name__ == "__main__":
    main()
