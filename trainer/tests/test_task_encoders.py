"""How rows become the inputs of a model, without a model: cells of tables, pixels of images, and tokens of texts."""

import json
from types import SimpleNamespace

import numpy
import pytest
from conftest import events_of
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from trainer.config.settings import CHOSEN, DEFAULT, Settings
from trainer.core.example import Example
from trainer.errors import UserError
from trainer.kinds.image import encoder as image
from trainer.kinds.table import encoder as table
from trainer.kinds.text import network
from trainer.models import texts as text
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

SEED = 1


def rows(*contents) -> list[Example]:
    return [Example("t.csv", i, content, "") for i, content in enumerate(contents)]


@pytest.fixture
def events(tmp_path):
    return Events(tmp_path / "events.jsonl", 1)


def left_open(**values) -> Settings:
    return Settings(values, dict.fromkeys(values, DEFAULT))


def chosen(settings: Settings) -> dict:
    """What was chosen for the user."""
    return {s["name"]: s["value"] for s in settings.listed() if s["source"] == CHOSEN}


def cells(encoder: table.Encoder, *contents) -> list[list[float]]:
    return encoder.encode(rows(*contents), numpy.zeros(len(contents))).features.values.tolist()


def test_a_table_is_standardised_by_its_training_rows():
    learnt = table.learned(("a", "b"), {"a": "number", "b": "category"}, rows(("1", "y"), ("3", " x "), ("", ""), ("word", "y"), ("nan", "x")))
    assert learnt.columns == [
        {"name": "a", "type": "number", "mean": 2.0, "std": 1.0},
        {"name": "b", "type": "category", "categories": ["x", "y"]},
    ]
    assert cells(learnt, ("4", "x"), ("", "z"), (" 0 ", " y ")) == [[2, 1, 0], [0, 0, 0], [-2, 0, 1]]
    assert learnt.width == 3 and cells(learnt) == []


@pytest.mark.parametrize("given", [["", "x"], ["5", "5"], ["inf", "-inf"]], ids=["no number", "one number", "infinite numbers"])
def test_a_column_without_spread_divides_by_one(given):
    learnt = table.learned(("a",), {"a": "number"}, rows(*((cell,) for cell in given)))
    assert learnt.columns[0]["std"] == 1 and numpy.isfinite(learnt.columns[0]["mean"])


@pytest.mark.parametrize(("cell", "value"), [("1e300", 10), ("-1e300", -10), ("11", 10), ("9.5", 9.5), ("inf", 0), ("1e999", 0), ("٣", 3)])
def test_an_extreme_number_counts_at_most_ten_deviations(cell, value):
    assert cells(table.Encoder([{"name": "a", "type": "number", "mean": 0.0, "std": 1.0}]), (cell,)) == [[value]]


