"""Rows about tables of fields of research: which column is the label where many are alike, and what stands in cells and around them."""

import datetime
import json
import math
import random

from trainer.tests.zoo.examples import TOGETHER
from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write
from trainer.tests.zoo.tables import TASK
from trainer.tests.zoo.time import csv

ALIKE, ABOUT, FORMS, RANKS = "columns that are alike", "columns about another one", "forms of REDCap", "a class of living things"
NA, WORDS, UNITS, MARK = "NA beside numbers", "a word for a gap", "units of measures", "a mark under its own name"
SETTINGS, COMMENT, CAMERA, MIDDLE = "settings above numbers", "a comment below the names", "answers of MegaDetector", "counts in the middle"
_SPECIES = ("Achimill", "Agrostol", "Airaprae", "Alopgeni", "Anthodor", "Bellpere")
_OPINIONS = ("Disagree", "Neutral", "Agree")
_DAY = datetime.date(2020, 1, 1)


def _table(header: str, row, rows: int = 120, name: str = "t.csv"):
    """Makes a table; ``row`` makes the cells of row i from a source of chance."""

    def make(folder):
        chance = random.Random(5)
        write(folder, name, csv(header, [row(i, chance) for i in range(rows)]))

    return make


def _numbered(start: str, count: int) -> str:
    return ",".join(f"{start}{k}" for k in range(1, count + 1))


def _answers(c, count: int) -> list[int]:
    return [c.randrange(1, 6) for _ in range(count)]


def _flow(i: int) -> list:
    level = 900 + 300 * math.sin(i / 30)
    return [(_DAY + datetime.timedelta(days=i)).isoformat(), f"{level:.0f}", "AP"[i > 160], f"{3 + level / 300 + i % 7 / 100:.2f}"]


def _form(i: int, c, last) -> list:
    return [i + 1, c.randrange(20, 80), f"{c.gauss(27 + i % 2 * 4, 3):.1f}", ["ill", "well"][i % 2], last(c)]


def _weather(folder):
    lines = [
        f"       1048;{_DAY + datetime.timedelta(days=i):%Y%m%d};{9 + i * 37 % 101 / 7:6.1f};{['rain', 'dry'][i * 5 % 7 > 3]:>5};eor"
        for i in range(120)
    ]
    write(folder, "produkt_klima_tag.txt", "STATIONS_ID;MESS_DATUM;  FX;WETTER;eor\n" + "\n".join(lines) + "\n")


def _run(folder, rows: int = 60):
    head = "Sample,run\nInstrument,Agilent 1260\nInjection volume,5 uL\n\nTime (min),Signal (au)\n"
    write(folder, "run.csv", head + "".join(f"{w / 60:.4f},{1 + 80 * math.exp(-((w - 30) ** 2) / 40):.3f}\n" for w in range(rows)))


def _kinds(second: str):
    def make(folder):
        rows = [[f"M{i}", f"{i * 7 % 50 + i % 2 * 30}.5", ["mown", "grazed"][i % 2]] for i in range(60)]
        write(folder, "t.tsv", csv("#SampleID,ph,treatment", rows).replace("\n", f"\n{second}", 1).replace(",", "\t"))

    return make


def _cameras(answers: bool):
    def make(folder):
        from trainer.tests.zoo.names import picture

        pictures = [f"{('fox', 'hare')[i % 2]}/IMG_{i:04}.png" for i in range(24)]
        for i, name in enumerate(pictures):
            write(folder, name, picture(i))
        images = [{"file": name, "detections": [{"category": "1", "conf": 0.9, "bbox": [0.1, 0.2, 0.3, 0.4]}]} for name in pictures]
        about = {"images": images, "detection_categories": {"1": "animal"}, "info": {}} if answers else {"images": pictures, "info": {}}
        write(folder, "recognition.json", json.dumps(about))

    return make


