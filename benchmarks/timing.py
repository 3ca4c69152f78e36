"""CPU time of one thread."""

import statistics
import time

from threadpoolctl import threadpool_limits  # comes with scikit-learn

threadpool_limits(1)


def cpu(function):
    """CPU seconds of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def cpu_pair(one, other, repeats):
    """Median CPU seconds of two functions, called in turn, after one call to warm up."""
    one(), other()
    times = [(cpu(one), cpu(other)) for _ in range(repeats)]
    return tuple(map(statistics.median, zip(*times, strict=True)))


def seconds(value):
    factor, unit = (1, "s") if value >= 1 else (1e3, "ms") if value >= 1e-3 else (1e6, "us")
    return f"{value * factor:.3g} {unit}"
