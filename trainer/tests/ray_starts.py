"""Starts a Ray for tests, also on a busy machine."""


def on_a_busy_machine(start, **options):
    """Start a Ray. It gives up its own start after 30 s; the next one is faster, because its files are in memory."""
    import ray

    for _ in range(2):
        try:
            return start(**options)
        except Exception as e:
            if "timed out during startup" not in str(e):
                raise
            ray.shutdown()
    return start(**options)
