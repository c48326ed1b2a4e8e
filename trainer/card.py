"""The model card: one page for whoever finds the model later."""

from trainer.spec import Spec


def text(spec: Spec, result: dict) -> str:
    """The card as Markdown, from the content of result.json."""
    model, data, training, test = result["model"], result["data"], result["training"], result["metrics"]["test"]
    share = test["accuracy"]
    origin = "trained from scratch on this data alone" if model["from_scratch"] else f"fine-tuned from {model['base']}"
    lines = [
        f"# Text classifier of {_plain(spec.dataset) or spec.run}",
        "",
        f"Run `{spec.run}`. A model of {model['parameters']:,} parameters ({model['base']}), {origin}.",
        "",
        "## What it does",
        "",
        f"It reads {' and '.join(f'`{_plain(c)}`' for c in data['text_columns'])} (up to {model['max_length']} tokens) and tells {len(model['labels'])} classes apart, "
        f"as `{_plain(data['label_column'])}` names them:",
        "",
        "| label | training rows |",
        "|---|---|",
        *[f"| {_plain(label)} | {count} |" for label, count in data["labels"].items()],
        "",
        "## How good it is",
        "",
        f"Accuracy {share['value']:.1%} (95 % interval {share['low']:.1%} to {share['high']:.1%}) and macro F1 {test['f1_macro']['value']:.3f} "
        f"on {share['n']} test rows that it was not trained on. Validation accuracy {result['metrics']['validation']['accuracy']['value']:.1%}, "
        f"training accuracy {result['metrics']['train']['accuracy']['value']:.1%}.",
        "",
        "Its figures hold for texts like those of the dataset. It was not examined for fairness or for other kinds of text.",
        "",
        "## How it was made",
        "",
        f"Best of {training['epochs']} epochs: epoch {result['best_epoch']}, chosen by validation {result['metric']}; {training['stopped']}. "
        f"Learning rate {training['learning_rate']:g}, batch size {training['batch_size']}, seed {training['seed']}, "
        f"{training['workers']} worker(s) on {training['device']}, {training['seconds']:.0f} s.",
        f"Rows: {data['rows']['train']} train, {data['rows']['validation']} validation, {data['rows']['test']} test.",
        "",
        *[f"- Note: {w['text']}" for w in result["warnings"]],
        "",
        "## How to use it",
        "",
        "```python",
        "from transformers import pipeline",
        'classify = pipeline("text-classification", model="model")  # the unpacked model folder',
        'print(classify("a text"))',
        "```",
        "",
    ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """``text`` as one line that cannot break out of the card's Markdown."""
    return " ".join(text.replace("|", "/").replace("`", "'").replace("<", "(").replace(">", ")").split())[:200]
