"""Families of malformed inputs at the ends of what numbers and files can be."""

import contextlib
import decimal
import fractions
import io
import json
import time

import numpy as np

from skuncertain import credible_interval
from skuncertain._io.search_results import read_search_results
from skuncertain._io.tables import read_matrix, read_predictions
from skuncertain.comparison import compare_auc
from skuncertain.exceptions import InvalidParameterError, TableFileError
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    intervals_at_thresholds,
    metric_posterior,
    roc_band,
)
from tools.fuzz.checks import check_interval, close
from tools.fuzz.malformed import check_message
from tools.fuzz.runner import ERRORS, family, require

# --------------------------------------------------------------------------------------------------
# Weights and labels


def weights(source, n):
    """Weights whose sum or squares leave the range of floats, or that are no floats."""
    kind = source.below(6)
    rng = source.rng()
    if kind == 0:
        return [1e308] * n
    if kind == 1:
        return (10.0 ** rng.uniform(-300, 308, size=n)).tolist()
    if kind == 2:
        return rng.choice([0.0, 1.0, 1e308, 5e-324], size=n).tolist()
    if kind == 3:
        return [fractions.Fraction(int(k), 3) for k in rng.integers(1, 9, size=n)]
    if kind == 4:
        return [int(k) * 10 ** source.pick((20, 300)) for k in rng.integers(1, 9, size=n)]
    odd = source.pick(("sNaN", "NaN", "Infinity", "1E+400", "0.5"))
    return [1, *[decimal.Decimal(odd)] * (n - 1)]


@family(share=60, malformed=True)
def extreme_weights(source):
    """Their scale does not matter: proper intervals, or a refusal that names them."""
    n = source.pick((10, 3, 40))
    true, said = source.rng().integers(2, size=(2, n)).tolist()
    given, metric = weights(source, n), source.pick(("f1", "accuracy", "mcc"))
    source.note(weight=given[:10], metric=metric, true=true[:10], said=said[:10])
    options = {"metric": metric, "labels": [0, 1], "n_draws": 100, "random_state": 0}
    try:
        posterior = metric_posterior(true, said, sample_weight=given, **options)
    except ERRORS as error:
        check_message(error, "metric_posterior", {"sample_weight"})
        raise
    check_interval(posterior.interval(), posterior.range)
    exact = [fractions.Fraction(weight) for weight in given]
    if max(exact) < 10**307 and min(exact) > fractions.Fraction(1, 10**290):
        shares = [float(weight / max(exact)) for weight in exact]
        same = metric_posterior(true, said, sample_weight=shares, **options)
        ends = np.array(posterior.interval()), np.array(same.interval())
        close(*ends, "another scale of the weights, another answer", rtol=1e-6, atol=1e-6)


@family(share=60, malformed=True)
def unusual_labels(source):
    """Labels and groups that are no integers, floats or texts: refused by name, or counted."""
    n = 10
    codes = source.rng().integers(2, size=(3, n))
    bad = source.pick(
        (
            lambda k: decimal.Decimal("sNaN"),
            lambda k: decimal.Decimal(int(k)),
            lambda k: fractions.Fraction(int(k)),
            lambda k: fractions.Fraction(int(k), 3),
            lambda k: decimal.Decimal("NaN"),
        )
    )
    arguments = dict(zip(("y_true", "y_pred", "groups"), codes.tolist(), strict=True))
    arguments["groups"][:2] = 0, 1
    which = source.pick(sorted(arguments))
    every = source.below(2)
    arguments[which] = [
        bad(k) if every or i % 3 == 0 else k for i, k in enumerate(arguments[which])
    ]
    if which != "groups" and source.below(2):
        del arguments["groups"]
    if source.below(2):
        arguments[which] = np.array(arguments[which], dtype=object)
    source.note(which=which, bad=bad(1), every=every)
    try:
        interval = credible_interval(**arguments, metric="accuracy", n_draws=100, random_state=0)
    except ERRORS as error:
        check_message(error, "credible_interval", {which})
        raise
    check_interval(interval, (0, 1))


# --------------------------------------------------------------------------------------------------
# Scores

OF_SCORES = (
    lambda true, score: auc_posterior(true, score).observed,
    lambda true, score: average_precision_posterior(true, score).observed,
    lambda true, score: roc_band(true, score).high,
    lambda true, score: intervals_at_thresholds(true, score).counts.counts,
    lambda true, score: compare_auc(true, score, true[::-1]).p_better,
)


