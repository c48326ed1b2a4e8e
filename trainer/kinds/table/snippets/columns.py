# needs: numpy, safetensors
# holds: `model/config.json` describes the columns and the models, and `model/weights.safetensors` or `model/model.safetensors` holds what was learnt; texts and pictures that are read with an installed model need `torch` and `transformers`, too, and a cell with a picture is the path of its file
import csv
import datetime
import functools
import json
import math
import re
import numpy
from safetensors.numpy import load_file

config, known = json.load(open("model/config.json")), json.load(open("model/trainer.json"))["target"]
lean = numpy.log(known.get("factors", 1))  # towards rare classes
unknown = ("", "na", "n/a", "nan", "null", "none", "?", "-", "#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!")
missing = float("nan")
members, labels = config.get("members", [{"title": "", "share": 1, "model": config}]), config.get("labels")
weights = {m["title"]: {} for m in members}
for name, values in load_file(f"model/{'model' if config['model_type'] == 'mlp' else 'weights'}.safetensors").items():
    title, _, own = name.rpartition("/")
    weights[title][own] = values

months = ("jan|jän", "feb", "mar|mär|mrz", "apr", "may|mai", "jun", "jul", "aug", "sep", "oct|okt", "nov", "dec|dez")
name_of_month = r"[^\W\d_]{3,9}"
date = re.compile(
    r"(?:(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})|(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y2>\d{4}|\d{2})"
    rf"|(?P<d3>\d{{1,2}})[-/. ]\.? ?(?P<m3>{name_of_month})\.?[-/., ] ?(?P<y3>\d{{4}}|\d{{2}})"
    rf"|(?P<m4>{name_of_month})\.? (?P<d4>\d{{1,2}}),? (?P<y4>\d{{4}}))(?:(?:[T ]|, )(?P<time>\d.*))?",
    re.IGNORECASE,
)
clock = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d{1,9})?))?(?: ?([ap])\.?m\b\.?)?(?: ?(?:Z|UTC|GMT)?([+-]\d{2}(?::?\d{2})?)?)?", re.IGNORECASE
)
period = re.compile(r"((?:19|20)\d\d)[-/ ]?(?:(Q)([1-4])|M?(0?[1-9]|1[0-2])|(W)(0?[1-9]|[1-4]\d|5[0-3]))", re.IGNORECASE)
word = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s\ud800-\udfff]")

def day(year, month, this):
    try:
        return datetime.datetime(int(year), int(month), int(this), tzinfo=datetime.timezone.utc).timestamp()
    except ValueError:
        return missing

def of_day(text, zoned):
    m = clock.match(text)
    if not m:
        return missing
    hour, minute, second, half, zone = int(m[1]), int(m[2]), m[3] or "0", (m[4] or "").lower(), m[5]
    if hour > (12 if half else 24) or minute > 59:
        return missing
    hour = hour % 12 + 12 * (half == "p") if half else hour
    ahead = 0
    if zone and (m[3] or zoned):
        ahead = (3600 * int(zone[1:3]) + 60 * int(zone[3:].lstrip(":") or 0)) * (-1 if zone[0] == "-" else 1)
    return 3600.0 * hour + 60 * minute + float(second.replace(",", ".")) - ahead

def full(year):
    return int(year) + (0 if len(year) > 2 else 2000 if int(year) <= 68 else 1900)

def month_of(name):
    return next((i for i, begin in enumerate(months, 1) if re.match(begin, name, re.IGNORECASE)), 0)

def seconds(cell, c):
    if c["form"] == "clock":
        return of_day(cell, False) if clock.fullmatch(cell) else missing
    if c["form"] == "compact":
        digits = cell.split(".")[0]
        hour, minute, second = (int(digits[i : i + 2] or 0) for i in (8, 10, 12))
        return day(digits[:4], digits[4:6], digits[6:8]) + 3600 * hour + 60 * minute + second
    if c["form"] == "period":
        m = period.fullmatch(cell)
        if not m:
            return missing
        return day(m[1], 1, 1) + 604800 * (int(m[6]) - 1) if m[5] else day(m[1], 3 * int(m[3]) - 2 if m[2] else m[4], 1)
    m = date.fullmatch(cell)
    if not m:
        return missing
    if m["y1"]:
        found = day(m["y1"], m["m1"], m["d1"])
    elif m["y2"]:
        found = day(full(m["y2"]), m["a" if c["month_first"] else "b"], m["b" if c["month_first"] else "a"])
    else:
        found = day(full(m["y3"] or m["y4"]), month_of(m["m3"] or m["m4"]), m["d3"] or m["d4"])
    return found + of_day(m["time"], bool(m["y1"]) and "T" in cell) if m["time"] else found

