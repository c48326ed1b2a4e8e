"""Text generation: an installed causal model that is finetuned, by LoRA or whole, or a small one from random weights."""

import dataclasses
import functools
from pathlib import Path
from typing import Any

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.example import Dataset
from trainer.core.plan import Plan, Rows
from trainer.errors import UserError, gigabytes
from trainer.kinds.language import encoding, footprint, held, lora, samples
from trainer.kinds.language.encoding import Encoder
from trainer.kinds.rows import conversations as forms
from trainer.models import catalogue, vocabulary
from trainer.models.catalogue import Base
from trainer.run_folder import files
from trainer.run_folder.events import Events

PERCENTILE = 95
SHORTEST, LONGEST_ON_CPUS, LONGEST = 16, 1024, 4096
BATCH = 8
LORA_RATE = 2e-4
_AUTO = "AutoModelForCausalLM"
MERGED = "merged"


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
    """The tokenizer of the base, and the settings that follow from it and from the data."""
    if base.folder is None:
        from trainer.kinds.language import scratch

        return scratch.encoder(spec, settings, data, base, events)
    words = encoding.words(base.folder, vocabulary.installed(base.folder), base.config)
    method, settings = _method(settings, base, events)
    settings = settings.with_default(batch_size=BATCH)
    if not settings.learning_rate and method == "lora":
        settings = settings.with_chosen(learning_rate=LORA_RATE)
        events.decision("learning_rate", LORA_RATE, f"The learning rate is {LORA_RATE:g}, which suits LoRA.")
    usual, answer = encoding.usual_length(words, data, PERCENTILE)
    limit = _positions(base)
    length, settings = _max_length(settings, usual, base, events)
    description = {
        "reads": max(SHORTEST, limit - min(settings.max_new_tokens, limit // 2)),
        "max_length": length,
        "answer_tokens": answer,
        "finetuning": method,
    }
    shape = {
        "finetuning": method,
        "rank": settings.lora_rank,
        "alpha": settings.lora_alpha,
        "weights": [files.sha256(f) for f in sorted(base.folder.glob("*.safetensors"))],
        "template": words.template.text,
    }
    if not words.own_template and any(not isinstance(e.content, str) for e in data.splits["train"]):
        events.decision("chat_template", "plain", f"{base.name} has no chat template, so a plain one (### Question, ### Answer) is used and saved.")
    made = Encoder(words, description, shape, base.folder)
    needs = footprint.of(base.folder, base.config, settings, made.shape)
    made.shape["footprint"] = dataclasses.asdict(needs)
    what = f"{base.name} has {footprint.spelled_count(needs.weights)} weights; training it needs about {gigabytes(needs.needed())} of memory."
    events.decision("memory", needs.needed(), what)
    return made, settings


def load_encoder(spec: Spec, folder: Path, description: dict) -> Encoder:
    tokenizer = vocabulary.installed(folder)
    config = files.read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
    words = encoding.words(folder, tokenizer, config)
    if "unit" in description:
        from trainer.kinds.language import scratch

        return scratch.loaded(words, description)
    return Encoder(words, description, {}, folder)


def asks(encoder: Encoder, data: Dataset, settings) -> samples.Asks:
    """What the model is asked before and after the training: prompts of the user, else of held-out examples."""
    held_out = data.splits["test"] or data.splits["validation"]
    own = [line.strip() for line in settings.sample_prompts.replace("|", "\n").splitlines() if line.strip()][: samples.SHOWN]
    documents = any(not isinstance(e.content, tuple) for e in held_out)
    answer = encoder.description.get("answer_tokens", 0)
    if own:
        prompts = [encoder.prompt(p if documents else (forms.Turn(forms.USER, p),)) for p in own]
        encoder.shown = own
    elif documents:
        prompts = [encoder.opening(e.content) for e in held_out[:: max(1, len(held_out) // samples.SHOWN)][: samples.SHOWN]]
        encoder.shown = [encoder.text(p) for p in prompts]
    else:
        asked = [_asked(e.content) for e in held_out[: samples.SHOWN]]
        prompts = [encoder.prompt(p) for p in asked]
        encoder.shown = [forms.question(p) for p in asked]
    shown = len(prompts)
    judged = []
    if not documents and 0 < answer <= samples.SHORT_ANSWER:
        judged = list(range(len(held_out[: samples.JUDGED])))
        prompts += [encoder.prompt(_asked(held_out[i].content)) for i in judged]
    return samples.Asks(
        prompts, shown, judged, min(settings.max_new_tokens, encoder.room), encoder.words.stop, encoder.words.pad_id,
        sampled=documents, seed=settings.seed,
    )  # fmt: skip


def answering(encoder: Encoder, settings) -> samples.Asks:
    """How a saved model answers prompts."""
    words = encoder.words
    return samples.Asks([], 0, [], settings.max_new_tokens, words.stop, words.pad_id, sampled=False, seed=settings.seed)


def base_folder(spec: Spec, folder: Path, base: str) -> Path | None:
    """The folder of the installed model that the adapter in ``folder`` belongs to; None for a whole model. Raises UserError."""
    if not lora.is_adapter(folder) or (folder / "config.json").is_file():
        return None
    return catalogue.choose(spec.models, base, registry.of("language")).folder


def build(plan: Plan):
    """The installed base model, with an adapter where only that is trained, or a new model."""
    from trainer.train import spread

    if plan.base.folder is None:
        from trainer.kinds.language import shapes

        return shapes.build(shapes.restored(plan.shape), plan.shape["end"])
    needs, place = _needs(plan), held.place()
    if plan.settings.freeze_encoder:  # which is done to the whole model
        place = dataclasses.replace(place, workers=1)
    how = held.chosen(needs, plan.settings, place)
    if not place.gpu:  # on a GPU, a batch that does not fit is computed in parts
        footprint.check(needs, place.memory, plan.base.name, plan.shape["finetuning"], how)
    read = functools.partial(_whole, plan, how)
    return read() if how.workers == 1 else spread.in_turn(read, "cuda" if place.gpu else "cpu")


def _whole(plan: Plan, how: footprint.Held):
    """The installed model on one machine, with its adapter."""
    import torch

    from trainer.models import quantised, transformer

    own = torch.bfloat16 if how.half else torch.float32
    # Weights that are rounded to few bits are read in the type of their files, which then are only mapped into memory.
    model = held.apply(transformer.from_base(_AUTO, plan, dtype="auto" if how.bits else own), how)
    if plan.shape["finetuning"] != "lora":
        return model
    model = lora.wrap(model, plan.shape["rank"], plan.shape["alpha"], plan.settings.seed)
    if how.bits:
        lora.hold(model, how.bits, "cuda" if torch.cuda.is_available() else "cpu")
        quantised.set_others(model, own)
    return model


def decisions(model, plan: Plan) -> list[tuple[str, Any, str]]:
    """What ``build`` chose for the memory of its device."""
    return [] if plan.base.folder is None else held.decisions(held.of(model), _needs(plan))


def untrained(plan: Plan, device: str, in_parts: bool):
    """The installed model as it was before the training, on ``device``; ``in_parts`` spreads it over the workers, all of which must call this."""
    from trainer.train import spread

    return spread.in_turn(lambda: base_model(plan).requires_grad_(False), device) if in_parts else base_model(plan).to(device)


def _needs(plan: Plan) -> footprint.Footprint:
    return footprint.Footprint(**plan.shape["footprint"])


def load(folder: Path, like=None, base: Path | None = None):
    """The model of ``folder``. An adapter is put on ``like``, which has one of the same shape, or on the model in ``base``, rounded as in the
    training. Where weights that are trained are spread over workers, ``like`` itself takes the place of the saved model, whose rows of this
    worker are read back into it."""
    import torch

    from trainer.models import quantised, transformer
    from trainer.train import parts

    if like is not None and parts.are_in(like):
        parts.read_back(like, folder)
        return like
    if not lora.is_adapter(folder) or (folder / "config.json").is_file():
        return transformer.load(_AUTO, folder, like)
    if like is not None:
        return lora.refreshed(like, folder)
    if base is None:
        raise UserError(
            "base_missing",
            "The model is an adapter, and the model that it belongs to is not installed here.",
            "Ask the administrator to install its base model, or train again with merge: yes.",
        )
    bits = lora.base_bits(folder)
    model = lora.attach(transformer.load(_AUTO, base, None, "auto" if bits else torch.float32), folder)
    if bits:
        lora.hold(model, bits)
        quantised.set_others(model, torch.float32)
    return model


def save(model, plan: Plan, folder: Path) -> None:
    from trainer.models import quantised, transformer
    from trainer.train import parts

    if plan.shape.get("finetuning") == "lora":
        lora.save(model, folder, plan.base.name, plan.base.commit, quantised.bits_of(model))
    elif parts.are_in(model):
        model.save_pretrained(folder, state_dict=parts.whole(model, rank=0))
    else:
        transformer.save(model, plan, folder)


def base_model(plan: Plan):
    """The installed model as it was before the training, in the memory of the CPU; None where the training began with random weights."""
    from trainer.models import transformer

    return None if plan.base.fresh else transformer.load(_AUTO, plan.base.folder, None)


def baseline(encoder: Encoder, data: Dataset, rows: dict[str, Rows], max_width: int):
    raise NotImplementedError("a linear model does not write texts")


def _method(settings: Settings, base: Base, events: Events) -> tuple[str, Settings]:
    """LoRA for models that are not small; a small one and one from random weights are trained whole."""
    if base.fresh:
        return "full", settings
    if settings.finetuning != "auto":
        return settings.finetuning, settings
    method = "full" if base.is_small else "lora"
    why = "it is small" if base.is_small else f"its own weights stay as they are, and an adapter of rank {settings.lora_rank} is trained"
    events.decision("finetuning", method, f"{base.name} is finetuned {'whole' if method == 'full' else 'by LoRA'}: {why}.")
    return method, settings.with_chosen(finetuning=method)


def _max_length(settings: Settings, usual: int, base: Base, events: Events) -> tuple[int, Settings]:
    """The longest sequence: as the user says, else that of most examples, within the limits of model and hardware."""
    limit = _positions(base)
    if wanted := settings.max_length:
        return max(SHORTEST, min(wanted, limit)), settings
    limit = min(limit, LONGEST if settings.use_gpu == "yes" else LONGEST_ON_CPUS)
    length = max(SHORTEST, min(usual, limit))
    why = f"{PERCENTILE} % of the training examples have at most about {usual} tokens" + ("" if length >= usual else f", and {limit} is the limit")
    events.decision("max_length", length, f"Examples are cut to {length} tokens: {why}.")
    return length, settings.with_chosen(max_length=length)


def _positions(base: Base) -> int:
    """The longest sequence that the model reads, at most LONGEST."""
    positions = base.config.get("max_position_embeddings") or base.config.get("n_positions")
    return min(positions, LONGEST) if isinstance(positions, int) and positions > 0 else LONGEST


def _asked(content) -> forms.Conversation:
    last = max(i for i, turn in enumerate(content) if turn.role == forms.ASSISTANT)
    return content[:last]
