"""Watches that are looked at again and again: how often intervals miss at some time, and alarms.

Every cell is 1,000 watches of 300 looks; all watches of a cell are simulated at once. "Missed" is
the share of watches in which the interval of at least one look did not hold the truth. False alarms
are counted where the truth is the threshold, the hardest case. Rows of two classes have a random
class, so that the streams of recall and F1 grow by random numbers of rows.

    python benchmarks/anytime.py [--write docs/benchmark_tables]
"""

import argparse
from pathlib import Path

import numpy as np
from proportion_coverage import table

from skuncertain._numerics.confidence_sequence import confidence_sequence
from skuncertain.metrics import get_metric, proportion_posterior
from skuncertain.monitoring._anytime import streams_of

SEED = 20_140
WATCHES, LOOKS, LEVEL = 1000, 300, 0.95
RATES = (0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999)
SIZES = (1, 5, 50)
NUMBERS = (20, 100, 150, 300)
# Prevalence, recall and specificity.
POPULATIONS = ((0.5, 0.8, 0.9), (0.2, 0.9, 0.95), (0.1, 0.5, 0.99), (0.3, 0.99, 0.99))
METRICS = ("recall", "precision", "f1", "jaccard", "balanced_accuracy", "g_mean", "f2", "mcc")
# Rate before and after, rows before the fall, threshold.
FALLS = (
    *((0.85, 0.85, 0, 0.9), (0.88, 0.88, 0, 0.9), (0.8, 0.8, 0, 0.9)),
    *((0.95, 0.85, 1000, 0.9), (0.95, 0.85, 5000, 0.9), (0.95, 0.8, 1000, 0.9)),
)
BOUND = (1 - LEVEL) + 2 * np.sqrt(LEVEL * (1 - LEVEL) / WATCHES)


def each_pair(function, hits, misses):
    """Ends for arrays of counts; every pair of counts is solved for once."""
    n = hits + misses
    key = n * (int(n.max()) + 1) + hits
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    low, high = function(hits.ravel()[first], misses.ravel()[first])
    place = place.reshape(hits.shape)
    return low[place], high[place]


def sequence(metric, matrices):
    """Ends at every look, and the same intersected with all looks before."""
    streams = streams_of(metric, 2, 1 if metric.average == "binary" else None)
    hits, misses = streams.counts(matrices)
    alpha = (1 - LEVEL) / hits.shape[-1]
    low, high = each_pair(lambda s, f: confidence_sequence(s, f, alpha), hits, misses)
    best = np.maximum.accumulate(low, axis=1), np.minimum.accumulate(high, axis=1)
    # Of several rates: changed if one of them is not constant.
    return streams.combine(low, high), streams.combine(*best), np.any(best[0] > best[1], axis=-1)


def ordinary(metric, matrices):
    """Ends of the posterior at every look, of metrics that are one proportion or its odds."""
    streams = streams_of(metric, 2, 1 if metric.average == "binary" else None)
    hits, misses = streams.counts(matrices)
    if hits.shape[-1] > 1:
        return None
    ends = each_pair(lambda s, f: proportion_posterior(s, f).interval(LEVEL), hits, misses)
    return streams.combine(*ends)


def watches(cells, size, rng):
    """Matrices after every look: (watches, looks, 2, 2)."""
    batches = rng.multinomial(size, np.ravel(cells), size=(WATCHES, LOOKS))
    return batches.cumsum(axis=1).reshape(WATCHES, LOOKS, 2, 2)


def share_missed(ends, truth):
    low, high = ends
    return np.mean(np.any((low > truth) | (high < truth), axis=1))


def percent(share):
    return f"{100 * share:.1f}{' high' if share > BOUND else ''}"


def line(metric, cells, size, seed):
    """A line of the table: missed, false alarms, widths relative to the ordinary interval."""
    metric = get_metric(metric)
    positive = 1 if metric.average == "binary" else None
    truth = float(metric.evaluate(np.asarray(cells), positive=positive))
    matrices = watches(cells, size, np.random.default_rng([SEED, *seed]))
    (low, high), (inner_low, inner_high), changed = sequence(metric, matrices)
    usual = ordinary(metric, matrices)
    alarms = np.mean(np.any(high < truth, axis=1))
    look = 1000 // size - 1
    ratio = inner = missed = "-"
    if usual is not None:
        missed = f"{100 * share_missed(usual, truth):.1f}"
    if usual is not None and look < LOOKS:
        width = np.mean(usual[1][:, look] - usual[0][:, look])
        ratio = f"{np.mean(high[:, look] - low[:, look]) / width:.2f}"
        inner = f"{np.mean(inner_high[:, look] - inner_low[:, look]) / width:.2f}"
    found = [percent(share_missed((low, high), truth)), percent(alarms)]
    found.append(percent(changed[:, -1].mean()))
    return [f"{truth:.3f}", missed, *found, ratio, inner]


