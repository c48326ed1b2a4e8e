"""Texts with a tag for each word: which files hold them, and the entities that the tags describe. Runs in the driver, without torch."""
