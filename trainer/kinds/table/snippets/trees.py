# needs: numpy, safetensors
# holds: `model/config.json` describes the columns, and `model/weights.safetensors` holds what was learnt
import csv
import json
import math
from safetensors.numpy import load_file

config, known = json.load(open("model/config.json")), json.load(open("model/trainer.json"))["target"]
lean = [math.log(f) for f in known.get("factors", [1] * len(config["labels"]))]  # towards rare classes
model = {name: values.tolist() for name, values in load_file("model/weights.safetensors").items()}
unknown = ("", "na", "n/a", "nan", "null", "none", "?", "-")
missing = float("nan")

def value(cell, column):
    if column["type"] == "category":
        return column["categories"].index(cell) if cell in column["categories"] else missing
    return missing if cell.lower() in unknown else float(cell)

def goes_left(node, x):
    subset = model["subset"][node]
    if x != x:
        return model["missing_left"][node]
    if subset >= 0:
        return model["categories"][subset][x // 32] >> x % 32 & 1
    return x <= model["value"][node]

def predict(row):
    x = [value(str(row[c["name"]]).strip(), c) for c in config["columns"]]
    scores = list(model["start"])
    for i, node in enumerate(model["roots"]):
        while model["left"][node] != node:
            left = goes_left(node, x[model["feature"][node]])
            node = model["left" if left else "right"][node]
        scores[i % len(scores)] += model["value"][node]
    if not config["labels"]:
        return scores[0]
    if len(scores) == 1 and len(config["present"]) > 1:
        scores = [0, scores[0]]
    return config["labels"][max(zip(scores, config["present"]), key=lambda found: found[0] + lean[found[1]])[1]]

for row in csv.DictReader(open("a table of yours.csv", newline="", encoding="utf-8-sig")):
    print(predict(row))
