"""Checkpoints of a tiny model: what is kept, and what any damage costs."""

import json

import pytest
import torch

from trainer.run_folder import lease as leases
from trainer.train.checkpoint import Checkpoints, restore
from trainer.train.position import Position


def trainable() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters(), 0.1)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return model, optimizer


@pytest.fixture
def saved(tmp_path):
    """saved(*steps, best=, keep=) saves checkpoints of a tiny model at these steps, and returns them with the model and its optimizer."""
    (tmp_path / "checkpoints").mkdir()

    def of(*steps: int, best: int = 0, keep: int = 2, digest: str = "d"):
        model, optimizer = trainable()
        checkpoints = Checkpoints(tmp_path / "checkpoints", digest, keep, leases.take(tmp_path / "work"))
        for step in steps:
            checkpoints.save(Position(step=step, best_step=min(best, step), best_value=0.5), model, None, optimizer)
        return checkpoints, model, optimizer

    return of


def names(checkpoints: Checkpoints) -> list[str]:
    return sorted(p.name for p in checkpoints.folder.iterdir())


def test_a_restored_checkpoint_has_the_same_weights_optimizer_and_position(saved):
    checkpoints, model, optimizer = saved(7, best=3)
    folder, state = checkpoints.folder / "step-000000007", json.loads((checkpoints.best(7) / "state.json").read_text())
    other, others = trainable()
    assert restore(folder, state, other, None, others) == Position(step=7, best_step=3, best_value=0.5)
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))
    for mine, theirs in zip(optimizer.state_dict()["state"].values(), others.state_dict()["state"].values(), strict=True):
        assert mine.keys() == theirs.keys()
        assert all(torch.equal(mine[k], theirs[k]) for k in mine)


@pytest.mark.parametrize(
    ("steps", "best", "keep", "left"), [((1, 2, 3), 0, 1, [3]), ((1, 2, 3), 0, 2, [2, 3]), ((1, 2, 3, 4), 1, 2, [1, 3, 4]), ((5,), 5, 20, [5])]
)
def test_the_newest_checkpoints_and_the_best_are_kept(saved, steps, best, keep, left):
    checkpoints, *_ = saved(*steps, best=best, keep=keep)
    assert names(checkpoints) == ["index.json", *(f"step-{n:09d}" for n in left)]
    listed = json.loads((checkpoints.folder / "index.json").read_text())["checkpoints"]
    assert listed == [f"step-{n:09d}" for n in reversed(left)]
    damaged, foreign = [], []
    assert checkpoints.newest(damaged, foreign)[0].name == f"step-{max(left):09d}"
    assert damaged == foreign == []


def truncate(file):
    file.write_bytes(file.read_bytes()[:-3])


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


DAMAGE = {
    "cut off": truncate,
    "one bit": flip,
    "empty": lambda file: file.write_bytes(b""),
    "gone": lambda file: file.unlink(),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
    "another step": lambda file: file.write_text(file.read_text().replace('"step": 3', '"step": 9')) if file.suffix == ".json" else truncate(file),
}


@pytest.mark.parametrize("name", ["state.json", "model.safetensors", "optimizer.safetensors"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_any_damage_of_a_file_makes_its_checkpoint_unusable_and_the_one_before_is_taken(saved, name, damage):
    checkpoints, *_ = saved(2, 3)
    DAMAGE[damage](checkpoints.best(3) / name)
    damaged, foreign = [], []
    assert checkpoints.newest(damaged, foreign)[0].name == "step-000000002"
    assert (damaged, foreign) == (["step-000000003"], [])


def test_a_checkpoint_whose_best_model_is_damaged_is_not_used(saved):
    checkpoints, *_ = saved(1, 2, 3, best=2, keep=3)
    truncate(checkpoints.best(2) / "model.safetensors")
    damaged = []
    assert checkpoints.newest(damaged, [])[0].name == "step-000000001"
    assert damaged == ["step-000000003", "step-000000002"]


def test_a_checkpoint_of_other_data_is_foreign_and_the_next_one_removes_it(saved):
    checkpoints, *_ = saved(4)
    other = Checkpoints(checkpoints.folder, "other", 2, checkpoints.lease)
    damaged, foreign = [], []
    assert other.newest(damaged, foreign) is None
    assert (damaged, foreign) == ([], ["step-000000004"])
    other.save(Position(step=1), *trainable()[:1], None, trainable()[1])
    assert names(other) == ["index.json", "step-000000001"]


@pytest.mark.parametrize(
    "index",
    [b"", b"[]", b"{}", b"null", b"\xff", b'{"best": "", "checkpoints": 7}', b'{"best": "", "checkpoints": [7]}',
     b'{"best": "", "checkpoints": ["../../etc", "step-1", "step-000000009/"]}', b"[" * 90_000],
    ids=["empty", "a list", "no fields", "null", "no UTF-8", "a number", "numbers", "other names", "brackets"],
)  # fmt: skip
def test_a_damaged_index_lists_nothing(saved, index):
    checkpoints, *_ = saved(1)
    (checkpoints.folder / "index.json").write_bytes(index)
    assert checkpoints.newest([], []) is None


def test_weights_that_do_not_fit_the_model_are_refused(saved):
    checkpoints, *_ = saved(1, best=1)
    with pytest.raises((ValueError, RuntimeError), match=r"does not fit|size mismatch"):
        checkpoints.load_best(1, torch.nn.Linear(4, 2))
    with pytest.raises(ValueError, match="does not fit the model"):
        checkpoints.load_best(1, torch.nn.Sequential(torch.nn.Linear(3, 2)))
