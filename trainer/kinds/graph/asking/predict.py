"""Predictions of a model of a graph: pairs, likely links of nodes, and labels of nodes, those of new nodes too."""

import numpy

from trainer.core import registry
from trainer.core.example import Example
from trainer.core.plan import Rows, Saved
from trainer.data import sources
from trainer.errors import UserError, count, reading_model, some
from trainer.export import Answered, Asking, RowsRead, prediction
from trainer.kinds.graph.asking import answering, prepared, questions
from trainer.kinds.graph.asking.prepared import Prepared
from trainer.kinds.graph.asking.questions import Questions
from trainer.kinds.graph.delivery import chances, predictions as graph_predictions, scorers, stored
from trainer.kinds.graph.reading import matrices
from trainer.kinds.graph.target import Links
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.training import candidates

FOLDER = "graph"  # in the folder of the start


def run(asking: Asking, launcher) -> None:
    """Read what is asked, answer it, and write the results. ``launcher`` is None where the model needs no network."""
    spec, settings, model, events = asking.spec, asking.settings, asking.model, asking.events
    described, work = model.description, spec.work / FOLDER
    file = model.folder / stored.NAME
    if not file.is_file():
        raise UserError(
            "no_graph", "This model has no graph beside it, which predictions read: it was too large for model.zip.", "Choose the registered model."
        )
    with reading_model("The model"):
        target, known = registry.restored(described["target"]), stored.load(file)
        left = int(described["graph"]["left"])
        if not 0 <= left < known.nodes:
            raise ValueError("its sides are not described")
        of_pairs = isinstance(target, Links)
        scorers.check(model.folder, known, not model.needs_no_worker, None if of_pairs else len(target.labels))
        if of_pairs:
            chances.restored(described["graph"]["chance"]), float(described["graph"]["threshold"])
    work.mkdir()
    found = sources.find(spec, settings.data_file, events)
    asked = questions.read([*matrices.as_questions(found.tables, settings, work), *found.tokens], settings, described, known, events)
    ready = prepared.make(asked, known, file, model.folder, described, work, events, spec)
    _tell(asked, ready, described, events)
    stop.check(spec.folder)
    events.phase("predict", f"Predicting {count(len(ready.source), 'row')}.")
    question = _question(asked, ready, model, settings, left, known.nodes, work)
    outputs, versions = _answers(question, target, model, launcher)
    events.phase("export", "Writing the predictions.")
    if isinstance(target, Links):
        graph_predictions.links(asking, asked, ready, outputs, versions)
        return
    examples = _examples(asked, ready, settings.label_column or described["label_column"])
    wanted = target.encode([e.target for e in examples])
    right = numpy.asarray([bool(e.target) for e in examples]) & target.known(wanted)
    answered = Answered(model.kind, examples, outputs, wanted, right, target)
    rows = RowsRead(asked.files, sorted({n.id for n in asked.nodes}), asked.skipped + ready.unknown, described["label_column"])
    prediction(asking, answered, rows, versions, graph_predictions.facts(asked, ready, described), unit="node")


def _question(asked: Questions, ready: Prepared, model, settings, left: int, known: int, work):
    place = (model.folder, ready.graph, work)
    if asked.asked == "pairs":
        assert ready.target is not None
        return answering.Pairs(*place, ready.source, ready.target)
    if asked.asked == "links":
        return answering.NewLinks(*place, ready.source, settings.top_k, left, known)
    return answering.Labels(*place, ready.source)


def _answers(question, target, model, launcher) -> tuple[numpy.ndarray, dict[str, str]]:
    """The outputs for all rows: of the network by a worker, of a simple model here."""
    if launcher is None:
        with reading_model("The model"):
            return question.simple(target), candidates.versions()
    rows = Rows(question, numpy.zeros(len(question.lengths), numpy.int64))
    outputs, versions = launcher.predict(Saved(model.folder, model.kind, target, rows))
    if isinstance(question, answering.Labels):
        with reading_model("The model"):
            outputs = question.joined(outputs, target)
    return outputs, versions


def _tell(asked: Questions, ready: Prepared, described: dict, events: Events) -> None:
    files = some(asked.files, 3)
    what = {"pairs": "says how likely the pairs are", "links": "predicts new links of the nodes", "nodes": "predicts the labels of the nodes"}
    events.decision("rows", len(ready.source), f"A model for {described['task']} {what[asked.asked]} in {files}.")
    if ready.new:
        text = f"{count(ready.new, 'node')} {'is' if ready.new == 1 else 'are'} new: described by {files}, with {count(ready.edges, 'edge')}."
        events.decision("new_nodes", ready.new, text)
    if ready.alone:
        text = f"{count(ready.alone, 'new node')} {'has' if ready.alone == 1 else 'have'} no edge to another node, so only the features are used."
        events.warning("alone", text)


def _examples(asked: Questions, ready: Prepared, label_column: str) -> list[Example]:
    """The nodes that are asked about, with their labels where the tables have them."""
    found = []
    for table, rows in zip(asked.nodes, ready.kept):
        labels = table.cells.get(label_column)
        for row in rows.tolist():
            label = "" if labels is None else labels[row].as_py()
            found.append(Example(table.head.name, int(table.rows[row]), table.ids[row], label, table.ids[row]))
    return found
