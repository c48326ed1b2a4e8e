"""The network of a graph: its size, its layers over all nodes and over drawn neighbourhoods, and what its steps depend on."""

import numpy as np
import pytest
import torch
from test_graph_sampler import NODES, edges

from trainer.kinds.graph import inference, score, store as stores
from trainer.kinds.graph.inference import Layers
from trainer.kinds.graph.rows import Drawn, Edges, Nodes
from trainer.kinds.graph.sage import EXTRA, Dropout, Sage
from trainer.run_folder import files

CPU = torch.device("cpu")
WIDTH = 7


def network(layers: int = 2, aggregation: str = "mean", decoder: str = "cosine", outputs: int = 0, directed: bool = False) -> Sage:
    torch.manual_seed(0)
    return Sage(WIDTH, 12, layers, aggregation, decoder, outputs, directed, 0.3)


def built(folder, weight: bool = False):
    source, target = edges()
    random = np.random.default_rng(1)
    weights = (0.5 + random.random(len(source))).astype(np.float32) if weight else None
    return stores.build(folder, NODES, source, target, weights, random.standard_normal((NODES, WIDTH)).astype(np.float32))


def rows_of_edges(folder, store, left: int = 0, aggregation: str = "mean", fanout=(4, 4)) -> Edges:
    source, target = edges()
    np.save(folder / "train.npy", np.stack([source, target], axis=1))
    return Edges(store, Drawn(fanout, aggregation, 16, left), folder / "train.npy", len(source), folder / "measured")


def test_a_model_of_the_paper_has_as_many_weights_as_five_layers_of_256_units_have():
    model = Sage(128, 256, 5, "add", "dot", 0, False, 0.3)
    sizes = {name.rpartition(".")[2]: 0 for name, _ in model.named_parameters()}
    for name, values in model.named_parameters():
        sizes[name.rpartition(".")[2]] += values.numel()
    assert sizes == {"weight": 589_824, "bias": 1_280}


@pytest.mark.parametrize("aggregation", ["mean", "add", "max"])
@pytest.mark.parametrize("weight", [False, True])
def test_with_all_neighbours_a_step_computes_what_the_layers_over_all_nodes_compute(tmp_path, aggregation, weight):
    store = built(tmp_path / "graph", weight)
    model = network(3, aggregation, outputs=3).eval()
    nodes = np.random.default_rng(0).permutation(NODES)[:20]
    rows = Nodes(store, Drawn((1000,) * 3, aggregation), nodes)
    inputs = {n: torch.from_numpy(v) for n, v in rows.batch(np.arange(20)).items()}
    with torch.inference_mode():
        sampled = model(**inputs).logits
    whole = rows.together(model, CPU)
    assert torch.allclose(sampled, whole, rtol=1e-4, atol=1e-4)


def test_a_block_of_nodes_has_the_same_rows_as_all_of_them_together(tmp_path):
    store, model = built(tmp_path / "graph"), network()
    layers = Layers(tmp_path, 0, 1)
    assert np.allclose(inference.table(model, store, CPU, layers, block=7), inference.table(model, store, CPU, layers), atol=1e-5)


def test_a_large_table_is_in_a_file_that_is_removed_when_it_was_read(tmp_path, monkeypatch):
    store, model = built(tmp_path / "graph"), network(3)
    wanted = inference.table(model, store, CPU, Layers(tmp_path, 0, 1))
    monkeypatch.setattr(inference, "IN_MEMORY", 0)
    monkeypatch.setattr(inference, "IN_MEMORY_OF_ONE", 0)
    layers = Layers(tmp_path, 0, 1)
    found = inference.table(model, store, CPU, layers)
    assert isinstance(found, np.memmap)
    assert np.array_equal(found, wanted)
    assert [p.name for p in tmp_path.glob("*.npy")] == ["table.npy"]
    layers.remove(found)
    assert not list(tmp_path.glob("*.npy"))


def test_each_worker_writes_its_share_of_a_large_table(tmp_path, monkeypatch):
    store, model = built(tmp_path / "graph"), network(1)
    wanted = inference.table(model, store, CPU, Layers(tmp_path, 0, 1))
    monkeypatch.setattr(inference, "IN_MEMORY", 0)
    monkeypatch.setattr(inference, "IN_MEMORY_OF_ONE", 0)
    monkeypatch.setattr(Layers, "wait", lambda self: None)
    first = inference.table(model, store, CPU, Layers(tmp_path, 0, 2))
    assert not np.array_equal(first, wanted)
    second = inference.table(model, store, CPU, Layers(tmp_path, 1, 2))
    assert np.array_equal(second, wanted)


