"""Options of series."""

from trainer.config.option import Option, of_kind

# fmt: off
OPTIONS = of_kind("series", (
    Option("series_column", "", "series", since="0.2.0", also_in=("predict",),
           help="Column that tells several series apart, or several separated by commas; empty detects it, none reads one series"),
    Option("forecast_columns", "", "series", since="0.2.0",
           help="Columns of numbers that are each a series of their own, separated by commas; all takes all of them, none takes none; empty takes "
           "those whose names differ in a number alone, such as store1, store2, store3"),
    Option("horizon", 0, "series", 0, 10_000, since="0.2.0",
           help="Steps to forecast; 0 takes one season of such steps, at least 4 and at most a fifth of the series"),
    Option("season", 0, "series", 0, 1000, since="0.2.0",
           help="Steps after which the series repeats itself; 0 takes the one that the values show, or the usual one of the calendar; 1 takes none"),
    Option("known_covariates", "", "series", since="0.2.0",
           help="Columns of numbers that are known ahead, separated by commas, for example prices; rows without a target tell their future"),
    Option("forecast_method", "auto", "series", choices=("auto", "naive", "ets", "theta", "trees", "mean", "installed", "mean_installed"),
           since="0.2.0", help="How to forecast; auto takes the best on rolling origins. The last two need an installed model of series"),
    Option("series_model", "auto", "series", since="0.2.0",
           help="Installed model of series that is tried beside the other methods; auto takes the default one, none tries none. "
           "A model of series in model does the same"),
))
# fmt: on
