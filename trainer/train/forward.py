"""Running a model on rows."""

import functools
import inspect
from collections.abc import Callable

import numpy
import torch

from trainer.core.plan import IGNORED, Rows
from trainer.models import transformer
from trainer.train import batches


def logits(
    model, data: Rows, rows: numpy.ndarray, device: torch.device, random=None, plain=None
) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """The logits of ``model`` for ``rows``. For a language model these are the logits of the places before learnt tokens, with the
    tokens (IGNORED elsewhere); for rows that are drawn again in each step, what is right for them; for other models the second is None. The
    third is the router loss of a mixture of experts, with its weight.

    ``plain`` is the model itself where ``model`` is a wrapper around it.
    """
    inputs = batches.tensors(data.features.batch(rows, random), device)
    if (drawn := inputs.pop("learnt", None)) is not None:
        return model(**inputs).logits, drawn, None
    labels = inputs.pop("labels", None)
    if labels is None:
        return model(**inputs).logits, None, None
    wanted = labels[:, 1:]
    # The last layer of a language model is as large as its vocabulary: it is computed only where a token of some row is learnt.
    places = torch.nonzero((wanted != IGNORED).any(dim=0)).squeeze(-1)
    inner = transformer.without_adapter(model if plain is None else plain)
    known = _arguments(type(inner).forward)
    weight = getattr(inner.config, "router_aux_loss_coef", 0.0) if model.training and "output_router_logits" in known else 0.0
    routing = {"output_router_logits": True} if weight else {}
    if "logits_to_keep" in known:
        out = model(**inputs, **routing, use_cache=False, logits_to_keep=places)
        found = out.logits
    else:
        out = model(**inputs, **routing, use_cache=False)
        found = out.logits[:, places]
    return found, wanted[:, places], weight * out.aux_loss if weight else None


@functools.cache
def _arguments(forward: Callable) -> frozenset[str]:
    return frozenset(inspect.signature(forward).parameters)
