"""What is asked of a language model before and after its training, and how its answers are written."""

import contextlib
from dataclasses import dataclass, replace

import numpy

SHOWN = 8  # prompts whose answers are shown
JUDGED = 100  # prompts whose answers are compared with those of the data, where these are short
SHORT_ANSWER = 10  # tokens of the usual answer, up to which answers are compared
MAX_SHOWN_TOKENS = 200
_BATCH = 16


@dataclass(frozen=True)
class Asks:
    """Prompts as token ids; the answers to the first ``shown`` are shown, those to ``judged`` are compared.

    ``sampled`` answers are drawn by ``seed``; others are the likeliest token after token. An answer ends with a token of ``stop``.
    """

    prompts: list[list[int]]
    shown: int
    judged: list[int]
    max_new_tokens: int
    stop: tuple[int, ...]
    pad_id: int
    sampled: bool
    seed: int


def answers(model, asks: Asks, device, on_done=None) -> list[list[int]]:
    """The tokens of the answers of ``model``, without the token that ends them."""
    found: list[list[int]] = [[] for _ in asks.prompts]
    order = sorted(range(len(asks.prompts)), key=lambda i: (len(asks.prompts[i]), i))
    with _generating(model, asks):
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            for i, ids in zip(rows, _generated(model, [asks.prompts[i] for i in rows], asks, device), strict=True):
                found[i] = ids
            if on_done is not None:
                on_done(start + len(rows))
    return found


def written(model, rows, asks: Asks, device, on_progress=None) -> numpy.ndarray:
    """The answers to the prompts in ``rows`` as token ids, a row each, filled up with -1 to the most tokens of an answer."""
    features = rows.features
    prompts = [features.batch(numpy.array([i]))["input_ids"][0].tolist() for i in range(len(rows))]
    found = numpy.full((len(prompts), asks.max_new_tokens), -1, numpy.int64)
    for i, ids in enumerate(answers(model, replace(asks, prompts=prompts), device, on_progress)):
        found[i, : len(ids)] = ids
    return found


def _generated(model, prompts: list[list[int]], asks: Asks, device) -> list[list[int]]:
    """The answers to a few prompts. They are filled up at the beginning, so that all answers begin at the same place."""
    import torch

    from trainer.train import spread

    width = max(map(len, prompts))
    ids = numpy.full((len(prompts), width), asks.pad_id, numpy.int64)
    mask = numpy.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = prompt
        mask[row, width - len(prompt) :] = 1
    torch.manual_seed(asks.seed)
    with torch.inference_mode():
        inputs = {"input_ids": torch.from_numpy(ids).to(device), "attention_mask": torch.from_numpy(mask).to(device)}
        written = model.generate(**inputs, synced_gpus=spread.is_spread(model))[:, width:].cpu().tolist()
    return [_until(row, asks.stop) for row in written]


def _until(ids: list[int], stop: tuple[int, ...]) -> list[int]:
    end = next((i for i, token in enumerate(ids) if token in stop), len(ids))
    return ids[:end]


@contextlib.contextmanager
def _generating(model, asks: Asks):
    """``model`` with a configuration for the answers that holds nothing of its own, such as a temperature."""
    from transformers import GenerationConfig

    from trainer.models import transformer

    inner = transformer.without_adapter(model)
    own, cache, was_training = inner.generation_config, inner.config.use_cache, model.training
    how = {"do_sample": True, "temperature": 0.8, "top_k": 50} if asks.sampled else {"do_sample": False}
    inner.generation_config = GenerationConfig(
        **how, max_new_tokens=asks.max_new_tokens, eos_token_id=list(asks.stop) or None, pad_token_id=asks.pad_id, use_cache=True
    )
    inner.config.use_cache = True
    model.eval()
    try:
        yield
    finally:
        inner.generation_config, inner.config.use_cache = own, cache
        model.train(was_training)
