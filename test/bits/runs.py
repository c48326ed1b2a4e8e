"""The table of the runs: what is trained on what, and what its model is asked afterwards."""

from collections.abc import Callable
from dataclasses import dataclass, field

import base_models
import datasets


@dataclass(frozen=True)
class Run:
    """``files`` makes the dataset, ``asked`` the rows of a prediction (None: those of the dataset). ``settings`` are options of the trainer.

    ``challenger`` names the run that trains with the model of this one as champion; empty for none. ``interrupted`` says that the run is
    long enough to be interrupted after its first checkpoint.
    """

    files: Callable[[], dict]
    settings: dict = field(default_factory=dict)
    asked: Callable[[], dict] | None = None
    base: str = ""
    launcher: str = "local"
    challenger: str = ""
    interrupted: bool = False


_ALL_EPOCHS = {"early_stopping_patience": 0}
_LORA = {"finetuning": "lora", "learning_rate": 0.01, "epochs": 4, "batch_size": 4}
_LINKS = {"decoder": "cosine", "batch_size": 64}
_PRICE = {"label_column": "price"}
_SCRATCH = {"task": "text-generation", "model": "gpt-small", "max_length": 32, "batch_size": 16}
_FASTER = {"epochs": 6, "learning_rate": 0.003}  # so that models with random weights learn in few steps
_SPACE = "learning_rate: 1e-4..5e-4, batch_size: 32|64"

RUNS = {
    # Estimators: every one, on classes and on numbers.
    "words": Run(datasets.reviews, {"model": "words"}, challenger="words"),
    "words-regression": Run(datasets.prices, {"model": "words", **_PRICE}, challenger="words-regression"),
    "words-labels": Run(datasets.several_labels, {"model": "words"}, challenger="words-labels"),
    "trees": Run(datasets.flowers, {"model": "trees"}, challenger="linear"),
    "linear": Run(datasets.flowers, {"model": "linear"}, challenger="linear"),
    "perceptron": Run(datasets.flowers, {"model": "perceptron"}, challenger="linear"),
    "ensemble": Run(datasets.flowers, {"model": "ensemble"}, challenger="linear"),
    "trees-regression": Run(datasets.harvests, {"model": "trees"}, challenger="linear-regression"),
    "linear-regression": Run(datasets.harvests, {"model": "linear"}, challenger="linear-regression"),
    "perceptron-regression": Run(datasets.harvests, {"model": "perceptron"}, challenger="linear-regression"),
    "ensemble-regression": Run(datasets.harvests, {"model": "ensemble"}, challenger="linear-regression"),
    "table-auto": Run(datasets.flowers, challenger="linear"),
    "series": Run(datasets.months, asked=datasets.later_months, challenger="series"),
    "series-trees": Run(datasets.months, {"forecast_method": "trees"}, datasets.later_months),
    # Networks from random weights.
    "bert-tiny": Run(datasets.reviews, {"model": "bert-tiny", "epochs": 16, **_ALL_EPOCHS}, challenger="words", interrupted=True),
    "text-regression": Run(datasets.prices, {"model": "bert-tiny", "epochs": 6, **_PRICE}, challenger="words-regression"),
    "text-pair": Run(datasets.pairs, {"model": "bert-tiny", **_FASTER}, challenger="text-pair"),
    "tokens": Run(datasets.tagged_words, {"model": "bert-tiny"}, datasets.untagged_sentences, challenger="tokens"),
    "small-cnn": Run(datasets.pictures, {"model": "small-cnn", "epochs": 4}, challenger="small-cnn"),
    "small-detector": Run(
        datasets.annotated_pictures, {"model": "small-detector", "epochs": 3, "batch_size": 8}, datasets.new_pictures, challenger="small-detector",
        interrupted=True,
    ),
    "mlp": Run(datasets.many_flowers, {"model": "mlp", "epochs": 40, **_ALL_EPOCHS}, challenger="mlp", interrupted=True),
    "mlp-regression": Run(datasets.harvests, {"model": "mlp", "epochs": 9}, challenger="linear-regression"),
    "gpt-small": Run(
        datasets.stories, {"epochs": 4, **_SCRATCH, **_ALL_EPOCHS}, datasets.prompts, challenger="gpt-experts",
        interrupted=True,
    ),
    "gpt-experts": Run(datasets.stories, {"epochs": 1, "experts": 4, **_SCRATCH}, datasets.prompts),
    "gpt-conversations": Run(datasets.conversations, {"model": "gpt-small", "epochs": 2}, datasets.few_conversations),
    # Installed models.
    "text-finetuned": Run(datasets.reviews, {"model": base_models.TEXT, **_FASTER}, base=base_models.TEXT, challenger="words"),
    "text-averaged": Run(datasets.noisy_reviews, {"epochs": 3, "learning_rate": 0.003}, base=base_models.TEXT, challenger="text-averaged"),
    "tokens-finetuned": Run(
        datasets.tagged_words, {"model": base_models.TEXT, **_FASTER}, datasets.untagged_sentences, base_models.TEXT, challenger="tokens"
    ),
    "image-finetuned": Run(datasets.pictures, {"model": base_models.IMAGE, **_FASTER}, base=base_models.IMAGE, challenger="small-cnn"),
    "language-lora": Run(
        datasets.conversations, {"model": base_models.LANGUAGE, **_LORA}, datasets.few_conversations, base_models.LANGUAGE,
        challenger="language-lora", interrupted=True,
    ),
    "language-full": Run(
        datasets.conversations, {"model": base_models.LANGUAGE, "finetuning": "full", "epochs": 1}, datasets.few_conversations, base_models.LANGUAGE,
        challenger="language-lora",
    ),
    # Graphs.
    "links": Run(datasets.many_links, {"epochs": 4, **_LINKS, **_ALL_EPOCHS}, datasets.asked_pairs, challenger="links", interrupted=True),
    "links-simple": Run(datasets.links, {"epochs": 5}, datasets.asked_nodes, challenger="links-simple"),
    "links-fused": Run(datasets.more_links, {"epochs": 5}, datasets.asked_nodes, challenger="links-fused"),
    "nodes": Run(datasets.labelled_nodes, {"epochs": 10}, datasets.asked_nodes, challenger="nodes"),
    "nodes-linear": Run(datasets.measured_nodes, {"epochs": 5}, datasets.asked_nodes, challenger="nodes-linear"),
    "nodes-regression": Run(datasets.bent_nodes, {"epochs": 40}, datasets.asked_nodes, challenger="nodes-regression"),
    "nodes-texts": Run(
        datasets.described_nodes, {"epochs": 10, "text_encoder": base_models.TEXT}, datasets.asked_nodes, base_models.TEXT, challenger="nodes-texts"
    ),
    # A search, and two workers.
    "search": Run(datasets.flowers, {"model": "mlp", "epochs": 9, "trials": 4, "space": _SPACE, **_ALL_EPOCHS}, challenger="linear"),
    "search-texts": Run(datasets.reviews, {"model": "bert-tiny", "trials": 3, **_FASTER}, challenger="words", interrupted=True),
    "two-workers": Run(datasets.reviews, {"model": "bert-tiny", "num_workers": 2}, launcher="ray"),
    "two-workers-graph": Run(datasets.links, {"num_workers": 2, "epochs": 3, **_LINKS}, datasets.asked_pairs, launcher="ray"),
}  # fmt: skip
