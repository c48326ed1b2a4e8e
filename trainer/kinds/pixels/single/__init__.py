"""Answers for the pictures of a request: masks, maps and drawings, and how sure they are."""
