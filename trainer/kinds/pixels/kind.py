"""Pictures with a class or a number for each pixel."""

from typing import Any

from trainer.data.annotations import mask_files
from trainer.kinds.examples import ExampleKind
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.target import ACCURACY, BORDERS, MIOU, PixelClasses

CLASSES, NUMBERS = "image-segmentation", "pixel-regression"
PLACES = 60_000_000  # that the network reads in all epochs together, where nobody chose the epochs: about 6 minutes of one core
FEWEST, MOST = 12, 120  # epochs


class Pixels(ExampleKind):
    name = "pixels"
    tasks = (CLASSES, NUMBERS)
    tasks_of_numbers = (NUMBERS,)
    annotation_formats = ("GeoJSON", "a GeoPackage", "a shapefile", mask_files.CLASSES)  # over scenes, and beside pictures
    targets = (PixelClasses, PixelNumbers)
    things = "pictures"
    why_one_split = (
        "What the score would be at new places is not measured: it would take a small model of pixels, fitted several times, which "
        "costs as much as a good part of the training. Put pictures or scenes of other places into a folder named test to measure it."
    )
    choosing_metrics = (MIOU, ACCURACY, BORDERS)
    options_place = 5
    takes_options = ("augmentation", "image_size")
    shape = "pixels-unet"
    starts_from = "pixels"
    also_starts_from = ("image",)  # encoders of pictures, under a new decoder
    library = "trainer.kinds.pixels.network"
    uses_transformers = False
    from_random_weights = "A U-Net ({model}) is trained from random weights, and compared with a random forest on colours and edges of pixels."
    unfit_here = (
        "{model} does not answer for the pixels of pictures.",
        "Choose a model for semantic segmentation or an encoder of pictures, or set model to auto.",
    )
    gains_by_base = False
    gains_by_installed_models = False
    exports_onnx = True
    spreads = True
    answered_bytes = 100e6
    files_are_examples = True
    enough = 50
    label_words = "masks"
    why_no_single_answers = "This version answers for datasets only: it was trained by 0.2.0."

    def claim(self, files, settings):
        from trainer.kinds.pixels import reading

        return self._claim_of_scenes(files, settings) or reading.claim(self, files, settings)

    def _claim_of_scenes(self, files, settings):
        if not files.sources.images:
            return None
        from trainer.kinds.pixels.scenes import learning

        return learning.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.kinds.pixels import reading
        from trainer.kinds.pixels.scenes import learning

        load = learning.load if isinstance(claim.reading, learning.Reading) else reading.load
        return load(claim, settings, checks)

    def target(self, data) -> PixelClasses | PixelNumbers:
        coding = data.splits["train"][0].content.coding
        return PixelClasses(data.labels, colours=coding.in_colours) if data.labels else PixelNumbers(coding.mean, coding.std)

    def labels_of(self, target: str, separator: str) -> list[str]:
        return target.split(separator)

    def key(self, example) -> str:
        from trainer.data import keys
        from trainer.run_folder import files

        return keys.Sum(files.sha256(getattr(example.content, "picture", example.content)))

    def encoder(self, spec, settings, data, base, events):
        from trainer.kinds.pixels import encoder

        return encoder.encoder(spec, settings, data, base, events)

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.pixels import encoder

        return encoder.load_encoder(spec, folder, description)

    def choose_epochs(self, settings, base, rows, place, digest, events):
        """So many that the network reads ``PLACES``: from random weights it needs many, and more cost time."""
        from trainer.models import training_length

        places = len(rows) * (rows.features.side // rows.features.step) ** 2
        epochs = int(min(MOST, max(FEWEST, PLACES // max(1, places))))
        why = f"The training goes through the training data up to {epochs} times, and ends earlier where the model no longer improves."
        return training_length.choose(settings, epochs, why, 2, events)

    def build(self, plan) -> Any:
        from trainer.kinds.pixels import network

        return network.build(plan)

    def reads_any_size(self, model) -> bool:
        from trainer.kinds.pixels import network

        return isinstance(model, network.UNet)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.pixels import network

        return network.load(folder)

    def save(self, model, plan, folder) -> None:
        from trainer.kinds.pixels import network

        network.save(model, plan, folder)

    def bf16_on_cpus(self, base) -> bool:
        """Convolutions take most of the time, and products of bf16 are faster where a CPU has them. Installed models were not compared."""
        return base.folder is None

    def measure(self, model, plan, device, folder):
        from trainer.kinds.pixels import asking

        return asking.measured(model, plan, device)

    def question(self, spec, settings, model, encoder, target, examples, truth):
        from dataclasses import replace

        from trainer.kinds.pixels import question as questions
        from trainer.kinds.pixels.scenes import asked

        folder = spec.work / questions.FOLDER
        if not asked.has_scenes(examples):
            saved = super().question(spec, settings, model, encoder, target, examples, truth)
            return replace(saved, details=questions.Question(folder, encoder.coding))
        saved, encoder.outcome = asked.question(spec, settings, model, self, target, encoder, examples, truth)
        return replace(saved, details=questions.Question(folder, encoder.coding, saved.details))

    def answered(self, encoder, outputs, events):
        from trainer.kinds.pixels import question
        from trainer.kinds.pixels.scenes import asked

        encoder.tell_of_moved(events)
        if encoder.outcome is None:
            return outputs
        return asked.answered(encoder.outcome, encoder, outputs, question.FOLDER, events)

    def predict(self, model, saved, device, on_progress):
        from trainer.kinds.pixels import asking

        return asking.answered(model, saved, device, on_progress)

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.pixels import reading
        from trainer.kinds.pixels.scenes import asked

        measured = reading.is_measured(columns.types)
        found = asked.to_predict(sources, measured, events)
        if settings.probabilities and not asked.has_scenes(found[0]):
            maps = "maps of intervals" if measured else "maps of probabilities"
            events.warning("probabilities_unused", f"There are no {maps}, because the dataset has no scene.")
        return found

    def content(self, example, columns) -> str:
        return example.file

    def shown_label(self, example) -> str:
        from trainer.export import display

        return display.short(example.target)

    def picture(self, example) -> str | None:
        from trainer.data.pictures import thumbnails
        from trainer.kinds.pixels.scenes import units

        content = example.content
        return units.thumbnail(content) if isinstance(content, units.Asked) else thumbnails.of(content.picture)

    def traits(self, examples, columns, types):
        """Of pictures; scenes are too large for a look at each, and are checked by their bands alone."""
        from trainer.data.pictures import traits
        from trainer.kinds.pixels.content import Pixels

        files = [e.content.picture for e in examples if isinstance(e.content, Pixels)]
        return traits.of(files, sized=False) if len(files) == len(examples) else ()

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import IMAGE, Column
        from trainer.kinds.pixels.encoder import ANY_SIZE

        return (Column(IMAGE, IMAGE, is_file=True),) if ANY_SIZE in description["encoder"] else None

    def responder(self, answers, target):
        from trainer.kinds.pixels.single import answers as single

        return single.Painter(answers, target)

    def baselines(self, data, seed: int) -> list[dict]:
        from trainer.kinds.pixels import forest

        return forest.entries(data, self.target(data), seed)

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.kinds.pixels import overlay, results

        found = {"sections": blocks.described(results.sections(finished)), "examples": results.examples(finished)}
        return {**found, "about": overlay.of_training(finished)}

    def predictions(self, finished) -> str:
        from trainer.kinds.pixels import results

        return results.predictions(finished)

    def answers_table(self, answered, columns) -> str:
        from trainer.kinds.pixels import results

        return results.answers_table(answered)

    def answers_samples(self, answered) -> list[dict]:
        from trainer.kinds.pixels import results

        return results.samples(answered)

    def answers_sections(self, answered, work):
        from trainer.kinds.pixels import answered as answers
        from trainer.kinds.pixels.sure import words

        return [*answers.sections(answered, work), *words.answers(answered.target)]

    def called(self, task, examples) -> str:
        from trainer.kinds.pixels.scenes import units, where

        if examples and all(isinstance(e.content, units.Asked) for e in examples):
            return "scene"
        return "block" if examples and all(where.is_block(e) for e in examples) else self.thing(task)

    def answer_files(self, answered, work, out) -> dict[str, dict]:
        from trainer.kinds.pixels import delivery, overlay, question
        from trainer.kinds.pixels.scenes import asked

        moved = delivery.hand_over(work / question.FOLDER, [e.file for e in answered.examples], out)
        return {**asked.told(work, out, moved), **overlay.of_prediction(answered, work, out)}

    def snippet(self, base: str, task: str, folder) -> str:
        return "pixels/pixels" if base == self.shape else "pixels/pixels_installed"

    def reads(self, model: dict) -> str:
        return f"pictures of any size; {model['image_form']}"

    def answers_in_words(self, labels, data) -> str:
        from trainer.errors import some

        return f"for each pixel one of {len(labels)} classes: {some(labels, 20)}" if labels else "a number for each pixel"
