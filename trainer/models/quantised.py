"""Frozen weights of linear layers in 8 or 4 bits, which are computed with in the precision of what goes in.

8 bits: whole numbers from -127 to 127 with a factor for each output. 4 bits: the sixteen values of NF4, which lie closer together where normally
distributed weights do (QLoRA, arXiv:2305.14314), with a factor for each 64 weights. No sum is ever rounded to so few bits: a layer puts its weights
together when it is computed, forward and backward, and forgets them again. Codes and factors are parameters that are not trained, so they move
between devices, stay out of checkpoints and can be spread over workers as other frozen weights are.
"""

import torch

BITS = (8, 4)
_BLOCK = 64  # weights with one factor, in 4 bits
_AT_ONCE = 1 << 22  # weights that are rounded at once: their values in fp32 and their places take ten times the room of the codes
_NF4 = torch.tensor(
    [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0,
     0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]
)  # fmt: skip
_BETWEEN = (_NF4[1:] + _NF4[:-1]) / 2
_PAIRS = torch.stack((_NF4.repeat_interleave(16), _NF4.repeat(16)), dim=1)  # the two weights of each byte


class QuantisedLinear(torch.nn.Module):
    """A linear layer with ``weight`` (outputs x inputs) in ``bits``, one of BITS, and ``bias`` as it is. Its weights cannot be trained;
    gradients go through it to its input."""

    def __init__(self, weight: torch.Tensor, bias: torch.nn.Parameter | None, bits: int):
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.bits = bits
        codes, factors = packed(weight.detach(), bits)
        self.codes = torch.nn.Parameter(codes, requires_grad=False)
        self.factors = torch.nn.Parameter(factors, requires_grad=False)
        self.bias = bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kind = x.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
        found: torch.Tensor = _Product.apply(x.to(dtype), self.codes, self.factors, (self.out_features, self.in_features))
        return found if self.bias is None else found + self.bias.to(dtype)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bits={self.bits}"

    @property
    def hidden(self) -> int:
        """How many weights it has beyond the numbers of its codes and factors (see ``transformer.parameters``)."""
        return self.out_features * self.in_features - self.codes.numel() - self.factors.numel()


class _Product(torch.autograd.Function):
    """x times the transposed weights. An ordinary product would keep the weights as they were put together until the backward pass."""

    @staticmethod
    def forward(ctx, x, codes, factors, shape):
        ctx.save_for_backward(codes, factors)
        ctx.shape = shape
        return x @ unpacked(codes, factors, shape, x.dtype).t()

    @staticmethod
    def backward(ctx, gradient):
        codes, factors = ctx.saved_tensors
        return gradient @ unpacked(codes, factors, ctx.shape, gradient.dtype), None, None, None


def packed(weight: torch.Tensor, bits: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The codes and factors of ``weight`` (outputs x inputs): in 8 bits int8 as large as it, with fp32 for each output; in 4 bits two weights in
    each byte of a flat uint8, with bf16 for each 64 weights, filled up with zeros."""
    if bits == 8:
        return _in_eight(weight)
    flat = weight.reshape(-1)
    parts = [_in_four(flat[i : i + _AT_ONCE]) for i in range(0, len(flat), _AT_ONCE)]
    return torch.cat([codes for codes, _ in parts]), torch.cat([factors for _, factors in parts])


def unpacked(codes: torch.Tensor, factors: torch.Tensor, shape: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
    """The weights (outputs x inputs) behind codes and factors, in ``dtype``."""
    if codes.dtype == torch.int8:
        return codes.to(dtype) * factors.to(dtype)
    values = torch.nn.functional.embedding(codes.int(), _PAIRS.to(codes.device, dtype))
    flat = (values.view(-1, _BLOCK) * factors.to(dtype)[:, None]).view(-1)
    return flat[: shape[0] * shape[1]].view(shape)


def rounded(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """``weight`` as a layer with ``bits`` computes with it, in its own type."""
    outputs, inputs = weight.shape
    return unpacked(*packed(weight, bits), (outputs, inputs), weight.dtype)


def set_others(model: torch.nn.Module, dtype: torch.dtype) -> None:
    """Hold the frozen weights of ``model`` that are not in few bits in ``dtype``, as copies: a single one that still lies in a mapped file keeps all
    of the file mapped."""
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            within = isinstance(module, QuantisedLinear) and name != "bias"
            if not within and not parameter.requires_grad and parameter.is_floating_point():
                parameter.data = parameter.data.to(dtype, copy=True)


def bits_of(model: torch.nn.Module) -> int:
    """The bits of the weights of ``model`` that are in few; 0 where none are."""
    return next((m.bits for m in model.modules() if isinstance(m, QuantisedLinear)), 0)


def _in_eight(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows = max(1, _AT_ONCE // max(1, weight.shape[1]))
    codes, factors = [], []
    for part in weight.split(rows):
        exact = part.float()
        largest = exact.abs().amax(dim=1, keepdim=True)
        factor = torch.where(largest > 0, largest / 127, 1.0)
        codes.append((exact / factor).round().to(torch.int8))
        factors.append(factor)
    return torch.cat(codes), torch.cat(factors)


def _in_four(flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """``flat`` begins a block."""
    exact = torch.nn.functional.pad(flat.float(), (0, -len(flat) % _BLOCK)).view(-1, _BLOCK)
    factors = exact.abs().amax(dim=1).to(torch.bfloat16)
    shares = exact / torch.where(factors > 0, factors, 1.0)[:, None].float()
    places = torch.bucketize(shares, _BETWEEN.to(flat.device), out_int32=True).to(torch.uint8).view(-1)
    return (places[::2] << 4) | places[1::2], factors
