# needs: numpy, safetensors
# holds: `model/config.json` says how each column is converted to numbers, and `model/model.safetensors` holds the weights
import csv
import json
import numpy
from safetensors.numpy import load_file

config, weights = json.load(open("model/config.json")), load_file("model/model.safetensors")
unknown = ("", "na", "n/a", "nan", "null", "none", "?", "-")

def predict(row):
    x = []
    for c in config["columns"]:
        cell = str(row[c["name"]]).strip()
        if c["type"] == "category":
            x += [float(cell == known) for known in c["categories"]]
        else:
            value = c["mean"] if cell.lower() in unknown else float(cell)
            x.append(numpy.clip((value - c["mean"]) / c["std"], -10, 10))
    x = numpy.array(x, numpy.float32)
    for i in range(len(config["layers"]) - 1):
        x = weights[f"layers.{i}.weight"] @ (numpy.maximum(x, 0) if i else x) + weights[f"layers.{i}.bias"]
    return config["labels"][x.argmax()] if config.get("labels") else float(x[0])

for row in csv.DictReader(open("a table of yours.csv", newline="", encoding="utf-8-sig")):
    print(predict(row))
