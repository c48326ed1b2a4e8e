"""The learning rate of a model for which nobody chose one."""


def learning_rate(fresh: bool, size: int) -> tuple[float, str]:
    """The learning rate for a model of ``size`` parameters, and the reason as a sentence."""
    if fresh:
        return 1e-3, "The learning rate is 0.001, which suits a small model from scratch."
    for limit, rate in ((10_000_000, 3e-4), (40_000_000, 2e-4), (120_000_000, 5e-5)):
        if size <= limit:
            return rate, f"The learning rate is {rate:g}, which suits a model of {size / 1e6:.1f} million parameters."
    return 2e-5, f"The learning rate is 2e-05, which suits a model of {size / 1e6:.0f} million parameters."
