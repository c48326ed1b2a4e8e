# needs: transformers, torch
# holds: `model/` is a folder in the format of the transformers library
from transformers import pipeline

rate = pipeline("text-classification", model="model", function_to_apply="none")
for text in ["a text of yours", "another one"]:
    print(f"{rate(text, truncation=True)[0]['score']:.3f}  {text}")
