"""Small causal models that tests make themselves, and conversations to finetune them on."""

import json
import random
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
TAGGED = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ message['content'] + '<|im_end|>' }}{% endif %}{{ '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
# Only the last turns are written, as templates do that drop the thoughts of earlier ones.
DROPPING = CHATML.replace("in messages %}", "in messages[-2:] %}", 1)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + CHATML
COLOURS = ("red", "blue", "green")
THINGS = "river stone lamp cloud paper window table road garden bread".split()


def tokenizer(size: int = 400) -> Tokenizer:
    """A byte-level tokenizer that knows the words of the questions."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator([question(c, t, 1) + f" {c} user assistant system" for c in COLOURS for t in THINGS], trainer)
    return made


def install(models_folder: Path, name: str = "acme/chat", template: str = CHATML, positions: int = 256) -> Path:
    """Save a Llama of two layers with random weights, as an administrator would install one."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder, words = models_folder / name, tokenizer()
    folder.mkdir(parents=True)
    words.save(str(folder / "tokenizer.json"))
    end = "<|im_end|>" if template else "<|endoftext|>"
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": end, **({"chat_template": template} if template else {})}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=words.get_vocab_size(), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=positions, bos_token_id=0, eos_token_id=words.token_to_id(end), pad_token_id=words.token_to_id(end),
        tie_word_embeddings=True, initializer_range=0.3,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def question(colour: str, thing: str, number: int) -> str:
    return f"What colour is the {colour} {thing} number {number}?"


def conversations(rows: int = 120) -> str:
    """Questions that name their answer, as JSON lines of messages."""
    chance = random.Random(1)
    lines = []
    for i in range(rows):
        colour = COLOURS[i % 3]
        messages = [{"role": "user", "content": question(colour, chance.choice(THINGS), i)}, {"role": "assistant", "content": colour}]
        lines.append(json.dumps({"messages": messages}))
    return "\n".join(lines) + "\n"
