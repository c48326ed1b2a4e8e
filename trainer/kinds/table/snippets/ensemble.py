# needs: numpy, safetensors
# holds: `model/config.json` describes the models of the ensemble and their shares, and `model/weights.safetensors` holds what each has learnt
import csv
import json
import numpy
from safetensors.numpy import load_file

config, known = json.load(open("model/config.json")), json.load(open("model/trainer.json"))["target"]
lean = numpy.log(known.get("factors", 1))  # towards rare classes
unknown = ("", "na", "n/a", "nan", "null", "none", "?", "-")
missing = float("nan")
weights = {m["title"]: {} for m in config["members"]}
for name, values in load_file("model/weights.safetensors").items():
    title, own = name.split("/")
    weights[title][own] = values

def standardised(row, columns):
    x = []
    for c in columns:
        cell = str(row[c["name"]]).strip()
        if c["type"] == "category":
            x += [float(cell == known) for known in c["categories"]]
        else:
            value = c["mean"] if cell.lower() in unknown else float(cell)
            x.append(numpy.clip((value - c["mean"]) / c["std"], -10, 10))
    return numpy.array(x, numpy.float32)

def value(cell, column):
    if column["type"] == "category":
        return column["categories"].index(cell) if cell in column["categories"] else missing
    return missing if cell.lower() in unknown else float(cell)

def goes_left(model, node, x):
    subset = model["subset"][node]
    if x != x:
        return model["missing_left"][node]
    if subset >= 0:
        return int(model["categories"][subset][int(x) // 32]) >> int(x) % 32 & 1
    return x <= model["value"][node]

def of_trees(row, about, model):
    x = [value(str(row[c["name"]]).strip(), c) for c in about["columns"]]
    found = model["start"].copy()
    for i, node in enumerate(model["roots"]):
        while model["left"][node] != node:
            node = model["left" if goes_left(model, node, x[model["feature"][node]]) else "right"][node]
        found[i % len(found)] += model["value"][node]
    if not about["labels"]:
        return found
    if len(found) == 1 and len(about["present"]) > 1:
        found = numpy.array([0, found[0]])
    absent = numpy.logaddexp.reduce(found) - numpy.log(about["rows"] + 1)
    scores = numpy.full(len(about["labels"]), absent)
    scores[about["present"]] = found
    return scores

def scores(row, about, model):
    if about["model_type"] == "trees":
        return of_trees(row, about, model)
    x = standardised(row, about["columns"])
    if about["model_type"] == "linear":
        return x @ model["weights"] + model["bias"]
    for i in range(about["layers"]):
        x = model[f"layers.{i}.weight"] @ (numpy.maximum(x, 0) if i else x) + model[f"layers.{i}.bias"]
    return x

def predict(row):
    total = 0
    for member in config["members"]:
        found = scores(row, member["model"], weights[member["title"]]).astype(float)
        if "scale" in member:  # it answers the logarithm of the number
            c = member["scale"]
            found = numpy.exp(numpy.clip(found, c["low"], c["high"])) * c["factor"] - c["shift"]
        if config["labels"]:
            found = found - numpy.logaddexp.reduce(found)
        total = total + member["share"] * found
    return config["labels"][(total + lean).argmax()] if config["labels"] else float(total[0])

for row in csv.DictReader(open("a table of yours.csv", newline="", encoding="utf-8-sig")):
    print(predict(row))
