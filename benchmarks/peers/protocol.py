"""What every peer script shares: read a request, run the job, measure, answer in JSON.

A script has a dict of jobs. A job is a function of the data (arrays of an .npz file) and a seed; it
returns a list of intervals [low, high], or of other numbers where the question is another one. This
file needs nothing but numpy: it runs in the environments of all peers.

A request is one JSON object on standard input: ``job``, ``mode`` ("time", "noise" or "coverage"),
``data`` (path), ``seconds`` (limit for repetitions) and ``gigabytes`` (limit of memory). The answer
is one JSON object on the last line of standard output.
"""

import contextlib
import io
import json
import re
import resource
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np


def main(package, jobs):
    """Answer the request on standard input."""
    request = json.load(sys.stdin)
    limit = int(request["gigabytes"] * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    answer = {"package": package, "version": version(package)}
    job = jobs.get(request["job"])
    if job is None:
        answer["missing"] = True
    else:
        with np.load(request["data"]) as file:
            data = dict(file)
        warnings.simplefilter("ignore")
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                answer |= {"time": timed, "noise": noise, "coverage": coverage}[request["mode"]](
                    job, data, request["seconds"]
                )
        except Exception as error:  # a peer that fails is shown with its error
            text = re.sub(r"\s+", " ", str(error)).strip()
            answer["error"] = f"{type(error).__name__}: {text}"[:160]
    print(json.dumps(answer))


def memory(field):
    """A line of /proc/self/status in bytes; not available outside Linux."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def timed(job, data, seconds):
    """Least CPU seconds of some calls, and what the first one added to the memory in use."""
    peak = None
    with contextlib.suppress(OSError):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # forget the peak of the imports
        before = memory("VmRSS")
    times, start = [], time.monotonic()
    while len(times) < 3 or (len(times) < 50 and time.monotonic() - start < seconds / 4):
        began = time.process_time()
        result = job(data, 0)
        times.append(time.process_time() - began)
        if peak is None:
            with contextlib.suppress(OSError):
                peak = max(memory("VmHWM") - before, 0)
        if time.monotonic() - start > seconds / 2:
            break
    return {"cpu": min(times), "calls": len(times), "peak": peak, "result": plain(result)}


def noise(job, data, seconds):
    """Standard deviation of each bound over seeds, as a share of the mean length."""
    ends, start = [], time.monotonic()
    for seed in range(20):
        ends.append(np.asarray(job(data, seed), dtype=float)[0])
        if time.monotonic() - start > seconds and len(ends) >= 3:
            break
    ends = np.array(ends)
    return {
        "sd": (ends.std(axis=0, ddof=1) / np.diff(ends, axis=1).mean()).tolist(),
        "runs": len(ends),
    }


def coverage(job, data, seconds):
    """Share of samples whose interval holds the truth, and the mean length."""
    truth, samples = float(data["truth"]), len(data["y_true"])
    ends, start = [], time.monotonic()
    for k in range(samples):
        sample = {name: data[name][k] for name in data if name != "truth"}
        try:
            ends.append(np.asarray(job(sample, k), dtype=float)[0])
        except Exception:
            ends.append([np.nan, np.nan])  # no interval: it does not hold the truth
        if time.monotonic() - start > seconds:
            break
    low, high = np.array(ends).T
    return {
        "inside": float(np.mean((low <= truth) & (truth <= high))),
        "length": float(np.nanmean(high - low)),
        "failed": int(np.isnan(low + high).sum()),
        "samples": len(ends),
    }


def plain(result):
    """A list of numbers that JSON can hold; the first 40 are enough to compare."""
    return np.asarray(result, dtype=float).ravel()[:40].tolist()