def pictures(*sides: int, augmentation: str = "none") -> image.Images:
    """Images of one grey each, with a white spot in the corner at the top left."""
    held = numpy.stack([numpy.full((side, side, 3), 100, numpy.uint8) for side in sides])
    held[:, : sides[0] // 4, : sides[0] // 4] = 255
    return image.Images("", len(sides), (0.5, 0.5, 0.5), (0.25, 0.5, 1.0), augmentation, held)


def test_pixels_are_normalised_by_channel():
    found = pictures(16, 16).batch(numpy.array([1]))["pixel_values"]
    assert found.shape == (1, 3, 16, 16) and found.dtype == numpy.float32
    assert found[0, :, 0, 0] == pytest.approx([2, 1, 0.5])
    assert found[0, :, 8, 8] == pytest.approx([(100 / 255 - 0.5) / s for s in (0.25, 0.5, 1.0)])


@pytest.mark.parametrize(("augmentation", "changed"), [("none", False), ("light", True), ("strong", True)])
def test_images_vary_in_training_only_and_by_the_seed(augmentation, changed):
    images, some = pictures(*[16] * 8, augmentation=augmentation), numpy.arange(8)
    plain = images.batch(some)["pixel_values"]
    first, again, other = (images.batch(some, numpy.random.default_rng(seed))["pixel_values"] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (plain != first).any() == (first != other).any() == changed


def test_a_light_variation_moves_an_image_by_an_eighth_at_most_and_keeps_its_light():
    pixels = pictures(*[16] * 50).held
    moved = image._varied(pixels, numpy.random.default_rng(SEED), strong=False)
    assert set(numpy.unique(moved)) == {100, 255}
    sides = {(int((one[0, :, 0] == 255).sum()), int((one[:, 0, 0] == 255).sum())) for one in moved}
    assert {side for pair in sides for side in pair} == {2, 3, 4, 5, 6}


def test_a_strong_variation_mirrors_some_images_and_changes_their_light():
    pixels = pictures(*[16] * 50).held
    found = image._varied(pixels, numpy.random.default_rng(SEED), strong=True)
    mirrored = found[:, 0, -1, 0] > found[:, 0, 8, 0]
    assert 10 < mirrored.sum() < 40
    assert found.dtype == numpy.uint8 and 80 <= found.min() < 95 and len(numpy.unique(found[:, 8, 8, 0])) > 10


def test_the_linear_model_sees_means_of_a_coarse_grid():
    grey = image._coarse(pictures(16, 16))
    assert grey.shape == (2, 64)
    grid = grey[0].reshape(8, 8)
    assert grid[:2, :2] == pytest.approx(1) and grid[2:, 2:] == pytest.approx(100 / 255)
    assert image._coarse(image.Images("", 0, (0,) * 3, (1,) * 3, "none")).shape == (0, 64)


@pytest.fixture
def picture(tmp_path):
    """picture(name, width, height, exif) saves an image whose left half is red, and gives its example."""

    def of(name: str, width: int, height: int, mode: str = "RGB", turned: bool = False) -> Example:
        pixels = numpy.zeros((height, width, 3), numpy.uint8)
        pixels[:, : width // 2, 0] = 255
        made = Image.fromarray(pixels).convert(mode)
        exif = Image.Exif()
        if turned:
            exif[0x0112] = 3  # upside down
        made.save(tmp_path / name, exif=exif)
        return Example(name, 0, tmp_path / name, "")

    return of


EIGHT = image.Encoder({"image_size": 8, "mean": (0.5,) * 3, "std": (0.5,) * 3}, None)


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P"])
def test_an_image_of_any_mode_becomes_a_square_of_three_colours(picture, mode):
    found = EIGHT.square(picture("a.png", 40, 20, mode))
    assert found.shape == (8, 8, 3) and found.dtype == numpy.uint8
    assert found[4, 1].max() > 50 and found[4, 6].max() < 10


def test_a_turned_image_is_upright(picture):
    found = EIGHT.square(picture("a.jpg", 40, 20, turned=True))
    assert found[4, 6, 0] > 200 and found[4, 1, 0] < 50


def test_an_image_that_cannot_be_decoded_is_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    with pytest.raises(UserError, match=r"The image cats/a.png cannot be decoded") as refused:
        EIGHT.square(Example("cats/a.png", 0, tmp_path / "a.png", ""))
    assert refused.value.code == "undecodable_image" and "Remove or replace it" in refused.value.do


@pytest.mark.parametrize(
    ("sides", "wanted", "size"),
    [([10, 20, 30], 0, 32), ([33, 33, 33], 0, 64), ([500, 20, 70], 0, 96), ([900], 0, 128), ([900], 200, 200), ([9], 5, 32)],
)
def test_the_size_of_images_is_asked_for_or_that_of_a_typical_one(picture, events, tmp_path, sides, wanted, size):
    train = [picture(f"{i}.png", side, max(1, side // 2)) for i, side in enumerate(sides)]
    settings, base = left_open(image_size=wanted, augmentation="auto"), Base("small-cnn", "image")
    made, after = image.encoder(SimpleNamespace(work=tmp_path), settings, SimpleNamespace(splits={"train": train}), base, events)
    assert (made.size, chosen(after)) == (size, {"image_size": size, "augmentation": "light"})
    found = made.encode(train, numpy.zeros(len(train)), "train", training=True).features
    assert (found.augmentation, found.pixels().shape) == ("light", (len(train), size, size, 3))
    assert made.encode(train, numpy.zeros(len(train)), "test").features.augmentation == "none"
    assert f"{size} x {size} pixels" in events_of(tmp_path)[0]["why"]


@pytest.mark.parametrize(
    ("processor", "config", "wanted"),
    [
        ({"size": {"height": 384, "width": 384}, "image_mean": [0, 0, 0], "image_std": [1, 1, 1]}, {}, (384, (0, 0, 0), (1, 1, 1))),
        ({"size": {"shortest_edge": 256}}, {}, (256, image._HALF, image._HALF)),
        ({"size": 96}, {"image_size": 224}, (96, image._HALF, image._HALF)),
        ({}, {"image_size": 48}, (48, image._HALF, image._HALF)),
        ({"size": {}}, {"image_size": 48}, (224, image._HALF, image._HALF)),
    ],
)
def test_an_installed_model_says_which_images_it_reads(tmp_path, processor, config, wanted):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(processor))
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert image._wanted(Base("org/eyes", "image", tmp_path)) == wanted


def test_a_saved_image_encoder_is_read_by_other_libraries(tmp_path):
    image.Encoder({"image_size": 48, "mean": [0.1, 0.2, 0.3], "std": [1, 2, 3]}, None).save(tmp_path)
    saved = json.loads((tmp_path / "preprocessor_config.json").read_text())
    assert (saved["size"], saved["image_mean"], saved["image_std"]) == ({"height": 48, "width": 48}, [0.1, 0.2, 0.3], [1, 2, 3])
    (tmp_path / "config.json").write_text("{}")
    assert image._wanted(Base("org/saved", "image", tmp_path)) == (48, (0.1, 0.2, 0.3), (1, 2, 3))


WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] a b c d e f".split()


def tokenizer() -> Tokenizer:
    """A token for each known word, between [CLS] and [SEP]."""
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def encoder(**changed) -> text.Encoder:
    described = {"max_length": 5, "pad_id": 0, "padding": "longest", "truncation_side": "right", "long_text": "truncate", "stride": 1}
    return text.Encoder(tokenizer(), {**described, "lower_case": True, **changed})


def said(texts: text.Texts) -> list[str]:
    return [" ".join(WORDS[i] for i in texts.ids[a:b] if i > 4) for a, b in zip(texts.offsets, texts.offsets[1:])]


@pytest.mark.parametrize(
    ("changed", "training", "wanted", "targets"),
    [
        ({}, True, ["a b", "a b c", ""], [0, 1, 2]),
        ({"truncation_side": "left"}, False, ["a b", "d e f", ""], [0, 1, 2]),
        ({"long_text": "drop"}, True, ["a b", ""], [0, 2]),
        ({"long_text": "drop"}, False, ["a b", "a b c", ""], [0, 1, 2]),  # a prediction answers every row
        ({"long_text": "sliding_window"}, True, ["a b", "a b c", "c d e", "e f", ""], [0, 1, 1, 1, 2]),
    ],
)
def test_long_texts_are_cut_dropped_or_read_in_pieces(changed, training, wanted, targets):
    made = encoder(**changed)
    found = made.encode(rows("a b", "a b c d e f", ""), numpy.arange(3), "train", training)
    assert (said(found.features), found.targets.tolist()) == (wanted, targets)
    assert found.examples == len(set(targets)) and (found.owner is not None) == (len(wanted) > 3)
    assert made.described()["data"]["truncated_share"] == pytest.approx(1 / 3, abs=1e-6)


@pytest.mark.parametrize(("padding", "width"), [("longest", 4), ("max_length", 5)])
def test_short_texts_are_filled_up_and_masked(padding, width):
    found = encoder(padding=padding).encode(rows("a b", "c"), numpy.zeros(2), "train").features.batch(numpy.array([1, 0]))
    assert found["input_ids"][:, :4].tolist() == [[2, 7, 3, 0], [2, 5, 6, 3]]
    assert found["attention_mask"].sum(axis=1).tolist() == [3, 4] and found["attention_mask"].shape == (2, width)
    assert "token_type_ids" not in found


def test_two_texts_are_told_apart_by_their_types():
    found = encoder(max_length=8).encode(rows(("a", "b c"), ("d", "e")), numpy.zeros(2), "train").features.batch(numpy.array([0, 1]))
    assert found["input_ids"].tolist() == [[2, 5, 3, 6, 7, 3], [2, 8, 3, 9, 3, 0]]
    assert found["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]]


def test_words_are_hidden_in_a_training_from_scratch_only_and_never_the_special_ones():
    many = rows(*["a b c"] * 200)
    trained, tested = (encoder().encode(many, numpy.zeros(200), "x", training).features for training in (True, False))
    everything = numpy.arange(200)
    hidden = trained.batch(everything, numpy.random.default_rng(SEED))["input_ids"]
    assert 0.15 < (hidden[:, 1:4] == 1).mean() < 0.25
    assert (hidden[:, 0] == 2).all() and (hidden[:, 4] == 3).all()
    for plain in (trained.batch(everything), tested.batch(everything, numpy.random.default_rng(SEED))):
        assert (plain["input_ids"] == [2, 5, 6, 7, 3]).all()


def test_texts_are_encoded_in_order_a_few_at_a_time(monkeypatch):
    contents = ["a", ("b", "c"), "d e f", "", "f"]
    whole = [one.ids for one in text.encodings(tokenizer(), contents)]
    for name, most in (("_BATCH", 2), ("_BATCH_CHARACTERS", 1)):
        monkeypatch.setattr(text, name, most)
        assert [one.ids for one in text.encodings(tokenizer(), contents)] == whole
    assert len(whole) == 5 and list(text.encodings(tokenizer(), [])) == []


@pytest.mark.parametrize(
    ("lengths", "wanted", "limit", "length", "told"),
    [
        ([10] * 96 + [400] * 4, 0, 512, 10, "95 % of the training texts have at most 10 tokens."),
        ([10] * 94 + [400] * 6, 0, 512, 400, "at most 400 tokens."),
        ([700] * 10, 0, 512, 512, "but the model reads at most 512."),
        ([3], 0, 512, 8, "at most 3 tokens"),
        ([10], 64, 512, 64, ""),
        ([10], 900, 512, 512, "Texts are truncated to 512 tokens instead of 900: the model reads between 8 and 512."),
        ([10], 4, 512, 8, "Texts are truncated to 8 tokens instead of 4"),
    ],
)
def test_the_length_of_texts_is_asked_for_or_that_of_most(events, tmp_path, lengths, wanted, limit, length, told):
    found_length, after = text.max_length(left_open(max_length=wanted), lengths, limit, events)
    assert found_length == length
    found = events_of(tmp_path)[0] if events.path.exists() else {}
    assert told in found.get("why", "") + found.get("text", "") and bool(found) == bool(told)
    assert chosen(after) == ({} if wanted else {"max_length": length})


@pytest.mark.parametrize(
    ("config", "settings", "limit"),
    [
        ({"max_position_embeddings": 512}, {}, 512),
        ({"max_position_embeddings": 512}, {"model_max_length": 128}, 128),
        ({"max_position_embeddings": 512}, {"model_max_length": 1e30}, 512),  # what tokenizers without a limit say
        ({"max_position_embeddings": 514, "model_type": "roberta", "pad_token_id": 1}, {}, 512),
        ({"max_position_embeddings": 514, "model_type": "mpnet"}, {}, 513),
        ({}, {"model_max_length": "long"}, text.MAX_POSITIONS),
        ({"max_position_embeddings": 0}, {}, text.MAX_POSITIONS),
        ({"max_position_embeddings": -1}, None, text.MAX_POSITIONS),
    ],
)
def test_an_installed_model_says_how_long_its_texts_may_be(tmp_path, config, settings, limit):
    (tmp_path / "config.json").write_text(json.dumps(config))
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert text.position_limit(Base("org/model", "text", tmp_path)) == limit


@pytest.mark.parametrize(
    ("config", "pad"), [({"pad_token_id": 7}, 7), ({"pad_token_id": 0}, 0), ({"pad_token_id": None}, 0), ({"pad_token_id": "0"}, 0)]
)
def test_short_texts_are_filled_with_the_token_of_the_model(tmp_path, config, pad):
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert text.pad_id(tokenizer(), Base("org/model", "text", tmp_path)) == pad


@pytest.mark.parametrize(("word", "pad"), [("[PAD]", 5), ("<pad>", 5), ("other", 0)])
def test_the_pad_of_a_tokenizer_is_found_by_its_name(word, pad):
    assert text.pad_id(Tokenizer(models.WordLevel({"x": 0, word: 5}, unk_token="x")), Base("bert-tiny", "text")) == pad


def test_a_saved_text_encoder_cuts_as_the_training_did(tmp_path):
    encoder(truncation_side="left").save(tmp_path)
    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode("a b c d e f").ids == [2, 8, 9, 10, 3]
    assert (tmp_path / "vocab.txt").read_text().split() == WORDS
    saved = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert (saved["model_max_length"], saved["truncation_side"], saved["pad_token"]) == (5, "left", "[PAD]")
    again = network.load_encoder(None, tmp_path, encoder().description)
    assert said(again.encode(rows("a b c d e f"), numpy.zeros(1), "x").features) == ["a b c"]


def test_the_tokenizer_of_an_installed_model_keeps_its_files(tmp_path):
    base, to = tmp_path / "base", tmp_path / "model"
    base.mkdir()
    to.mkdir()
    for name in ("merges.txt", "special_tokens_map.json", "model.safetensors"):
        (base / name).write_text(name)
    text.Encoder(tokenizer(), encoder().description, Base("org/model", "text", base)).save(to)
    assert {f.name for f in to.iterdir()} == {"tokenizer.json", "merges.txt", "special_tokens_map.json"}
