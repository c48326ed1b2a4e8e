"""Tokenizers: a WordPiece vocabulary learned from the training texts, or the tokenizer of an installed model.

Only the tokenizers library is used, so that the driver need not import transformers or torch.
"""

import unicodedata
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from trainer.errors import UserError
from trainer.run_folder import files

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VOCABULARY_SIZE = 8000


def learn(texts: list[str], lower: bool = True) -> Tokenizer:
    """A tokenizer in the manner of BERT (WordPiece, by default lower case) whose vocabulary comes from ``texts``.

    The same texts give the same vocabulary. The library alone does not: it numbers the pieces that continue a word with one
    character in the order of a randomly seeded hash table, and which pieces are joined next depends on the numbers where
    counts are equal. Given as special tokens they have fixed numbers; the tokenizer that is returned does not know them so.
    """
    learner = _word_piece(models.WordPiece(unk_token="[UNK]"), lower)
    characters = sorted({c for text in texts for c in learner.normalizer.normalize_str(text)})
    continuing = [f"##{c}" for c in characters if not c.isspace() and not _is_punctuation(c)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY_SIZE, min_frequency=2, special_tokens=[*SPECIAL, *continuing], initial_alphabet=[], show_progress=False
    )
    learner.train_from_iterator(texts, trainer)
    return _bert(learner.get_vocab(), lower)


def installed(folder: Path) -> Tokenizer:
    """The tokenizer of an installed model: its tokenizer.json, else a BERT tokenizer from its vocab.txt."""
    if (file := folder / "tokenizer.json").is_file():
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
    if (file := folder / "vocab.txt").is_file():
        words = {word: i for i, word in enumerate(file.read_text(encoding="utf-8").split("\n")) if word}
        return _bert(words, lower=settings(folder).get("do_lower_case", True))
    raise UserError(
        "model_incomplete",
        f"The installed model {folder.parent.name}/{folder.name} has no tokenizer.",
        "Ask the administrator to add its tokenizer.json, or choose another model.",
    )


def settings(folder: Path) -> dict:
    """tokenizer_config.json of an installed model, empty where there is none."""
    file = folder / "tokenizer_config.json"
    return files.read_json(file) if file.is_file() else {}


def _word_piece(model: models.WordPiece, lower: bool) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _is_punctuation(character: str) -> bool:
    """Whether BERT's pre-tokenizer makes the character a word of its own, so that it never continues one."""
    return (character.isascii() and not character.isalnum()) or unicodedata.category(character).startswith("P")


def _bert(vocabulary: dict[str, int], lower: bool) -> Tokenizer:
    """BERT's tokenizer with the given vocabulary."""
    tokenizer = _word_piece(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100), lower)
    tokenizer.add_special_tokens([t for t in SPECIAL if t in vocabulary])
    ends = [(t, vocabulary[t]) for t in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends)
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer
