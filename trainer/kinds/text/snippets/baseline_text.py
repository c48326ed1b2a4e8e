# needs: safetensors, numpy
# holds: `baseline/weights.safetensors` holds a weight for every feature and class, and `baseline/config.json` describes the features
import json
import math
import re
from collections import Counter
from safetensors.numpy import load_file

config, model = json.load(open("baseline/config.json")), load_file("baseline/weights.safetensors")
bag = json.load(open("baseline/terms.json"))
columns = {term: i for i, term in enumerate(bag["terms"])}

def predict(text):
    words = re.findall(bag["word"], text.lower())
    counts = Counter(words + [f"{first} {second}" for first, second in zip(words, words[1:])])
    rarity = {t: 1 + math.log((1 + bag["texts"]) / (1 + bag["terms"][t])) for t in counts if t in columns}
    x = {t: (1 + math.log(counts[t])) * rarity[t] for t in rarity}
    length = math.hypot(*x.values()) or 1
    scores = sum((v / length * model["weights"][columns[t]] for t, v in x.items()), model["bias"])
    return config["labels"][scores.argmax()] if config["labels"] else float(scores[0])

for text in ["a text of yours", "another one"]:
    print(f"{predict(text)}  {text}")
