"""What the report says of an ensemble: its members, their shares, and what each of them brings."""

from pathlib import Path

from trainer.core import blocks
from trainer.core.blocks import NUMBER, RESULT, Cell, Column, Section
from trainer.kinds.table import ensemble
from trainer.kinds.table.logarithm import OF_LOGARITHMS
from trainer.run_folder import files

_TITLES = {
    "linear": "linear model", "trees": "gradient-boosted trees", "perceptron": "perceptron",
    "perceptron on ranges": "perceptron that reads in which range a number lies",
    "trees on some columns": "gradient-boosted trees that see a part of the columns at a time",
}  # fmt: skip


def sections(folder: Path) -> list[Section]:
    """The sections of the model in ``folder``; none if it is no ensemble."""
    config = files.read_json(folder / "config.json")
    if config.get("model_type") != ensemble.NAME:
        return []
    power, unit = (1.0, "log loss") if config["labels"] else (0.5, "root of the mean squared error")
    rows = [
        [Cell(_title(m["title"])), Cell(value=m.get("share", 0.0)), Cell(value=m["loss"] ** power)]
        for m in [*sorted(config["members"], key=lambda m: -m["share"]), *config["left_out"]]
    ]
    rows.append([Cell("all together"), Cell(value=1.0), Cell(value=config["loss"] ** power)])
    note = (
        "The answer is the mean of the answers of these models with these shares; of probabilities, it is the mean of the logarithms. The shares "
        "have the smallest loss on rows that the models had not seen. A model without a share is not delivered."
    )
    if "other_loss" in config:
        note += f" {_of_logarithms(config)}"
    columns = [Column("Model"), Column("Share"), Column(f"Loss on held-out rows ({unit})", NUMBER)]
    return [Section(RESULT, "Models in the ensemble", [blocks.table("", columns, rows, note=note)])]


def _title(name: str) -> str:
    plain = name.removesuffix(OF_LOGARITHMS)
    return _TITLES.get(plain, plain) + (", of the logarithm" if plain != name else "")


def _of_logarithms(config: dict) -> str:
    """Which scale the models were fitted on, and why."""
    used = any("scale" in m for m in config["members"])
    with_them, without = (config["loss"], config["other_loss"]) if used else (config["other_loss"], config["loss"])
    why = f"with these the loss on held-out rows is {with_them**0.5:.4g}, and {without**0.5:.4g} without"
    tried = "A few numbers are far larger than the others, so models were fitted on the logarithm, too:"
    usual = f"Half of the answers to held-out rows are off by at most {100 * config['usual_error']:.3g} % of the number."
    if not used:
        return f"{tried} {why}, so they are not used. {usual}"
    return f"{tried} {why}, so they are used. Their answers are in the unit of the data again, and have the right mean on held-out rows. {usual}"
