# needs: transformers, torch
# holds: `model/` is an encoder in the format of the transformers library, and `model/head.safetensors` holds the linear model on the mean of its token vectors
import json
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

tokenizer, encoder = AutoTokenizer.from_pretrained("model"), AutoModel.from_pretrained("model").eval()
head, labels = load_file("model/head.safetensors"), json.load(open("model/labels.json"))

def predict(texts):
    inputs = tokenizer(texts, truncation=True, padding=True, return_tensors="pt")
    with torch.no_grad():
        vectors = encoder(**inputs).last_hidden_state
    there = inputs["attention_mask"].unsqueeze(-1)
    mean = (vectors * there).sum(1) / there.sum(1)
    return [labels[i] for i in (mean @ head["weight"].T + head["bias"]).argmax(1)]

texts = ["a text of yours", "another one"]
for answer, text in zip(predict(texts), texts):
    print(f"{answer}  {text}")
