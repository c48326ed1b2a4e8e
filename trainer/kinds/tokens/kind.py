"""Texts with a tag for each word."""

from typing import Any

from trainer.errors import UserError, some
from trainer.kinds.examples import ExampleKind
from trainer.kinds.tokens.target import Tags

TAGS = "token-classification"


class Tokens(ExampleKind):
    name = "tokens"
    tasks = (TAGS,)
    targets = (Tags,)
    things = "texts"
    shape = "bert-tiny"
    starts_from = "text"
    library = "transformers.models.bert.modeling_bert"
    token_ids = True
    advice_for_long = "Increase max_length, or set long_text to sliding_window."
    exports_onnx = True
    spreads = True
    answers_places = True
    why_one_split = (
        "What the score would be with texts of new sources is not measured: no small model finds entities well enough to show it. Put texts of "
        "other sources into a file named test to measure it."
    )

    def claim(self, files, settings):
        from trainer.kinds.tokens import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.kinds.tokens import reading

        return reading.load(claim.reading, claim.files.spec.inputs, claim.files.sources.ignored, settings, checks)

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.tokens import reading

        answered = reading.to_predict(sources, settings, events, columns.names)
        if answered[0]:
            return answered
        raise UserError(
            "no_data",
            f"The dataset has no table with the {'columns' if len(columns.names) > 1 else 'column'} {some(columns.names, 8)}, which the model reads.",
            "Add one, set text_column, or choose another model or data_file.",
            f"Not used: {sources.ignored}." if sources.ignored else "",
        )

    def target(self, data) -> Tags:
        return Tags(data.labels)

    def labels_of(self, target: str, separator: str) -> list[str]:
        return target.split(" ")

    def encoder(self, spec, settings, data, base, events):
        from trainer.kinds.tokens import encoder

        return encoder.encoder(spec, settings, data, base, events)

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.tokens import encoder

        return encoder.load_encoder(spec, folder, description)

    def build(self, plan) -> Any:
        from trainer.kinds.tokens import network

        return network.build(plan)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.tokens import network

        return network.load(folder, like)

    def save(self, model, plan, folder) -> None:
        from trainer.models import transformer

        transformer.save(model, plan, folder)

    def choose_epochs(self, settings, base, rows, place, digest, events):
        from trainer.models import finetuning

        return finetuning.choose_epochs(settings, base, rows, place, digest, events)

    def content(self, example, columns) -> str:
        from trainer.export import display

        return display.short(example.content if isinstance(example.content, str) else " ".join(example.content))

    def shown_label(self, example) -> str:
        from trainer.kinds.tokens import results

        return results.summary(example.content, example.target.split(" "))

    def by_answers(self, data):
        from trainer.kinds.tokens import results

        return results.by_words(data)

    def reads(self, model: dict) -> str:
        return f"text, up to {model['max_length']:,} tokens"

    def answers_in_words(self, labels, data) -> str:
        return f"for each word one of {len(labels)} labels: {some(labels, 20)}"

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import TEXT, Column

        return (Column(TEXT, TEXT),)

    def responder(self, answers, target):
        from trainer.kinds.tokens.answers import Tagger

        return Tagger(answers.encoder, answers.pieces, target)

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.kinds.tokens import results

        return {"sections": blocks.described(results.sections(finished))}

    def predictions(self, finished) -> str:
        from trainer.kinds.tokens import results

        return results.predictions(finished)

    def answers_to(self, examples):
        from trainer.kinds.tokens import results

        return results.Words(examples)

    def answers_table(self, answered, columns) -> str:
        from trainer.kinds.tokens import results
        from trainer.targets import promise

        beside = promise.columns(answered.target, answered.outputs)
        return results.table(answered.examples, answered.target.labels, answered.predicted, answered.confidence, None, beside)

    def answers_samples(self, answered) -> list[dict]:
        from trainer.kinds.tokens import results

        return results.samples(answered.examples, answered.target.labels, answered.predicted)

    def answer_files(self, answered, work, out) -> dict[str, dict]:
        from trainer.kinds.tokens import to_label

        return to_label.write(to_label.of(answered), out)

    def answers_sections(self, answered, work):
        from trainer.kinds.tokens import to_label

        return to_label.sections(to_label.of(answered))

    def simple_answers(self, data, target, truth, fitted):
        from trainer.kinds.tokens import memorised

        answers = memorised.predict(data.splits["train"], truth["train"], data.splits["test"], truth["test"], target.outputs)
        return answers, memorised.TITLE
