# needs: transformers, torch
# holds: `model/` is a folder in the format of the transformers library
from transformers import pipeline

find = pipeline("token-classification", model="model", aggregation_strategy="first")
for text in ["a text of yours", "another one"]:
    print(text)
    for entity in find(text):
        print(f"  {entity['entity_group']}  {entity['score']:.3f}  {text[entity['start']:entity['end']]}")
