"""Small texts that tests make themselves: a stream of tokens with its vocabulary, and sentences with tags."""

import pickle
import random

import numpy

WORDS = "sea ship bell rope wind sail harbour night star wave deck anchor".split()
NAMES, SURNAMES, TOWNS = "Anna Peter Maria John Olga Ivan".split(), "Smith Jones Mueller".split(), "Rome Paris Bonn Oslo Lima".split()


def story(lines: int, seed: int = 1) -> str:
    chance = random.Random(seed)
    return "".join(f"The {chance.choice(WORDS)} and the {chance.choice(WORDS)} were {chance.choice(WORDS)}-like.\n" for _ in range(lines))


def meta_of(text: str) -> dict:
    characters = sorted(set(text))
    return {"vocab_size": len(characters), "itos": dict(enumerate(characters)), "stoi": {c: i for i, c in enumerate(characters)}}


def tokens_of(text: str, meta: dict, dtype: str = "<u2") -> bytes:
    return numpy.asarray([meta["stoi"][c] for c in text], dtype).tobytes()


def token_files(lines: int = 250, dtype: str = "<u2") -> dict:
    text = story(lines)
    meta, cut = meta_of(text), len(text) * 8 // 10
    return {
        "train.bin": tokens_of(text[:cut], meta, dtype),
        "val.bin": tokens_of(text[cut:], meta, dtype),
        "meta.pkl": pickle.dumps(meta),
    }


def sentences(count: int = 100, seed: int = 1) -> list[tuple[list[str], list[str]]]:
    """Short reports of who travels where, with names of persons and towns."""
    chance = random.Random(seed)
    found = []
    for i in range(count):
        words = [chance.choice(NAMES), chance.choice(SURNAMES), chance.choice(["visits", "likes", "leaves"]), chance.choice(TOWNS), "in", str(i), "."]
        found.append((words, ["B-PER", "I-PER", "O", "B-LOC", "O", "O", "O"]))
    return found


def conll(count: int = 100, columns: int = 2) -> str:
    middle = " X" * (columns - 2)
    return "-DOCSTART- O\n\n" + "\n".join("".join(f"{w}{middle} {t}\n" for w, t in zip(*s)) for s in sentences(count))
