"""Pictures with boxes or outlines around objects."""

from typing import Any

from trainer.kinds.annotated import readers
from trainer.kinds.examples import ExampleKind
from trainer.kinds.objects.target import CHOOSING, Objects
from trainer.kinds.objects.tasks import BOXES, OUTLINERS, OUTLINES


class ObjectsInPictures(ExampleKind):
    name = "objects"
    tasks = (BOXES, OUTLINES)
    targets = (Objects,)
    things = "pictures"
    why_one_split = (
        "What the score would be with pictures of new places is not measured: it would take a small model of objects, fitted several times, which "
        "costs as much as a good part of the training. Put pictures of other places into a folder named test to measure it."
    )
    choosing_metrics = CHOOSING
    annotation_formats = readers.FORMATS
    takes_options = ("augmentation",)
    shape = "small-detector"
    starts_from = "objects"
    unfit_here = (
        "{model} does not find these objects.",
        "Detectors such as RT-DETR find boxes (task: object-detection), Mask2Former finds outlines (task: instance-segmentation). Choose one that "
        "fits the task, or set model to auto.",
    )
    uses_transformers = False
    gains_by_installed_models = False
    from_random_weights = "A small detector ({model}) is trained on the pictures, from random weights."
    library = "trainer.kinds.objects.network"
    files_are_examples = True
    enough = 300
    label_words = "the annotations"
    lists_candidates = False
    exports_onnx = True
    unreadable_input = "The picture cannot be decoded. Use a PNG, JPEG or TIFF like those of the training."
    why_no_single_answers = (
        "This model looks at large pictures in windows. Submit pictures to ncsa.ray.predict: the answer is a table of objects and a COCO file."
    )

    def claim(self, files, settings):
        from trainer.kinds.objects import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.kinds.objects import reading

        return reading.load(claim, settings, checks)

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.objects import reading

        return reading.to_predict(sources)

    def labels_of(self, target: str, separator: str) -> list[str]:
        from trainer.kinds.objects import truth

        return truth.labels(target)

    def target(self, data) -> Objects:
        from trainer.kinds.objects import reading

        return Objects(data.labels, reading.most(data), outlined=data.task == OUTLINES)

    def encoder(self, spec, settings, data, base, events):
        from trainer.kinds.objects import encoder

        return encoder.encoder(spec, settings, data, base, events)

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.objects import encoder

        return encoder.load_encoder(spec, folder, description)

    def bf16_on_cpus(self, base) -> bool:
        """Convolutions take most of the time, and products of bf16 are faster where a CPU has them. Installed models compute in fp32."""
        return base.folder is None

    def starts_task(self, base, task: str) -> bool:
        """An installed model finds either boxes or outlines."""
        return task not in self.tasks or (base.model_type in OUTLINERS) == (task == OUTLINES)

    def snippet(self, base: str, task: str, folder) -> str:
        if base == self.shape:
            return "objects/objects"
        return "objects/objects_masks" if task == OUTLINES else "objects/objects_installed"

    def build(self, plan) -> Any:
        from trainer.kinds.objects import network

        return network.build(plan)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.objects import network

        return network.load(folder)

    def save(self, model, plan, folder) -> None:
        from trainer.kinds.objects import network

        network.save(model, folder)

    def key(self, example) -> str:
        from trainer.data import keys
        from trainer.run_folder import files

        return keys.Sum(files.sha256(example.content))

    def content(self, example, columns) -> str:
        return example.file

    def shown_label(self, example) -> str:
        from trainer.kinds.objects import truth

        return truth.in_words(example.target)

    def picture(self, example) -> str | None:
        from trainer.data.pictures import thumbnails

        return thumbnails.of(example.content)

    def traits(self, examples, columns, types):
        from trainer.data.pictures import traits

        return traits.of([e.content for e in examples], sized=False)

    def reads(self, model: dict) -> str:
        return f"pictures ({model['image_form']})"

    def answers_in_words(self, labels, data) -> str:
        from trainer.errors import some

        return f"{'an outline, ' if data.task == OUTLINES else ''}a box, a label and a score for each object: {some(labels, 20)}"

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import IMAGE, Column

        _, _, window = description["encoder"]["canvas"]
        return None if window else (Column(IMAGE, IMAGE, is_file=True),)

    def contents(self, cells, columns, styles) -> list:
        from trainer.answer import rows

        return [rows.image(cell) for cell in cells[rows.IMAGE]]

    def simple_answers(self, data, target, truth, fitted):
        from trainer.kinds.objects import simple

        return simple.answers(data, target, truth), simple.TITLE

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.kinds.objects import delivered, overlay, results

        delivered.of_training(finished)
        about = {**delivered.about(), **overlay.of_training(finished)}
        shown = {} if finished.prepared.encoder.canvas.window else {"examples": results.examples(finished)}
        return {"sections": blocks.described(results.sections(finished)), "about": about, **shown}

    def predictions(self, finished) -> str:
        from trainer.kinds.objects import delivered

        answers = finished.outcome.answers["test"]
        return delivered.table(finished.data.splits["test"], finished.prepared.plan.target, answers.predicted, answers.truths)

    def answers_table(self, answered, columns) -> str:
        from trainer.kinds.objects import delivered

        return delivered.table(answered.examples, answered.target, [answered.target.boxes(row) for row in answered.outputs])

    def answers_sections(self, answered, work):
        from trainer.kinds.objects import results

        return results.of_prediction(answered)

    def answer_files(self, answered, work, out) -> dict:
        from trainer.kinds.objects import delivered, overlay

        return {**delivered.of_prediction(answered, out), **overlay.of_prediction(answered, out)}
