"""Edges between nodes: new edges, and classes or numbers of nodes."""

from typing import Any

from trainer.core.kind import Kind
from trainer.kinds.graph.graph import CLASSES, LINKS, NUMBERS
from trainer.kinds.graph.options import OPTIONS
from trainer.kinds.graph.target import Links
from trainer.targets.classes import Classes
from trainer.targets.number import Number


class Graph(Kind):
    name = "graph"
    tasks = (LINKS, CLASSES, NUMBERS)
    options = OPTIONS
    choosing_metrics = ("mrr", "hits_at_1", "hits_at_10", "hits_at_100", "auc", "average_precision")
    tasks_of_numbers = (NUMBERS,)
    targets = (Links, Classes, Number)
    things = "edges"
    gains_by_base = False
    why_no_single_answers = (
        "An answer about a node or a pair needs the graph around it. Submit the dataset to ncsa.ray.predict with the nodes or pairs to ask "
        "about, or download the model: its README has the lines of Python that answer for some of them."
    )
    shape = "sage"
    starts_from = "graph"
    uses_transformers = False
    library = "trainer.kinds.graph.inference"
    epochs = 30

    answers_by_one_worker = True

    def thing(self, task: str) -> str:
        return "edge" if task == LINKS else "node"

    def snippet(self, base: str, task: str, folder) -> str:
        return "graph/graph" if task == LINKS else "graph/graph_nodes"

    def likelihood(self, inputs) -> float:
        from trainer.kinds.graph import likely

        return 1.0 if likely.is_graph(inputs) else 0.0

    def claim(self, files, settings):
        from trainer.kinds.graph import reading

        return reading.claim(self, files, settings)

    def train(self, run, claim) -> None:
        from trainer.kinds.graph import driver

        driver.carry_out(run, claim)

    def target(self, data):
        if data.task == LINKS:
            return Links()
        return Classes(data.labels) if data.task == CLASSES else Number.learnt([e.target for e in data.splits["train"]])

    def build(self, plan) -> Any:
        from trainer.kinds.graph import network

        return network.build(plan)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.graph import network

        return network.load(folder)

    def save(self, model, plan, folder) -> None:
        from trainer.kinds.graph import network

        network.save(model, plan, folder)

    def check_description(self, description: dict) -> None:
        if not isinstance(description["graph"], dict):
            raise ValueError("its graph is not described")

    def needs_no_worker(self, description: dict) -> bool:
        return not description["graph"]["network"]

    def answer(self, asking, launcher) -> None:
        from trainer.kinds.graph.asking import predict

        predict.run(asking, launcher)

    def predict(self, model, saved, device, on_progress):
        from trainer.train import evaluate

        return evaluate.outputs(model, saved.rows, saved.target, device, folded=True, on_progress=on_progress)

    def content(self, example, columns) -> str:
        from trainer.export import display

        return display.short(str(example.content))

    def measure(self, model, plan, device, folder):
        from trainer.kinds.graph import network

        return network.measured(model, plan, device, folder)
