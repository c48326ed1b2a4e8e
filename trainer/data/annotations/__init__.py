"""Annotations of pictures: boxes, polygons, masks and captions, recognised by what files hold and never by their names alone.

They cannot be trained on, so a dataset with them is refused by the name of its format (see ``look.py``). One module for each format. Every look is
bounded: it reads the beginnings of a sample of files.
"""
