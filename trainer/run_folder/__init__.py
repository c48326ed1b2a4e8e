"""The run folder as the protocol between driver, workers and service: who may write there, and how files get there.

``lease`` decides which start of a run may change the folder, ``stop`` reads the request to end early, ``events``, ``log`` and
``tensorboard`` write what others follow, and ``files`` holds the limited reads and durable writes that all of them use.
"""
