"""The names of the files of a dataset that hold settings."""

from pathlib import PurePosixPath

DATASET_FILES = ("finetune.yaml", "finetune.yml", "finetune.json")


def is_settings_file(name: str) -> bool:
    """Whether a file of the dataset contains settings instead of data."""
    return PurePosixPath(name).name.lower() in DATASET_FILES
