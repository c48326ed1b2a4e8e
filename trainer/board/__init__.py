"""TensorBoard for the studio: curves that the service sends, shown by TensorBoard's own pages.

It reads no files. Imports tensorboard when it is served, which may not be installed.
"""
