"""How long a network is trained where nobody chose it: as often as its kind says, and until it no longer improves."""

from trainer.config.settings import Settings
from trainer.run_folder.events import Events

PATIENCE = 10  # evaluations without improvement after which the training of a network with short epochs ends


def choose(settings: Settings, epochs: int, why: str, part: int, events: Events) -> Settings:
    """The settings with ``epochs``, for the reason ``why``, and with a patience of one in ``part`` epochs, each where nobody chose it."""
    settings = with_epochs(settings, epochs, why, events)
    return settings.with_default(early_stopping_patience=max(PATIENCE, settings.epochs // part))


def with_epochs(settings: Settings, epochs: int, why: str, events: Events) -> Settings:
    """The settings with ``epochs``, and the decision, where nobody chose them."""
    if settings.is_open("epochs"):
        settings = settings.with_chosen(epochs=epochs)
        events.decision("epochs", epochs, why)
    return settings
