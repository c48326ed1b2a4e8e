# needs: transformers, torch
# holds: `model/` is a folder in the format of the transformers library
from transformers import pipeline

classify = pipeline("text-classification", model="model")
for text in ["a text of yours", "another one"]:
    answer = classify(text, truncation=True)[0]
    print(f"{answer['label']}  {answer['score']:.3f}  {text}")
