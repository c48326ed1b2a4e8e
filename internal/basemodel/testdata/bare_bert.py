"""Writes a BERT as early repositories have it: a pickle, ten settings without a type, and a vocabulary. Usage: FOLDER zip|old

Its layer norms have the names of TensorFlow (gamma and beta), its head shares the embeddings, and its card has the license as a list.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import BertConfig, BertForPreTraining

SETTINGS = {
    "hidden_size": 32, "hidden_act": "gelu", "initializer_range": 0.02, "vocab_size": 60, "hidden_dropout_prob": 0.1,
    "num_attention_heads": 2, "type_vocab_size": 2, "max_position_embeddings": 64, "num_hidden_layers": 2, "intermediate_size": 64,
}  # fmt: skip
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film", *map(chr, range(ord("a"), ord("z") + 1))]

if __name__ == "__main__":
    folder, kind = Path(sys.argv[1]), sys.argv[2]
    torch.manual_seed(0)
    state = BertForPreTraining(BertConfig(**SETTINGS)).state_dict()
    if kind == "old":
        state = {n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t for n, t in state.items()}
    torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=kind == "zip")
    (folder / "config.json").write_text(json.dumps(SETTINGS))
    (folder / "vocab.txt").write_text("\n".join(WORDS + [f"[unused{i}]" for i in range(SETTINGS["vocab_size"] - len(WORDS))]) + "\n")
    (folder / "README.md").write_text("---\nlanguage:\n- en\nlicense:\n- mit\n---\n# A small BERT\n")
