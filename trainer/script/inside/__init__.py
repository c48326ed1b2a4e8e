"""Modules that a script sees at /clowder/support inside its sandbox. Nothing here is imported by the trainer itself."""
