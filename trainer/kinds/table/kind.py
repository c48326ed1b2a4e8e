"""Rows of a table with a class or a number each, told from columns of numbers and categories."""

from dataclasses import replace
from typing import Any

from trainer.core.contract.answering import Less
from trainer.core.contract.training import Estimator, LinearFeatures
from trainer.data.columns.features import CATEGORY, NUMBER, PICTURE
from trainer.errors import some
from trainer.kinds.examples import ExampleKind
from trainer.kinds.table.options import OPTIONS
from trainer.targets.classes import Classes
from trainer.targets.number import Number

CLASSES, NUMBERS = "tabular-classification", "tabular-regression"


class Tables(ExampleKind):
    name = "table"
    tasks = (CLASSES, NUMBERS)
    tasks_of_numbers = (NUMBERS,)
    targets = (Classes, Number)
    shape = "mlp"
    starts_from = "table"
    claims_by_whole_files = True
    answered_apart = True
    epochs = 60
    options = OPTIONS
    options_place = 7
    estimators = (
        Estimator("linear", "trainer.kinds.table.linear", "linear model on the columns", "table", leans=True),
        Estimator("trees", "trainer.kinds.table.trees", "gradient-boosted trees", "table", leans=True),
        Estimator("perceptron", "trainer.kinds.table.perceptron", "small neural network, fitted by scikit-learn", "table", leans=True),
        Estimator("ensemble", "trainer.kinds.table.ensemble", "weighted mean of these", "table", joins=True, leans=True),
    )
    from_random_weights = "A small neural network ({model}) is trained on the columns."
    gains_by_installed_models = gains_by_base = False
    baseline_snippet = "table/baseline_table"
    why_no_network = "The perceptron is a network of the same size. Set model to {shape} to train it by workers, or on a GPU."
    exports_onnx = True
    tried = 2
    inputs_may_lack = True
    unreadable_input = "An image cannot be decoded. Use a PNG or JPEG that an ordinary viewer can show."

    def claim(self, files, settings):
        from trainer.kinds.rows import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks, more=None):
        """``more`` is that of ``admission.admitted``."""
        from trainer.kinds.rows import reading
        from trainer.kinds.table import admission, many_classes
        from trainer.memory import memory

        data = reading.load(claim, settings, checks)
        many_classes.check(data, memory())
        return admission.admitted(self, data, settings, checks.events, more)

    def train(self, run, claim) -> None:
        from trainer.kinds.table import vectors
        from trainer.training import carry_out

        trial = vectors.trial(run, self)
        data = self.read(claim, run.settings, run.checks, trial)
        carry_out.carry_out(run if trial is None else replace(run, settings=trial.settings()), data)

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.rows import prediction

        return prediction.READERS[self.name](self, sources, columns, settings, events)

    def target(self, data):
        from trainer.core.example_targets import encoded_targets

        return Classes(data.labels) if data.task == CLASSES else Number.of(encoded_targets(data.splits["train"], Number(0.0, 1.0).encode))

    def encoder(self, spec, settings, data, base, events):
        from trainer.core import registry
        from trainer.kinds.table import encoder

        samples = base.name in registry.estimators()
        return encoder.learned(data.columns, data.types, data.splits["train"], data.learnt, spec.work, samples), settings

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.table import encoded

        return encoded.restored(description["columns"])

    def build(self, plan) -> Any:
        from trainer.kinds.table import network

        return network.build(plan)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.table.network import Perceptron

        return Perceptron.load(folder)

    def save(self, model, plan, folder) -> None:
        from trainer.kinds.table import network

        network.save(model, plan, folder)

    def leaves_out(self, data):
        from trainer.kinds.table import many_classes

        return many_classes.leaves_out(data)

    def estimator_seconds(self, data, outputs: int) -> float:
        from trainer.kinds.table import columns, held_out, logarithm

        rows = len(data.splits["train"])
        scales = 2 if data.task == NUMBERS and logarithm.suits(data.splits["train"], Number(0.0, 1.0)) else 1
        each = 1.5e-4 if rows <= held_out.MOST else 2e-5  # in folds, or once
        answered = 2.5e-5 * rows  # by all models, with the scores: these are not of samples
        return 1 + scales * min(90.0, each * rows * (2 + 0.1 * columns.width(data)) * (1 + outputs)) + answered

    def linear_features(self, encoder, data, rows, max_width: int) -> LinearFeatures:
        width = encoder.plain_width  # a simple model reads numbers and categories alone, which come first
        return LinearFeatures({n: r.features.first(width) for n, r in rows.items()}, None, "linear model")

    def key(self, example) -> str:
        from trainer.core.columnar import SEPARATOR

        return SEPARATOR.join(example.content)

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.kinds.table import results

        sections = results.sections(finished.folder)
        return {"sections": blocks.described(sections)} if sections else {}

    def traits(self, examples, columns, types):
        from trainer.kinds.table import traits

        return traits.of(examples, columns, types)

    def points(self, examples, columns, types):
        from trainer.kinds.table import points

        return points.of(examples, columns, types)

    def shared_parts(self, data):
        return data.columns

    def with_part(self, example, part: int, other):
        return replace(example, content=(*example.content[:part], other.content[part], *example.content[part + 1 :]))

    def without_parts(self, example, columns, most: int):
        filled = [place for place, cell in enumerate(example.content) if cell]
        if len(filled) < 2:  # a row without any value is not answered
            return example, []
        empty = replace(example, content=("",) * len(example.content))
        return example, [Less(columns[place], self.with_part(example, place, empty)) for place in filled[:most]]

    def content(self, example, columns) -> str:
        from trainer.export import display

        return display.short(", ".join(f"{name} {cell or '(empty)'}" for name, cell in zip(columns, example.content, strict=False)))

    def inputs_of(self, example, columns):
        from trainer.export import examples

        return examples.short({name: cell for name, cell in zip(columns, example.content, strict=False) if cell})

    def snippet(self, base: str, task: str, folder) -> str:
        from trainer.core import registry
        from trainer.run_folder import files

        config = files.read_json(folder / "config.json")
        columns = next((m["model"] for m in config.get("members", ())), config)["columns"]
        if any(c["type"] not in (CATEGORY, NUMBER) for c in columns):
            return "table/columns"
        return f"table/{base}" if base in registry.estimators() else "table/table"

    def reads(self, model: dict) -> str:
        return f"the columns {some(model.get('columns', []), 30)}"

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import IMAGE, Column
        from trainer.run_folder import files

        encoder = description["encoder"]
        config = encoder if "columns" in encoder else files.read_json(folder / "config.json")
        config = next((m["model"] for m in config.get("members", ())), config)  # of an ensemble, all read the same columns
        columns = config.get("columns", [])
        categories = {c["name"]: tuple(str(v) for v in c["categories"]) for c in columns if c.get("type", CATEGORY) == CATEGORY and "categories" in c}
        types = {c: IMAGE if sort == PICTURE else sort for c, sort in description["types"].items()}
        return tuple(Column(c, types[c], categories.get(c, ()), is_file=types[c] == IMAGE) for c in description["columns"])

    def contents(self, cells, columns, styles) -> list:
        from trainer.answer import rows

        return rows.row_cells(cells, columns, styles)

    def lacks(self, description: dict, data) -> bool:
        return bool(set(description["columns"]) - set(data.columns))

    def as_read_by(self, description: dict, data):
        from trainer.core.columnar import narrowed

        places = [data.columns.index(c) for c in description["columns"]]
        return narrowed(data.splits["test"], places)
