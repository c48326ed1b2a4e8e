"""What a kind of data says of examples with several labels each."""

from trainer.errors import some
from trainer.kinds.examples import ExampleKind
from trainer.kinds.label_sets.target import Labels


class WithLabelSets(ExampleKind):
    """A kind whose examples have one label, a number, or several labels."""

    def labels_of(self, target: str, separator: str) -> list[str]:
        from trainer.kinds.rows import label_sets as forms

        return list(forms.parts(target, separator)) if separator else [target]

    def answers_in_words(self, labels, data) -> str:
        return f"any of {len(labels)} labels: {some(labels, 20)}" if data.separator else ""

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.export import label_sets

        return {"sections": blocks.described(label_sets.sections(finished))} if finished.data.separator else {}

    def predictions(self, finished) -> str | None:
        from trainer.export import label_sets

        return label_sets.predictions(finished) if finished.data.separator else None

    def answers_table(self, answered, columns) -> str | None:
        from trainer.export import label_sets

        return label_sets.answers_table(answered, columns) if isinstance(answered.target, Labels) else None
