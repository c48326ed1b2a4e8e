"""Rows about labels that are computed from other columns, and labels of tables of survival."""

import math
import random

from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.tables import TASK
from trainer.tests.zoo.time import csv

FORMULA, RANGE, FOLLOWED = "a formula of columns", "classes that are ranges", "how long rows were followed"
_NUMBER = "tabular-regression"
_GRADES = ((4, "minimal"), (9, "mild"), (14, "moderate"), (19, "much"), (27, "severe"))


def _table(header: str, row, rows: int = 150, name: str = "t.csv"):
    """Makes a table; ``row`` makes the cells of row i from a source of chance."""

    def make(folder):
        chance = random.Random(11)
        write(folder, name, csv(header, [row(i, chance) for i in range(rows)]))

    return make


def _items(c) -> list[int]:
    how = c.gauss(1, 1)
    return [min(3, max(0, round(how + c.gauss(0, 1)))) for _ in range(9)]


def _total(i, c, by_item: bool = True) -> list:
    items = _items(c)
    return [f"P{i:03}", *items, sum(items) if by_item else sum(items) + round(c.gauss(0, 2))]


def _grade(total: float) -> str:
    return next(name for most, name in _GRADES if total <= most)


def _body(c) -> list[float]:
    return [round(c.gauss(171, 9), 1), round(c.gauss(76, 14), 1)]


def _bmi(i, c) -> list:
    height, weight = _body(c)
    return [c.randrange(18, 85), height, weight, f"{weight / (height / 100) ** 2:.1f}"]


def _species(i, c) -> list:
    seen = [max(0, c.randrange(-6, 9)) for _ in range(12)]
    return [*seen, sum(n > 0 for n in seen)]


def _lipids(i, c) -> list:
    total, high, other = c.randrange(140, 260), c.randrange(30, 80), c.randrange(60, 300)
    return [total, high, other, round(total - high - other / 5)]


def _chlorophyll(i, c) -> list:
    found = round(math.exp(c.gauss(1, 1)), 2) + 0.01
    return [f"{c.gauss(20, 4):.1f}", f"{found:.2f}", f"{math.log10(found):.4f}"]


def _noisy(i, c) -> list:
    a, b = c.gauss(50, 9), c.gauss(20, 3)
    return [f"{a:.1f}", f"{b:.1f}", f"{a + b + c.gauss(0, 1):.1f}"]


def _patient(c, codes: str | tuple = (1, 2)) -> list:
    age, end = c.randrange(39, 83), c.expovariate(1 / 400)
    limit = c.uniform(100, 1000)
    return [age, c.choice("mf"), round(min(end, limit)) + 5, codes[end <= limit]]


def _logged(i, c) -> list:
    return [i * 10, f"{c.gauss(20, 2):.1f}", f"{c.gauss(5, 1):.2f}", c.choice([0, 1])]


def _process(i, c) -> list:
    seconds = c.uniform(5, 60)
    return [f"{seconds:.1f}", f"{c.gauss(3, 0.4):.2f}", int(seconds > 50)]


_ITEMS = ",".join(f"phq9_{k}" for k in range(1, 10))
_SIZES = "age,height_cm,weight_kg"

