"""Conversations, prompts with answers, and plain texts, which a language model learns to write."""

from typing import Any

import numpy

from trainer.kinds.examples import ExampleKind
from trainer.kinds.language.options import OPTIONS
from trainer.kinds.language.target import Tokens

GENERATION = "text-generation"
LONGEST_ON_CPUS = 24 * 3600.0


class Language(ExampleKind):
    name = "language"
    tasks = (GENERATION,)
    options = OPTIONS
    options_place = -1  # where forms of earlier versions have them
    targets = (Tokens,)
    things = "examples"
    why_one_split = (
        "What the score would be with texts of new sources is not measured: no small model continues texts well enough to show it. Put texts of "
        "other sources into a file named test to measure it."
    )
    why_no_single_answers = (
        "A language model writes one token after the other with torch, which the small process here does not have. Submit a dataset with "
        "your prompts to ncsa.ray.predict, or download the model: its README has the lines of Python that continue a text."
    )
    label_words = "none: a language model learns to continue the texts"
    shape = "gpt-small"
    starts_from = "language"
    claims_by_whole_files = True
    library = "transformers.models.llama.modeling_llama"
    token_ids = True
    lists_candidates = False
    gains_by_installed_models = False  # the encoder says how large the model is
    unfit_elsewhere = ("{model} is a language model; it does not classify.", "Choose a text model, or the task text-generation.")
    unfit_here = ("{model} does not continue texts.", "Choose a language model, or set model to auto.")
    longest_on_cpus = LONGEST_ON_CPUS

    def claim(self, files, settings):
        from trainer.kinds.rows import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.kinds.rows import reading

        return reading.load(claim, settings, checks)

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.rows import prediction

        return prediction.READERS[self.name](self, sources, columns, settings, events)

    def target(self, data) -> Tokens:
        return Tokens()

    def encoder(self, spec, settings, data, base, events):
        from trainer.kinds.language import network

        return network.encoder(spec, settings, data, base, events)

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.language import network

        return network.load_encoder(spec, folder, description)

    def build(self, plan) -> Any:
        from trainer.kinds.language import network

        return network.build(plan)

    def device_decisions(self, model, plan):
        from trainer.kinds.language import network

        return network.decisions(model, plan)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.language import network

        return network.load(folder, like, base)

    def save(self, model, plan, folder) -> None:
        from trainer.kinds.language import network

        network.save(model, plan, folder)

    def predict(self, model, saved, device, on_progress):
        """The answers to prompts, as token ids."""
        from trainer.kinds.language import samples

        return samples.written(model, saved.rows, saved.details, device, on_progress)

    def after_training(self, model, plan, device, events) -> Any:
        from trainer.kinds.language import asking

        return asking.ask(model, plan, device, events)

    def advise(self, encoder, data, base, events) -> None:
        from trainer.kinds.language import advice, encoding

        advice.check(encoding.of(encoder), data, base, events)

    def details(self, encoder, data, settings) -> Any:
        from trainer.kinds.language import encoding, network

        return network.asks(encoding.of(encoder), data, settings)

    def rows_are_examples(self, base) -> bool:
        """Rows of a model from random weights are blocks of all examples together."""
        return base.folder is not None

    def key(self, example) -> str:
        """Examples with the same prompt count as copies."""
        from trainer.data import keys
        from trainer.kinds.rows import conversations as forms
        from trainer.kinds.rows.token_vocabulary import Passage

        if isinstance(example.content, Passage):
            return keys.Sum(example.content.sha256)
        return keys.words(forms.before_answer(example.content))

    def content(self, example, columns) -> str:
        from trainer.export import display
        from trainer.kinds.rows import conversations as forms

        return display.short(forms.question(example.content))

    def shown_label(self, example) -> str:
        from trainer.export import display
        from trainer.kinds.rows import conversations as forms

        return display.short(forms.answer(example.content))

    def question(self, spec, settings, model, encoder, target, examples, truth):
        from trainer.core.plan import Saved
        from trainer.kinds.language import encoding, network

        writer = encoding.of(encoder)
        base = network.base_folder(spec, model.folder, model.description["base"])
        return Saved(model.folder, self, target, writer.prompts(examples), base=base, details=network.answering(writer, settings))

    def answered(self, encoder, outputs, events):
        """The texts behind the tokens."""
        from trainer.kinds.language import encoding

        writer = encoding.of(encoder)
        return numpy.array([writer.text([i for i in row if i >= 0]) for row in outputs.tolist()], dtype=object)

    def add_scores(self, finished) -> list[dict]:
        from trainer.kinds.language import results

        return results.add_scores(finished)

    def reads(self, model: dict) -> str:
        return f"text, up to {model['max_length']:,} tokens"

    def answers_in_words(self, labels, data) -> str:
        return "text that continues the input"

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.kinds.language import results

        return {"sections": blocks.described(results.sections(finished))}

    def predictions(self, finished) -> str:
        from trainer.kinds.language import results

        return results.predictions(finished)

    def answers_scores(self, answered, rows, seed: int):
        from trainer.kinds.language import likelihoods

        right = sum(answered.outputs[i].split() == answered.examples[i].target.split() for i in rows)
        return {"exact_match": likelihoods.of_share(right, len(rows))}

    def baselines(self, data, seed: int) -> list[dict]:
        from trainer.kinds.language import simple

        table = simple.baseline(data, seed)
        return [table] if table else []
