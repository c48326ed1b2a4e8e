# needs: transformers, torch, pillow
# holds: `model/` is a folder in the format of the transformers library
import json
from transformers import pipeline

classify = pipeline("image-classification", model="model")
temperature = json.load(open("model/trainer.json"))["target"].get("temperature", 1.0)

def tempered(model, given, answer):  # so that it is as sure as it is right
    answer.logits /= temperature

classify.model.register_forward_hook(tempered)
for answer in classify("a picture of yours.png"):
    print(f"{answer['label']}  {answer['score']:.3f}")
