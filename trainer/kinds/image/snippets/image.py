# needs: transformers, torch, pillow
# holds: `model/` is a folder in the format of the transformers library
from transformers import pipeline

classify = pipeline("image-classification", model="model")
for answer in classify("a picture of yours.png"):
    print(f"{answer['label']}  {answer['score']:.3f}")
