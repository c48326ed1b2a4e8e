"""From a graph to the plan of its training: the settings that are chosen, the files, and the memory that is told."""

from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from graph_files import RecordedChecks

from trainer import memory as machine
from trainer.config import settings as options, spec as specs
from trainer.core.plan import Rows
from trainer.data.checks import Checks
from trainer.errors import UserError
from trainer.kinds.graph import memory, prepare
from trainer.kinds.graph.graph import Graph
from trainer.launch.capacity import Machine
from trainer.run_folder import lease as leases
from trainer.run_folder.events import Events
from trainer.train import batches

GB = 1_000_000_000


def graph(task: str = "link-prediction", nodes: int = 80, edges: int = 300, seed: int = 0, **more) -> Graph:
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, nodes, (edges, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0).astype(np.int32)
    labels = tuple("ab"[i % 2] for i in range(nodes)) if task == "node-classification" else None
    if task == "node-regression":
        labels = tuple(str(i / 7) for i in range(nodes))
    x = random.standard_normal((nodes, 5)).astype(np.float32)
    return Graph(
        pyarrow.array([f"n{i}" for i in range(nodes)]), ends[:, 0].copy(), ends[:, 1].copy(), task=task, labels=labels, **{"x": x, **more}
    )  # fmt: skip


@pytest.fixture
def prepared(make_run):
    """prepared(graph, **parameters) prepares a training on it."""

    def make(of: Graph, workers: int = 1, **parameters):
        path = make_run({"edges.csv": "source,target\n"}, **parameters)
        spec = specs.load(path)
        lease = leases.take(spec.folder / specs.WORK, 1)
        spec = replace(spec, work=lease.folder)
        events = Events(spec.folder / "events.jsonl", 1, lease)
        return prepare.make(spec, options.of(spec, events), of, Machine(workers), Checks(events))

    return make


def test_the_rows_of_edges_are_paths_and_counts(prepared):
    found = prepared(graph())
    plan = found.plan
    assert (plan.kind.name, plan.task, plan.metric) == ("graph", "link-prediction", "mrr")
    counts = {n: len(rows) for n, rows in plan.splits.items()}
    assert sum(counts.values()) == found.graph.edges
    assert {n: len(edges) for n, edges in found.numbers.items()} == counts
    assert len(found.store.indices) == 2 * counts["train"]
    assert not any(found.data.splits.values())


def test_no_edge_that_is_held_out_is_a_message_in_either_direction(prepared):
    found = prepared(graph())
    of, held = found.graph, np.concatenate([found.numbers["validation"], found.numbers["test"]])
    for a, b in zip(of.source[held], of.target[held], strict=True):
        assert b not in found.store.indices[found.store.indptr[a] : found.store.indptr[a + 1]]
        assert a not in found.store.indices[found.store.indptr[b] : found.store.indptr[b + 1]]


@pytest.mark.parametrize(("task", "metric"), [("node-classification", "accuracy"), ("node-regression", "rmse")])
def test_labelled_nodes_are_examples_and_all_edges_are_messages(prepared, task, metric):
    found = prepared(graph(task))
    assert found.plan.metric == metric
    assert sum(len(rows) for rows in found.data.splits.values()) == 80
    assert all(e.id == f"n{e.content}" for e in found.data.splits["test"])
    assert len(found.store.indices) == 2 * found.graph.edges


def test_settings_that_nobody_chose_suit_a_graph(prepared):
    settings = prepared(graph()).plan.settings
    assert (settings.learning_rate, settings.batch_size, settings.epochs, settings.early_stopping_patience) == (0.003, 512, 30, 10)
    assert settings.source("learning_rate") == "chosen"
    own = prepared(graph(), learning_rate=0.01, batch_size=64, epochs=2).plan.settings
    assert (own.learning_rate, own.batch_size, own.epochs) == (0.01, 64, 2)


def test_fewer_epochs_are_trained_where_each_has_many_edges(prepared, monkeypatch):
    monkeypatch.setattr(prepare, "ALL_EDGES", 2000)
    monkeypatch.setattr(prepare, "EPOCH_EDGES", 100)
    settings = prepared(graph()).plan.settings
    assert (settings.edges_per_epoch, settings.epochs) == (100, 20)


