"""From the files of a dataset to a graph. Runs in the driver, without torch."""


def find(sources, settings, checks, work):
    """What makes the dataset a graph; None where it is none."""
    return None


def load(found, settings, checks, work, spec):
    """The graph of what ``find`` gave."""
    raise NotImplementedError
