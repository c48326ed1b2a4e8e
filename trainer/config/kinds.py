"""The kinds of data that models are trained on. Each has one entry here and one file in tasks/."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A task is called ``word``-``goal``. ``shape`` is the built-in model, which starts from random weights."""

    name: str
    word: str
    goals: tuple[str, ...]
    module: str
    shape: str
    library: str = ""  # imported by the workers while the driver reads the data
    epochs: int = 0  # default of the built-in model, if its epochs are short
    more: tuple[str, ...] = ()  # tasks with a name of their own

    @property
    def tasks(self) -> tuple[str, ...]:
        return (*(f"{self.word}-{goal}" for goal in self.goals), *self.more)


LABEL_SETS = "multi-label-classification"
LINKS = "link-prediction"
_BOTH = ("classification", "regression")
KINDS = {
    kind.name: kind
    for kind in (
        Kind("text", "text", _BOTH, "trainer.kinds.text.encoder", "bert-tiny", "transformers.models.bert.modeling_bert", more=(LABEL_SETS,)),
        Kind("image", "image", _BOTH[:1], "trainer.kinds.image.encoder", "small-cnn", "transformers.models.resnet.modeling_resnet", epochs=12),
        Kind("table", "tabular", _BOTH, "trainer.kinds.table.encoder", "mlp", epochs=60),
        Kind("language", "text", ("generation",), "trainer.kinds.language.network", "gpt-small", "transformers.models.llama.modeling_llama"),
        Kind("tokens", "token", _BOTH[:1], "trainer.kinds.tokens.encoder", "bert-tiny", "transformers.models.bert.modeling_bert"),
        Kind("graph", "graph", (), "trainer.kinds.graph.network", "sage", epochs=30, more=(LINKS, "node-classification", "node-regression")),
    )
}
TASKS = tuple(task for kind in KINDS.values() for task in kind.tasks)
SHAPES = {kind.name: kind.shape for kind in KINDS.values()}


def of_task(task: str) -> str:
    """The kind of data of ``task``; empty for auto."""
    return next((kind.name for kind in KINDS.values() if task in kind.tasks), "")