def cell_of_sizes(lines):
    """One line from those of all sizes; a width is known where 1,000 rows are reached."""
    truth, missed, *found, width, inner = zip(*lines, strict=True)
    texts = ["-" if set(part) == {"-"} else " / ".join(part) for part in (missed, *found)]
    return [truth[0], *texts, width[-1], "-" if inner[-1] == "-" else " / ".join(inner)]


def by_looks(p, size, seed):
    """Share of watches in which the ordinary interval missed at some time, by number of looks."""
    matrices = watches([[p, 1 - p], [0, 0]], size, np.random.default_rng([SEED, *seed]))
    low, high = ordinary(get_metric("accuracy"), matrices)
    wrong = (low > p) | (high < p)
    texts = [percent_of(wrong[:, number - 1]) for number in NUMBERS]
    return [p, size, texts[-1], *(percent_of(wrong[:, :n].any(axis=1)) for n in NUMBERS)]


def percent_of(flags):
    return f"{100 * np.mean(flags):.1f}"


def of_classes(prevalence, recall, specificity):
    negative = 1 - prevalence
    return [
        [negative * specificity, negative * (1 - specificity)],
        [prevalence * (1 - recall), prevalence * recall],
    ]


def wavering(seed):
    """False alarms if the rate is never below the threshold, but wavers from look to look."""
    rng = np.random.default_rng([SEED, 3, seed])
    threshold, size = 0.9, 5
    rates = np.where(rng.random((WATCHES, LOOKS)) < 0.5, threshold, threshold + 0.05)
    hits = rng.binomial(size, rates).cumsum(axis=1)
    n = size * np.arange(1, LOOKS + 1)
    _, high = each_pair(lambda s, f: confidence_sequence(s, f, 1 - LEVEL), hits, n - hits)
    return np.mean(np.any(high < threshold, axis=1))


def fall(before, after, rows, threshold, seed, size=50):
    """Median number of rows from the fall to the alarm, and until no constant rate fits."""
    rng = np.random.default_rng([SEED, 4, seed])
    looks = LOOKS + rows // size
    n = size * np.arange(1, looks + 1)
    hits = rng.binomial(size, np.where(n <= rows, before, after), size=(WATCHES, looks))
    hits = hits.cumsum(axis=1)
    low, high = each_pair(lambda s, f: confidence_sequence(s, f, 1 - LEVEL), hits, n - hits)
    best = np.maximum.accumulate(low, axis=1), np.minimum.accumulate(high, axis=1)
    texts = []
    for event in (high < threshold, best[0] > best[1]):
        when = np.where(event.any(axis=1), n[np.argmax(event, axis=1)] - rows, np.inf)
        middle = np.median(when)
        texts.append(f"{middle:g}" if np.isfinite(middle) else f"> {n[-1] - rows}")
    return [before, after, rows, threshold, *texts]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    folder = parser.parse_args().write
    head = ["metric", "truth", "ordinary: missed", "missed", "false alarms"]
    head += ["false changes", "width", "width, intersected"]
    cells = [("accuracy", [[p, 1 - p], [0, 0]], (1, k)) for k, p in enumerate(RATES)]
    cells += [
        (metric, of_classes(*population), (2, k))
        for metric in METRICS
        for k, population in enumerate(POPULATIONS)
    ]
    rows = [
        [metric, *cell_of_sizes([line(metric, cell, size, (*seed, size)) for size in SIZES])]
        for metric, cell, seed in cells
    ]
    again = [by_looks(p, size, (1, k, size)) for k, p in enumerate(RATES) for size in SIZES]
    looks = [f"{number} looks" for number in NUMBERS]
    falls = [fall(*one, seed) for seed, one in enumerate(FALLS)]
    titles = ["rate before", "after", "rows before", "threshold"]
    titles += ["rows to the alarm", "rows to a change"]
    text = "\n".join(
        [
            table(
                f"Nominal {100 * LEVEL:g} %, {WATCHES:,} watches of {LOOKS} looks, after every row "
                "/ 5 rows / 50 rows, in %; widths at 1,000 rows relative to the ordinary interval",
                head,
                rows,
            ),
            table("Median number of rows from the fall of an accuracy on", titles, falls),
            table(
                f"Ordinary {100 * LEVEL:g} % interval of an accuracy, missed at some time, in %",
                ["rate", "rows per look", "last look alone", *looks],
                again,
            ),
        ]
    )
    print(text)
    print(f"highest that two standard errors allow: {100 * BOUND:.1f} %")
    print(f"false alarms of a wavering rate: {[percent(wavering(k)) for k in range(3)]}")
    if folder is not None:
        (folder / "anytime.rst.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
