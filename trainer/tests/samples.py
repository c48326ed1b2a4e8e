"""A small dataset of each kind of data, and what the tests of all kinds do with it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import annotated_files
import pytest
import vision_models
from conftest import small_reviews
from process_faults import knows
from small_datasets import flowers, in_folders, masked, signals, squares
from small_graphs import groups
from small_series import monthly
from small_texts import conll, token_files

from trainer.core.registry import MORE_KINDS

TOY = "trainer.tests.toy"  # for MORE_KINDS


@dataclass(frozen=True)
class Sample:
    """``files`` train a small network in some steps under ``options``; there is a checkpoint before the step ``killed_at``. ``asked`` are files
    that a saved model answers."""

    files: dict
    options: dict
    killed_at: int
    asked: dict
    answers_rows: bool = True  # whether its models give single answers
    searches: bool = True  # whether its settings can be searched
    steps: bool = True  # whether it trains in steps, which can be interrupted; else it begins again
    shows: bool = False  # whether a training and a prediction name a picture that is shown where the results are
    base: Callable | None = None  # makes the model that is installed as org/base, to start from; None for the built-in one


_SEVERAL = "keep_checkpoints: 2\nearly_stopping_patience: 0"


def _network(model: str, epochs: int = 3, batch_size: int = 16, more: str = "", **options) -> dict:
    return {"model": model, "epochs": epochs, "batch_size": batch_size, "more_options": "\n".join(filter(None, (_SEVERAL, more))), **options}


def _objects() -> dict:
    scenes = annotated_files.scenes(48)
    return {**annotated_files.pictures(scenes), "instances.json": json.dumps(annotated_files.coco(scenes, "boxes"))}


SAMPLES = {
    "text": Sample({"all.csv": small_reviews(60)}, _network("bert-tiny", max_length=16), 5, {"new.csv": small_reviews(9)}),
    "image": Sample(in_folders(squares(40)), _network("small-cnn"), 4, squares(6)),
    "table": Sample({"flowers.csv": flowers(90)}, _network("mlp"), 6, {"new.csv": flowers(9)}),
    "language": Sample(
        token_files(100), _network("gpt-small", epochs=2, max_length=32), 9, {"new.csv": "tokens,n\nThe sea,1\nThe bell,2\n"}, answers_rows=False
    ),
    "tokens": Sample({"train.conll": conll(40)}, _network("bert-tiny", max_length=32), 4, {"new.csv": "text\nAnna Smith likes Rome .\n"}),
    "graph": Sample(
        groups(),
        _network("sage", batch_size=64, more="decoder: cosine"),
        11,
        {"pairs.csv": "source,target\nn0,n3\nn1,n5\n"},
        answers_rows=False,
        searches=False,
    ),  # fmt: skip
    "objects": Sample(_objects(), _network("small-detector"), 4, annotated_files.pictures(annotated_files.scenes(5, 1)), shows=True),
    "pixels": Sample(masked(24, side=32), _network("pixels-unet", batch_size=8), 4, masked(4, side=32, with_masks=False), shows=True),
    "series": Sample(
        {"levels.csv": monthly()},
        {"more_options": "series.horizon: 6"},
        0,
        {"new.csv": monthly(108, begin=96)},
        searches=False,
        steps=False,
    ),  # fmt: skip
    "toy": Sample({"all.toy": signals(60)}, _network("toy-net"), 5, {"new.toy": signals(9)}),
}

INSTALLED = "org/base"
# Kinds that start from an installed model of another sort than the others: the name of the kind, and what the model is.
FROM_INSTALLED = {
    "pixels-segformer": replace(SAMPLES["pixels"], options=_network(INSTALLED, batch_size=8), base=vision_models.segformer),
    "objects-detr": replace(SAMPLES["objects"], options=_network(INSTALLED), base=vision_models.detr),
}


@pytest.fixture(scope="module", autouse=True)
def toy():
    """The toy is a kind like the others, also for the processes that these tests start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MORE_KINDS, TOY)
        knows(TOY)
        yield
    knows("")
