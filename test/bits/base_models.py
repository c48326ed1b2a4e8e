"""Installed base models with random weights, as an administrator would lay them into the folder of the models."""

import json
import os
import re
from pathlib import Path

import datasets
import language_models
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

os.environ["TQDM_DISABLE"] = "1"  # transformers draws a bar for each saved file

TEXT, IMAGE, LANGUAGE = "org/base", "org/eyes", "acme/chat"


def install(folder: Path, name: str) -> None:
    """Save the model ``name`` into ``folder``/``name``."""
    {TEXT: _text, IMAGE: _image, LANGUAGE: lambda to: language_models.install(folder, LANGUAGE)}[name](folder / name)


def _text(folder: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    words = _vocabulary()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=words.get_vocab_size(), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    words.save(str(folder / "tokenizer.json"))


def _vocabulary() -> Tokenizer:
    """All words and letters of the texts. The trainer of the library gives equally frequent words in an order that changes."""
    texts = " ".join(datasets.texts_of_base_models()).lower()
    letters = sorted(set(texts) - set(" "))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    known = [*special, *letters, *(f"##{letter}" for letter in letters), *sorted(set(re.findall("[a-z]{2,}", texts)))]
    words = Tokenizer(models.WordPiece(vocab={word: number for number, word in enumerate(known)}, unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer(lowercase=True)
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(name, words.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    words.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    return words


def _image(folder: Path) -> None:
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    ResNetForImageClassification(
        ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=7)
    ).save_pretrained(folder)
    size = {"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}}
    (folder / "preprocessor_config.json").write_text(json.dumps(size))
