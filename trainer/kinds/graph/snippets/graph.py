# needs: numpy, scipy, safetensors
# holds: `model/graph.safetensors` has the nodes, their edges and their features, and the other files in `model/` have what was learnt
import json
import os
import numpy
from safetensors.numpy import load_file
from scipy import sparse

graph, config = load_file("model/graph.safetensors"), json.load(open("model/config.json"))
text, ends = graph["ids"].tobytes(), graph["id_ends"].tolist()
ids = [text[a:b].decode() for a, b in zip([0] + ends, ends)]
n, x = len(ids), graph.get("x", numpy.zeros((len(ids), 1))).astype(numpy.float32)
weights = graph.get("weights", numpy.ones(len(graph["indices"]), numpy.float32))
near = sparse.csr_matrix((weights, graph["indices"], graph["indptr"]), shape=(n, n))
joined = sparse.csr_matrix((numpy.ones(near.nnz, numpy.float32), graph["indices"], graph["indptr"]), shape=(n, n))
degrees = joined.getnnz(axis=1)

def unit(h):
    return h / numpy.maximum(numpy.linalg.norm(h, axis=1, keepdims=True), 1e-12)

def combined(h):  # what a node gets from its neighbours
    if config["aggregation"] == "max":
        found, some = numpy.zeros_like(h), degrees > 0
        found[some] = numpy.maximum.reduceat(h[near.indices], near.indptr[:-1][some])
        return found
    total = near @ h
    return total if config["aggregation"] == "add" else total / numpy.maximum(near.sum(axis=1).A1, 1e-12)[:, None]

def network(node):
    w, h = load_file("model/model.safetensors"), x
    for i in range(config["layers"]):
        h = h @ w[f"own.{i}.weight"].T + w[f"own.{i}.bias"] + combined(h) @ w[f"near.{i}.weight"].T
        h = h if i == config["layers"] - 1 else numpy.maximum(h, 0)  # in the end, the vectors of all nodes
    if config["decoder"] == "dot":
        return h @ h[node]
    popular, h = h @ w["popularity.weight"].T + w["popularity.bias"], unit(h)
    return numpy.exp(w["scale"]) * (h @ h[node]) + popular[node, 0] + popular[:, -1]

def spread():  # the features, averaged over the neighbours twice
    loops = joined + sparse.identity(n, numpy.float32)
    root = sparse.diags(1 / numpy.sqrt(degrees + 1))
    h = unit(x - x.mean(axis=0))
    for _ in range(2):
        h = root @ (loops @ (root @ h))
    return unit(h)

def shared(node, share):  # the neighbours that each node shares with this one
    return joined @ (joined[[node]].toarray()[0] * share)

def paths(node):  # of three edges
    return joined @ (shared(node, 1 / numpy.maximum(degrees, 1)) / numpy.maximum(degrees, 1))

made = {
    "model": network,
    "common_neighbours": lambda node: numpy.sqrt(shared(node, 1.0)),
    "adamic_adar": lambda node: numpy.sqrt(shared(node, 1 / numpy.log(numpy.maximum(degrees, 2)))),
    "resource_allocation": lambda node: numpy.sqrt(shared(node, 1 / numpy.maximum(degrees, 1))),
    "three_steps": lambda node: numpy.sqrt(paths(node)),
    "preferential_attachment": lambda node: numpy.log1p(degrees) + numpy.log1p(degrees[node]),
    "cosine": lambda node: unit(x) @ unit(x)[node],
    "spread_cosine": lambda node: (h := spread()) @ h[node],
}
fusion = json.load(open("model/fusion.json")) if os.path.exists("model/fusion.json") else {"columns": ["model"], "weights": [1.0]}

def scores(node):  # how likely each other node is a new neighbour
    return sum(weight * made[name](node) for name, weight in zip(fusion["columns"], fusion["weights"]))

node = 0  # or ids.index("an id of yours")
found = scores(node)
found[[node, *near[[node]].indices]] = -numpy.inf
print(ids[node], "may be joined with", [ids[i] for i in numpy.argsort(-found)[:5]])