def of_date(cell, c):
    moment = missing if cell.lower() in unknown else seconds(cell, c)
    if not max(c["low"], day(1, 1, 1)) <= moment <= min(c["high"], day(9999, 12, 31)):
        return [0.0 if name == "known" else missing for name in c["names"]]
    when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=moment)
    hour, season = when.hour + when.minute / 60, 2 * math.pi * (when.timetuple().tm_yday - 1) / 365.25
    turn = 2 * math.pi * hour / 24
    parts = {
        "known": 1, "year": when.year, "month": when.month, "season, sine": math.sin(season), "season, cosine": math.cos(season),
        "weekday": when.weekday(), "weekend": when.weekday() > 4, "hour": hour, "hour, sine": math.sin(turn), "hour, cosine": math.cos(turn),
        "age in days": (c["last"] - moment) / 86400,
    }
    return [parts[name] for name in c["names"]]

def of_list(cell, c):
    if cell.lower() in unknown:
        return [missing] * (len(c["items"]) + 1)
    items = {i.strip().strip("\"'").strip() for i in cell.strip("[]").split(c["separator"])} - {""}
    return [len(items), *(i in items for i in c["items"])]

def of_text(cell, c):
    directions = numpy.array(c["directions"])
    if cell.lower() in unknown:
        return [missing] * (directions.shape[1] + 1 + len(c.get("alone", [])))
    words = word.findall(cell[:20000].lower())
    terms = [*words, *map(" ".join, zip(words, words[1:]))]
    places = {t: i for i, t in enumerate(c["terms"])}
    counts = {p: terms.count(c["terms"][p]) for p in sorted({places[t] for t in terms if t in places})}
    found, alone = numpy.zeros(directions.shape[1]), {}
    if counts:
        of_terms = numpy.array([(1 + math.log(n)) * c["weights"][p] for p, n in counts.items()])
        length = math.sqrt(of_terms @ of_terms)
        found, alone = of_terms @ directions[list(counts)] / length, dict(zip(counts, of_terms / length))
    return [math.log1p(len(words)), *found, *(alone.get(p, 0.0) for p in c.get("alone", []))]

@functools.cache
def reader(name, commit):
    from transformers import AutoModel, AutoTokenizer
    return tuple(of.from_pretrained(name, revision=commit or "main") for of in (AutoTokenizer, AutoModel))

def of_vectors(cell, c):
    import torch
    about = c["vectors"]
    if cell.lower() in unknown:
        return [missing] * len(about["directions"][0])
    tokenizer, encoder = reader(about["encoder"]["name"], about["encoder"]["commit"])
    inputs = tokenizer(cell[:2000].strip(), truncation=True, max_length=min(128, tokenizer.model_max_length), return_tensors="pt")
    with torch.no_grad():
        vector = encoder.eval()(**inputs).last_hidden_state[0].mean(0).numpy()
    return [*((vector / numpy.sqrt(vector @ vector) - about["mean"]) @ numpy.array(about["directions"]))]

