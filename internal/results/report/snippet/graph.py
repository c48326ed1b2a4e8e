import json
import os
import numpy
from safetensors.numpy import load_file
from scipy import sparse

graph, config = load_file("model/graph.safetensors"), json.load(open("model/config.json"))
text, ends = graph["ids"].tobytes(), graph["id_ends"].tolist()
ids = [text[a:b].decode() for a, b in zip([0] + ends, ends)]
weights = graph.get("weights", numpy.ones(len(graph["indices"]), numpy.float32))
near = sparse.csr_matrix((weights, graph["indices"], graph["indptr"]), shape=(len(ids), len(ids)))

def combined(h):  # what a node gets from its neighbours
    if config["aggregation"] == "max":
        found, joined = numpy.zeros_like(h), numpy.diff(near.indptr) > 0
        found[joined] = numpy.maximum.reduceat(h[near.indices], near.indptr[:-1][joined])
        return found
    total = near @ h
    return total if config["aggregation"] == "add" else total / numpy.maximum(near.sum(axis=1).A1, 1e-12)[:, None]

def scores(node):  # how likely each other node is a new neighbour, by the network alone; without one, by shared neighbours
    if not os.path.exists("model/model.safetensors"):
        return (near[[node]] @ sparse.diags(1 / numpy.maximum(near.getnnz(axis=1), 1)) @ near).toarray()[0]
    w, h = load_file("model/model.safetensors"), graph["x"].astype(numpy.float32)
    for i in range(config["layers"]):
        h = h @ w[f"own.{i}.weight"].T + w[f"own.{i}.bias"] + combined(h) @ w[f"near.{i}.weight"].T
        h = h if i == config["layers"] - 1 else numpy.maximum(h, 0)  # in the end, the vectors of all nodes
    if config["decoder"] == "dot":
        return h @ h[node]
    popular = h @ w["popularity.weight"].T + w["popularity.bias"]
    h = h / numpy.maximum(numpy.linalg.norm(h, axis=1, keepdims=True), 1e-12)
    return numpy.exp(w["scale"]) * (h @ h[node]) + popular[node, 0] + popular[:, -1]

node = 0  # or ids.index("an id of yours")
found = scores(node)
found[[node, *near[[node]].indices]] = -numpy.inf
print(ids[node], "may be joined with", [ids[i] for i in numpy.argsort(-found)[:5]])
