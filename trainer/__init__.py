"""The training program: it reads a run folder, trains a model on Ray and writes the results into the same folder.

Run as ``python -m trainer run <run folder>/spec.json``. It knows nothing of Clowder, message brokers or Kubernetes: the
run folder is its whole world, and ``schema/`` describes every file that it reads or writes there.
"""
