"""Texts with a class, a number or several labels each."""

from typing import Any

from trainer.config.settings import CHOSEN
from trainer.core.contract.training import Estimator, LinearFeatures
from trainer.kinds.label_sets.examples import WithLabelSets
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.rows.label_sets import TASK as LABEL_SETS
from trainer.targets.classes import Classes
from trainer.targets.number import Number

CLASSES, NUMBERS = "text-classification", "text-regression"


class Texts(WithLabelSets):
    name = "text"
    tasks = (CLASSES, NUMBERS, LABEL_SETS)
    tasks_of_numbers = (NUMBERS,)
    targets = (Classes, Number, Labels)
    things = "texts"
    baseline_snippet = "text/baseline_text"
    shape = "bert-tiny"
    starts_from = "text"
    claims_by_whole_files = True
    answered_apart = True
    library = "transformers.models.bert.modeling_bert"
    estimators = (Estimator("words", "trainer.kinds.text.words", "linear model on words and characters", "text"),)
    compares_named = True
    encodes_always = False
    token_ids = True
    advice_for_long = "Increase max_length, or set long_text to sliding_window."
    exports_onnx = True
    tried = 2
    text_column_replaces_columns = True
    spreads = True

    def likelihood(self, inputs) -> float:
        return 0.5  # where no other kind is likelier

    def claim(self, files, settings):
        from trainer.kinds.rows import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.kinds.rows import reading

        return reading.load(claim, settings, checks)

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.rows import prediction

        return prediction.READERS[self.name](self, sources, columns, settings, events)

    def target(self, data):
        if data.task == LABEL_SETS:
            return Labels(data.labels, data.separator)
        return Classes(data.labels) if data.task == CLASSES else Number.learnt([e.target for e in data.splits["train"]])

    def has_network(self, task: str) -> bool:
        return task != LABEL_SETS

    def encoder(self, spec, settings, data, base, events):
        from trainer.kinds.text import network

        return network.encoder(spec, settings, data, base, events)

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.text import network

        return network.load_encoder(spec, folder, description)

    def build(self, plan) -> Any:
        from trainer.kinds.text import network

        return network.build(plan)

    def build_frozen(self, plan) -> Any:
        from trainer.models import mean_pooled

        return mean_pooled.build(plan.base.folder, plan.target.outputs)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.text import network

        return network.load(folder, like)

    def save(self, model, plan, folder) -> None:
        from trainer.kinds.text import network

        network.save(model, plan, folder)

    def bf16_on_cpus(self, base) -> bool:
        """An installed model takes two thirds of the time. Small models gain little."""
        return not base.fresh

    def tries_frozen(self, plan, cut: bool) -> bool:
        """The alternative to a training that is cut, where nobody named the model."""
        return cut and plan.task == CLASSES and plan.settings.source("model") == CHOSEN

    def choose_epochs(self, settings, base, rows, place, digest, events):
        from trainer.models import finetuning

        return finetuning.choose_epochs(settings, base, rows, place, digest, events)

    def combine(self, network, others, plan):
        from trainer.kinds.text import averaged

        return averaged.combine(network, others, plan)

    def load_beside(self, folder):
        from trainer.kinds.text import averaged

        return averaged.load(folder)

    def estimator_seconds(self, data, outputs: int) -> float:
        size = sum(len(e.content) if isinstance(e.content, str) else sum(map(len, e.content)) for e in data.splits["train"])
        return 1 + min(60.0, 1e-6 * min(size, 12_000_000) * (1.5 + 2 * outputs))

    def simple_answers(self, data, target, truth, fitted):
        """The part of the estimator words that is a linear model on a bag of words."""
        if (words := fitted.get("words")) is None:
            return None
        return target.answers(words.simple_outputs(data.splits["test"]), truth["test"]), "bag of words"

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.kinds.text import speaking

        found = super().parts(finished).get("sections", [])
        labels = finished.prepared.plan.target.labels
        shown = [] if finished.data.separator else speaking.sections(finished.folder, labels, finished.data.splits["test"])
        return {"sections": [*found, *blocks.described(shown)]} if found or shown else {}

    def traits(self, examples, columns, types):
        from trainer.kinds.text import traits

        return traits.of(examples)

    def points(self, examples, columns, types):
        from trainer.kinds.text import points

        return points.of(examples)

    def without_parts(self, example, columns, most: int):
        from trainer.kinds.text import without

        return example, without.words(example, most)

    def content(self, example, columns) -> str:
        from trainer.export import display

        return display.short(example.content if isinstance(example.content, str) else " / ".join(example.content))

    def inputs_of(self, example, columns):
        from trainer.export import examples

        if isinstance(example.content, str):
            return examples.short({"text": example.content})
        return examples.short({"text": example.content[0], **dict(zip(columns[1:], example.content[1:], strict=False))})

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import TEXT, Column

        if description["task"] not in self.tasks:
            return None
        second = [c for c in description["columns"] if description["types"].get(c) == "pair"]
        return (Column(TEXT, TEXT), *(Column(c, TEXT) for c in second))

    def contents(self, cells, columns, styles) -> list:
        from trainer.answer import rows

        return rows.texts(cells, columns)

    def described_model(self, folder) -> dict:
        from trainer.kinds.text import averaged

        return {"averaged_with": averaged.WORDS} if (folder / averaged.CONFIG).is_file() else {}

    def snippet(self, base: str, task: str, folder) -> str:
        from trainer.core import registry
        from trainer.kinds.text import averaged

        if base in registry.estimators():
            return f"text/{base}"
        if (folder / "head.safetensors").is_file():
            return "text/text_mean"
        if (folder / averaged.CONFIG).is_file():
            return "text/text_words"
        return "text/text_regression" if task in self.tasks_of_numbers else "text/text"

    def reads(self, model: dict) -> str:
        return f"text, up to {model['max_length']:,} tokens" if model.get("max_length") else "text in any language"

    def linear_features(self, encoder, data, rows, max_width: int) -> LinearFeatures:
        from trainer.kinds.text import network

        return network.linear_features(data, max_width)
