"""Polygons on maps: GeoJSON, GeoPackage and shapefiles, read without GDAL."""
