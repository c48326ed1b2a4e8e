# needs: transformers, torch
# holds: `model/` is a folder in the format of the transformers library
import json
from transformers import pipeline

find = pipeline("token-classification", model="model", aggregation_strategy="first")
temperature = json.load(open("model/trainer.json"))["target"].get("temperature", 1.0)

def tempered(model, given, answer):  # so that it is as sure as it is right
    answer.logits /= temperature

find.model.register_forward_hook(tempered)
for text in ["a text of yours", "another one"]:
    print(text)
    for entity in find(text):
        print(f"  {entity['entity_group']}  {entity['score']:.3f}  {text[entity['start']:entity['end']]}")
