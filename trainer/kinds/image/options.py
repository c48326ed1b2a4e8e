"""Options of images."""

from trainer.config.option import Option, of_kind

# fmt: off
OPTIONS = of_kind("image", (
    Option("augmentation", "auto", "training", choices=("auto", "none", "light", "strong"),
           help="Augmentation of training images: light shifts them, strong also mirrors them and changes their brightness"),
    Option("image_size", 0, "training", 0, 1024, help="Width and height of images in pixels; 0 uses the size of the model or of the data"),
))
# fmt: on
