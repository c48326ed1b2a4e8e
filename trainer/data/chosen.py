"""The files that a person chose for validation and test in a form: they are used for that, or the run ends."""

from collections.abc import Iterable, Mapping, Sized

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError, some


def check(inputs: Iterable[Input], given: Mapping[str, Sized], not_read: Iterable[tuple[str, str]]) -> None:
    """Raise UserError where a chosen file gives its split no example, or where none is left to train on.

    ``given`` are the examples by split, before a split without any is drawn from the others; ``not_read`` are files with reasons.
    Without this check a run would test on other rows than the person chose, and say nothing.
    """
    chosen: dict[str, list[str]] = {}
    for i in inputs:
        if split := names.chosen_split(i.name):
            chosen.setdefault(split, []).append(i.name)
    reasons = dict(not_read)
    for split, files in chosen.items():
        if not len(given.get(split, ())):
            why = next((f" ({reasons[f]})" for f in files if f in reasons), "")
            raise UserError(
                "chosen_file",
                f"Nothing in {some([names.in_form(f) for f in files], 3)} can be used for {_USE[split]}, for which it was chosen{why}.",
                f"Choose a file or folder like the training data as {_FIELD[split]}, with the same columns and with labels, or leave it empty.",
            )
    if chosen and not len(given.get("train", ())):
        raise UserError(
            "chosen_file",
            f"No data is left to train on: {some([names.in_form(f) for files in chosen.values() for f in files], 3)} are for validation and test.",
            "Choose another file or folder as data_file.",
        )


_USE = {"train": "training", "validation": "validation", "test": "the test"}
_FIELD = {"train": "data_file", "validation": "validation_file", "test": "test_file"}
