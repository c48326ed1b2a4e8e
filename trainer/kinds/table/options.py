"""Options of tables."""

from trainer.config.option import Option, of_kind

# fmt: off
OPTIONS = of_kind("table", (
    Option("text_vectors", "auto", "table", since="0.2.0",
           help="Installed text model whose vectors of free texts are tried beside their words; auto takes the default one, none tries none"),
    Option("picture_vectors", "auto", "table", since="0.2.0",
           help="Installed image model whose vectors of pictures are tried beside colours and edges; auto takes the default one, none tries none"),
))
# fmt: on