def of_picture(file, c):
    import torch
    from PIL import Image, ImageOps
    from transformers import AutoImageProcessor, AutoModel
    about = c["vectors"]
    if not file:
        return [missing] * len(about["directions"][0])
    where = {"revision": about["encoder"]["commit"] or "main"}
    wants = AutoImageProcessor.from_pretrained(about["encoder"]["name"], **where)
    side = wants.size.get("height") or wants.size["shortest_edge"]
    image = Image.open(file)
    image.draft("RGB", (side, side))
    image = ImageOps.exif_transpose(image).convert("RGBA")
    image = Image.alpha_composite(Image.new("RGBA", image.size, (127, 127, 127, 255)), image).convert("RGB")
    pixels = numpy.asarray(image.resize((side, side), Image.Resampling.BILINEAR), numpy.float32) / 255
    if wants.do_normalize:
        pixels = (pixels - numpy.float32(wants.image_mean)) / numpy.float32(wants.image_std)
    with torch.no_grad():
        encoder = AutoModel.from_pretrained(about["encoder"]["name"], **where).eval()
        vector = encoder(torch.from_numpy(pixels.transpose(2, 0, 1)[None])).last_hidden_state[0].mean((1, 2)).numpy()
    return [*((vector / numpy.sqrt(vector @ vector) - about["mean"]) @ numpy.array(about["directions"]))]

def of_texts(cell, c):
    return [*(of_text(cell, c) if "terms" in c else []), *(of_vectors(cell, c) if "vectors" in c else [])]

def of_name(cell, c):
    return [missing if not cell else math.log1p(c["counts"][cell]) if cell in c["counts"] else 0]

def numbers(cell, c):
    if c["type"] == "number":
        return [missing if cell.lower() in unknown else float(cell)]
    return {"date": of_date, "list": of_list, "text": of_texts, "name": of_name, "picture": of_picture}[c["type"]](cell, c)

def read(row, columns):
    for c in columns:
        cell = str(row[c["name"]]).strip()
        yield c, "" if cell.lower() in unknown else cell

def standardised(row, columns):
    x = []
    for c, cell in read(row, columns):
        x += [float(cell == value) for value in c.get("categories", [])]
        if c["type"] != "category":
            scaled = (numpy.array(numbers(cell, c), float) - c["mean"]) / c["std"]
            x += numpy.clip(numpy.nan_to_num(scaled), -10, 10).tolist()
    return numpy.array(x, numpy.float32)

def of_columns(row, columns):
    x = []
    for c, cell in read(row, columns):
        if c["type"] == "category" or c.get("categories"):
            x.append(c["categories"].index(cell) if cell in c["categories"] else missing)
        if c["type"] != "category":
            x += numbers(cell, c)
    return x

def goes_left(model, node, x):
    subset = model["subset"][node]
    if x != x:
        return model["missing_left"][node]
    if subset >= 0:
        return int(model["categories"][subset][int(x) // 32]) >> int(x) % 32 & 1
    return x <= model["value"][node]

def of_trees(row, about, model):
    x = of_columns(row, about["columns"])
    found = model["start"].copy()
    for i, node in enumerate(model["roots"]):
        while model["left"][node] != node:
            node = model["left" if goes_left(model, node, x[model["feature"][node]]) else "right"][node]
        found[i % len(found)] += model["value"][node]
    if not about["labels"]:
        return found
    if len(found) == 1 and len(about["present"]) > 1:
        found = numpy.array([0, found[0]])
    absent = numpy.logaddexp.reduce(found) - numpy.log(about["rows"] + 1)
    scores = numpy.full(len(about["labels"]), absent)
    scores[about["present"]] = found
    return scores

def scores(row, about, model):
    if about["model_type"] == "trees":
        return of_trees(row, about, model)
    x = standardised(row, about["columns"])
    if about["model_type"] == "linear":
        return x @ model["weights"] + model["bias"]
    layers = about["layers"]
    for i in range(layers if isinstance(layers, int) else len(layers) - 1):
        x = model[f"layers.{i}.weight"] @ (numpy.maximum(x, 0) if i else x) + model[f"layers.{i}.bias"]
    return x

def predict(row):
    total = 0
    for member in members:
        found = scores(row, member["model"], weights[member["title"]]).astype(float)
        if "scale" in member:  # it answers the logarithm of the number
            c = member["scale"]
            found = numpy.exp(numpy.clip(found, c["low"], c["high"])) * c["factor"] - c["shift"]
        if labels:
            found = found - numpy.logaddexp.reduce(found)
        total = total + member["share"] * found
    return labels[(total + lean).argmax()] if labels else float(total[0])

for row in csv.DictReader(open("a table of yours.csv", newline="", encoding="utf-8-sig")):
    print(predict(row))
