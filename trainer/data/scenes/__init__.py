"""Scenes: GeoTIFF files of any size, which are read by windows."""