ROWS = (
    Row("total-of-items", "nine answers and their total", "psychology", "PHQ-9", "told that it is their sum",
        _table(f"id,{_ITEMS},total", _total), Reads(_NUMBER, label="total", says={"label_formula": "the sum of phq9_1, phq9_2"}), FORMULA,
        settings={"label_column": "total"}),
    Row("nearly-the-total", "nine answers and what a doctor says of them", "psychology", "made", "no formula",
        _table(f"id,{_ITEMS},total", lambda i, c: _total(i, c, False)), Reads(silent=("label_formula",)), spares=FORMULA,
        settings={"label_column": "total"}),
    Row("body-mass-index", "height, weight and bmi with one decimal", "clinics", "made", "told the formula",
        _table(f"{_SIZES},bmi", _bmi), Reads(_NUMBER, label="bmi", says={"label_formula": "10000 × height_cm^-2 × weight_kg"}), FORMULA),
    Row("friedewald", "cholesterol, and LDL as it is computed", "clinics", "Friedewald", "told the formula",
        _table("chol,hdl,trig,ldl", _lipids), Reads(_NUMBER, label="ldl", says={"label_formula": "chol − hdl − 0.2 × trig"}), FORMULA),
    Row("richness", "counts of species and how many there are", "ecology", "vegan", "told what is counted",
        _table(",".join(f"{k}_sp" for k in "abcdefghijkl") + ",richness", _species),
        Reads(says={"label_formula": "that are above 0"}), FORMULA, settings={"label_column": "richness"}),
    Row("logarithm", "chlorophyll and its logarithm", "limnology", "made", "told the formula",
        _table("temp,chl,log_chl", _chlorophyll), Reads(_NUMBER, label="log_chl", says={"label_formula": "0.4343 × log(chl)"}), FORMULA),
    Row("a-sum-with-noise", "two measures and something near their sum", "labs", "made", "no formula",
        _table("a,b,y", _noisy), Reads(_NUMBER, label="y", silent=("label_formula",)), spares=FORMULA),
    Row("grades-of-a-total", "nine answers and the grade of their total", "psychology", "PHQ-9", "told what the grades are of",
        _table(f"id,{_ITEMS},severity", lambda i, c: [f"P{i}", *(items := _items(c)), _grade(sum(items))]),
        Reads(TASK, label="severity", says={"label_formula": "a range of the sum of phq9_1"}), RANGE),
    Row("classes-of-sizes", "height, weight and a class of the body mass index", "clinics", "made", "told what the classes are of",
        _table(f"{_SIZES},obesity", lambda i, c: [
            50, *(b := _body(c)), "lean" if b[1] / b[0] ** 2 < 24e-4 else "heavy" if b[1] / b[0] ** 2 < 29e-4 else "obese"], 300),
        Reads(TASK, label="obesity", says={"label_formula": "weight_kg / height_cm²"}), RANGE),
    Row("animals-numbered-by-group", "the numbers of animals, first all of one genotype", "biology", "made", "told that the number tells it",
        _table("animal,weight,glucose,genotype", lambda i, c: [1001 + i, f"{c.gauss(25, 3):.1f}", f"{c.gauss(7, 1):.2f}", ["wt", "ko"][i > 80]]),
        Reads(TASK, label="genotype", says={"label_formula": "a range of animal"}), RANGE),
    Row("classes-apart", "a measure with wide room between two classes", "botany", "iris", "no alarm: they differ by nature",
        _table("petal,sepal,kind", lambda i, c: [f"{c.uniform(1, 2) + i % 2 * 2:.2f}", f"{c.gauss(5, 1):.2f}", ["setosa", "other"][i % 2]]),
        Reads(TASK, silent=("label_formula",)), spares=RANGE),
    Row("survival", "age, sex, time and status", "clinics", "survival (lung)", "time is not read, and why that is not all",
        _table("age,sex,time,status", lambda i, c: _patient(c)), Reads(TASK, label="status", columns=("age", "sex"),
        says={"follow_up": "ncsa.ray.script"}), FOLLOWED, settings={"label_column": "status"}),
    Row("time-of-survival", "the same with label_column: time", "clinics", "survival (lung)", "status is not read",
        _table("age,sex,time,status", lambda i, c: _patient(c)), Reads(_NUMBER, label="time", columns=("age", "sex"),
        says={"follow_up": "the true time is longer"}), FOLLOWED, settings={"label_column": "time"}),
    Row("cbioportal", "OS_MONTHS, OS_STATUS, DFS_MONTHS and DFS_STATUS", "oncology", "cbioportal.org", "none of the others is read",
        _table("AGE,SEX,DFS_MONTHS,DFS_STATUS,OS_MONTHS,OS_STATUS", lambda i, c: [
            *_patient(c, ("0:LIVING", "1:DECEASED"))[:2], *_patient(c)[2:], *_patient(c, ("0:LIVING", "1:DECEASED"))[2:]]),
        Reads(TASK, label="OS_STATUS", columns=("AGE", "SEX"), says={"follow_up": "OS_MONTHS"}), FOLLOWED, settings={"label_column": "OS_STATUS"}),
    Row("survival-before-the-sex", "age, futime and fustat, and the sex behind them", "clinics", "survival (ovarian)", "the question which one",
        _table("age,futime,fustat,sex", lambda i, c: [(p := _patient(c))[0], *p[2:], p[1]]),
        Refused("ambiguous_label", ("fustat", "futime")), FOLLOWED),
    Row("years-and-a-status", "age, years of work and a status of 0 and 1", "staff", "made", "nobody was followed",
        _table("age,years,status", lambda i, c: [c.randrange(20, 60), f"{c.uniform(0, 30):.1f}", c.choice([0, 1])]),
        Reads(TASK, label="status", columns=("age", "years"), silent=("follow_up",)), spares=FOLLOWED),
    Row("time-of-a-process", "seconds, pressure, and a status that says whether it ended by a time-out", "labs", "made", "nobody was followed",
        _table("time,pressure,status", _process), Reads(TASK, label="status", columns=("time", "pressure"), silent=("follow_up",)),
        spares=FOLLOWED, settings={"label_column": "status"}),
    Row("time-and-status-before-the-sex", "age, time and status, and the sex behind them", "clinics", "made", "a hint",
        _table("age,time,status,sex", lambda i, c: [(p := _patient(c))[0], *p[2:], p[1]]),
        Reads(TASK, label="sex", columns=("age", "time", "status"), says={"follow_up": "set label_column"}), FOLLOWED),
    Row("time-of-a-logger", "seconds, two measures and a status of 0 and 1", "loggers", "made", "nobody was followed",
        _table("time,temp,flow,status", _logged), Reads(TASK, label="status", silent=("follow_up",)), spares=FOLLOWED),
)  # fmt: skip
