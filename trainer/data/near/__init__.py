"""Near copies of pictures and texts, which are kept in one split."""
