"""The option of signals."""

from trainer.config.option import Option, of_kind

# fmt: off
OPTIONS = of_kind("toy", (
    Option("powers", 2, "data", 1, 4, help="Powers of each reading that the network reads: 1 reads the reading alone"),
))
# fmt: on
