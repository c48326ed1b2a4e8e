# needs: transformers, torch, scikit-learn, safetensors, numpy
# holds: `model/` is a network in the format of the transformers library; beside it, `model/words.json`, `model/words.safetensors` and `model/terms.json` hold the model on words and characters, and the answer is the mean of both. `model/model.onnx`, where it is there, is the network alone
import json
import numpy
import torch
from safetensors.numpy import load_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer, network = AutoTokenizer.from_pretrained("model"), AutoModelForSequenceClassification.from_pretrained("model").eval()
config, model = json.load(open("model/words.json")), load_file("model/words.safetensors")
terms, labels, average = json.load(open("model/terms.json")), json.load(open("model/labels.json")), config["average"]
temperature = json.load(open("model/trainer.json"))["target"].get("temperature", 1.0)
words = CountVectorizer(token_pattern=config["word"], ngram_range=(1, 2), vocabulary=terms["words"] or ["none"], lowercase=False)
inside = CountVectorizer(analyzer="char_wb", ngram_range=tuple(config["characters"]), vocabulary=terms["characters"] or ["none"], lowercase=False)

def weighed(counts, idf):
    tfidf = TfidfTransformer(sublinear_tf=True)
    tfidf.idf_ = idf
    return tfidf.transform(counts[:, : len(idf)]).toarray()

def scores(name, texts):
    """The log-probabilities of one of the models on words and characters (rows x classes)."""
    counts = words.transform(texts)
    bag = weighed(counts, model["words.idf"])
    if name == "ratio":
        s = (counts[:, : len(terms["words"])] > 0) @ model["ratio.weights"] + model["ratio.bias"]
        s = -numpy.logaddexp(0, numpy.hstack([s, -s]) if s.shape[1] == 1 else -s)
    else:
        x = numpy.hstack([bag, weighed(inside.transform(texts), model["characters.idf"])]) if name == "characters" else bag
        s = x @ model[f"{name}.weights"] + model[f"{name}.bias"]
    return s - numpy.logaddexp.reduce(s, axis=1, keepdims=True)

def of_words(texts):
    texts = [t[: config["cut"]].lower() if config["lower_case"] else t[: config["cut"]] for t in texts]
    return numpy.average([scores(name, texts) for name in config["models"]], axis=0, weights=config["shares"]) / config["temperature"]

def of_network(texts):
    with torch.no_grad():
        logits = network(**tokenizer(texts, truncation=True, padding=True, return_tensors="pt")).logits
    return (logits / temperature).log_softmax(-1).numpy() + average["correction"]

def predict(texts):
    mean = average["share"] * of_network(texts) + (1 - average["share"]) * of_words(texts)
    return [labels[i] for i in mean.argmax(axis=1)]

texts = ["a text of yours", "another one"]
for answer, text in zip(predict(texts), texts):
    print(f"{answer}  {text}")
