# needs: scikit-learn, safetensors, numpy
# holds: `model/config.json` says what the model reads, JSON files beside it name the features, and `model/weights.safetensors` holds the weights
import json
import numpy
from safetensors.numpy import load_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

config, model = json.load(open("model/config.json")), load_file("model/weights.safetensors")
terms, known = json.load(open("model/terms.json")), json.load(open("model/trainer.json"))["target"]
words = CountVectorizer(token_pattern=config["word"], ngram_range=(1, 2), vocabulary=terms["words"] or ["none"], lowercase=False)
inside = CountVectorizer(analyzer="char_wb", ngram_range=tuple(config["characters"]), vocabulary=terms["characters"] or ["none"], lowercase=False)

def weighed(counts, idf):
    tfidf = TfidfTransformer(sublinear_tf=True)
    tfidf.idf_ = idf
    return tfidf.transform(counts[:, : len(idf)]).toarray()

def scores(name, texts):
    """The log-probabilities of one of the models (rows x classes), the log-odds of several labels, or numbers."""
    counts = words.transform(texts)
    bag = weighed(counts, model["words.idf"])
    if name == "ratio":
        s = (counts[:, : len(terms["words"])] > 0) @ model["ratio.weights"] + model["ratio.bias"]
        if config.get("classes"):
            s = -numpy.logaddexp(0, numpy.hstack([s, -s]) if s.shape[1] == 1 else -s)
    else:
        x = numpy.hstack([bag, weighed(inside.transform(texts), model["characters.idf"])]) if name == "characters" else bag
        s = x @ model[f"{name}.weights"] + model[f"{name}.bias"]
    return s - numpy.logaddexp.reduce(s, axis=1, keepdims=True) if config.get("classes") else s

def predict(texts):
    texts = [t[: config["cut"]].lower() if config["lower_case"] else t[: config["cut"]] for t in texts]
    mean = numpy.average([scores(name, texts) for name in config["models"]], axis=0, weights=config.get("shares"))
    if "thresholds" in config:
        found = 1 / (1 + numpy.exp(-mean / config["temperature"])) >= config["thresholds"]
        return [[label for label, is_there in zip(known["label_sets"], row) if is_there] for row in found]
    if not config["classes"]:
        return mean[:, 0].tolist()
    lean = numpy.log(known.get("factors", 1))  # towards rare classes
    return [known["labels"][i] for i in (mean / config["temperature"] + lean).argmax(axis=1)]

texts = ["a text of yours", "another one"]
for answer, text in zip(predict(texts), texts):
    print(f"{answer}  {text}")
