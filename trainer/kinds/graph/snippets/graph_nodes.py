# needs: numpy, scipy, safetensors
# holds: `model/graph.safetensors` has the nodes, their edges and their features, and the other files in `model/` have what was learnt
import json
import os
import numpy
from safetensors import safe_open
from safetensors.numpy import load_file
from scipy import sparse

graph, config, about = load_file("model/graph.safetensors"), json.load(open("model/config.json")), json.load(open("model/trainer.json"))
labels = about["target"].get("labels")  # none where numbers are predicted
text, ends = graph["ids"].tobytes(), graph["id_ends"].tolist()
ids = [text[a:b].decode() for a, b in zip([0] + ends, ends)]
x, n = graph.get("x", numpy.zeros((len(ids), 0))).astype(numpy.float32), len(ids)
weights = graph.get("weights", numpy.ones(len(graph["indices"]), numpy.float32))
near = sparse.csr_matrix((weights, graph["indices"], graph["indptr"]), shape=(n, n))

def outputs(scores):
    odds = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True) if labels else scores

def combined(h):  # what a node gets from its neighbours
    if config["aggregation"] == "max":
        found, joined = numpy.zeros_like(h), numpy.diff(near.indptr) > 0
        found[joined] = numpy.maximum.reduceat(h[near.indices], near.indptr[:-1][joined])
        return found
    total = near @ h
    return total if config["aggregation"] == "add" else total / numpy.maximum(near.sum(axis=1).A1, 1e-12)[:, None]

def network():
    w, h = load_file("model/model.safetensors"), x
    for i in range(config["layers"]):
        h = numpy.maximum(h @ w[f"own.{i}.weight"].T + w[f"own.{i}.bias"] + combined(h) @ w[f"near.{i}.weight"].T, 0)
    return outputs(h @ w["head.weight"].T + w["head.bias"])

def linear(name):  # on features that were averaged over the neighbours some times
    joined = (near != 0).astype(numpy.float32) + sparse.identity(n, numpy.float32)
    root = sparse.diags(1 / numpy.sqrt(joined.getnnz(axis=1)))
    with safe_open(f"model/{name}.safetensors", framework="numpy") as file:
        h = x * file.get_tensor("columns") if "columns" in file.keys() else x  # then words count alike, and rows have the length 1
        h = h / numpy.maximum(numpy.linalg.norm(h, axis=1, keepdims=True), 1e-6) if "columns" in file.keys() else x
        for _ in range(int(file.metadata()["steps"])):
            h = root @ (joined @ (root @ h))
        return outputs(h @ file.get_tensor("weights") + file.get_tensor("bias"))

fusion = json.load(open("model/fusion.json")) if os.path.exists("model/fusion.json") else {"columns": ["model"], "weights": [1.0]}
made = {"model": network, "propagation": lambda: load_file("model/propagation.safetensors")["propagated"]}
parts = [made.get(name, lambda name=name: linear(name))() for name in fusion["columns"]]
if labels:
    found = outputs(sum(weight * numpy.log(numpy.maximum(part, 1e-9)) for weight, part in zip(fusion["weights"], parts)))
    answers = [labels[i] for i in found.argmax(axis=1)]
else:
    answers = parts[0].ravel().tolist()
for name, answer in list(zip(ids, answers))[:20]:
    print(name, answer)
