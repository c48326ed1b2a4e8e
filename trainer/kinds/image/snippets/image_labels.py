# needs: transformers, torch, pillow
# holds: `model/` is a folder in the format of the transformers library, with the labels and their thresholds in `model/trainer.json`
import json
from transformers import pipeline

target = json.load(open("model/trainer.json"))["target"]
thresholds = dict(zip(target["label_sets"], target.get("thresholds") or [0.5] * len(target["label_sets"])))
classify = pipeline("image-classification", model="model", function_to_apply="sigmoid", top_k=len(thresholds))
temperature = target.get("temperature", 1.0)

def tempered(model, given, answer):  # so that it is as sure as it is right
    answer.logits /= temperature

classify.model.register_forward_hook(tempered)

def predict(file):
    return [answer for answer in classify(file) if answer["score"] >= thresholds[answer["label"]]]

for answer in predict("a picture of yours.png"):
    print(f"{answer['label']}  {answer['score']:.3f}")
