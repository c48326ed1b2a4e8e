"""Running a model on rows."""

import functools
import inspect
from collections.abc import Callable

import numpy
import torch

from trainer.language.sequences import IGNORED
from trainer.plan import Rows
from trainer.train import batches


def logits(model, data: Rows, rows: numpy.ndarray, device: torch.device, random=None, plain=None) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The logits of ``model`` for ``rows``. For a language model these are the logits of the places before learnt tokens, with the
    tokens (IGNORED elsewhere); for other models the second is None.

    ``plain`` is the model itself where ``model`` is a wrapper around it.
    """
    inputs = batches.tensors(data.features.batch(rows, random), device)
    labels = inputs.pop("labels", None)
    if labels is None:
        return model(**inputs).logits, None
    wanted = labels[:, 1:]
    # The last layer of a language model is as large as its vocabulary: it is computed only where a token of some row is learnt.
    places = torch.nonzero((wanted != IGNORED).any(dim=0)).squeeze(-1)
    if _keeps_places(type(_inner(model if plain is None else plain)).forward):
        return model(**inputs, use_cache=False, logits_to_keep=places).logits, wanted[:, places]
    return model(**inputs, use_cache=False).logits[:, places], wanted[:, places]


def _inner(model):
    """The model inside adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


@functools.cache
def _keeps_places(forward: Callable) -> bool:
    return "logits_to_keep" in inspect.signature(forward).parameters