ROWS = (
    Row("items-of-a-test", "a person in each row, and the answers Q1 to Q15", "psychology", "made", "the question which one",
        _table("id," + _numbered("Q", 15), lambda i, c: [i + 1, *_answers(c, 15)]), Refused("ambiguous_label", ("Q1, Q2",)), ALIKE),
    Row("items-and-a-group", "the same with a group behind them", "psychology", "made", "the group",
        _table(_numbered("Q", 15) + ",group", lambda i, c: [*_answers(c, 15), ["ill", "well"][i % 2]]), Reads(TASK, label="group"), spares=ALIKE),
    Row("items-as-asked", "the same answers with label_column: Q15", "psychology", "made", "as asked",
        _table("id," + _numbered("Q", 15), lambda i, c: [i + 1, *_answers(c, 15)]), Reads(TASK, label="Q15"), spares=ALIKE,
        settings={"label_column": "Q15"}),
    Row("opinions", "five statements with Agree or Disagree", "Google Forms", "made", "the question which one",
        _table("I like it,I am tired,My boss helps,I stay,I am paid well", lambda i, c: c.choices(_OPINIONS, k=5)),
        Refused("ambiguous_label"), ALIKE),
    Row("site-by-species", "a plot in each row, and the cover of each species", "ecology", "vegan (dune)", "the question which one",
        _table("plot," + ",".join(_SPECIES), lambda i, c: [f"P{i}", *(c.choice([0, 0, 0, 1, 2, 3]) for _ in _SPECIES)]),
        Refused("ambiguous_label", ("Bellpere",)), ALIKE),
    Row("symptoms-and-a-class", "columns of 0 and 1, and a class in words", "medicine", "made", "the class",
        _table("fever,cough,pain,rash,cold,state", lambda i, c: [*c.choices([0, 1], k=5), ["ill", "well"][i % 2]]), Reads(TASK, label="state"),
        spares=ALIKE),
    Row("genotypes-of-plink", "FID, IID, SEX, and rs1000_A, rs1001_C, …", "genetics", "cog-genomics.org/plink", "the question which one",
        _table("FID,IID,SEX," + ",".join(f"rs{1000 + k}_{'ACGT'[k % 4]}" for k in range(12)),
            lambda i, c: [f"F{i}", f"I{i}", 1 + i % 2, *(c.choice([0, 1, 2, "NA"]) for _ in range(12))]), Refused("ambiguous_label"), ALIKE),
    Row("numbers-and-na", "a label of 0, 1 and NA", "R users", "made", "rows without a label",
        _table("ph,depth,label", lambda i, c: [c.random(), c.random(), "NA" if i % 10 == 3 else i % 2]),
        Reads(TASK, classes=("0", "1"), rows=108), NA),
    Row("countries-and-na", "a label of DE, FR and NA", "economics", "made", "Namibia is a class",
        _table("ph,depth,label", lambda i, c: [c.random(), c.random(), ["DE", "FR", "NA"][i % 3]]),
        Reads(TASK, classes=("DE", "FR", "NA")), spares=NA),
    Row("flow-with-flags", "a day, a flow and its mark A or P, a level and its mark", "hydrology", "waterdata.usgs.gov", "the level, no mark",
        _table("datetime,flow,flow_cd,level,level_cd", lambda i, c: [*_flow(i), "AP"[i > 160]], 200),
        Reads("tabular-regression", label="level"), ABOUT),
    Row("a-mark-of-its-own", "two measures, and state_cd without a column state", "registers", "made", "the label",
        _table("ph,depth,state_cd", lambda i, c: [c.random(), c.random(), "AP"[i % 2]]), Reads(TASK, label="state_cd"), spares=ABOUT),
    Row("redcap", "record_id, answers, and labs_complete with 0, 1 and 2", "clinics", "projectredcap.org", "the outcome, not how far a form is",
        _table("record_id,age,bmi,outcome,labs_complete", lambda i, c: _form(i, c, lambda c: c.choice([0, 1, 2, 2]))),
        Reads(TASK, label="outcome", columns=("age", "bmi"), says={"columns": "how far a form was filled in"}), FORMS),
    Row("percent-complete", "the same, where the last column is a measure", "surveys", "made", "a measure",
        _table("record_id,age,bmi,outcome,percent_complete", lambda i, c: _form(i, c, lambda c: round(c.random() * 100, 1))),
        Reads(columns=("age", "bmi", "percent_complete")), spares=FORMS, settings={"label_column": "outcome"}),
    Row("darwin-core", "class, order, family, genus and what was seen", "museums", "gbif.org", "the question which one",
        _table("gbifID,class,order,family,genus,basis,day", lambda i, c: [
            f"K{i}", ["Aves", "Mammalia"][i % 2], f"o{i % 4}", f"f{i % 6}", f"g{i % 12}", c.choice(["seen", "kept"]),
            (_DAY + datetime.timedelta(days=i)).isoformat()]),
        Refused("ambiguous_label", ("class", "genus")), RANKS),
    Row("class-and-family", "measures, the family, and a class", "botany", "made", "the class",
        _table("ph,family,depth,class", lambda i, c: [c.random(), f"f{i % 6}", c.random(), "xy"[i % 2]]), Reads(TASK, label="class"), spares=RANKS),
    Row("undetermined", "a Ct of numbers and Undetermined", "qPCR", "thermofisher.com", "empty cells",
        _table("ct,tm,state", lambda i, c: ["Undetermined" if i % 9 == 4 else round(c.gauss(24, 3), 2), round(c.gauss(82, 1), 1), "xy"[i % 2]]),
        Reads(TASK, columns=("ct", "tm"), says={"missing_marker": "Undetermined"}, silent=("unread_cells",)), WORDS),
    Row("low-or-a-number", "numbers, and low in some cells", "laboratories", "made", "a word with a meaning is no gap",
        _table("ct,tm,state", lambda i, c: ["low" if i % 9 == 4 else round(c.gauss(24, 3), 2), round(c.gauss(82, 1), 1), "xy"[i % 2]]),
        Reads(TASK, silent=("missing_marker",)), spares=WORDS),
    Row("units-per-volume", "5.1 mmol/L in each cell", "laboratories", "made", "numbers",
        _table("glucose,state", lambda i, c: [f"{c.gauss(5, 1):.1f} mmol/L", "xy"[i % 2]]),
        Reads(TASK, columns=("glucose",), says={"numbers": "mmol/L"}), UNITS),
    Row("two-units", "mmol/L in some cells and mg/dL in others", "laboratories", "made", "told that they cannot be compared",
        _table("glucose,age,state", lambda i, c: [
            f"{c.gauss(5, 1):.1f} mmol/L" if i % 3 else f"{c.gauss(95, 9):.0f} mg/dL", c.randrange(20, 80), "xy"[i % 2]]),
        Reads(TASK, says={"unclear_numbers": "mmol/L and mg/dL"}), spares=UNITS),
    Row("end-of-record", "STATIONS_ID;…;eor, and eor at the end of each row", "weather services", "opendata.dwd.de", "names of columns",
        _weather, Reads(TASK, rows=120, label="WETTER"), MARK),
    Row("a-word-that-repeats", "no names, and a text in the first row that is in others", "labs", "made", "a row of data",
        _table("oak,high,dry", lambda i, c: [c.choice(["oak", "elm"]), c.choice(["high", "low"]), c.choice(["dry", "wet"])]),
        Reads(rows=121), spares=MARK, settings={"label_column": "column 1"}),
    Row("settings-of-a-run", "Sample,run and Instrument,Agilent above Time and Signal", "chromatography", "agilent.com", "settings are no data",
        _run, Reads("tabular-regression", rows=60, label="Signal (au)", says={"lines_before_header": "3 rows"}), SETTINGS,
        settings={"task": "tabular-regression"}),
    Row("two-rows-of-words", "names, a row of words, and numbers", "made", "made", "the first row has the names",
        _table("depth,flow", lambda i, c: ["first", "second"] if i == 0 else [c.random(), c.random()], 60),
        Reads("tabular-regression", label="flow", silent=("lines_before_header",)), spares=SETTINGS),
    Row("qiime-2", "#SampleID, and #q2:types with categorical and numeric below", "microbiomes", "docs.qiime2.org", "kinds are no data",
        _kinds("#q2:types,numeric,categorical\n"),
        Reads(TASK, rows=60, classes=("grazed", "mown"), says={"comment_lines": "begins with #"}), COMMENT),
    Row("names-with-a-mark-below", "a first cell #7 below #SampleID, and others as well", "made", "made", "rows of data",
        lambda folder: write(folder, "t.csv", csv("#SampleID,ph,treatment", [[f"#{i}", i * 7 % 50 / 10, "xy"[i % 2]] for i in range(60)])) and None,
        Reads(TASK, rows=60), spares=COMMENT),
    Row("megadetector", "pictures in folders, and detections of animals", "camera traps", "github.com/agentmorris/MegaDetector",
        "told that boxes name no species", _cameras(True), Refused("annotations", ("MegaDetector", "species")), CAMERA),
    Row("json-about-pictures", "pictures in folders of species, and a JSON about them", "camera traps", "made", "a classifier", _cameras(False),
        Reads("image-classification", classes=("fox", "hare")), spares=CAMERA),
    Row("counts-of-peptides", "names, a count from 1 to 39, a measure, and a date", "proteomics", "maxquant.org", "the question",
        _table("protein,peptides,score,day", lambda i, c: [
            f"P{i}", 1 + i % 39, round(c.random() * 300, 2), (_DAY + datetime.timedelta(days=i)).isoformat()], 200),
        Refused("no_label", ("peptides",)), MIDDLE),
    Row("a-grade-in-the-middle", "a grade from 1 to 5 between measures, and a date", "schools", "made", "the grade",
        _table("height,grade,weight,day", lambda i, c: [c.random(), 1 + i % 5, c.random(), (_DAY + datetime.timedelta(days=i)).isoformat()]),
        NotRefused("no_label"), spares=MIDDLE),
    Row("subjects-by-number", "SUBJID as 1000, 1001, … with four visits each", "clinics", "cdisc.org", "patients stay together",
        _table("SUBJID,SBP,HR,RESPONSE", lambda i, c: [
            1000 + i // 4, round(c.gauss(120, 9)), round(c.gauss(70, 8)), ["no", "yes"][i // 4 * 7 % 11 > 5]], 240),
        Reads(TASK, columns=("SBP", "HR"), says={"group_column": "SUBJID"}), TOGETHER),
)  # fmt: skip
