"""Files that are read without labels: files of tokens, and plain texts as documents."""

from trainer.data import names
from trainer.data.checks import Checks
from trainer.data.sources import Sources
from trainer.kinds.rows import conversations as forms, documents, token_files as token_streams
from trainer.kinds.rows.labelled_files import Reading
from trainer.kinds.rows.roles import Roles


def are_tokens_asked_for(found: Sources, settings) -> bool:
    """Whether files of tokens are what is trained on: where nobody asks for something else, and no table is there."""
    asks = settings.text_column.strip() or settings.label_column.strip()
    return not asks and (
        settings.task == forms.TASK or (settings.task == "auto" and all(names.extension(t.name) in names.ANY_CONTENT for t in found.tables))
    )


def from_tokens(found: Sources, settings, checks: Checks) -> Reading:
    """The files of tokens, with the others as ignored."""
    checks.events.decision("task", forms.TASK, "The task is text generation: the dataset has files of tokens.")
    for source in (*found.tables, *found.documents, *found.images):
        found.ignored.add(source.name, "files of tokens are used instead")
    given = token_streams.read(found.tokens, settings, checks)
    return Reading(Roles(forms.TASK, ("tokens",), types={"tokens": "text"}), given, [s.name for s in found.tokens])


def are_documents(found: Sources, settings) -> bool:
    """Whether the texts are long enough to be documents, and nobody asks for something else."""
    asks = settings.task != "auto" or settings.text_column.strip() or settings.label_column.strip()
    return not asks and bool(found.texts) and sum(s.size for s in found.texts) >= documents.MIN_CHARACTERS


def from_documents(sources: list, settings, checks: Checks, why: str) -> Reading:
    """The texts as documents of a language model; ``why`` is the end of the sentence about the task."""
    given = documents.read(sources, settings, checks)
    checks.events.decision("task", forms.TASK, f"The task is text generation: {len(sources)} text files are read as documents, {why}.")
    return Reading(Roles(forms.TASK, ("text",), types={"text": "text"}), given, [s.name for s in sources])
