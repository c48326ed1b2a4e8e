# needs: transformers, torch
# holds: `model/` is a folder in the format of the transformers library
import json
from transformers import pipeline

classify = pipeline("text-classification", model="model")
temperature = json.load(open("model/trainer.json"))["target"].get("temperature", 1.0)

def tempered(model, given, answer):  # so that it is as sure as it is right
    answer.logits /= temperature

classify.model.register_forward_hook(tempered)
for text in ["a text of yours", "another one"]:
    answer = classify(text, truncation=True)[0]
    print(f"{answer['label']}  {answer['score']:.3f}  {text}")
