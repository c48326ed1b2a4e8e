"""Weights that several workers hold together, read from the files of any number of them. Whole trainings are in test_workers.py."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st

torch = pytest.importorskip("torch")

from safetensors.torch import save_file  # noqa: E402 - after the check for torch

from trainer.train import parts  # noqa: E402


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(1, 9))
def test_rows_are_dealt_out_as_torch_does(rows, world):
    dealt = [len(chunk) for chunk in torch.arange(rows).chunk(world)] if rows else []
    begin = 0
    for rank in range(world):
        mesh = SimpleNamespace(size=lambda: world, get_local_rank=lambda rank=rank: rank)
        first, count = parts._rows(SimpleNamespace(shape=(rows, 3), device_mesh=mesh))
        assert count == (dealt[rank] if rank < len(dealt) else 0)
        assert first == begin or not count
        begin += count
    assert begin == rows


def test_files_of_workers_are_joined_in_the_order_of_their_numbers(tmp_path):
    wanted = torch.arange(24.0).view(12, 2)
    for rank in range(12):
        own = {"weight": wanted[rank : rank + 1].clone()} | ({"step": torch.tensor(7.0)} if rank == 0 else {})
        save_file(own, tmp_path / parts.file_name("optimizer", rank, 12))
    save_file({"weight": torch.zeros(1)}, tmp_path / parts.file_name("model", 0, 1))
    with parts.stored(tmp_path, "optimizer") as found:
        assert found.names == ["weight", "step"] or found.names == ["step", "weight"]
        assert torch.equal(found.whole("weight"), wanted)
        assert torch.equal(found.like("weight", torch.zeros(12, 2)), wanted)
        assert found.whole("step") == 7
        assert (found.rank("weight"), found.rank("step")) == (2, 0)
        with pytest.raises(KeyError):
            found.whole("bias")


def test_one_file_for_all_is_read_as_it_is(tmp_path):
    save_file({"weight": torch.ones(3)}, tmp_path / "model.safetensors")
    with parts.stored(tmp_path, "model") as found:
        assert found.whole("weight").tolist() == [1, 1, 1]
    with pytest.raises(FileNotFoundError), parts.stored(tmp_path, "average"):
        pass