@pytest.mark.parametrize(("decoder", "directed"), [("cosine", False), ("cosine", True), ("dot", False)])
def test_the_scores_of_a_step_are_those_of_the_table(tmp_path, decoder, directed):
    store = built(tmp_path / "graph")
    model = network(decoder=decoder, directed=directed).eval()
    if model.popularity is not None:
        torch.nn.init.normal_(model.popularity.weight)
    rows = rows_of_edges(tmp_path, store, fanout=(1000, 1000))
    found = rows.batch(np.arange(5), np.random.default_rng(3))
    table = inference.table(model, store, CPU, Layers(tmp_path, 0, 1))
    # The step leaves its own edges out of the messages, the table does not. So the rows are taken from the table here.
    source, target = edges()
    seeds = np.random.default_rng(3).integers(0, NODES, 16, np.int32)
    with torch.inference_mode():
        model.settled = lambda last: torch.from_numpy(table)
        places = {"sources": source[:5], "targets": target[:5], "tails": seeds, "heads": seeds}
        logits = model(**{n: torch.from_numpy(np.asarray(places.get(n, v))) for n, v in found.items()}).logits.numpy()
    assert logits.shape == (5, 2, 17)
    assert logits[:, 0, 0] == pytest.approx(score.pairs(table, source[:5], target[:5]), abs=1e-4)
    assert logits[:, 1, 0] == pytest.approx(logits[:, 0, 0], abs=1e-4)
    tails = score.candidates(table, source[:5], np.tile(seeds, (5, 1)))
    heads = np.stack([score.pairs(table, seeds, np.full(16, t)) for t in target[:5]])
    assert logits[:, 0, 1:] == pytest.approx(np.where(found["no_tail"], -np.inf, tails), abs=1e-4)
    assert logits[:, 1, 1:] == pytest.approx(np.where(found["no_head"], -np.inf, heads), abs=1e-4)


def test_a_node_and_its_neighbours_are_no_negatives_of_it(tmp_path):
    store = built(tmp_path / "graph")
    rows = rows_of_edges(tmp_path, store)
    source, target = edges()
    found = rows.batch(np.arange(len(source)), np.random.default_rng(3))
    drawn = np.random.default_rng(3).integers(0, NODES, 16, np.int32)
    for row, (a, b) in enumerate(zip(source, target, strict=True)):
        for column, node in enumerate(drawn):
            for end, known in ((a, found["no_tail"]), (b, found["no_head"])):
                there = set(store.indices[store.indptr[end] : store.indptr[end + 1]].tolist()) | {int(end)}
                assert known[row, column] == (node in there)


def test_negatives_of_a_bipartite_graph_come_from_the_right_side(tmp_path):
    source, target = np.array([0, 1, 2], np.int32), np.array([10, 11, 12], np.int32)
    store = stores.build(tmp_path / "graph", 30, source, target, None, np.ones((30, WIDTH), np.float32))
    np.save(tmp_path / "train.npy", np.stack([source, target], axis=1))
    rows = Edges(store, Drawn((3, 3), "mean", 500, 10), tmp_path / "train.npy", 3, tmp_path / "m")
    random = np.random.default_rng(0)
    tails, heads = random.integers(10, 30, 500, np.int32), random.integers(0, 10, 500, np.int32)
    found = rows.batch(np.arange(3), np.random.default_rng(0))
    assert np.array_equal(found["no_tail"], tails == target[:, None])  # the only neighbour of each source
    assert np.array_equal(found["no_head"], heads == source[:, None])


def test_a_step_depends_on_its_rows_and_its_generator_alone(tmp_path):
    store = built(tmp_path / "graph")
    rows = rows_of_edges(tmp_path, store)
    first = rows.batch(np.arange(9), np.random.default_rng([1, 2]))
    rows.batch(np.arange(20, 50), np.random.default_rng([1, 3]))
    again, other = rows.batch(np.arange(9), np.random.default_rng([1, 2])), rows.batch(np.arange(9), np.random.default_rng([1, 3]))
    assert all(np.array_equal(first[n], again[n]) for n in first)
    assert any(not np.array_equal(first[n], other[n]) for n in first)


@pytest.mark.parametrize("outputs", [0, 3])
def test_a_saved_model_is_read_back(tmp_path, outputs):
    model = network(outputs=outputs)
    model.save(tmp_path / "model", {"task": "link-prediction"})
    read = Sage.load(tmp_path / "model")
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), read.state_dict().values(), strict=True))
    assert files.read_json(tmp_path / "model" / "config.json")["model_type"] == "sage"


@pytest.mark.parametrize("changed", [{"hidden": 1_000_000}, {"layers": 100_000}, {"layers": 0}, {"aggregation": "eval"}])
def test_a_description_that_does_not_fit_the_weights_is_refused_before_any_memory_is_taken(tmp_path, changed):
    network().save(tmp_path / "model", {})
    config = files.read_json(tmp_path / "model" / "config.json")
    files.write_json(tmp_path / "model" / "config.json", {**config, **changed})
    with pytest.raises(ValueError, match=r"weights|describes"):
        Sage.load(tmp_path / "model")


def test_a_row_of_the_table_has_an_embedding_of_the_wanted_width(tmp_path):
    store = built(tmp_path / "graph")
    assert inference.table(network(), store, CPU, Layers(tmp_path, 0, 1)).shape == (NODES, 12 + EXTRA)
    assert inference.table(network(outputs=3), store, CPU, Layers(tmp_path, 0, 1)).shape == (NODES, 12)


@pytest.mark.parametrize(("share", "left"), [(0.0, 1.0), (0.3, 179 / 256), (0.5, 0.5)])
def test_dropout_leaves_a_share_out_and_keeps_the_mean(share, left):
    dropout, values = Dropout(share), torch.ones(1001, 101, requires_grad=True)
    torch.manual_seed(0)
    found = dropout(values)
    assert (found > 0).float().mean().item() == pytest.approx(left, abs=0.01)
    assert found.mean().item() == pytest.approx(1, abs=0.02)
    found.sum().backward()
    assert torch.equal(values.grad, found.detach())  # what is left out learns nothing
    torch.manual_seed(0)
    assert torch.equal(dropout(values), found)
    assert dropout.eval()(values) is values