def test_a_graph_without_features_gets_some_from_its_training_edges(prepared):
    found = prepared(graph(x=None))
    assert found.graph.x.shape == (80, found.plan.shape["model"]["width"])
    assert "training edges" in found.graph.told["feature_source"]


@pytest.mark.parametrize(
    ("text", "layers", "wanted"), [("10", 2, (10, 10)), ("15,10", 2, (15, 10)), ("15 10;5", 2, (15, 10)), ("9,8", 4, (9, 8, 8, 8))]
)
def test_the_fan_out_of_each_layer(text, layers, wanted):
    class Settings:
        fanout = text

    Settings.layers = layers
    assert prepare.fanout(Settings) == wanted


@pytest.mark.parametrize("text", ["", "a", "10,-1", "0", "10.5", "100000", "¹"])
def test_a_fan_out_that_is_no_list_of_numbers_is_refused(text):
    class Settings:
        fanout, layers = text, 2

    with pytest.raises(UserError, match="fanout") as error:
        prepare.fanout(Settings)
    assert error.value.code == "wrong_setting"


@pytest.mark.parametrize(
    ("changed", "same"),
    [({"hidden": 64}, False), ({"fanout": "5"}, False), ({"negatives": 100}, False), ({"aggregation": "max"}, False), ({"predict_top_k": 3}, True)],
)
def test_a_checkpoint_is_only_resumed_by_a_training_with_the_same_options(prepared, changed, same):
    more = "\n".join(f"graph.{n}: {v}" for n, v in changed.items())
    assert (prepared(graph()).plan.digest == prepared(graph(), more_options=more).plan.digest) == same


def test_other_data_is_another_training(prepared):
    one = graph()
    other = replace(one, x=one.x + 1)
    fewer = replace(one, source=one.source[1:], target=one.target[1:])
    assert len({prepared(g).plan.digest for g in (one, one, other, fewer)}) == 3


def needs(**changed) -> memory.Needs:
    sizes = {"nodes": 2_927_963, "edges": 29_528_815, "features": 128, "hidden": 128, "layers": 2, "seeds": 4608, "fanout": (10, 10)}
    return memory.Needs(**{**sizes, **changed})


def test_a_graph_of_three_million_nodes_fits_into_16_gb_with_two_workers():
    told = RecordedChecks()
    whole = memory.check(needs(), 2, 16 * GB, told)
    assert 4 * GB < whole < 10 * GB
    assert told.entries[0][:2] == ("ok", "memory")
    assert "16 GB is available" in told.entries[0][2]


def test_files_that_do_not_fit_are_a_warning_and_workers_that_do_not_fit_are_refused():
    told = RecordedChecks()
    memory.check(needs(), 1, 3 * GB, told)
    assert told.entries[0][0] == "warning"
    with pytest.raises(UserError, match="too large for the memory") as error:
        memory.check(needs(), 2, GB, told)
    assert error.value.code == "graph_too_large"
    assert "fewer workers" in error.value.do


def test_the_free_memory_of_this_machine_is_known():
    assert GB // 10 < machine.available() < 10_000 * GB


@pytest.mark.parametrize(("count", "each"), [(10, 3), (1000, 64), (7, 7), (997, 400)])
def test_epochs_that_take_a_part_of_the_rows_go_through_all_of_them_equally_often(count, each):
    rows = Rows(None, np.zeros(count, np.int8), epoch=each)  # type: ignore[arg-type]
    if count == each:
        assert rows.per_epoch == count
        return
    drawn = [np.concatenate(batches.epoch(rows, 5, 3, number)) for number in range(1, count + 1)]
    assert all(len(d) == each for d in drawn)
    counts = np.bincount(np.concatenate(drawn), minlength=count)
    assert counts.min() == counts.max() == each
    assert not np.array_equal(drawn[0], np.concatenate(batches.epoch(rows, 5, 4, 1)))
    assert np.array_equal(drawn[1], np.concatenate(batches.epoch(rows, 5, 3, 2)))
