"""What kinds of pictures share: the scaling of bands, and thumbnails."""
