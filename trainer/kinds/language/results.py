"""The parts of the results that only a language model has."""

from trainer.core import blocks
from trainer.core.blocks import RESULT, Cell, Column, Marked, Part, Section
from trainer.core.example import Dataset
from trainer.export import display
from trainer.export.finished import Finished
from trainer.kinds.language import encoding, likelihoods, masks, samples, simple
from trainer.kinds.language.asking import Asked
from trainer.kinds.language.encoding import Encoder
from trainer.kinds.rows import conversations as forms
from trainer.run_folder.events import Events

LONGEST_TEXT = 2000  # characters of an answer or a prompt in result.json


def exact_match(encoder: Encoder, data: Dataset, answers: list[list[int]], asks: samples.Asks) -> dict:
    """The share of the judged prompts whose whole answer is the one in the data, as a metric; empty where none is judged."""
    if not asks.judged:
        return {}
    held_out = data.splits["test"] or data.splits["validation"]
    written = [encoder.text(ids) for ids in answers[asks.shown :]]
    right = sum(_same(text, forms.answer(held_out[i].content)) for i, text in zip(asks.judged, written, strict=True))
    return {"exact_match": likelihoods.of_share(right, len(asks.judged))}


def baselines(encoder: Encoder, data: Dataset, asked: Asked, asks: samples.Asks, seed: int, base: str) -> list[dict]:
    """The base model before the training, and the most frequent answer where whole answers are compared."""
    found = []
    if asks.judged:
        held_out = data.splits["test"] or data.splits["validation"]
        train = [forms.answer(e.content) for e in data.splits["train"]]
        usual = max(sorted(set(train)), key=train.count)
        right = sum(_same(usual, forms.answer(held_out[i].content)) for i in asks.judged)
        test = {"exact_match": likelihoods.of_share(right, len(asks.judged))}
        found.append({"name": "constant", "title": "most frequent answer", "role": "constant", "test": test})
    if asked.base is not None and asked.before is not None:
        test = {**likelihoods.report(asked.base, seed), **exact_match(encoder, data, asked.before, asks)}
        found.append({"name": "base", "title": f"{base} before the training", "role": "before", "test": test})
    return found


def add_scores(finished: Finished) -> list[dict]:
    """Add the exact matches to the reports, say whether the model is better than a table of n-grams, and return further baselines."""
    plan, data, asked = finished.prepared.plan, finished.data, finished.outcome.details
    encoder = encoding.of(finished.prepared.encoder)
    split = "test" if finished.reports["test"] else "validation"
    finished.reports[split].update(exact_match(encoder, data, asked.after, plan.details))
    judge(finished.reports["test"], finished.simple.reports, data, finished.events)
    return baselines(encoder, data, asked, plan.details, finished.settings.seed, plan.base.name)


def judge(test: dict, tables: list[dict], data: Dataset, events: Events) -> None:
    """Say whether the model predicts the held-out texts better than the table of n-grams, as a check and, if not, as a warning."""
    if not tables or not (found := simple.verdict(test, tables[0]["test"])):
        return
    is_better, text = found
    data.checks.append({"code": "ngrams", "level": "ok" if is_better else "warning", "text": text})
    if not is_better:
        events.warning("ngrams", text)


def sections(finished: Finished) -> list[Section]:
    """The answers before and after the training in the report, and what the model learnt from."""
    data, asked, asks = finished.data, finished.outcome.details, finished.prepared.plan.details
    encoder, epochs = encoding.of(finished.prepared.encoder), finished.outcome.epochs
    samples = [_sample(encoder, data, asked, i) for i in range(asks.shown)]
    before = asked.before is not None
    how = "The answers are drawn at random by the seed of the run." if asks.sampled else "Each token of an answer is the likeliest one."
    if asks.max_new_tokens:
        how += f" They are cut at {asks.max_new_tokens:,} tokens."
    names = ["prompt", *["before"] * before, "after", "wanted"]
    titles = {"prompt": "Prompt", "before": "Before", "after": "After", "wanted": "In the data"}
    rows = [[Cell(s.get(name, "") or ("(nothing)" if name in ("before", "after") else "")) for name in names] for s in samples]
    trained = f"{asked.trained:,}" + (f" of {finished.outcome.parameters:,} (LoRA)" if encoder.shape.get("finetuning", "full") == "lora" else "")
    told = {
        "Trained weights": trained,
        "Learnt tokens": f"{encoder.learnt_tokens:,}",
        "Tokens seen": f"{round(encoder.learnt_tokens * epochs):,}",
        **{f"Answers found by {way}": f"{encoder.ways[way]:,}" for way in masks.WAYS if encoder.ways[way]},
    }
    example = [Part(part["text"][:LONGEST_TEXT], "shown" if part["learnt"] else "") for part in encoder.example]
    learnt = blocks.examples("One training example", [Marked(example)], text=["The marked text is learnt; the rest is only read."])
    answers = blocks.table("", [Column(titles[name]) for name in names], rows, text=[how])
    return [Section(RESULT, "Answers before and after" if before else "Answers", [answers, *([learnt] if example else []), blocks.facts(told)])]


def predictions(finished: Finished) -> str:
    """predictions.csv: how likely the model finds each test example, and its answer where it wrote one."""
    data, asked, asks = finished.data, finished.outcome.details, finished.prepared.plan.details
    test, encoder = finished.outcome.answers["test"], encoding.of(finished.prepared.encoder)
    written = dict(zip(asks.judged, (encoder.text(ids) for ids in asked.after[asks.shown :]), strict=True)) if data.splits["test"] else {}
    has_id = any(e.id for e in data.splits["test"])
    head = ["file", "row", *["id"] * has_id, "content", "label", *["predicted"] * bool(written), "loss", "tokens"]
    rows = []
    for i, example in enumerate(data.splits["test"]):
        line = [example.file, example.row, *[example.id] * has_id, data.kind.content(example, data.columns), forms.answer(example.content)]
        line += [written.get(i, "")] * bool(written)
        rows.append([*line, f"{test.nats[i] / max(1, test.tokens[i]):.4f}", int(test.tokens[i])])
    return display.table(head, rows, finished.origins)


def _sample(encoder: Encoder, data: Dataset, asked: Asked, i: int) -> dict:
    held_out = data.splits["test"] or data.splits["validation"]
    found = {"prompt": encoder.shown[i][:LONGEST_TEXT], "after": encoder.text(asked.after[i])[:LONGEST_TEXT]}
    if asked.before is not None:
        found["before"] = encoder.text(asked.before[i])[:LONGEST_TEXT]
    if i < len(held_out) and encoder.shown[i] == forms.question(held_out[i].content) and (wanted := forms.answer(held_out[i].content)):
        found["wanted"] = wanted[:LONGEST_TEXT]
    return found


def _same(a: str, b: str) -> bool:
    return " ".join(a.split()) == " ".join(b.split())