@family(share=60, malformed=True)
def huge_scores(source):
    """Integers that floats cannot tell apart are ranked as they are, or refused."""
    n = source.pick((10, 4, 30))
    rng = source.rng()
    true = np.concatenate([[0, 1], rng.integers(2, size=n - 2)])
    start = source.pick((2**53, 2**53 - 5, 2**60, 2**62, -(2**62), 2**63, 2**70, 10**30))
    score = [start + int(k) for k in rng.integers(source.pick((9, 3, 10**6)), size=n)]
    given = source.pick((list, np.array, lambda values: np.array(values, dtype=object)))(score)
    ask = source.pick(OF_SCORES)
    source.note(true=true, score=score[:10], question=OF_SCORES.index(ask))
    try:
        found = ask(true, given)
    except ERRORS as error:
        check_message(error, "scores", {"y_score"})
        raise
    places = {value: place for place, value in enumerate(sorted(set(score)))}
    ranks = np.array([float(places[value]) for value in score])
    close(found, ask(true, ranks), "not the answer for the ranks of these scores")


# --------------------------------------------------------------------------------------------------
# Files

SCORES = '"split0_test_score": [0.5, 0.4], "split1_test_score": [0.4, 0.6]'


def nested(source):
    """A saved search in which something has very many levels."""
    n = source.pick((50, 200, 900, 1100, 5000, 10**5))
    opening, closing = source.pick((("[", "]"), ('{"a":', "}"), ("(", ")"), ("-", "")))
    deep = opening * n + "1" + closing * (n if source.below(4) else 0)
    form = source.below(5)
    if form == 0:
        return deep
    if form == 1:
        return f'{{{SCORES}, "params": [{deep}, {{}}]}}'
    if form == 2:  # as text, which is taken for Python
        return f'{{{SCORES}, "params": [{json.dumps(deep)}, "{{}}"]}}'
    if form == 3:
        return f'{{"split0_test_score": [{deep}, 1], "split1_test_score": [1, 2]}}'
    quoted = deep.replace('"', '""')
    return f'params,split0_test_score,split1_test_score\n"{quoted}",1,2\n"{{}}",2,1\n'


@family(share=60, malformed=True)
def nested_files(source):
    """Depth is an error of the file, or does not matter: no crash and no other exception."""
    text = nested(source)
    source.note(text=text[:100], length=len(text))
    try:
        found = read_search_results(io.BytesIO(text.encode()))
    except TableFileError as error:
        told = str(error)
        require("\n" not in told and len(told) < 1000, f"a message of {len(told)}: {told[:99]}")
        raise
    require(found["split1_test_score"], "no scores")


def as_table(keys, last):
    return f"{','.join(keys)},{last}\n{'1,' * len(keys)}1\n"


READERS = (  # the file, and a column that is asked for
    (
        lambda file, name: read_search_results(file),
        lambda keys, last: f'{json.dumps(dict.fromkeys(keys, 1))[:-1]}, "{last}": 2}}',
    ),
    (lambda file, name: read_search_results(file), as_table),
    (lambda file, name: read_predictions(file, true=name, pred="k1"), as_table),
    (
        lambda file, name: read_matrix(file, rows="true"),
        lambda keys, last: f",{as_table(keys, last)}",
    ),
)
LONGER = 20  # times what the same file takes without the second key
NOISE = 0.5  # seconds: garbage may be collected at any time; all pairs of keys take 1.5 s and more


def spent(reader, text, name):
    """CPU time of a reader, whatever it says."""
    start = time.process_time()
    with contextlib.suppress(TableFileError, InvalidParameterError):
        reader(io.BytesIO(text.encode()), name)
    return time.process_time() - start


@family(share=1, malformed=True)
def many_keys(source):
    """A key that is there twice among thousands is found in about the time of reading them."""
    number = source.pick((8000, 12_000))
    reader, write = source.pick(READERS)
    keys = [f"k{k}" for k in range(number)]
    twice = source.pick((keys[-1], keys[0], keys[number // 2]))
    source.note(keys=number, twice=twice, reader=READERS.index((reader, write)))
    alone, both = (spent(reader, write(keys, last), twice) for last in ("new", twice))
    slow = both > LONGER * alone + NOISE
    require(not slow, f"a second key takes long: [{both:.2f} s, {alone:.3f} s without it]")
    reader(io.BytesIO(write(keys, twice).encode()), twice)
    require(False, f"{twice} is there twice, and was read")
