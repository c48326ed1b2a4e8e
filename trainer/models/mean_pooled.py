"""An installed encoder under a linear head on the mean of its token vectors. Imported only in workers, because torch takes seconds."""

from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_file, save_file

HEAD = "head.safetensors"  # beside the files of the encoder, which transformers wrote


class MeanPooled(torch.nn.Module):
    """An encoder of transformers and a linear layer on the mean of the vectors of all tokens that are not padding.

    A classification model of transformers reads the vector of the first token instead, which says little before it is finetuned.
    """

    def __init__(self, encoder: torch.nn.Module, head: torch.nn.Linear):
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, attention_mask: torch.Tensor, **inputs: torch.Tensor) -> SimpleNamespace:
        """``logits`` (texts x outputs), as the models of transformers answer."""
        vectors = self.encoder(attention_mask=attention_mask, **inputs).last_hidden_state
        there = attention_mask.unsqueeze(-1).to(vectors.dtype)
        return SimpleNamespace(logits=self.head((vectors * there).sum(1) / there.sum(1).clamp(min=1)))

    def save(self, folder: Path) -> None:
        self.encoder.save_pretrained(folder, safe_serialization=True)  # type: ignore[operator]
        save_file({"weight": self.head.weight.detach().contiguous(), "bias": self.head.bias.detach().contiguous()}, folder / HEAD)


def build(base: Path, outputs: int) -> MeanPooled | None:
    """The encoder in ``base`` with a new head; None if it does not answer one vector for each token."""
    import transformers

    encoder = transformers.AutoModel.from_pretrained(base, use_safetensors=True, dtype=torch.float32, local_files_only=True, trust_remote_code=False)
    width = getattr(encoder.config, "hidden_size", None)
    if encoder.config.is_encoder_decoder or not isinstance(width, int):
        return None
    return MeanPooled(encoder, torch.nn.Linear(width, outputs))


def load(folder: Path) -> MeanPooled:
    """The model that ``MeanPooled.save`` wrote. Raises ValueError if its head does not fit its encoder."""
    tensors = load_file(folder / HEAD)
    found = build(folder, len(tensors["bias"]))
    if found is None or found.head.weight.shape != tensors["weight"].shape:
        raise ValueError("its head does not fit its encoder")
    found.head.load_state_dict(tensors)
    return found
